"""A file that a command cannot write: a full disk is no wrong name."""

from __future__ import annotations

from pathlib import Path

import pytest

from cutter.errors import InvalidInput, Unavailable
from starter.console.terminal import output, write_out


def test_a_full_disk_is_an_outage_and_not_a_wrong_name() -> None:
    full = Path("/dev/full")
    with (
        pytest.raises(Unavailable, match=r"--out /dev/full: No space left on device: make room"),
        output(full),
        full.open("w", encoding="utf-8") as stream,
    ):
        stream.write("text")


def test_a_folder_that_is_missing_is_a_wrong_name(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="name a file in a folder that exists and can be written"):
        write_out(tmp_path / "missing" / "file", tmp_path, b"")
