"""The revision that the benchmark measures changes one unit in a hundred, and nothing else."""

from __future__ import annotations

import pytest

from benchmarks.revision import amended
from cutter import marking
from cutter.marking import Marking, mark
from tests.support.laws import law


def units(text: str) -> dict[str, str]:
    """The body of each unit by its address."""
    data = text.encode()
    made = mark(
        data, profile=marking.load_profile("generic-markdown"), docprefix="LAW",
        options=marking.Options(duplicates="refuse", empty="refuse", max_candidates=10_000),
    )  # fmt: skip
    assert isinstance(made, Marking)
    return {candidate.address: data[candidate.start : candidate.end].decode() for candidate in made.candidates}


@pytest.mark.parametrize(("size", "changed"), [(3, 1), (60, 1), (1000, 10)])
def test_one_unit_in_a_hundred_is_changed(size: int, changed: int) -> None:
    before, after = units(law(size)), units(amended(law(size), size))
    assert before.keys() == after.keys()
    assert sum(before[address] != after[address] for address in before) == changed
