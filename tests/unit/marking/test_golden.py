"""Real laws and model laws are cut as an independent parser and a reader expect (tests/golden/expectations.py)."""

from __future__ import annotations

import functools
import json
from collections import Counter
from dataclasses import replace
from typing import Any

import pytest

from cutter.domain.digests import sha256_hex
from cutter.limits import TITLE_CHARACTERS_MAX
from cutter.marking import Marking, MarkRefusal, Options, build_plan, load_profile, mark, rebuild_digest_reversed
from tests.golden.expectations import (
    GOLDEN,
    IN_THEIR_LANGUAGE,
    KNOWN,
    LAWS,
    Heading,
    InItsLanguage,
    Law,
    atx_headings,
    by_depth,
    law_bytes,
)
from tests.golden.record import cut, record
from tests.support.golden_laws import ALL, folder_of, marked


def golden(law: Law) -> dict[str, Any]:
    text = (GOLDEN / law.name / "units.json").read_text(encoding="utf-8")
    recorded: dict[str, Any] = json.loads(text)
    return recorded


@functools.cache
def headings_of(data: bytes) -> list[Heading]:
    return atx_headings(data.decode())


@pytest.mark.parametrize("law", ALL)
def test_the_text_is_the_one_that_was_counted(law: Law) -> None:
    data = law_bytes(law, folder_of(law))
    assert sha256_hex(data) == golden(law)["sha256"]
    assert by_depth(headings_of(data)) == law.headings


@pytest.mark.parametrize("law", ALL)
def test_units_are_as_many_as_were_counted_independently(law: Law) -> None:
    _, marking = marked(law)
    assert len(marking.candidates) == law.units == golden(law)["count"]
    assert [piece.reason for piece in marking.exclusions] == list(law.excluded)


@pytest.mark.parametrize("law", ALL)
def test_units_stand_at_the_headings_that_the_parser_sees(law: Law) -> None:
    data, marking = marked(law)
    headings = {heading.line: heading for heading in headings_of(data)}
    at_heading = [unit for unit in marking.candidates if unit.line in headings]
    assert len(at_heading) == law.units - sum(law.plain.values())
    taken = 0
    for unit in at_heading:
        own, following = headings[unit.line].text, next_heading(headings, unit.line)
        taken += assert_title(unit.title, own, following)
    assert taken == law.merged


@pytest.mark.parametrize("law", [law for law in ALL if law.values[0].plain])
def test_units_without_markdown_are_as_many_as_a_reader_counts(law: Law) -> None:
    data, marking = marked(law)
    headings = {heading.line for heading in headings_of(data)}
    others = [unit for unit in marking.candidates if unit.line not in headings]
    assert Counter(unit.address.rpartition("/")[2].split("-")[0] for unit in others) == law.plain


@pytest.mark.parametrize("law", ALL)
def test_units_stand_where_a_reader_finds_them(law: Law) -> None:
    _, marking = marked(law)
    addresses = {unit.line: unit.address.removeprefix("LAW/") for unit in marking.candidates}
    assert {line: addresses.get(line) for line in KNOWN[law.file]} == KNOWN[law.file]


@pytest.mark.parametrize("law", ALL)
def test_the_defaults_answer_what_a_reader_expects(law: Law) -> None:
    data = (folder_of(law) / law.file).read_bytes()
    result = mark(data, profile=load_profile(law.profile), docprefix="LAW", options=Options())
    if law.default is None:
        assert isinstance(result, Marking), result
        return
    assert isinstance(result, MarkRefusal)
    assert (result.code, result.line) == law.default
    assert result.message.startswith(f"line {law.default[1]}: ")


@pytest.mark.parametrize("law", ALL)
def test_every_unit_is_the_recorded_one(law: Law) -> None:
    data, _ = marked(law)
    assert json.loads(json.dumps(record(data, law))) == golden(law)


@pytest.mark.parametrize("law", ALL)
def test_no_byte_is_lost_and_both_builds_agree(law: Law) -> None:
    data, marking = marked(law)
    marking.prove(data)
    plan = build_plan(data, marking, docprefix="LAW", source_version_id="v1")
    assert plan.writer_digest == rebuild_digest_reversed(data, marking, docprefix="LAW")
    assert len(plan.rows) == law.units == sum(plan.section_type_cardinality.values())


@pytest.mark.laws
@pytest.mark.parametrize("text", [pytest.param(text, id=f"{text.file} {text.profile}") for text in IN_THEIR_LANGUAGE])
def test_a_law_is_cut_by_the_profile_of_its_language_or_refused_by_name(text: InItsLanguage) -> None:
    data = law_bytes(text.law, folder_of(text.law))
    shipped = replace(text.law, profile=text.profile, accepted=())
    refused = cut(data, shipped)
    assert [finding.name for finding in refused.findings if finding.severity == "red"] == list(text.red)
    assert isinstance(refused, MarkRefusal if text.red else Marking)
    marking = cut(data, replace(shipped, accepted=text.red))
    assert isinstance(marking, Marking), marking
    assert len(marking.candidates) == text.law.units
    assert {heading.line for heading in headings_of(data)} == {unit.line for unit in marking.candidates}
    addresses = {unit.line: unit.address.removeprefix("LAW/") for unit in marking.candidates}
    assert {line: addresses.get(line) for line in text.known} == text.known


@pytest.mark.laws
def test_the_unit_that_is_too_many_is_found_by_the_parser_too() -> None:
    law = next(law for law in LAWS if law.default is not None and law.default[0] == "too_many_candidates")
    headings = atx_headings(law_bytes(law, folder_of(law)).decode())
    assert law.default is not None
    assert headings[1_000].line == law.default[1]


def next_heading(headings: dict[int, Heading], line: int) -> str:
    return next((headings[other].text for other in sorted(headings) if other > line), "")


def assert_title(title: str, own: str, following: str) -> int:
    """1 when the title took the heading behind it, 0 when it is its own; fails when it is neither."""
    for marker in "✅📋📝⛔":
        own = own.replace(marker, "").strip()
    if own.startswith("**") and own.strip("*"):
        own = own.strip("*")  # emphasis that ends on a later line: literal stars to a parser, markup to a reader
    for text, taken in ((own, 0), (f"{own} {following}", 1)):
        if title == text or (len(text) > TITLE_CHARACTERS_MAX and cut_from(title, text)):
            return taken
    pytest.fail(f"{title!r} is neither {own!r} nor with {following!r}")


def cut_from(title: str, text: str) -> bool:
    return text.startswith(f"{title} ") and TITLE_CHARACTERS_MAX - 60 < len(title) <= TITLE_CHARACTERS_MAX
