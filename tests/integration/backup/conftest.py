"""IO: one cluster and one key a session, a database of the real schema a test."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from tests.integration.backup import rig as parts


@pytest.fixture(scope="session")
def server() -> Iterator[parts.Server]:
    with parts.server() as made:
        yield made


@pytest.fixture(scope="session")
def home() -> Iterator[parts.Home]:
    with parts.new_home() as made:
        yield made


@pytest.fixture(scope="session")
def other_home() -> Iterator[parts.Home]:
    with parts.new_home() as made:
        yield made


@pytest.fixture(scope="session")
def shared(server: parts.Server, home: parts.Home) -> Iterator[parts.Rig]:
    with parts.rig(server, home) as made:
        yield made


@pytest.fixture
def rig(shared: parts.Rig) -> Iterator[parts.Rig]:
    """Store and programs of its own, on databases that the session shares: for tests that edit no row and no table."""
    with tempfile.TemporaryDirectory(prefix="ca-", dir="/tmp") as folder:
        yield replace(shared, folder=Path(folder), programs={}, taken=0)


@pytest.fixture
def own(server: parts.Server, home: parts.Home) -> Iterator[parts.Rig]:
    """The same on databases of its own."""
    with parts.rig(server, home) as made:
        yield made
