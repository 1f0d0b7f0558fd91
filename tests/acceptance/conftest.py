"""Fixtures: one stack of real processes a test process, with an approver in its policy."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.support.processes import Stack, stack

QUICK = {
    "CUTTER_HEARTBEAT_TIMEOUT_SECONDS": "3",
    "CUTTER_RETRY_DELAYS_SECONDS": "[1, 2, 3, 4]",
    "CUTTER_LANE_WAIT_SECONDS": "0.5",
}
"""Waits of seconds and minutes, shrunk; pinned in each run at its start."""


@pytest.fixture(scope="session")
def _made() -> Iterator[Stack]:
    with stack("cx", **QUICK) as made:
        made.up()
        made.approver()
        yield made


@pytest.fixture
def standing(_made: Stack) -> Stack:
    """The stack that the tests of this process share, up and healthy whatever the test before did to it."""
    _made.up()
    return _made
