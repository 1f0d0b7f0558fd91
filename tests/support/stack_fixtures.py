"""Fixtures, for a conftest to import: Temporal and the keys of people once a process, a deployment a test."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from tests.support import stack as support
from tests.support import temporal
from tests.support.database import Database
from tests.support.stack import Kit, Stack


@pytest.fixture(scope="session")
def temporal_address() -> Iterator[str]:
    with temporal.server() as address:
        yield address


@pytest.fixture(scope="session")
def kit() -> Iterator[Kit]:
    with support.kit() as made:
        yield made


@pytest.fixture
def changed(request: pytest.FixtureRequest) -> dict[str, object]:
    """Settings that a test shrinks: `@pytest.mark.parametrize("changed", [{…}], indirect=True)`."""
    given: dict[str, object] = getattr(request, "param", {})
    return given


@pytest.fixture
async def stack(
    database: Database,
    state: Path,
    temporal_address: str,
    kit: Kit,
    changed: dict[str, object],
) -> AsyncIterator[Stack]:
    """A deployment on this test's database."""
    async with support.stack(database, state, temporal_address, kit, **changed) as made:
        yield made
