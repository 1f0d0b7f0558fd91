"""IO: sends heartbeats from a separate thread, also while a subprocess or a statement runs."""

from __future__ import annotations

import contextvars
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from temporalio import activity

BEATS_A_TIMEOUT = 4
"""Heartbeats within one heartbeat timeout."""


@contextmanager
def beating() -> Iterator[None]:
    """Send heartbeats until the block ends. So Temporal notices a dead worker in seconds and not only at the cap."""
    timeout = activity.info().heartbeat_timeout
    if timeout is None or timeout.total_seconds() <= 0:
        yield
        return
    done = threading.Event()
    context = contextvars.copy_context()

    def beat() -> None:
        while not done.wait(timeout.total_seconds() / BEATS_A_TIMEOUT):
            # The event loop of a busy worker may be late with one heartbeat. The activity and its heartbeats continue.
            with suppress(TimeoutError):
                context.run(activity.heartbeat)

    thread = threading.Thread(target=beat, name="heartbeat", daemon=True)
    thread.start()
    try:
        yield
    finally:
        done.set()
        thread.join()
