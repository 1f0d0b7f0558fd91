"""Pure: which tests `make test` runs, so that it proves every promise once. `make test-all` runs the others too.

A promise is a guard of campaign P24, or a line of the trace of the seeds, or what a test with the marker `promise`
proves. Of several tests that prove the same, the cheapest is run. The marker `thorough` leaves a test out, because it
takes too long for every change.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache

import pytest

from docs import trace
from tests.campaigns.guards import GUARDS

KINDS = ("unit", "property", "architecture", "golden", "packaging", "replay", "integration", "workflow", "acceptance")
"""The folders of tests, the cheapest kind first."""

CHEAP = KINDS[:6]
"""Folders whose tests are all run."""


@cache
def chosen() -> frozenset[str]:
    """Ids of tests, some without their case: the test of each guard, and the cheapest test of each line."""
    made = {f"tests/{guard.test}" for guard in GUARDS}
    for line in trace.lines():
        if made.isdisjoint(line.tests):
            made.add(min(line.tests, key=lambda test: KINDS.index(_folder(test))))
    return frozenset(made)


def mark(items: Iterable[pytest.Item]) -> None:
    """Give the marker `promise` to each test that `make test` runs."""
    for item in items:
        test = item.nodeid
        proves = _folder(test) in CHEAP or not chosen().isdisjoint((test, test.partition("[")[0]))
        if proves and item.get_closest_marker("thorough") is None:
            item.add_marker("promise")


def _folder(test: str) -> str:
    return test.split("/")[1]
