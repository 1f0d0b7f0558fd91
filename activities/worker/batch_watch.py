"""IO: a worker's view of a batch, kept from one step to the next and refreshed by the changes that PostgreSQL names.

To look at a whole batch costs as much as the batch has documents. So the worker looks at the whole batch rarely, and in
between reads only the documents that have changed.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from time import monotonic

import psycopg

from cutter import limits
from cutter.batch.view import BatchView
from cutter.catalogue import Role
from cutter.errors import CutterError
from cutter.settings import Settings
from cutter.storage import batch_views
from cutter.storage.faults import translated
from cutter.storage.pools import Connection, connect


@dataclass(slots=True, kw_only=True)
class Watch:
    """The view of one batch, and a connection that hears of its changes. One step uses it at a time."""

    batch_id: str
    connection: Connection
    changed: set[str] = field(default_factory=set)
    """The documents that have changed since the view was read."""
    view: BatchView | None = None
    """None if the whole batch must be read."""
    whole_again: float = 0.0
    """When the whole batch is due again, in the time of `monotonic`."""

    def seen(self, connection: Connection, *, whole: bool = False) -> BatchView:
        """The batch now. It is read over `connection`, which holds the batch's lock. Some facts change without a
        notification, such as an approval that expires, so the whole batch is read now and then.
        """
        self.hear(0)
        view, documents = self.view, sorted(self.changed)
        # Until the new view is read, there is none: a failure must not leave one that lacks these changes.
        self.view, self.changed = None, set()
        if whole or view is None or monotonic() > self.whole_again:
            began = monotonic()
            view = batch_views.in_parts(connection, self.batch_id)
            pause = limits.WHOLE_LOOK_SHARE * (monotonic() - began)
            self.whole_again = monotonic() + max(pause, limits.STEER_POLL_SECONDS)
        else:
            view = view.with_newer(batch_views.view(connection, self.batch_id, documents))
        self.view = view
        return view

    def touch(self, documents: Iterable[str]) -> None:
        """Read these documents at the next look, because this step has changed them."""
        self.changed.update(documents)

    def hear(self, seconds: float) -> bool:
        """Wait for a notification about the batch, at most this long. True if there was one."""
        own = self._named(seconds)
        self.changed.update(filter(None, own))
        if "" in own or len(self.changed) > limits.BATCH_PART_ITEMS:
            # The batch itself has changed, for example because people resumed it, or most of its documents have.
            self.view, self.changed = None, set()
        return bool(own)

    def _named(self, seconds: float) -> list[str]:
        """What the notifications name: a document of the batch, or an empty text for the batch itself."""
        payloads: list[str] = []
        with translated():
            while some := [one.payload for one in self.connection.notifies(timeout=seconds, stop_after=1)]:
                payloads += some
                seconds = 0
        parts = (one.partition(" ") for one in payloads)
        return [document_id for batch_id, _, document_id in parts if batch_id == self.batch_id]

    def close(self) -> None:
        """Stop hearing of changes."""
        with suppress(psycopg.Error):
            self.connection.close()


@dataclass(slots=True)
class Watches:
    """The watches of one worker that no step uses now. If no step takes a watch in time, it is closed, because a
    connection that hears but does not read fills the server's notification queue.
    """

    _lock: threading.Lock = field(default_factory=threading.Lock)
    _kept: dict[str, tuple[Watch, threading.Timer]] = field(default_factory=dict)

    @contextmanager
    def watching(self, settings: Settings, batch_id: str) -> Iterator[Watch]:
        """The watch of a batch for the steps of a block. After a failure it is closed, since its view may be wrong."""
        watch = self._taken(batch_id) or _opened(settings, batch_id)
        try:
            yield watch
        except BaseException:
            watch.close()
            raise
        self._keep(watch)

    def close(self) -> None:
        """Close every watch."""
        with self._lock:
            kept, self._kept = self._kept, {}
        for watch, timer in kept.values():
            timer.cancel()
            watch.close()

    def _taken(self, batch_id: str) -> Watch | None:
        watch = self._removed(batch_id)
        if watch is None:
            return None
        try:
            watch.hear(0)
        except CutterError:
            # The connection is broken, so changes may have gone unheard.
            watch.close()
            return None
        return watch

    def _removed(self, batch_id: str) -> Watch | None:
        with self._lock:
            watch, timer = self._kept.pop(batch_id, (None, None))
        if timer is not None:
            timer.cancel()
        return watch

    def _keep(self, watch: Watch) -> None:
        timer = threading.Timer(limits.WATCH_KEPT_SECONDS, self._expire, (watch,))
        timer.daemon = True
        with self._lock:
            before = self._kept.pop(watch.batch_id, None)
            self._kept[watch.batch_id] = watch, timer
        timer.start()
        if before is not None:
            before[1].cancel()
            before[0].close()

    def _expire(self, watch: Watch) -> None:
        with self._lock:
            if self._kept.get(watch.batch_id, (None,))[0] is not watch:
                return
            del self._kept[watch.batch_id]
        watch.close()


def _opened(settings: Settings, batch_id: str) -> Watch:
    connection = connect(settings, Role.READ.value)
    connection.execute("listen cutter_batch")
    return Watch(batch_id=batch_id, connection=connection)
