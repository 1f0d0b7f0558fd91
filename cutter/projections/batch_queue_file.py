"""IO: finds the folder of a batch, and reads and writes the queue.yaml in it (seed 001 §8)."""

from __future__ import annotations

from pathlib import Path

from cutter import limits
from cutter.domain.digests import sha256_hex
from cutter.projections.run_folder import replace, writable
from cutter.storage import private

ARCHIVE, QUEUE = "archive", "queue.yaml"

_QUEUE_BYTES_READ = limits.QUEUE_ITEMS_MAX // 100 * limits.QUEUE_BYTES_A_HUNDRED_ITEMS + 1
"""The bytes that cutter reads of a queue.yaml. One more than the limit, to see that a file is too large."""


def folder_of(batches: Path, batch_id: str, *, archived: bool) -> Path:
    """The path at which the folder belongs."""
    return batches / ARCHIVE / batch_id if archived else batches / batch_id


def find(batches: Path, batch_id: str) -> Path:
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
        folder = find(batches, batch_id)
        private.make_folder(folder)
        replace(folder / QUEUE, data)


def has_queue(folder: Path, sha256: str) -> bool:
    try:
        return sha256_hex(read_queue(folder / QUEUE)) == sha256
    except OSError:
        return False
