"""IO: the one-line question of a signing session: a note, a reason or a word to search for."""

from __future__ import annotations

from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.screen import ModalScreen
from textual.widgets import Input, Static

from starter.approver.session import text_problem, tidied
from starter.console.terminal import line


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
        text = tidied(event.value)
        problem = "type a text" if self._needed and not text else text_problem(text)
        if problem is None:
            self.dismiss(text)
        else:
            self.query_one("#problem", Static).update(line(problem, "bold red"))
