"""IO: the file that a command writes for a person."""

from __future__ import annotations

from pathlib import Path

from cutter.errors import InvalidInput
from cutter.storage import private


def write_out(out: Path | None, default: Path, data: bytes) -> Path:
    """Write to `out`, or to `default` in a private folder that is made if needed, and return the path.

    Raises InvalidInput if no file can be written there.
    """
    path = (out or default).absolute()
    try:
        if out is None:
            private.own_folder(path.parent)
        private.write(path, data)
    except OSError as problem:
        raise InvalidInput(f"--out {path}: {problem.strerror}: name a file in a folder that exists") from None
    return path
