"""IO: the parts that the pages of a signing session share, and its last page.

The list of requests and the reader have the same keys for a decision.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Sequence
from typing import Any, ClassVar

from rich.console import Group
from rich.table import Table
from rich.text import Text
from textual.app import ComposeResult
from textual.binding import ActiveBinding, Binding, BindingType
from textual.containers import Vertical, VerticalScroll
from textual.screen import ModalScreen, Screen
from textual.timer import Timer
from textual.widgets import Footer, Input, Static, TextArea

from cutter.domain.amounts import counted
from cutter.domain.visible import is_hidden, visible_line
from cutter.errors import CutterError
from cutter.limits import REASON_CHARACTERS_MAX
from starter.approver.session import Choice, Decision, Session
from starter.approver.session_requests import Asked
from starter.console.terminal import line

_STYLES = {"information": "", "warning": "bold yellow", "error": "bold red"}


class Notice(Static):
    """Shows the newest message. Without a message it takes no room."""

    said = ""
    _leaving: Timer | None = None

    def on_mount(self) -> None:
        self.display = bool(self.said)

    def say(self, message: str, severity: str = "information", seconds: float | None = None) -> None:
        """Show a message for some seconds or until the next key. An empty one takes the line away."""
        if self._leaving is not None:
            self._leaving.stop()
        self._leaving = None if seconds is None else self.set_timer(seconds, lambda: self.say(""))
        self.said = message
        self.update(line(message, _STYLES[severity]))
        self.display = bool(message)


class Question(ModalScreen[str | None]):
    """Asks for one line of text. The answer is None after Escape."""

    decision_keys: ClassVar[frozenset[str]] = frozenset({"enter"})
    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "dismiss(None)", "Back")]

    def __init__(self, question: str, *, text: str = "", needed: bool = False) -> None:
        super().__init__()
        self._question = question
        self._text = text
        self._needed = needed

    def compose(self) -> ComposeResult:
        with Vertical(id="question"):
            yield Static(line(self._question))
            yield Input(value=self._text, id="answer")
            yield Static(line("Enter: done   Escape: back"), id="problem")

    def on_input_submitted(self, event: Input.Submitted) -> None:
        # A statement requires one line in Unicode normal form C.
        text, problem = " ".join(unicodedata.normalize("NFC", event.value).split()), ""
        hidden = next((character for character in text if is_hidden(character)), None)
        if self._needed and not text:
            problem = "type a text"
        elif len(text) > REASON_CHARACTERS_MAX:
            problem = f"{len(text)} characters; at most {REASON_CHARACTERS_MAX} fit"
        elif hidden is not None:
            problem = f"it has the hidden character U+{ord(hidden):04X}"
        if not problem:
            self.dismiss(text)
        else:
            self.query_one("#problem", Static).update(line(problem, "bold red"))


ALL_KEYS = Binding("question_mark", "app.page_keys", "All keys", tooltip="Show the keys of the page", key_display="?")
"""The binding with which a page opens its `PageKeys`. A page lists it last, so that it ends the footer."""

MOVES = "Move and select where the focus is"


class PageKeys(Screen[None]):
    """The keys that work on a page now, each with what it does. No key of this page decides anything."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "dismiss", "Back"),
        Binding("question_mark", "dismiss", "Back", show=False),
    ]

    def __init__(self, page: Screen[Any]) -> None:
        super().__init__()
        self.rows = rows(page)

    def compose(self) -> ComposeResult:
        shown = Table.grid(padding=(0, 2))
        for keys, does in self.rows:
            shown.add_row(line(keys, "bold"), line(does))
        yield Static(line("The keys of this page", "bold"), id="heading")
        with VerticalScroll():
            yield Static(shown, id="keys")
        yield Footer(compact=True)


def rows(page: Screen[Any]) -> list[tuple[str, str]]:
    """(keys, what they do) of the keys that work on the page now. Those of the footer come first.

    Keys with the same tooltip share a row. The bindings without one are textual's: only plain keys are of use.
    """
    active = [active_binding for active_binding in page.active_bindings.values() if active_binding.enabled]
    ours = sorted((key for key in active if key.binding.tooltip), key=lambda key: not key.binding.show)
    # keys without a modifier, of the part with the focus; the keys of a text edit it, but our texts are read-only
    moves = [
        key for key in active
        if not key.binding.tooltip and key.node is page.focused and not isinstance(key.node, TextArea)
        and "+" not in key.binding.key
    ]  # fmt: skip
    groups: dict[str, list[ActiveBinding]] = {}
    for own_key in ours:
        groups.setdefault(own_key.binding.tooltip, []).append(own_key)
    if moves:
        groups[MOVES] = moves
    return [(" ".join(page.app.get_key_display(key.binding) for key in same), does) for does, same in groups.items()]


class Deciding(Screen[Asked | None]):
    """A page that has a current request and the keys that decide about it."""

    decision_keys: ClassVar[frozenset[str]] = frozenset("asreu")

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("a", "approve", "Approve", tooltip="Approve the request"),
        Binding("s", "skip", "Skip", tooltip="Skip it with a reason: it keeps waiting"),
        Binding("r", "reject", "Reject", tooltip="Reject it with a reason, which is signed: its run ends"),
        Binding("e", "note", "Note", tooltip="Approve with a note, which is signed"),
        Binding("u", "undo", "Undo", tooltip="Take the decision back", show=False),
    ]

    def __init__(self, session: Session) -> None:
        super().__init__()
        self.session = session

    def current(self) -> Asked | None:
        """The request that the keys decide about."""
        raise NotImplementedError

    def draw(self) -> None:
        raise NotImplementedError

    def decided(self) -> None:
        """What follows a decision."""
        self.draw()

    def action_approve(self) -> None:
        request = self._deciding(Choice.APPROVE)
        if request is not None:
            before = self.session.decision(request)
            note = before.text if before and before.choice is Choice.APPROVE else ""
            self._decide(request, Decision(choice=Choice.APPROVE, text=note))

    def action_skip(self) -> None:
        self._with_text(Choice.SKIP, "Why do you skip it? The request keeps waiting.")

    def action_reject(self) -> None:
        self._with_text(Choice.REJECT, "Why do you reject it? The run ends, and the reason is signed.")

    def action_note(self) -> None:
        self._with_text(Choice.APPROVE, "Approve with this note, which is signed:")

    def action_undo(self) -> None:
        request = self.current()
        if request is not None and self.session.may_undo(request):
            self._keep(request, None)

    def _with_text(self, choice: Choice, question: str) -> None:
        """Ask for the text of a decision. Only the note of an approval may be empty, and begins as it was."""
        request = self._deciding(choice)
        if request is None:
            return
        before = self.session.decision(request) if choice is Choice.APPROVE else None

        def typed(text: str | None) -> None:
            if text is not None:
                self._decide(request, Decision(choice=choice, text=text))

        asked = Question(question, text=before.text if before else "", needed=choice is not Choice.APPROVE)
        self.app.push_screen(asked, typed)

    def _decide(self, request: Asked, decision: Decision) -> None:
        """Keep a decision. The approver of a repeal types the document id first."""

        def typed(text: str | None) -> None:
            if text == request.name:
                self._keep(request, decision)
            elif text is not None:
                self.app.notify(visible_line(f"{text} is not {request.name}"), severity="warning")

        if request.document.repeals and decision.choice is Choice.APPROVE:
            self.app.push_screen(Question(f"This ends a whole law. Type {request.name} to approve it:"), typed)
        else:
            self._keep(request, decision)

    def _deciding(self, choice: Choice) -> Asked | None:
        """The current request if this choice is possible for it. Otherwise None, after a message with the reason."""
        request = self.current()
        why_not = self.session.may_not(request, choice) if request is not None else None
        if request is None or why_not is None:
            return request
        self.app.notify(visible_line(f"{request.name}: {why_not}"), severity="warning")
        return None

    def _keep(self, asked: Asked, decision: Decision | None) -> None:
        try:
            self.session.decide(asked, decision)
        except CutterError as problem:
            self.app.notify(visible_line(str(problem)), severity="error")
            return
        self.decided()


class LastPage(Screen[None]):
    """Lists the statements. `y` leaves the screen and signs."""

    decision_keys: ClassVar[frozenset[str]] = frozenset("y")
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("y", "sign", "Sign", tooltip="Leave the screen and sign"),
        Binding("escape", "dismiss", "Back", tooltip="Go back"),
        ALL_KEYS,
    ]

    def __init__(self, session: Session) -> None:
        super().__init__()
        self.session = session

    def compose(self) -> ComposeResult:
        yield Static(line(f"{self.session.title}: the last page before {self.session.approver} signs", "bold"))
        with VerticalScroll():
            yield Static(id="statements")
        yield Notice()
        yield Footer(compact=True)

    def on_mount(self) -> None:
        self.draw()

    def draw(self) -> None:
        session, signed = self.session, len(self.session.journal.ledger.to_hand_over)
        approved, rejected = session.with_choice(Choice.APPROVE), session.with_choice(Choice.REJECT)
        both = " for both gates" if session.before else ""
        how = "Press y to sign, Escape to go back." if self._has_work() else "Nothing to sign yet: Escape goes back."
        lines = [
            *self._part(f"{counted(len(approved), 'approval')}{both} to sign", approved, "bold green"),
            *self._part(f"{counted(len(rejected), 'rejection')} to sign", rejected, "bold red"),
            *([line(f"{counted(signed, 'request')} signed before, to hand over", "bold")] if signed else []),
            *self._part("skipped, these keep waiting", session.with_choice(Choice.SKIP), "bold yellow"),
            *self._part("undecided, these keep waiting", session.undecided(), "bold"),
            *self._part("no longer waiting, these are not signed", session.gone_requests(), "bold red"),
            line(""),
            line(how),
        ]
        if any(map(session.may_undo, session.requests)):
            where = "In the list, u" if len(session.requests) > 1 else "Escape goes back to the request, where u"
            lines.append(line(f"{where} takes a decision back."))
        self.query_one("#statements", Static).update(Group(*lines))

    def _part(self, heading: str, requests: Sequence[Asked], style: str) -> Iterator[Text]:
        if not requests:
            return
        yield line(heading, style)
        for request in requests:
            decision = self.session.decision(request)
            text = f": {decision.text}" if decision and decision.text else ""
            text = f": {self.session.gone[request.key]}" if request.key in self.session.gone else text
            asked = request.document.request
            accepted = f", {counted(request.accepted, 'red finding')} accepted" if request.accepted else ""
            facts = f"{request.gate}, {counted(asked.candidate_count, 'unit')}{accepted}"
            title = self.session.titles.get(request.key)
            named = f"{request.name}, {title}" if title else request.name
            yield line(f"  {named} ({facts}, writer_digest {asked.writer_digest[:16]}…){text}")

    def _has_work(self) -> bool:
        session = self.session
        chosen = session.with_choice(Choice.APPROVE) or session.with_choice(Choice.REJECT)
        return bool(session.journal.ledger.to_hand_over or chosen)

    def action_sign(self) -> None:
        if self._has_work():
            self.app.exit(True)
        else:
            self.app.notify("nothing to sign yet", severity="warning")
