"""IO: the first page of a signing session: every request with its state."""

from __future__ import annotations

from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.widgets import DataTable, Footer, Static

from cutter.domain.visible import visible_line
from cutter.errors import CutterError
from starter.approver.decisions import Choice
from starter.approver.full_screen.choices import Deciding
from starter.approver.full_screen.last_page import LastPage
from starter.approver.full_screen.notice import Notice
from starter.approver.full_screen.page_keys import ALL_KEYS
from starter.approver.full_screen.prompts import Question
from starter.approver.full_screen.request_reader import RequestReader
from starter.approver.session import Session
from starter.approver.session_requests import Asked
from starter.console.terminal import line

LEAVES = "Leave without signing: the decisions are kept"
_COLUMNS = ("state", "document", "gate", "units", "findings", "note or reason")
_STYLES = {
    "approve": "bold green", "reject": "bold red", "skip": "yellow", "refused": "bold red", "signed": "green",
    "opened": "", "new": "dim", "gone": "dim",
}  # fmt: skip


class RequestList(Deciding):
    """The requests of the session. Enter opens one."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "read", "Read", tooltip="Read the request", priority=True),
        Binding("home", "row(0)", "First", tooltip="Go to the first request", show=False, priority=True),
        Binding("end", "row(-1)", "Last", tooltip="Go to the last request", show=False, priority=True),
        Binding("slash", "filter", "Filter", tooltip="Show only requests with a text"),
        Binding("f", "finish", "Finish", tooltip="Open the last page, which signs"),
        Binding("q", "app.quit", "Leave", tooltip=LEAVES),
        ALL_KEYS,
    ]

    def __init__(self, session: Session) -> None:
        super().__init__(session, current=self.current, decided=self.draw)
        self._filter = ""
        self._alone = session.requests[0] if len(session.requests) == 1 else None
        """The only request. Its reader opens at once, and nobody needs this list."""

    def compose(self) -> ComposeResult:
        yield Static(id="heading")
        yield DataTable(cursor_type="row", id="requests")
        yield Static(id="next")
        yield Notice()
        yield Footer(compact=True)

    def on_mount(self) -> None:
        self.query_one(DataTable).add_columns(*map(line, _COLUMNS))
        self.draw()
        left = self.session.undecided()
        if left:
            self.action_row(self.session.requests.index(left[0]))
        if self._alone is not None:
            self.read(self._alone)

    def on_screen_resume(self) -> None:
        if self.query_one(DataTable).columns:
            self.draw()

    def draw(self) -> None:
        """Draw the rows again. The cursor stays on its request."""
        session, rows = self.session, self.query_one(DataTable)
        here = self.current()
        rows.clear()
        for request in self._listed():
            state, decision = session.state(request), session.decision(request)
            text = decision.text if decision else session.refused.get(request.key, "")
            note = session.gone.get(request.key, text)
            cells = (request.name, request.gate, request.document.request.candidate_count, request.findings)
            rows.add_row(line(state, _STYLES[state]), *map(line, cells), line(note), key=request.key)
        listed = [asked.key for asked in self._listed()]
        if here is not None and here.key in listed:
            rows.move_cursor(row=listed.index(here.key))
        filtered = f" · only {self._filter!r}" if self._filter else ""
        self.query_one("#heading", Static).update(
            line(f"{session.title} as {session.approver} · {session.progress()}{filtered}", "bold")
        )
        done = self.query_one("#next", Static)
        done.update(line("Every request has a decision: press f to see the last page and sign.", "bold green"))
        done.display = not session.undecided()

    def current(self) -> Asked | None:
        rows, listed = self.query_one(DataTable), self._listed()
        keys = list(rows.rows)
        if not 0 <= rows.cursor_row < len(keys):
            return None
        return next((request for request in listed if request.key == keys[rows.cursor_row].value), None)

    def on_data_table_row_selected(self) -> None:
        self.action_read()

    def action_read(self) -> None:
        request = self.current()
        if request is not None:
            self.read(request)

    def read(self, asked: Asked) -> None:
        """Open the reader. A request that differs from the one that this machine computes is refused instead."""
        try:
            view = self.session.open(asked)
        except CutterError as problem:
            message = visible_line(f"{asked.name}: {problem}")
            self.app.notify(message, severity="error")
            self.draw()
            if self._alone is not None:
                self.app.exit()
            return
        self.app.push_screen(RequestReader(self.session, asked, view), self._next)

    def _next(self, wanted: Asked | None) -> None:
        """Open the wanted request. After a decision about the only one open the last page, and leave without one."""
        alone = self._alone
        if wanted is not None:
            self.read(wanted)
        elif alone is not None:
            decision = self.session.decision(alone)
            if decision is None or decision.choice is Choice.SKIP:
                self.app.exit()
            else:
                self.app.push_screen(LastPage(self.session), lambda _: self.read(alone))

    def action_row(self, place: int) -> None:
        rows = self.query_one(DataTable)
        rows.move_cursor(row=place % max(1, rows.row_count))

    def action_filter(self) -> None:
        def typed(text: str | None) -> None:
            self._filter = (self._filter if text is None else text).casefold()
            self.draw()

        self.app.push_screen(
            Question("Show only documents, states and gates with this text:", text=self._filter), typed
        )

    def _listed(self) -> list[Asked]:
        def has(asked: Asked) -> bool:
            words = f"{asked.name} {asked.gate} {self.session.state(asked)}"
            return self._filter in words.casefold()

        return [request for request in self.session.requests if has(request)]

    def action_finish(self) -> None:
        self.app.push_screen(LastPage(self.session))
