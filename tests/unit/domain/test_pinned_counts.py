"""How many rows and units the pins of a planned run give."""

from __future__ import annotations

import pytest

from cutter.domain.run_record import PinnedCounts


def test_each_row_of_a_first_cut_begins_a_version() -> None:
    assert PinnedCounts.of({"candidate_count": 7}) == PinnedCounts(planned=7, changing=7, begun=7, retired=0)


def test_a_revision_begins_and_ends_versions_and_keeps_others() -> None:
    rows = {"keep": 3, "revise": 1, "create": 2, "repeal": 4}
    expected = PinnedCounts(planned=10, changing=7, begun=3, retired=4)
    assert PinnedCounts.of({"candidate_count": 6, "revision_rows": rows}) == expected


def test_pins_before_the_marking_have_no_counts() -> None:
    with pytest.raises(KeyError):
        PinnedCounts.of({"docprefix": "ICX-1"})
