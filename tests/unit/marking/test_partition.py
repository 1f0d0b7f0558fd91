"""A marking whose parts are not the whole region cannot be built, and is caught when its bytes change."""

from __future__ import annotations

import dataclasses

import pytest

from cutter.errors import ProgrammingError
from cutter.marking import Candidate, Marking
from cutter.marking.result import mark_digest
from tests.unit.marking.texts import cut

TEXT = "---\na: b\n---\nIntro.\n\n# Chapter 1\n\n## Article 1\nx\n\n## Article 2\ny\n"


def rebuilt(marking: Marking, candidates: tuple[Candidate, ...]) -> Marking:
    digest = mark_digest(candidates, marking.exclusions)
    return dataclasses.replace(marking, candidates=candidates, mark_digest=digest)


def test_the_parts_give_the_region_back() -> None:
    marking, data = cut(TEXT), TEXT.encode()
    assert b"".join(data[part.start : part.end] for part in marking.parts()) == data
    assert [piece.reason for piece in marking.exclusions] == ["front_matter", "before_first_unit"]


@pytest.mark.parametrize("shift", [(-1, 0), (1, 0), (0, -1), (0, 1)])
def test_a_byte_in_two_parts_or_in_none_is_refused(shift: tuple[int, int]) -> None:
    marking = cut(TEXT)
    unit = marking.candidates[1]
    moved = dataclasses.replace(unit, start=unit.start + shift[0], end=unit.end + shift[1])
    with pytest.raises(ProgrammingError, match="belongs to no part"):
        rebuilt(marking, (marking.candidates[0], moved, marking.candidates[2]))


def test_a_missing_last_part_is_refused() -> None:
    marking = cut(TEXT)
    with pytest.raises(ProgrammingError):
        dataclasses.replace(marking, region_end=marking.region_end + 1)


def test_an_address_twice_or_a_parent_behind_its_child_is_refused() -> None:
    marking = cut(TEXT)
    chapter, first, second = marking.candidates
    with pytest.raises(ProgrammingError, match="given twice"):
        rebuilt(marking, (chapter, first, dataclasses.replace(second, address=first.address)))
    with pytest.raises(ProgrammingError, match="parent"):
        rebuilt(marking, (dataclasses.replace(chapter, parent_address=first.address), first, second))


def test_a_digest_of_something_else_is_refused() -> None:
    with pytest.raises(ProgrammingError, match="mark_digest"):
        dataclasses.replace(cut(TEXT), mark_digest="0" * 64)


def test_other_bytes_do_not_prove() -> None:
    marking = cut(TEXT)
    with pytest.raises(ProgrammingError, match="region_sha"):
        marking.prove(TEXT.replace("Intro", "Outro").encode())


def test_text_counted_as_blank_does_not_prove() -> None:
    marking = cut(TEXT)
    gaps = tuple(
        dataclasses.replace(gap, end=marking.candidates[0].start) if gap.end == marking.candidates[0].start else gap
        for gap in marking.non_content
    )
    intro = marking.exclusions[1]
    wider = tuple(dataclasses.replace(gap, start=intro.start) if gap.start == intro.end else gap for gap in gaps)
    exclusions = marking.exclusions[:1]
    forged = dataclasses.replace(
        marking,
        non_content=wider,
        exclusions=exclusions,
        mark_digest=mark_digest(marking.candidates, exclusions),
    )
    with pytest.raises(ProgrammingError, match="counted as blank"):
        forged.prove(TEXT.encode())


@pytest.mark.parametrize("title", ["", "two\nlines", "unit\x1fseparator", "bell\x07"])
def test_a_title_that_no_writer_line_can_hold_is_refused(title: str) -> None:
    with pytest.raises(ProgrammingError, match="title"):
        dataclasses.replace(cut(TEXT).candidates[0], title=title)


def test_the_mark_digest_follows_span_kind_level_address_and_exclusions() -> None:
    marking = cut(TEXT)
    unit = marking.candidates[0]
    digests = {marking.mark_digest, mark_digest(marking.candidates, ())}
    for change in ({"end": unit.end + 1}, {"section_type": "article"}, {"level": 2}, {"address": "LAW/X"}):
        digests.add(mark_digest((dataclasses.replace(unit, **change), *marking.candidates[1:]), marking.exclusions))
    assert len(digests) == 6
    same = dataclasses.replace(unit, title="Other")
    assert mark_digest((same, *marking.candidates[1:]), marking.exclusions) == marking.mark_digest
