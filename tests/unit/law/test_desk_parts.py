"""Parts of a long page: every entry on exactly one part, no part above its budget, and a tree on each."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cutter.errors import NotFound
from cutter.projections import desk_pages
from cutter.projections.desk_pages import part_of
from tests.cases.law_cases import SIGNERS, outline, version


@given(sizes=st.lists(st.integers(0, 50), max_size=60), budget=st.integers(1, 60))
def test_every_entry_is_on_one_part_and_no_part_is_too_large(sizes: list[int], budget: int) -> None:
    count = part_of(sizes, 1, budget).count
    parts = [part_of(sizes, number, budget) for number in range(1, count + 1)]
    assert [size for part in parts for size in part.of(sizes)] == sizes
    for part in parts:
        assert sum(part.of(sizes)) <= budget or part.end - part.first == 1
        assert part.end > part.first or not sizes
    for number in (0, count + 1):
        with pytest.raises(NotFound):
            part_of(sizes, number, budget)


def test_a_part_of_an_outline_is_a_tree_of_what_it_shows() -> None:
    tree = outline(("A", None), ("A/1", "A"), ("A/1/a", "A/1"), ("A/2", "A"), ("B", None))
    rows = list(tree.outline())
    whole = desk_pages.nodes(rows)
    assert [node.unit.address for node in whole] == ["A", "B"]
    assert [node.unit.address for node in whole[0].below] == ["A/1", "A/2"]
    later = desk_pages.nodes(rows[2:])
    assert [node.unit.address for node in later] == ["A/1/a", "A/2", "B"]


def test_a_long_title_is_cut_and_an_address_is_quoted() -> None:
    tree = outline(("A", None), title="<b>" * 200)
    (node,) = desk_pages.nodes(list(tree.outline()))
    assert len(node.title) == 201
    assert desk_pages.entry_sizes(tree)[0] > 600
    assert desk_pages.unit_address("L", 2, "L/A b?~2") == "/laws/L/units/L/A%20b%3F~2?version=2"


@pytest.mark.parametrize(("status", "shown"), [("not_yet_in_force", True), ("in_force", False), ("superseded", False)])
def test_a_version_of_a_later_day_is_marked(status: str, shown: bool) -> None:
    law_version = version(status=status)
    place = desk_pages.Place(section="Laws", as_json="/laws/L/history.json")
    page = desk_pages.page(
        "history", place, title="Versions", versions=[law_version], part=part_of([1], 1, 1), newest=1,
        signers={1: SIGNERS}, version_link=str,
    )  # fmt: skip
    assert ("from 2026-01-01 (not yet in force)" in page.decode()) is shown
