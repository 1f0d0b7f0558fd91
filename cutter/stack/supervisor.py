"""IO: keeps the recorded processes running. It leaves living ones alone, starts dead ones again, and reports that."""

from __future__ import annotations

import os
import shutil
import signal
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryFile

from cutter import limits
from cutter.errors import Unavailable
from cutter.stack import records
from cutter.stack.processes import end, held, send, until
from cutter.stack.records import Service


def only_one(state_dir: Path) -> AbstractContextManager[None]:
    """Allow one `up` or `down` at a time in a state folder. The second one raises Unavailable at once."""
    return held(
        state_dir / "up.lock",
        seconds=0,
        busy=f"another `cutter up` or `cutter down` works in {state_dir}: wait for it, then try again",
    )


def ensure(
    state_dir: Path,
    name: str,
    start: Callable[[], Service],
    *,
    given: str = "",
    ready: Callable[[Service], None] | None = None,
    stop_seconds: float = limits.WORKER_STOP_SECONDS,
) -> Service:
    """The service `name`. It is started if it does not live, or if it lives with another `given` than it needs now.

    The service is recorded before it is ready, so that `down` also finds the process of an interrupted start. `ready`
    waits for the service and raises Unavailable. It is also called for a living service.
    """
    known = records.read(state_dir).get(name)
    note = "started"
    if known is not None and known.alive and known.given == given:
        service, note = known, ""
    else:
        if known is not None and known.alive:
            stop(state_dir, name, seconds=stop_seconds)
            note = "its settings have changed: started again"
        elif known is not None:
            note = f"had died (process {known.process.pid}): started again"
        service = replace(start(), given=given)
        records.remember(state_dir, service)
    if ready is not None:
        ready(service)
    return replace(service, note=note)


def stop(state_dir: Path, name: str, *, seconds: float) -> bool:
    """End one recorded process. Return False if it was not running."""
    return bool(stop_all(state_dir, [name], seconds=seconds))


def stop_all(state_dir: Path, names: Sequence[str], *, seconds: float) -> list[str]:
    """End recorded processes at the same time, remove their records, and return the names of those that were running.

    Each gets one SIGTERM, then a limited wait, then SIGKILL. A second SIGTERM would tell a worker not to finish its
    work.
    """
    known = [service for name, service in records.read(state_dir).items() if name in names]
    running = [service for service in known if service.alive]
    for service in running:
        send(service.process, signal.SIGTERM)
    until(lambda: not any(service.alive for service in running), seconds=seconds)
    for service in known:
        if service.alive and not end(service.process, ask=signal.SIGKILL, seconds=limits.KILL_SECONDS):
            pid = service.process.pid
            raise Unavailable(f"{service.name} (process {pid}) does not end: end it by hand", what="stack")
        records.forget(state_dir, service.name)
    return [service.name for service in running]


def require_disk(state_dir: Path) -> None:
    """Refuse to start on a disk that is nearly full. An existing stack needs less, so that people can read its data."""
    free, there = free_bytes(state_dir), (state_dir / "postgres").exists()
    least = limits.DISK_FREE_TO_READ_BYTES if there else limits.DISK_FREE_MIN_BYTES
    if free < least:
        needed = least // limits.MIB
        raise Unavailable(
            f"{state_dir} has {free // limits.MIB} MiB free, {needed} are needed: make room, or set CUTTER_STATE_DIR",
            what="disk",
        )


def free_bytes(folder: Path) -> int:
    """The free bytes on the disk on which `folder` is or will be."""
    while not folder.exists():
        folder = folder.parent
    return shutil.disk_usage(folder).free


def make_writable(state_dir: Path) -> None:
    """Make the state folder and write into it once. Raises Unavailable with the obstacle."""
    try:
        state_dir.mkdir(parents=True, exist_ok=True)
        with TemporaryFile(dir=state_dir):
            pass
    except OSError as problem:
        raise Unavailable(
            f"cannot write in {state_dir} ({problem.strerror or problem}): correct that, or set CUTTER_STATE_DIR",
            what="state",
        ) from None


def is_writable(folder: Path) -> bool:
    """True if this user may write into a folder, or may make a missing one. This function makes nothing."""
    while not folder.exists() and folder != folder.parent:
        folder = folder.parent
    return folder.is_dir() and os.access(folder, os.W_OK | os.X_OK)
