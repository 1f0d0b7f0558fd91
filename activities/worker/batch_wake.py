"""IO: lets a batch's workflow look at its documents again, because one of them has changed after the batch ended or
paused.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable

import structlog
from temporalio.client import Client

from cutter.errors import CutterError
from temporal import batches

log = structlog.get_logger()


def waking(client: Client, loop: asyncio.AbstractEventLoop, worker: str) -> Callable[[str], None]:
    """The function that an activity's thread calls. A failure is only logged, because the change is recorded and the
    reconciler finds the batch.
    """

    def wake(batch_id: str) -> None:
        started = asyncio.run_coroutine_threadsafe(batches.start(client, batch_id, worker, adopt=False), loop)
        try:
            # The time for which a worker tries to wake a batch after one of its documents has changed.
            started.result(10)
        except (CutterError, TimeoutError) as problem:
            log.warning("batch.not_woken", batch_id=batch_id, reason=str(problem) or type(problem).__name__)

    return wake
