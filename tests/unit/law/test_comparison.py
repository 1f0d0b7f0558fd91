"""What differs between two versions of a law."""

from __future__ import annotations

import itertools

from hypothesis import given
from hypothesis import strategies as st

from cutter.law.law_text import Unit
from cutter.law.views import compare
from tests.cases.law_cases import law_text, unit


def shown(before: list[Unit], after: list[Unit]) -> list[tuple[str, str]]:
    return [(change.change, change.unit.title) for change in compare(before, after).changes]


A, B, C, D = (unit(name, order=order) for order, name in enumerate("ABCD", 1))


def test_each_kind_of_change_has_its_name_and_its_place() -> None:
    revised = unit("B", "## B\n\nAnother text.\n", order=1)
    assert shown([A, B, C], [revised, D]) == [
        ("repealed", "A"), ("revised", "B"), ("repealed", "C"), ("created", "D"),
    ]  # fmt: skip
    assert compare([A, B], [A, B]).counts == {"kept": 2, "revised": 0, "created": 0, "repealed": 0, "moved": 0}


def test_the_same_text_at_another_address_has_moved() -> None:
    there = unit("X", B.body, order=3)
    change = compare([A, B], [A, there]).different
    assert [(difference.change, difference.before, difference.after) for difference in change] == [("moved", B, there)]


def test_a_moved_unit_may_have_another_number_in_its_heading() -> None:
    old, new = unit("3", "## Article 3\n\nLamps.\n"), unit("4", "## Article 4\n\nLamps.\n")
    (change,) = compare([old], [new]).changes
    assert (change.change, change.other_differences) == ("moved", ("title",))
    assert [piece.kind for piece in change.words] == ["same", "removed", "added", "same"]


def test_units_without_text_below_their_headings_have_not_moved() -> None:
    assert shown([unit("3", "## Article 3\n")], [unit("4", "## Article 4\n")]) == [
        ("repealed", "3"), ("created", "4"),
    ]  # fmt: skip


def test_another_title_or_parent_is_a_revision() -> None:
    assert shown([B], [unit("B", parent="A")]) == [("revised", "B")]
    assert compare([B], [unit("B", parent="A")]).changes[0].other_differences == ("parent",)


@given(st.lists(st.sampled_from("ABCDEF"), unique=True), st.lists(st.sampled_from("ABCDEF"), unique=True))
def test_each_unit_of_both_versions_is_shown_once(old: list[str], new: list[str]) -> None:
    bodies = itertools.cycle(["x\ny", "x\nz", "w"])
    before = [unit(name, next(bodies)) for name in old]
    after = [unit(name, next(bodies)) for name in new]
    changes = compare(before, after).changes
    assert sorted(c.before.address for c in changes if c.before) == sorted(law_unit.address for law_unit in before)
    assert [c.after.address for c in changes if c.after] == [law_unit.address for law_unit in after]


def test_an_outline_has_document_order_and_depths() -> None:
    text = law_text(A, unit("B", parent="A"), unit("C", parent="B"), D)
    assert [(depth, law_unit.title) for depth, law_unit in text.outline()] == [(0, "A"), (1, "B"), (2, "C"), (0, "D")]
    assert [law_unit.title for law_unit in text.branch("ICX-LAW-1/B")] == ["B", "C"]
    assert text.branch("ICX-LAW-1/NOPE") == ()
