"""Pure: which tests `make test` runs, so that it proves every promise once. `make test-all` runs the others too.

A promise is a guard of campaign P24, or a line of the trace of the seeds, or what a test with the marker `promise`
proves. Tests of the cheap folders are all run, except those with the marker `thorough`, which take too long for every
change.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache

import pytest

from docs import trace
from tests.campaigns.guards import GUARDS

CHEAP = ("unit", "property", "architecture", "golden", "packaging", "replay")
REAL_PARTS = ("integration", "workflow", "acceptance")
"""Folders whose tests run on PostgreSQL, Temporal and gpg, the cheapest first."""


@cache
def chosen() -> frozenset[str]:
    """Ids of tests, some without their case: the test of each guard, and one on the real parts for each line."""
    made = {f"tests/{guard.test}" for guard in GUARDS}
    for line in trace.lines():
        real = [test for test in line.tests if _folder(test) in REAL_PARTS]
        if real and made.isdisjoint(real):
            made.add(min(real, key=lambda test: REAL_PARTS.index(_folder(test))))
    return frozenset(made)


def mark(items: Iterable[pytest.Item]) -> None:
    """Give the marker `promise` to each test that `make test` runs."""
    for item in items:
        test = item.nodeid
        cheap = _folder(test) in CHEAP and item.get_closest_marker("thorough") is None
        if cheap or not chosen().isdisjoint((test, test.partition("[")[0])):
            item.add_marker("promise")


def _folder(test: str) -> str:
    return test.split("/")[1]
