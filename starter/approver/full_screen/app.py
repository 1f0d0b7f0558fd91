"""IO: a signing session that fills the terminal: a list of requests, a reader for each, and a last page.

It only decides. Each decision goes to the session's journal. The statements are signed after the screen is left,
because the approver's gpg may need the terminal to ask for a passphrase.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from contextlib import suppress
from time import monotonic
from typing import ClassVar

from textual import events
from textual.app import App, ComposeResult
from textual.binding import Binding, BindingType
from textual.notifications import SeverityLevel
from textual.screen import Screen
from textual.widgets import DataTable, Footer, Static

from cutter.domain.visible import visible_line
from cutter.errors import CutterError
from cutter.limits import EARLY_KEY_SECONDS, QUIET_AFTER_EARLY_KEY_SECONDS, REQUESTS_LOOK_SECONDS
from starter.approver.full_screen.pages import ALL_KEYS, Deciding, LastPage, Notice, PageKeys, Question
from starter.approver.full_screen.request_reader import RequestReader
from starter.approver.session import Choice, Session, restored
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
        super().__init__(session)
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


class SigningApp(App[bool]):
    """Ends with True after the last page was confirmed, and with None if the approver left."""

    CSS_PATH = "style.tcss"
    ENABLE_COMMAND_PALETTE = False
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("ctrl+c", "quit", "Leave", tooltip=LEAVES, key_display="Ctrl-C", priority=True, show=False),
        Binding("ctrl+q", "quit", "Leave", tooltip=LEAVES, key_display="Ctrl-Q", priority=True, show=False),
    ]

    def __init__(self, session: Session, *, clock: Callable[[], float] = monotonic) -> None:
        """`clock` gives the seconds at which a page opens. Each key carries the seconds at which it was typed."""
        super().__init__()
        self.session = session
        self._clock = clock
        self.page_open_since = math.inf
        """The time when the shown page or dialog was drawn. Infinite until then."""
        self._quiet_until = -math.inf
        """Until then, a letter may belong to a text that was typed for a dialog whose key came too early."""

    async def on_event(self, event: events.Event) -> None:
        """Ignore a decision that was typed before the approver could see the request that it is about.

        This method gets each key twice: when it is typed, and again if the widget with the focus did not use it. In
        between a new page may have opened.
        """
        if isinstance(event, events.Key) and self._comes_too_early(event):
            key = event.key.capitalize() if len(event.key) > 1 else event.key
            self.notify(f"{key} came before this page was open: wait a second and press it again", timeout=1)
            return
        if isinstance(event, events.Key):
            self.notify("")
        await super().on_event(event)

    def notify(
        self, message: str, *, severity: SeverityLevel = "information", timeout: float | None = None, **_: object
    ) -> None:
        """Say something on the page's own line. A dialog has no such line: the page below it says it."""
        for page in reversed(self.screen_stack):
            for notice in page.query(Notice):
                notice.say(message, severity, timeout)
                return

    def _comes_too_early(self, key: events.Key) -> bool:
        page = self.screen
        decides = isinstance(page, Deciding | LastPage | Question) and key.key in page.decision_keys
        early = decides and key.time < self.page_open_since + EARLY_KEY_SECONDS
        follows = not isinstance(page, Question) and key.time < self._quiet_until
        if early or follows:
            self._quiet_until = key.time + QUIET_AFTER_EARLY_KEY_SECONDS
        return decides and (early or follows)

    def _page_changes(self, page: Screen[object]) -> None:
        self.page_open_since, self._quiet_until = math.inf, -math.inf
        page.call_after_refresh(self._page_opens, page)

    def _page_opens(self, page: Screen[object]) -> None:
        if page is self.screen:
            self.page_open_since = self._clock()

    def action_page_keys(self) -> None:
        self.push_screen(PageKeys(self.screen))

    def look(self) -> None:
        """Ask which requests still wait, without making the approver wait for the answer."""
        self.run_worker(self._look, thread=True, exclusive=True)

    def _look(self) -> None:
        with suppress(
            CutterError
        ):  # Without an answer, the session shows what it knew. It looks again before it signs.
            self.call_from_thread(self._seen, self.session.look())

    def _seen(self, gone: Mapping[str, str]) -> None:
        """Say which requests no longer wait, and draw the open pages again."""
        before, self.session.gone = self.session.gone, gone
        if gone == before:
            return
        for page in self.screen_stack:
            if isinstance(page, Deciding | LastPage):
                page.draw()
        news = [request for request in self.session.gone_requests() if before.get(request.key) != gone[request.key]]
        if news:
            more = f", and {len(news) - 1} more" if len(news) > 1 else ""
            message = f"{news[0].name} no longer waits: {gone[news[0].key]}{more}"
            self.notify(visible_line(message), severity="warning")

    async def on_mount(self) -> None:
        self.screen_change_signal.subscribe(self, self._page_changes, immediate=True)
        # A page says nothing before its parts are there.
        await self.push_screen(RequestList(self.session))
        message = restored(self.session.journal.ledger)
        if message:
            self.notify(message)
        self.set_interval(REQUESTS_LOOK_SECONDS, self.look)
