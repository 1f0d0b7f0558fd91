"""What `make test-hosts` calls lost and doubled: one value at a time is wrong."""

from __future__ import annotations

import pytest

from cutter.types import Json
from tests.hosts.findings import EXACTLY, doubled, lost, shortcomings

UNITS = 3
RIGHT: Json = {"document_id": "A", **EXACTLY, "enacted": UNITS, "units": UNITS, "addresses": UNITS, "builds": ["a"]}


def test_a_document_that_is_there_exactly_once_has_no_shortcoming() -> None:
    assert shortcomings([RIGHT], UNITS, {"A": "a"}) == []
    assert (lost([RIGHT], UNITS), doubled([RIGHT], UNITS)) == (0, 0)


@pytest.mark.parametrize("name", [name for name in RIGHT if name not in ("document_id", "builds")])
@pytest.mark.parametrize("more", [-1, 1])
def test_each_value_that_is_too_low_or_too_high_is_named(name: str, more: int) -> None:
    findings = shortcomings([{**RIGHT, name: RIGHT[name] + more}], UNITS, {"A": "a"})
    assert findings == [f"A: {name} {RIGHT[name] + more} instead of {RIGHT[name]}"]


@pytest.mark.parametrize("name", ["enacted", "enactments", "receipts"])
def test_what_is_missing_is_lost_and_what_is_there_twice_is_doubled(name: str) -> None:
    assert lost([{**RIGHT, name: RIGHT[name] - 1}], UNITS) == 1
    assert doubled([{**RIGHT, name: RIGHT[name] + 1}], UNITS) == 1


@pytest.mark.parametrize("builds", [["b"], ["a", "b"], []])
def test_the_worker_of_another_build_is_named(builds: list[str]) -> None:
    assert shortcomings([{**RIGHT, "builds": builds}], UNITS, {"A": "a"}) == [f"A: worked on by {builds}"]


def test_a_document_that_the_database_does_not_know_is_named() -> None:
    assert shortcomings([], UNITS, {"A": "a"}) == ["A: unknown"]
