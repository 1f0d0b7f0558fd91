"""One world of keys and policy a test session: real keys, made once."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.campaigns.approval_cases import World, world


@pytest.fixture(scope="session")
def sovereigns() -> Iterator[World]:
    with world() as made:
        yield made
