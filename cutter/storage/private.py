"""IO: files and folders that their owner alone may read, whatever the umask of the shell is."""

from __future__ import annotations

import os
import stat
from pathlib import Path

FILE, FOLDER = 0o600, 0o700


def make_folder(path: Path) -> None:
    """Make a folder and those above it that are missing. A folder that exists keeps its mode."""
    for each in reversed([path, *path.parents]):
        if not each.exists():
            each.mkdir(mode=FOLDER, exist_ok=True)


def own_folder(path: Path) -> None:
    """The same for a folder that is cutter's alone: one that exists is closed to others too."""
    make_folder(path)
    path.chmod(FOLDER)


def write(path: Path, data: bytes) -> None:
    """Write a file; one that exists is closed to others too. Raises OSError."""
    with open(path, "wb", opener=opener) as file:
        # A pipe or a device that somebody names is not ours to close.
        if stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            os.fchmod(file.fileno(), FILE)
        file.write(data)


def opener(path: str, flags: int) -> int:
    """For `open`: a file that it makes is its owner's alone."""
    return os.open(path, flags, FILE)
