"""One world of keys and policy a test session: real keys, made once. Its clock is each test's own."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime

import pytest

from tests.cases.approval_cases import World, world


@pytest.fixture(scope="session")
def keys() -> Iterator[World]:
    with world() as made:
        yield made


@pytest.fixture
def sovereigns(keys: World) -> World:
    """The world as of now: what gpg signs in a test bears the real time, and may not lie ahead of the world's."""
    return replace(keys, now=datetime.now(tz=UTC).replace(microsecond=0))
