"""IO: checks that the folders of a deployment are writable, before a program starts in them."""

from __future__ import annotations

import os
from pathlib import Path
from tempfile import TemporaryFile

from cutter.errors import Unavailable


def make_writable(state_dir: Path) -> None:
    """Make the state folder and write into it once. Raises Unavailable with the obstacle."""
    try:
        state_dir.mkdir(parents=True, exist_ok=True)
        with TemporaryFile(dir=state_dir):
            pass
    except OSError as problem:
        raise Unavailable(
            f"{reason(state_dir, problem)}: correct that, or set CUTTER_STATE_DIR", what="state"
        ) from None


def reason(folder: Path, problem: OSError) -> str:
    """A sentence with the folder that cannot be written, and the reason."""
    return f"cannot write in {folder} ({problem.strerror or problem})"


def is_writable(folder: Path) -> bool:
    """True if this user may write into a folder, or may make a missing one. This function makes nothing."""
    while not folder.exists() and folder != folder.parent:
        folder = folder.parent
    return folder.is_dir() and os.access(folder, os.W_OK | os.X_OK)
