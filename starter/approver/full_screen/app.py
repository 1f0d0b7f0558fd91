"""IO: the application of a signing session: its first page, its style, how it is left, which keys come too early."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from contextlib import suppress
from time import monotonic
from typing import ClassVar

from textual import events
from textual.app import App
from textual.binding import Binding, BindingType
from textual.notifications import SeverityLevel
from textual.screen import Screen

from cutter.domain.visible import visible_line
from cutter.errors import CutterError
from cutter.limits import EARLY_KEY_SECONDS, QUIET_AFTER_EARLY_KEY_SECONDS, REQUESTS_LOOK_SECONDS
from starter.approver.decisions import restored
from starter.approver.full_screen.choices import Deciding
from starter.approver.full_screen.last_page import LastPage
from starter.approver.full_screen.notice import Notice
from starter.approver.full_screen.page_keys import PageKeys
from starter.approver.full_screen.prompts import Question
from starter.approver.full_screen.request_list import LEAVES, RequestList
from starter.approver.session import Session


class SigningApp(App[bool]):
    """Ends with True after the approver confirmed the last page, and with None if they left. The decisions are kept in
    both cases.
    """

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
        """Say something on the page's own line, in place of what was said before. A dialog has no such line: the page
        below it says it.
        """
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
