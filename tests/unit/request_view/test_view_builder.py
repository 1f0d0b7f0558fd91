"""The view of a request: its units, their places in the source, its findings, and the digest that covers all of it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from cutter.domain.digests import sha256_hex, writer_digest, writer_line
from cutter.errors import ProgrammingError
from cutter.marking import Options
from cutter.request_view.builder import build_view
from cutter.request_view.forms import request_record, view_digest, view_record
from cutter.request_view.view import RequestView, StoredUnit
from tests.cases.request_views import LAW, RED, VERSION, document_of, marked, stored_units, view, written_view

ARTICLE = "ACT-1/CHAPTER-II/ARTICLE-2~2"


def unit_of(shown: RequestView, address: str):  # type: ignore[no-untyped-def]
    return next(unit for unit in shown.units if unit.address == address)


def test_units_come_in_the_order_of_the_text_with_title_kind_number_and_place() -> None:
    rows = [(unit.title, unit.section_type, unit.number, unit.first_line, unit.last_line) for unit in view().units]
    assert rows == [
        ("An Act on Bridges", "section", None, 4, 6),
        ("Chapter I General", "section", "I", 8, 8),
        ("Article 1. Scope", "article", "1", 10, 12),
        ("Chapter II Duties", "section", "II", 14, 14),
        ("Article 2. Duty", "article", "2", 16, 18),
        ("Article 2. Duty", "article", "2~2", 20, 22),
    ]


def test_a_body_is_the_slice_of_the_source_at_its_lines() -> None:
    shown = view()
    for unit in shown.units:
        assert shown.body(unit) == "\n".join(shown.lines[unit.first_line - 1 : unit.last_line])
        assert sha256_hex(shown.body(unit)) == unit.body_sha256


def test_units_and_what_is_left_out_are_the_whole_source() -> None:
    shown = view()
    assert "".join(shown.body(piece) for piece in shown.pieces) == LAW
    assert [(part.reason, part.first_line, part.last_line) for part in shown.left_out if part.reason != "blank"] == [
        ("front_matter", 1, 3)
    ]


def test_the_writer_digest_is_that_of_the_units_that_are_shown() -> None:
    shown = view()
    lines = (
        writer_line(
            address=unit.address, unit_kind=unit.unit_kind, section_type=unit.section_type, owner=unit.owner,
            publication_type=unit.publication_type, title=unit.title, body_sha256=sha256_hex(shown.body(unit)),
            parent_address=unit.parent_address,
        )
        for unit in shown.units
    )  # fmt: skip
    assert writer_digest(lines) == shown.digests.writer_digest


def test_words_and_excerpts_leave_the_heading_out_of_the_excerpt_only() -> None:
    unit = unit_of(view(), "ACT-1/CHAPTER-I/ARTICLE-1")
    assert (unit.words, unit.excerpt) == (11, "This Act is about bridges and their lamps.")
    assert unit_of(view(), "ACT-1/CHAPTER-I").excerpt == ""


def test_a_long_excerpt_ends_at_a_word() -> None:
    shown = view("# Act\n\n## Article 1. A\n\n" + "lamp " * 200 + "\n", Options())
    assert shown.units[1].excerpt.endswith("lamp…")
    assert len(shown.units[1].excerpt) <= 141


def test_words_of_a_script_without_spaces_are_its_characters() -> None:
    assert view("# 法律\n\n橋は橋 川\n", Options()).units[0].words == 6


def test_each_finding_is_at_its_unit_by_its_address_or_by_its_line() -> None:
    shown = view()
    assert [shown.findings[place].code for place in unit_of(shown, ARTICLE).findings] == [
        "duplicate_address", "number_repeated", "zero_width",
    ]  # fmt: skip
    assert shown.findings[2].address is None
    assert sum(len(unit.findings) for unit in shown.units) == 3


def test_an_accepted_finding_has_its_reason() -> None:
    shown = view()
    assert {finding.name: finding.because for finding in shown.findings} == {
        f"duplicate_address:{ARTICLE}": None, RED: "printed twice in the gazette", "zero_width:LINE-22": None,
    }  # fmt: skip
    assert shown.accepted_findings == (RED,)


def test_the_children_of_each_unit_are_the_tree() -> None:
    children = view().children
    assert [unit.title for unit in children[None]] == ["An Act on Bridges", "Chapter I General", "Chapter II Duties"]
    assert [unit.number for unit in children["ACT-1/CHAPTER-II"]] == ["2", "2~2"]


def test_other_bytes_than_the_marked_ones_are_no_view() -> None:
    data, marking = marked()
    with pytest.raises(ProgrammingError):
        build_view(data.replace(b"lamp", b"lime"), marking, docprefix="ACT-1", source_version_id=VERSION)


def test_stored_units_as_planned_differ_nowhere() -> None:
    shown = written_view()
    assert shown.stored_differences == ()
    assert [unit.stored.version_id for unit in shown.units if unit.stored][:2] == ["version-1", "version-2"]


@pytest.mark.parametrize(
    "change", [{"title": "Article 9"}, {"parent_address": None}, {"content_hash": "0" * 64}], ids="".join
)
def test_a_stored_unit_of_another_form_is_named(change: dict[str, str | None]) -> None:
    held = [
        replace(stored_unit, **change) if stored_unit.address == ARTICLE else stored_unit
        for stored_unit in stored_units(view())
    ]
    assert written_view(tuple(held)).stored_differences == (ARTICLE,)


def test_a_unit_that_was_not_stored_is_named() -> None:
    held: tuple[StoredUnit, ...] = stored_units(view())[:-1]
    assert written_view(held).stored_differences == (ARTICLE,)


def test_the_digest_covers_everything_that_is_shown() -> None:
    shown = written_view()
    unit, finding = shown.units[0], shown.findings[0]
    others = [
        replace(shown, units=(replace(unit, title="x"), *shown.units[1:])),
        replace(shown, units=(replace(unit, excerpt="x"), *shown.units[1:])),
        replace(shown, units=(replace(unit, first_line=1), *shown.units[1:])),
        replace(shown, units=shown.units[1:]),
        replace(shown, findings=(replace(finding, message="x"), *shown.findings[1:])),
        replace(shown, findings=()),
        replace(shown, accepted=()),
        replace(shown, left_out=()),
        replace(shown, sealed=()),
        replace(shown, digests=replace(shown.digests, findings_digest="0" * 64)),
        replace(shown, profile_id="other"),
        view(),
    ]
    digests = {view_digest(other) for other in (shown, *others)}
    assert len(digests) == len(others) + 1
    assert view_digest(written_view()) == view_digest(shown)


def test_the_json_form_has_the_view_its_digest_and_the_source() -> None:
    shown = view()
    record = request_record(document_of(shown), shown)
    assert record["view"] == view_record(shown)
    assert record["view_digest"] == view_digest(shown)
    assert (record["source"]["text"], record["source"]["sha256"]) == (LAW, sha256_hex(LAW))
    assert record["request"]["writer_digest"] == shown.digests.writer_digest


@pytest.mark.parametrize(
    ("title", "number"),
    [
        ("Umweltgesetz (UIG 2005)", None),
        ("Chapter 2", "2"),
        ("Chapter (2)", "2"),
        ("Part 7 (old)", "7"),
        ("(XXXX) §§ 63 to 70", None),
        ("(IV) Changes", "IV"),
    ],
)
def test_a_year_of_a_short_title_and_a_note_in_brackets_are_not_the_number_of_a_unit(
    title: str, number: str | None
) -> None:
    assert view(f"# {title}\n\nText.\n", Options()).units[0].number == number
