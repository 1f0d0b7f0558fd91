"""Whatever the law in force and the new text are, a plan has each unit once and turns the one into the other."""

from __future__ import annotations

import dataclasses

from hypothesis import given
from hypothesis import strategies as st

from cutter.domain.digests import sha256_hex, writer_digest
from cutter.marking.plan import CutPlan, PlanRow
from cutter.marking.revision import (
    Base,
    UnitInForce,
    plan_revision,
    rebuild_revision_digest,
    revision_digest,
)

ADDRESSES = [f"LAW/{name}" for name in "ABCDEFG"]
NAMES = [field.name for field in dataclasses.fields(UnitInForce)]


def row(address: str, body: str, title: str, parent: str | None) -> PlanRow:
    return PlanRow(
        address=address, title=title, body=body, body_sha256=sha256_hex(body), unit_kind="law_unit",
        section_type="article", publication_type=None, owner="legislature", parent_address=parent,
        idempotency_key=sha256_hex(address),
    )  # fmt: skip


ROWS = st.lists(
    st.builds(
        row, st.sampled_from(ADDRESSES), st.sampled_from("xyz"), st.sampled_from("tu"),
        st.sampled_from([None, "LAW/P"]),
    ),
    unique_by=lambda unit: unit.address,
)  # fmt: skip


def cut_of(rows: list[PlanRow]) -> CutPlan:
    return CutPlan(
        docprefix="LAW", source_version_id="v2", rows=tuple(rows), cut_plan_digest="",
        writer_digest=writer_digest(row.digest_line for row in rows),
    )  # fmt: skip


def base_of(rows: list[PlanRow]) -> Base:
    units = tuple(UnitInForce(**{name: getattr(unit, name) for name in NAMES}) for unit in rows)
    return Base(operation_kind="revision", source_version_id="v1", receipt_hash="a" * 64, units=units)


@given(ROWS, ROWS)
def test_each_unit_of_both_sides_is_one_row(before: list[PlanRow], after: list[PlanRow]) -> None:
    plan = plan_revision(cut_of(after), base_of(before))
    assert sorted(entry.address for entry in plan.rows) == sorted({unit.address for unit in (*before, *after)})
    assert [entry.new for entry in plan.rows if entry.new] == after
    assert {entry.old.address for entry in plan.rows if entry.old} == {unit.address for unit in before}


@given(ROWS, ROWS)
def test_applying_the_plan_to_the_base_gives_the_new_text(before: list[PlanRow], after: list[PlanRow]) -> None:
    law = {unit.address: unit.digest_line for unit in before}
    for entry in plan_revision(cut_of(after), base_of(before)).rows:
        if entry.operation == "repeal":
            del law[entry.address]
        elif entry.operation == "create":
            assert entry.address not in law
            law[entry.address] = entry.new.digest_line  # type: ignore[union-attr]
        else:
            assert (law[entry.address] == entry.new.digest_line) is (entry.operation == "keep")  # type: ignore[union-attr]
            law[entry.address] = entry.new.digest_line  # type: ignore[union-attr]
    assert law == {unit.address: unit.digest_line for unit in after}


@given(ROWS)
def test_a_text_changes_nothing_in_itself(rows: list[PlanRow]) -> None:
    assert plan_revision(cut_of(rows), base_of(rows)).changing == 0


@given(ROWS, ROWS)
def test_a_move_has_an_identical_body_and_each_side_moves_once(before: list[PlanRow], after: list[PlanRow]) -> None:
    plan = plan_revision(cut_of(after), base_of(before))
    old = {unit.address: unit.body_sha256 for unit in before}
    new = {unit.address: unit.body_sha256 for unit in after}
    assert all(old[source] == new[target] for source, target in plan.moves)
    for side in zip(*plan.moves, strict=True):
        assert len(side) == len(set(side))


@given(ROWS, ROWS, st.randoms())
def test_the_digest_depends_on_no_order_and_the_second_comparison_agrees(
    before: list[PlanRow], after: list[PlanRow], random: object
) -> None:
    plan = plan_revision(cut_of(after), base_of(before))
    shuffled = list(plan.rows)
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    assert revision_digest(plan.base, shuffled) == plan.writer_digest
    assert rebuild_revision_digest((row.digest_line for row in after), plan.base) == plan.writer_digest


@given(ROWS, ROWS, ROWS)
def test_another_base_or_another_text_has_another_digest(
    before: list[PlanRow], after: list[PlanRow], third: list[PlanRow]
) -> None:
    def lines(rows: list[PlanRow]) -> list[str]:
        return sorted(row.digest_line for row in rows)

    digest = plan_revision(cut_of(after), base_of(before)).writer_digest
    if lines(third) != lines(after):
        assert plan_revision(cut_of(third), base_of(before)).writer_digest != digest
    if lines(third) != lines(before):
        assert plan_revision(cut_of(after), base_of(third)).writer_digest != digest
