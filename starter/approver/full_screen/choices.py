"""IO: the keys with which an approver decides about a request. The list and the reader have the same keys."""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar

from textual.binding import Binding, BindingType
from textual.screen import Screen

from cutter.domain.visible import visible_line
from cutter.errors import CutterError
from starter.approver.decisions import Choice, Decision
from starter.approver.full_screen.prompts import Question
from starter.approver.session import Session
from starter.approver.session_requests import Asked


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

    def __init__(self, session: Session, *, current: Callable[[], Asked | None], decided: Callable[[], None]) -> None:
        """`current` answers with the request that the keys decide about. `decided` is called after each decision."""
        super().__init__()
        self.session = session
        self._current_request = current
        self._after_decision = decided

    def draw(self) -> None:
        """Show the state of the session again."""
        raise NotImplementedError

    def action_approve(self) -> None:
        request = self._deciding(Choice.APPROVE)
        if request is not None:
            before = self.session.decision(request)
            note = before.text if before and before.choice is Choice.APPROVE else ""
            self._approve(request, note)

    def action_skip(self) -> None:
        self._with_reason(Choice.SKIP, "Why do you skip it? The request keeps waiting.")

    def action_reject(self) -> None:
        self._with_reason(Choice.REJECT, "Why do you reject it? The run ends, and the reason is signed.")

    def action_note(self) -> None:
        """Approve with a note, which becomes part of the signed statement."""
        request = self._deciding(Choice.APPROVE)
        if request is None:
            return
        before = self.session.decision(request)

        def noted(text: str | None) -> None:
            if text is not None:
                self._approve(request, text)

        asked = Question("Approve with this note, which is signed:", text=before.text if before else "")
        self.app.push_screen(asked, noted)

    def _approve(self, request: Asked, note: str) -> None:
        """Keep the approval. The approver of a repeal types the document id first."""

        def typed(text: str | None) -> None:
            if text == request.name:
                self._keep(request, Decision(choice=Choice.APPROVE, text=note))
            elif text is not None:
                self.app.notify(visible_line(f"{text} is not {request.name}"), severity="warning")

        if request.document.repeals:
            self.app.push_screen(Question(f"This ends a whole law. Type {request.name} to approve it:"), typed)
        else:
            self._keep(request, Decision(choice=Choice.APPROVE, text=note))

    def action_undo(self) -> None:
        request = self._current_request()
        if request is not None and self.session.may_undo(request):
            self._keep(request, None)

    def _with_reason(self, choice: Choice, question: str) -> None:
        request = self._deciding(choice)
        if request is None:
            return

        def reasoned(text: str | None) -> None:
            if text is not None:
                self._keep(request, Decision(choice=choice, text=text))

        self.app.push_screen(Question(question, needed=True), reasoned)

    def _deciding(self, choice: Choice) -> Asked | None:
        """The current request if this choice is possible for it. Otherwise None, after a message with the reason."""
        request = self._current_request()
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
        self._after_decision()
