"""What cutter writes for its owner alone is closed to others, whatever the umask is."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from cutter.storage import private


@pytest.fixture(autouse=True)
def _open_umask() -> Iterator[None]:
    before = os.umask(0)
    yield
    os.umask(before)


def mode(path: Path) -> int:
    return path.stat().st_mode & 0o777


def test_a_new_file_and_the_folders_above_it_are_the_owners_alone(tmp_path: Path) -> None:
    private.make_folder(tmp_path / "a" / "b")
    private.write(tmp_path / "a" / "b" / "c", b"text")
    assert [mode(tmp_path / name) for name in ("a", "a/b", "a/b/c")] == [0o700, 0o700, 0o600]
    assert (tmp_path / "a/b/c").read_bytes() == b"text"


def test_a_file_that_was_open_to_others_is_closed_when_it_is_written_again(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"longer than before")
    private.write(tmp_path / "file", b"text")
    assert (mode(tmp_path / "file"), (tmp_path / "file").read_bytes()) == (0o600, b"text")


def test_a_folder_of_ours_is_closed_and_one_of_others_is_left_alone(tmp_path: Path) -> None:
    for name in ("ours", "theirs"):
        (tmp_path / name).mkdir(mode=0o755)
    private.own_folder(tmp_path / "ours")
    private.make_folder(tmp_path / "theirs")
    assert [mode(tmp_path / name) for name in ("ours", "theirs")] == [0o700, 0o755]


def test_a_device_that_somebody_names_keeps_its_mode() -> None:
    before = mode(Path("/dev/null"))
    private.write(Path("/dev/null"), b"text")
    assert mode(Path("/dev/null")) == before
