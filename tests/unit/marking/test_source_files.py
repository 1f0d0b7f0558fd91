"""What `cutter.sources.read` takes as the file of a law."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from cutter import sources
from cutter.errors import InvalidInput


@pytest.mark.timeout(20)
def test_a_pipe_is_refused_at_once(tmp_path: Path) -> None:
    pipe = tmp_path / "law.md"
    os.mkfifo(pipe)
    with pytest.raises(InvalidInput, match="it is no regular file"):
        sources.read(pipe)


def test_a_missing_file_and_a_folder_are_named(tmp_path: Path) -> None:
    for file in (tmp_path / "none.md", tmp_path):
        with pytest.raises(InvalidInput, match="name a readable file"):
            sources.read(file)
