"""The plan of a revision: each unit of both sides once, in document order; a move needs an identical body."""

from __future__ import annotations

import dataclasses

import pytest

from cutter.errors import ProgrammingError
from cutter.marking import CutPlan, build_plan, rebuild_lines_reversed
from cutter.marking.revision import (
    Base,
    RevisionPlan,
    UnitInForce,
    plan_revision,
    rebuild_revision_digest,
    revision_digest,
)
from tests.unit.marking.texts import cut

BEFORE = "# One\n\n## Kept\nstays\n\n## Revised\nold\n\n## Dropped\nends\n\n## Moved\nsame\n\n# Two\nend\n"
AFTER = "# One\n\n## Kept\nstays\n\n## Fresh\nnew\n\n## Revised\nnew\n\n# Two\nend\n\n## Moved\nsame\n"


def plan_of(text: str) -> CutPlan:
    return build_plan(text.encode(), cut(text), docprefix="LAW", source_version_id="v2")


def base_of(text: str, kind: str = "revision") -> Base:
    names = [field.name for field in dataclasses.fields(UnitInForce)]
    units = (UnitInForce(**{name: getattr(row, name) for name in names}) for row in plan_of(text).rows)
    return Base(operation_kind=kind, source_version_id="v1", receipt_hash="a" * 64, units=tuple(units))


def revision(before: str = BEFORE, after: str = AFTER) -> RevisionPlan:
    return plan_revision(plan_of(after), base_of(before))


def test_every_unit_is_kept_revised_created_or_repealed() -> None:
    assert [(row.operation, row.address) for row in revision().rows] == [
        ("keep", "LAW/ONE"),
        ("keep", "LAW/ONE/KEPT"),
        ("create", "LAW/ONE/FRESH"),
        ("revise", "LAW/ONE/REVISED"),
        ("repeal", "LAW/ONE/DROPPED"),
        ("repeal", "LAW/ONE/MOVED"),
        ("keep", "LAW/TWO"),
        ("create", "LAW/TWO/MOVED"),
    ]
    assert revision().counts == {"keep": 3, "revise": 1, "create": 2, "repeal": 2}
    assert revision().changing == 5


def test_an_identical_body_at_another_address_is_a_move_and_a_similar_one_is_not() -> None:
    assert revision().moves == (("LAW/ONE/MOVED", "LAW/TWO/MOVED"),)
    assert revision(after=AFTER.replace("same", "same.")).moves == ()


def test_two_moved_units_with_the_same_body_are_paired_in_document_order() -> None:
    before = "# One\n\n## A\na\n\n# Two\n\n## A\na\n\n# Three\nx\n"
    after = "# One\no\n\n# Two\nt\n\n# Three\n\n## A\na\n\n# Four\n\n## A\na\n"
    assert revision(before, after).moves == (("LAW/ONE/A", "LAW/THREE/A"), ("LAW/TWO/A", "LAW/FOUR/A"))


def test_a_changed_title_or_parent_revises_the_unit_and_a_changed_order_does_not() -> None:
    base = base_of(BEFORE)
    other = dataclasses.replace(base.units[1], title="Another")
    moved = dataclasses.replace(base.units[2], parent_address=None)
    units = (base.units[0], other, moved, *base.units[3:])
    plan = plan_revision(plan_of(BEFORE), dataclasses.replace(base, units=units))
    assert [row.operation for row in plan.rows][:4] == ["keep", "revise", "revise", "keep"]
    backwards = plan_revision(plan_of(BEFORE), dataclasses.replace(base, units=tuple(reversed(base.units))))
    assert backwards.changing == 0


def test_a_repealed_unit_follows_the_unit_that_it_followed() -> None:
    before = "# Gone\nx\n\n# One\n\n## A\na\n\n## B\nb\n\n# Two\nt\n"
    after = "# New\ny\n\n# Two\nt\n\n# One\no\n"
    assert [row.address for row in revision(before, after).rows] == [
        "LAW/GONE", "LAW/NEW", "LAW/TWO", "LAW/ONE", "LAW/ONE/A", "LAW/ONE/B",
    ]  # fmt: skip


def test_the_digest_covers_the_base_the_operation_and_every_row() -> None:
    plan = revision()
    kept = plan.rows[1]
    assert kept.old is not None
    forged = (
        revision_digest(dataclasses.replace(plan.base, receipt_hash="b" * 64), plan.rows),
        revision_digest(dataclasses.replace(plan.base, source_version_id="v0"), plan.rows),
        revision_digest(dataclasses.replace(plan.base, operation_kind="correction"), plan.rows),
        revision_digest(plan.base, plan.rows[1:]),
        revision_digest(plan.base, [row for row in plan.rows if row.operation != "repeal"]),
        revision_digest(
            plan.base,
            [
                dataclasses.replace(kept, old=dataclasses.replace(kept.old, title="x")) if row is kept else row
                for row in plan.rows
            ],
        ),
        revision_digest(plan.base, [dataclasses.replace(row, continues=None) for row in plan.rows]),
    )
    assert len({plan.writer_digest, *forged}) == len(forged) + 1


def test_the_second_comparison_agrees() -> None:
    lines = rebuild_lines_reversed(AFTER.encode(), cut(AFTER), docprefix="LAW")
    assert rebuild_revision_digest(reversed(lines), base_of(BEFORE)) == revision().writer_digest


def test_a_base_with_two_units_at_one_address_is_an_error() -> None:
    base = base_of(BEFORE)
    with pytest.raises(ProgrammingError, match="share an address"):
        plan_revision(plan_of(AFTER), dataclasses.replace(base, units=base.units[:1] * 2))
