"""IO: the application of a signing session: its first page, its style, and how it is left."""

from __future__ import annotations

from typing import ClassVar

from textual.app import App
from textual.binding import Binding, BindingType

from starter.approver.decisions import restored
from starter.approver.full_screen.request_list import RequestList
from starter.approver.full_screen.session import Session


class SigningApp(App[bool]):
    """Ends with True after the approver confirmed the last page, with None when they left. Both keep the decisions."""

    CSS_PATH = "style.tcss"
    ENABLE_COMMAND_PALETTE = False
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("ctrl+c", "quit", "Leave", priority=True, show=False),
        Binding("ctrl+q", "quit", "Leave", priority=True, show=False),
    ]

    def __init__(self, session: Session) -> None:
        super().__init__()
        self.session = session

    def on_mount(self) -> None:
        self.push_screen(RequestList(self.session))
        told = restored(self.session.journal.ledger)
        if told:
            self.notify(told, markup=False)
