"""IO: a run's folder: state.json, transitions.jsonl, phase reports. A projection: one call rebuilds it.

The writer holds `state.lock` (POSIX fcntl) so that two hosts that share the folder do not interleave; a lock not had in
time is STOP_RUN_BUSY and leaves the database unaffected (spec "Resume, void, amend"). The backup is there too, as
`pre_write.gpg`, where the artifact store is the runs folder (the default).
"""

from __future__ import annotations

import errno
import fcntl
import json
import os
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

from cutter import limits
from cutter.errors import Refused, Unavailable
from cutter.projections import state_file as projection

STATE, TRANSITIONS, LOCK = "state.json", "transitions.jsonl", "state.lock"


def write(
    runs: Path,
    run_id: str,
    sidecar: dict[str, Any],
    documents: Mapping[str, bytes] = {},
    *,
    lock_seconds: float = limits.STATE_LOCK_SECONDS,
) -> Path:
    """Write the projection of one run; `documents` are further files by name. Returns the folder.

    Raises Refused (STOP_RUN_BUSY) when another process holds the lock, Unavailable (what="run_folder") when the disk
    does not take it; each file is the old one or the new one, never a part.
    """
    folder = runs / run_id
    files = {STATE: projection.render_state(sidecar), TRANSITIONS: projection.render_transitions(sidecar), **documents}
    with writable(folder):
        folder.mkdir(parents=True, exist_ok=True)
        with locked(folder / LOCK, run_id, lock_seconds):
            for name, data in files.items():
                replace(folder / name, data)
    return folder


def read_state(runs: Path, run_id: str) -> dict[str, Any]:
    """The present state.json; empty when there is none or it is no JSON object."""
    try:
        value = json.loads((runs / run_id / STATE).read_bytes())
    except (OSError, ValueError):
        return {}
    return value if isinstance(value, dict) else {}


@contextmanager
def writable(folder: Path) -> Iterator[None]:
    """What the disk does not take inside is Unavailable (what="run_folder")."""
    try:
        yield
    except OSError as problem:
        reason = errno.errorcode.get(problem.errno or 0, type(problem).__name__)
        raise Unavailable(
            f"{folder} cannot be written ({reason}): make room or bring it back", what="run_folder"
        ) from None


_in_this_process = threading.Lock()
"""A POSIX lock is the process's: it does not keep threads apart, and closing any of its files gives it up."""


@contextmanager
def locked(path: Path, name: str, seconds: float) -> Iterator[None]:
    """Hold a POSIX lock; `name` is whose folder it guards. STOP_RUN_BUSY when it is not had in time."""
    busy = Refused(f"another process writes the folder of {name}: try again", code="STOP_RUN_BUSY")
    deadline = time.monotonic() + seconds
    if not _in_this_process.acquire(timeout=seconds):
        raise busy
    try:
        with path.open("a") as file:
            while not _taken(file):
                if time.monotonic() > deadline:
                    raise busy
                time.sleep(limits.POLL_SECONDS)
            yield
    finally:
        _in_this_process.release()


def _taken(file: IO[str]) -> bool:
    try:
        fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except (BlockingIOError, PermissionError):
        return False
    return True


def replace(path: Path, data: bytes) -> None:
    """Write a file whole, or leave the old one."""
    if path.exists() and path.read_bytes() == data:
        return
    temporary = path.with_name(f".{path.name}.{os.getpid()}")
    temporary.write_bytes(data)
    temporary.replace(path)
