"""IO: temporary folders of keyrings. They go with their owner, and with the process, which ends without finalizers."""

from __future__ import annotations

import shutil
import tempfile
import weakref
from pathlib import Path

_ALIVE: list[weakref.finalize[..., object]] = []


def folder() -> Path:
    """A new folder (mode 0700) with a path that is short enough for an agent's socket."""
    return Path(tempfile.mkdtemp(prefix="cg-"))


def remove_with(owner: object, made: Path) -> None:
    """Remove the folder when its owner is gone, at the latest by `remove_all`."""
    _ALIVE[:] = [one for one in _ALIVE if one.alive]
    _ALIVE.append(weakref.finalize(owner, shutil.rmtree, made, ignore_errors=True))


def remove_all() -> None:
    """Remove all that is left; the last thing that a process does with gpg."""
    for one in _ALIVE:
        one()
