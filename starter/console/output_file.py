"""IO: the file that a command writes for a person."""

from __future__ import annotations

import errno
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from cutter.errors import InvalidInput, Unavailable
from cutter.storage import private

FULL = (errno.ENOSPC, errno.EDQUOT)


@contextmanager
def output(path: Path | None, option: str = "--out") -> Iterator[None]:
    """Raise Unavailable if the disk is full, and InvalidInput if nothing can be written there for another reason."""
    try:
        yield
    except OSError as problem:
        where = f"{option} {path}: {problem.strerror or problem}"
        if problem.errno in FULL:
            raise Unavailable(f"{where}: make room, or name a place on another disk", what="disk") from None
        raise InvalidInput(f"{where}: name a file in a folder that exists and can be written") from None


def write_out(out: Path | None, default: Path, data: bytes) -> Path:
    """Write to `out`, or to `default` in a private folder that is made if needed, and return the path.

    Raises InvalidInput if no file can be written there, and Unavailable if the disk is full.
    """
    path = (out or default).absolute()
    with output(path):
        if out is None:
            private.own_folder(path.parent)
        private.write(path, data)
    return path
