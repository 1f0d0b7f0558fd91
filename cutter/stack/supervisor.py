"""IO: keeps the processes running that `cutter up` started, and records them in `<state_dir>/stack.json`.

It leaves living ones alone, starts dead ones again, and reports that. `cutter down` stops only recorded ones.
"""

from __future__ import annotations

import os
import shutil
import signal
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryFile

from pydantic import TypeAdapter

from cutter import limits
from cutter.errors import Unavailable
from cutter.stack.processes import Process, alive, end, held, send, until


@dataclass(frozen=True, slots=True, kw_only=True)
class Service:
    """One started process. `given` describes its inputs. If they change, the process must start again.

    `note` says what the present call did with it ("started", "had died, started again"). The record has none.
    """

    name: str
    process: Process
    address: str = ""
    version: str = ""
    how: str = ""
    given: str = ""
    note: str = ""

    @property
    def alive(self) -> bool:
        return alive(self.process)


_RECORDED = TypeAdapter(dict[str, Service])


def read(state_dir: Path) -> dict[str, Service]:
    """The services by name, including dead ones. Empty if nothing was started."""
    path = _path(state_dir)
    try:
        return _RECORDED.validate_json(path.read_bytes())
    except FileNotFoundError:
        return {}
    except ValueError as problem:
        raise Unavailable(
            f"{path} is damaged: end the processes it names by hand, then delete it", what="state"
        ) from problem


def remember(state_dir: Path, service: Service) -> None:
    _write(state_dir, {**read(state_dir), service.name: replace(service, note="")})


def forget(state_dir: Path, name: str) -> None:
    _write(state_dir, {other: service for other, service in read(state_dir).items() if other != name})


def _path(state_dir: Path) -> Path:
    return state_dir / "stack.json"


def _write(state_dir: Path, services: Mapping[str, Service]) -> None:
    """Write a new file and rename it. So a crash leaves the whole old record or the whole new one."""
    path = _path(state_dir)
    path.parent.mkdir(parents=True, exist_ok=True)
    draft = path.with_suffix(".new")
    with draft.open("wb") as file:
        file.write(_RECORDED.dump_json(dict(services), indent=1))
        file.flush()
        os.fsync(file.fileno())
    draft.replace(path)


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
    known = read(state_dir).get(name)
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
        remember(state_dir, service)
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
    known = [service for name, service in read(state_dir).items() if name in names]
    running = [service for service in known if service.alive]
    for service in running:
        send(service.process, signal.SIGTERM)
    until(lambda: not any(service.alive for service in running), seconds=seconds)
    for service in known:
        if service.alive and not end(service.process, ask=signal.SIGKILL, seconds=limits.KILL_SECONDS):
            pid = service.process.pid
            raise Unavailable(f"{service.name} (process {pid}) does not end: end it by hand", what="stack")
        forget(state_dir, service.name)
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
