"""IO: one command at a time in a state folder, by an advisory file lock that dies with its holder."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from cutter.errors import Unavailable
from cutter.stack.processes import until


@contextmanager
def held(path: Path, *, seconds: float, busy: str) -> Iterator[None]:
    """Hold `path` locked; another holder for longer than `seconds` raises Unavailable with the sentence `busy`.

    The descriptor is not inherited by children, so a server started inside does not keep the lock.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        if not until(lambda: _taken(descriptor), seconds=seconds):
            raise Unavailable(busy, what="state")
        yield
    finally:
        os.close(descriptor)


def _taken(descriptor: int) -> bool:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
