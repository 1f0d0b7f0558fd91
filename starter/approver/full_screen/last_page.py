"""IO: the last page of a signing session: the statements that will be signed, and the requests that will not."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import ClassVar

from rich.console import Group
from rich.text import Text
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.screen import Screen
from textual.widgets import Footer, Static

from cutter.domain.amounts import counted
from starter.approver.decisions import Choice
from starter.approver.full_screen.notice import Notice
from starter.approver.full_screen.page_keys import ALL_KEYS
from starter.approver.session import Session
from starter.approver.session_requests import Asked
from starter.console.terminal import line


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
        """Show the statements again."""
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
