"""IO: lets one command at a time work in a state folder, with an advisory file lock that ends with its process."""

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
    """Hold the lock of `path`. If another process holds it for `seconds`, raise Unavailable with the sentence `busy`.

    Child processes do not inherit the descriptor, so a server that is started inside does not keep the lock.
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
