"""IO: runs Temporal workers, ends them in bounded time, keeps no memory that nothing uses, and opens the signing key.

After a shutdown the SDK waits without a limit until the server has answered its open polls. A server that is frozen, is
cut off, or has lost such a poll never answers. So we stop waiting after no activity has run here for a while.
"""

from __future__ import annotations

import asyncio
import ctypes
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass

import structlog
from temporalio.worker import Worker

from cutter import limits
from cutter.errors import Unavailable
from cutter.gpg import Gpg
from cutter.settings import Settings

log = structlog.get_logger()


@asynccontextmanager
async def running(workers: Sequence[Worker], busy: Callable[[], bool]) -> AsyncIterator[None]:
    """Run the workers during the block, then finish their activities. `busy` says whether an activity runs here. A
    worker that fails cancels the block, and its error is raised.
    """
    block = asyncio.current_task()
    assert block is not None
    failures: list[BaseException] = []
    ending = False

    async def run(worker: Worker) -> None:
        try:
            await worker.run()
        except Exception as problem:
            failures.append(problem)
            if not ending:
                block.cancel()

    tasks = [asyncio.create_task(run(worker)) for worker in workers]
    try:
        yield
    except asyncio.CancelledError:
        if failures:
            raise failures[0] from None
        raise
    finally:
        ending = True
        if not await ended(workers, busy):
            log.warning("worker.shutdown_abandoned", after_idle_seconds=limits.SHUTDOWN_IDLE_SECONDS)
        for task in tasks:
            if not task.done():
                # A worker that was shut down ends by itself; this one is stuck in a poll.
                await asyncio.wait([task], timeout=limits.SHUTDOWN_LOOK_SECONDS)
                task.cancel()
            with suppress(asyncio.CancelledError):
                await task


async def ended(workers: Sequence[Worker], busy: Callable[[], bool]) -> bool:
    """Shut the workers down. False if the SDK still waits after nothing has run for SHUTDOWN_IDLE_SECONDS."""
    over = asyncio.gather(*(worker.shutdown() for worker in workers))
    idle = 0.0
    while not over.done() and idle < limits.SHUTDOWN_IDLE_SECONDS:
        await asyncio.wait([over], timeout=limits.SHUTDOWN_LOOK_SECONDS)
        idle = 0.0 if busy() else idle + limits.SHUTDOWN_LOOK_SECONDS
    if over.done():
        return True
    over.cancel()
    return False


M_ARENA_MAX = -8
"""The name of this limit for `mallopt`, from glibc's malloc.h."""


def limit_arenas() -> None:
    """Let all threads share `limits.ARENAS`. Call this before the first thread starts.

    Without it, glibc gives almost each thread an arena of its own, up to eight for each core. A worker has about thirty
    threads, and each arena keeps what its thread has freed. Other C libraries have no arenas, so this does nothing.
    """
    set_option = getattr(ctypes.CDLL(None), "mallopt", None)
    if set_option is not None:
        set_option(M_ARENA_MAX, limits.ARENAS)


def give_back() -> None:
    """Give free pages between used ones back to the system, which takes milliseconds. Only glibc has this call."""
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
    if trim is not None:
        trim(0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Signer:
    """This worker's own signing key (executor or verifier)."""

    gpg: Gpg
    fingerprint: str


def signer_of(settings: Settings, name: str) -> Callable[[], Signer]:
    """The key in `<keys_dir>/<name>`. It is looked up at its first use, and again after the home has changed."""
    opened: list[Gpg] = []

    def load() -> Signer:
        home = settings.key_home(name)
        if not home.is_dir():
            raise Unavailable(
                f"no {name} key at {settings.keys / name}: type",
                then="cutter up",
                rest=", or put the GnuPG home there",
                what="gpg",
            )
        if not opened:
            opened.append(Gpg(home))
        gpg = opened[0]
        fingerprints = gpg.primary_fingerprints(secret=True)
        if len(fingerprints) != 1:
            raise Unavailable(f"{home} holds {len(fingerprints)} secret keys, it must hold one", what="gpg")
        return Signer(gpg=gpg, fingerprint=fingerprints[0])

    return load
