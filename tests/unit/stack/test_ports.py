"""Ports: as last time, or free."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from cutter.stack import addresses


@pytest.fixture
def taken() -> Iterator[int]:
    with socket.socket() as server:
        server.bind((addresses.LOOPBACK, 0))
        server.listen()
        yield server.getsockname()[1]


def test_a_free_one_is_remembered_and_taken_again(tmp_path: Path) -> None:
    remembered = tmp_path / "folder" / "port"
    first = addresses.choose(remembered)
    assert addresses.recall(remembered) == first
    assert addresses.choose(remembered) == first


def test_a_remembered_one_that_is_taken_by_now_is_chosen_again(tmp_path: Path, taken: int) -> None:
    remembered = tmp_path / "port"
    remembered.write_text(str(taken), encoding="ascii")
    chosen = addresses.choose(remembered)
    assert chosen != taken
    assert addresses.recall(remembered) == chosen


def test_a_damaged_memory_is_no_memory(tmp_path: Path) -> None:
    (tmp_path / "port").write_text("what?", encoding="ascii")
    assert addresses.recall(tmp_path / "port") is None


def test_listening_is_seen(taken: int) -> None:
    assert addresses.listens(f"{addresses.LOOPBACK}:{taken}")
    assert not addresses.listens(f"{addresses.LOOPBACK}:{addresses.free()}")
    assert not addresses.listens("nonsense")
