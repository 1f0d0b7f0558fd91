"""IO: a worker's view of a batch, kept from one step to the next and refreshed by the changes that PostgreSQL names.

To look at a whole batch costs as much as the batch has documents. So the worker looks at the whole batch rarely, and in
between reads only the documents that have changed. If a document changes after its batch has ended or paused, the
worker wakes the workflow of the batch.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from time import monotonic

import psycopg
import structlog
from temporalio.client import Client

from cutter import limits
from cutter.batch.view import BatchView
from cutter.catalogue import Role
from cutter.errors import CutterError
from cutter.settings import Settings
from cutter.storage import batch_views
from cutter.storage.pools import connect, translated
from cutter.storage.records import Connection
from temporal import batches


@dataclass(slots=True, kw_only=True)
class Watch:
    """The view of one batch, and a connection that hears of its changes. One step uses it at a time."""

    batch_id: str
    connection: Connection
    opened: float = field(default_factory=monotonic)
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
        view, documents = self.view, sorted(self.changed)
        # Until the new view is read, there is none: a failure must not leave one that lacks these changes.
        self.view, self.changed = None, set()
        many = len(documents) > limits.BATCH_PART_ITEMS
        if whole or many or view is None or monotonic() > self.whole_again:
            view = None  # so that a batch of thousands is not in memory twice
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
        own: set[str] = set()
        with translated():
            # Any role can notify without end. What is not read now is read later.
            for _ in range(limits.WATCH_READS):
                some = [notify.payload for notify in self.connection.notifies(timeout=seconds, stop_after=1)]
                if not some:
                    break
                parts = (payload.partition(" ") for payload in some)
                own |= {document_id for batch_id, _, document_id in parts if batch_id == self.batch_id}
                seconds = 0
        self.changed |= own
        if "" in own:
            # The batch itself has changed, for example because people resumed it.
            self.view = None
        return bool(own)

    def close(self) -> None:
        """Stop hearing of changes."""
        with suppress(psycopg.Error):
            self.connection.close()


@dataclass(slots=True)
class Watches:
    """The watches of one worker, at most `BATCH_SLOTS`. A watch that no step takes in time is closed, because it would
    fill the server's notification queue.
    """

    _lock: threading.Lock = field(default_factory=threading.Lock)
    _kept: dict[str, tuple[Watch, threading.Timer]] = field(default_factory=dict)
    """The watches that no step uses now, the oldest first."""
    _used: int = 0

    @contextmanager
    def watching(self, settings: Settings, batch_id: str) -> Iterator[Watch]:
        """The watch of a batch for the steps of a block. After a failure it is closed, since its view may be wrong."""
        with self._place(batch_id) as kept:
            if kept is not None and _is_usable(kept):
                watch = kept
            else:
                connection = connect(settings, Role.READ)
                connection.execute("listen cutter_batch")
                watch = Watch(batch_id=batch_id, connection=connection)
            try:
                yield watch
            except BaseException:
                watch.close()
                raise
            timer = threading.Timer(limits.WATCH_KEPT_SECONDS, self._expire, (watch,))
            timer.daemon = True
            with self._lock:
                before = self._kept.pop(batch_id, None)
                timer.start()
                self._kept[batch_id] = watch, timer
            _end([before] if before is not None else [])

    def close(self) -> None:
        """Close every watch."""
        with self._lock:
            kept, self._kept = self._kept, {}
        _end(kept.values())

    @contextmanager
    def _place(self, batch_id: str) -> Iterator[Watch | None]:
        """Count one more watch as used for a block. Gives the watch that was kept of this batch."""
        with self._lock:
            kept = self._kept.pop(batch_id, None)
            full = kept is None and self._used + len(self._kept) >= limits.BATCH_SLOTS
            # The oldest watch makes room for another connection.
            others = [self._kept.pop(next(iter(self._kept)))] if full and self._kept else []
            self._used += 1
        _end(others)
        if kept is not None:
            kept[1].cancel()
        try:
            yield kept[0] if kept is not None else None
        finally:
            with self._lock:
                self._used -= 1

    def _expire(self, watch: Watch) -> None:
        with self._lock:
            if self._kept.get(watch.batch_id, (None,))[0] is not watch:
                return
            del self._kept[watch.batch_id]
        watch.close()


def _is_usable(watch: Watch) -> bool:
    """True if the watch has heard everything. Else it is closed."""
    try:
        watch.hear(0)
    except CutterError:
        # The connection is broken, so changes may have gone unheard.
        watch.close()
        return False
    if monotonic() - watch.opened > limits.STEER_SECONDS:
        # A network can lose a connection without an error.
        watch.close()
        return False
    return True


def _end(watches: Iterable[tuple[Watch, threading.Timer]]) -> None:
    for watch, timer in watches:
        timer.cancel()
        watch.close()


log = structlog.get_logger()


def waking(client: Client, loop: asyncio.AbstractEventLoop, worker: str) -> Callable[[str], None]:
    """What an activity's thread calls. A failure is only logged, because the reconciler finds the batch too."""

    def wake(batch_id: str) -> None:
        started = asyncio.run_coroutine_threadsafe(batches.start(client, batch_id, worker, adopt=False), loop)
        try:
            # The time for which a worker tries to wake a batch after one of its documents has changed.
            started.result(10)
        except (CutterError, TimeoutError) as problem:
            log.warning("batch.not_woken", batch_id=batch_id, reason=str(problem) or type(problem).__name__)

    return wake
