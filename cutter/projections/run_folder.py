"""IO: writes a run's folder, and finds the folder of a batch with its queue.yaml. One call rebuilds a run's folder.

The writer of a folder holds the lock `state.lock` (POSIX fcntl), so that two hosts that share the folder do not write
at the same time. If it does not get the lock in time, it raises STOP_RUN_BUSY and leaves the database unaffected (spec
"Resume, void, amend"). If the artifact store is the runs folder, which is the default, the folder of a run also has the
backup as `pre_write.gpg`.
"""

from __future__ import annotations

import errno
import fcntl
import json
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

from cutter import limits
from cutter.domain.digests import sha256_hex
from cutter.domain.run_record import RunSidecar
from cutter.errors import Refused, Unavailable
from cutter.projections import state_file as projection
from cutter.storage import private

STATE, TRANSITIONS, LOCK = "state.json", "transitions.jsonl", "state.lock"


def write(
    runs: Path,
    run_id: str,
    sidecar: RunSidecar,
    documents: Mapping[str, bytes] = {},
    *,
    lock_seconds: float = limits.STATE_LOCK_SECONDS,
) -> Path:
    """Write the projection of one run and return its folder. `documents` are further files by name.

    Raises Refused (STOP_RUN_BUSY) if another process holds the lock, and Unavailable (what="run_folder") if the disk
    refuses the write. Each file is always the whole old file or the whole new file.
    """
    folder = runs / run_id
    files = {STATE: projection.render_state(sidecar), TRANSITIONS: projection.render_transitions(sidecar), **documents}
    with writable(folder):
        private.make_folder(folder)
        with locked(folder / LOCK, run_id, lock_seconds):
            for name, data in files.items():
                replace(folder / name, data)
    return folder


def read_state(runs: Path, run_id: str) -> dict[str, Any]:
    """The present state.json. Empty if there is none, or if it is not a JSON object."""
    try:
        value = json.loads((runs / run_id / STATE).read_bytes())
    except (OSError, ValueError):
        return {}
    return value if isinstance(value, dict) else {}


@contextmanager
def writable(folder: Path) -> Iterator[None]:
    """Turn an OSError of the block into Unavailable (what="run_folder")."""
    try:
        yield
    except OSError as problem:
        reason = errno.errorcode.get(problem.errno or 0, type(problem).__name__)
        raise Unavailable(
            f"{folder} cannot be written ({reason}): make room or bring it back", what="run_folder"
        ) from None


_in_this_process = threading.Lock()
"""A lock between threads. A POSIX lock belongs to the whole process, and closing any of its files releases it."""


@contextmanager
def locked(path: Path, name: str, seconds: float) -> Iterator[None]:
    """Hold a POSIX lock. `name` is the run or batch whose folder it guards. Raises STOP_RUN_BUSY after `seconds`."""
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
    """Write a whole file, or leave the old file as it is."""
    if path.exists() and path.read_bytes() == data:
        return
    private.replace(path, data)


ARCHIVE, QUEUE = "archive", "queue.yaml"

_QUEUE_BYTES_READ = limits.QUEUE_ITEMS_MAX // 100 * limits.QUEUE_BYTES_A_HUNDRED_ITEMS + 1
"""The bytes that cutter reads of a queue.yaml. One more than the limit, to see that a file is too large."""


def folder_of(batches: Path, batch_id: str, *, archived: bool) -> Path:
    """The path at which the folder belongs."""
    return batches / ARCHIVE / batch_id if archived else batches / batch_id


def find_batch(batches: Path, batch_id: str) -> Path:
    """The present path of the folder. If there is no folder, the path at which it would be made."""
    archived = folder_of(batches, batch_id, archived=True)
    here = folder_of(batches, batch_id, archived=False)
    return archived if archived.is_dir() and not here.is_dir() else here


def read_queue(path: Path) -> bytes:
    """The bytes of a queue.yaml. Of a file that is too large, only one byte more than the limit. Raises OSError."""
    with path.open("rb") as file:
        return file.read(_QUEUE_BYTES_READ)


def keep_queue(batches: Path, batch_id: str, data: bytes) -> None:
    """Write queue.yaml into the batch's folder (seed 001 §8)."""
    with writable(batches):
        folder = find_batch(batches, batch_id)
        private.make_folder(folder)
        replace(folder / QUEUE, data)


def has_queue(folder: Path, sha256: str) -> bool:
    try:
        return sha256_hex(read_queue(folder / QUEUE)) == sha256
    except OSError:
        return False
