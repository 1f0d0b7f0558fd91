"""IO: makes files and folders that only their owner may read, with any umask of the shell."""

from __future__ import annotations

import os
import stat
from pathlib import Path

FILE, FOLDER = 0o600, 0o700


def make_folder(path: Path) -> None:
    """Make a folder and the missing folders above it. An existing folder keeps its mode."""
    for each in reversed([path, *path.parents]):
        if not each.exists():
            each.mkdir(mode=FOLDER, exist_ok=True)


def own_folder(path: Path) -> None:
    """Make a folder that only cutter uses. An existing folder is closed to other users too."""
    make_folder(path)
    path.chmod(FOLDER)


def write(path: Path, data: bytes) -> None:
    """Write a file. An existing file is closed to other users too. Raises OSError."""
    with open(path, "wb", opener=opener) as file:
        # The name can be a pipe or a device. cutter must not change their modes.
        if stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            os.fchmod(file.fileno(), FILE)
        file.write(data)


def replace(path: Path, data: bytes) -> None:
    """Put a whole new file in the place of another one, so that a process that reads it meanwhile sees no half file."""
    draft = path.with_name(f".{path.name}.{os.getpid()}")
    write(draft, data)
    draft.replace(path)


def opener(path: str, flags: int) -> int:
    """An opener for `open`. Only the owner may read a file that it makes."""
    return os.open(path, flags, FILE)
