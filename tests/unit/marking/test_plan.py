"""The plan of rows: exact bodies, digests that depend on nothing else, a second build that agrees."""

from __future__ import annotations

import dataclasses
from typing import Any

import pytest

from cutter.domain.digests import canonical_digest, sha256_hex, writer_digest, writer_line
from cutter.errors import ProgrammingError
from cutter.marking import CutPlan, Marking, build_plan, rebuild_digest_reversed
from tests.unit.marking.texts import cut

TEXT = "# Chapter 1\n\n## Article 1\nÄ body.\n\n## Article 2\nx\n\n# Chapter 2\n## Article 3\nx\n"


def plan_of(text: str = TEXT, version: str = "v1") -> CutPlan:
    return build_plan(text.encode(), cut(text), docprefix="LAW", source_version_id=version)


def altered(marking: Marking, position: int, **change: Any) -> Marking:
    """A marking with one unit changed, built without the checks, as a bug or a forger would."""
    units = list(marking.candidates)
    units[position] = dataclasses.replace(units[position], **change)
    other = object.__new__(Marking)
    for field in dataclasses.fields(Marking):
        value = tuple(units) if field.name == "candidates" else getattr(marking, field.name)
        object.__setattr__(other, field.name, value)
    return other


def test_rows_hold_the_exact_slice_and_its_digest() -> None:
    row = plan_of().rows[1]
    assert row.body == "## Article 1\nÄ body."
    assert row.body_sha256 == sha256_hex(row.body)
    assert (row.address, row.parent_address) == ("LAW/CHAPTER-1/ARTICLE-1", "LAW/CHAPTER-1")


def test_the_writer_digest_is_framed_as_the_database_does() -> None:
    plan = plan_of()
    lines = [
        writer_line(
            address=row.address,
            unit_kind="law_unit",
            section_type=row.section_type,
            publication_type="law",
            owner="incomex_council",
            title=row.title,
            body_sha256=sha256_hex(row.body),
            parent_address=row.parent_address,
        )
        for row in plan.rows
    ]
    assert plan.writer_digest == writer_digest(reversed(lines))


def test_the_second_build_from_the_end_agrees() -> None:
    assert rebuild_digest_reversed(TEXT.encode(), cut(TEXT), docprefix="LAW") == plan_of().writer_digest


def test_the_second_build_notices_a_changed_byte() -> None:
    other = TEXT.replace("body", "bode").encode()
    assert rebuild_digest_reversed(other, cut(TEXT), docprefix="LAW") != plan_of().writer_digest


def test_the_second_build_refuses_units_that_overlap_or_stand_elsewhere() -> None:
    marking = cut(TEXT)
    with pytest.raises(ProgrammingError, match="reaches into"):
        rebuild_digest_reversed(
            TEXT.encode(), altered(marking, 1, end=marking.candidates[2].start + 1), docprefix="LAW"
        )
    with pytest.raises(ProgrammingError, match="not under OTHER/"):
        rebuild_digest_reversed(TEXT.encode(), marking, docprefix="OTHER")


def test_a_plan_is_built_from_the_marked_bytes_only() -> None:
    with pytest.raises(ProgrammingError, match="region_sha"):
        build_plan(TEXT.replace("body", "bode").encode(), cut(TEXT), docprefix="LAW", source_version_id="v")
    with pytest.raises(ProgrammingError, match="not under OTHER/"):
        build_plan(TEXT.encode(), cut(TEXT), docprefix="OTHER", source_version_id="v")


def test_keys_are_distinct_and_bound_to_version_address_and_content() -> None:
    first, second = plan_of(), plan_of(version="v2")
    keys = {row.idempotency_key for row in (*first.rows, *second.rows)}
    assert len(keys) == 2 * len(first.rows)
    row = first.rows[0]
    assert row.idempotency_key == canonical_digest(
        {
            "v": "unit-key/1",
            "source_version_id": "v1",
            "canonical_address": row.address,
            "content_hash": row.body_sha256,
        }
    )


def test_the_writer_digest_does_not_depend_on_the_version_but_the_plans_does() -> None:
    first, second = plan_of(), plan_of(version="v2")
    assert first.writer_digest == second.writer_digest
    assert first.cut_plan_digest != second.cut_plan_digest


def test_cardinality_is_sorted_by_section_type() -> None:
    assert list(plan_of().section_type_cardinality.items()) == [("article", 3), ("section", 2)]


def test_a_plan_with_a_key_twice_cannot_be_built() -> None:
    plan = plan_of()
    with pytest.raises(ProgrammingError, match="idempotency key"):
        dataclasses.replace(plan, rows=(*plan.rows, plan.rows[0]))
