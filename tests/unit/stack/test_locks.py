"""One command at a time in a state folder."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from cutter.errors import Unavailable
from cutter.stack.processes import held

HOLDER = """
import sys
from pathlib import Path
from cutter.stack.processes import held
with held(Path(sys.argv[1]), seconds=0, busy="busy"):
    print("held", flush=True)
    sys.stdin.read()
"""


def test_the_second_holder_is_told(tmp_path: Path) -> None:
    lock = tmp_path / "folder" / "lock"
    with (
        held(lock, seconds=0, busy="busy"),
        pytest.raises(Unavailable, match="somebody works here"),
        held(lock, seconds=0, busy="somebody works here"),
    ):
        pytest.fail("both hold it")


def test_it_is_free_again_afterwards(tmp_path: Path) -> None:
    taken = 0
    for _ in range(2):
        with held(tmp_path / "lock", seconds=0, busy="busy"):
            taken += 1
    assert taken == 2


def test_it_dies_with_its_holder(tmp_path: Path) -> None:
    lock = tmp_path / "lock"
    holder = subprocess.Popen([sys.executable, "-c", HOLDER, str(lock)], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert holder.stdout is not None
    assert holder.stdout.readline() == b"held\n"
    with pytest.raises(Unavailable), held(lock, seconds=0, busy="busy"):
        pytest.fail("both hold it")
    holder.kill()
    holder.communicate()
    with held(lock, seconds=0, busy="busy"):
        pass


def test_a_process_started_inside_does_not_keep_it(tmp_path: Path) -> None:
    lock = tmp_path / "lock"
    with held(lock, seconds=0, busy="busy"):
        child = subprocess.Popen([sys.executable, "-c", "import sys; sys.stdin.read()"], stdin=subprocess.PIPE)
    with held(lock, seconds=0, busy="busy"):
        assert child.poll() is None
    child.kill()
    child.communicate()
