"""Profiles are read strictly: closed schema, every error with its line and field."""

from __future__ import annotations

import pytest

from cutter.domain.digests import sha256_hex
from cutter.errors import InvalidInput
from cutter.limits import PROFILE_BYTES_MAX
from cutter.marking import PROFILES, load_profile, parse_profile
from cutter.marking.profile import SECTION_TYPES
from tests.unit.marking.texts import addresses, cut, refused

VALID = """\
schema: cutter-profile/1
id: house-rules
about: Rules of a house.
unit_kind: law_unit
publication_type: law
owner: incomex_council
forms: [atx, plain]
depths: [section, article]
levels:
  - name: rule
    segment: RULE
    words: [Rule]
    numbers: [arabic]
    section_type: article
"""


def changed(old: str, new: str) -> bytes:
    assert old in VALID
    return VALID.replace(old, new).encode()


@pytest.mark.parametrize("name", PROFILES)
def test_every_shipped_profile_is_read_and_known_by_its_name(name: str) -> None:
    profile = load_profile(name)
    assert profile.id == name
    assert {level.section_type for level in profile.levels} <= set(SECTION_TYPES)
    assert (profile.unit_kind, profile.publication_type, profile.owner) == ("law_unit", "law", "incomex_council")


def test_an_unknown_name_is_refused_with_the_known_ones() -> None:
    with pytest.raises(InvalidInput, match="generic-markdown, german-law, incomex-constitution"):
        load_profile("generic")


def test_a_profile_of_ones_own_works_and_is_pinned_by_its_bytes() -> None:
    profile = parse_profile(VALID.encode())
    assert profile.sha256 == sha256_hex(VALID)
    assert addresses(cut("Rule 1. Be kind\nx\nRule 2. Be on time\ny\n", profile)) == ["RULE-1", "RULE-2"]


def test_the_profiles_choices_count_unless_the_options_say_otherwise() -> None:
    text = "Rule 1. Be kind\n\n# Rest\n# Rest\nx\n"
    profile = parse_profile(changed("forms:", "duplicates: ordinal\nempty: heading_only\nforms:"))
    assert addresses(cut(text, profile))[-2:] == ["REST", "REST~2"]
    assert refused(text, profile, duplicates="refuse").code == "duplicate_address"
    assert refused(text, profile, empty="refuse").code == "childless_heading"
    assert refused(text, parse_profile(VALID.encode())).code == "childless_heading"


@pytest.mark.parametrize(
    ("data", "line", "message"),
    [
        (changed("about:", "colour: red\nabout:"), 3, "profile.colour is unknown"),
        (changed("id: house-rules", "id: house-rules\nid: two"), 3, "id is duplicated"),
        (changed("owner: incomex_council\n", ""), 1, "profile.owner is missing"),
        (changed("schema: cutter-profile/1", "schema: cutter-profile/2"), 1, "must be cutter-profile/1"),
        (changed("[atx, plain]", "[atx, html]"), 7, "html: some of atx, bold, plain"),
        (changed("[section, article]", "[]"), 8, "profile.depths empty"),
        (changed("[section, article]", "[sektion]"), 8, "sektion"),
        (changed("    words: [Rule]", "    pattern: '(a+)+$'"), 12, "profile.levels.pattern is unknown"),
        (changed("[arabic]", "[klingon]"), 13, "klingon: some of"),
        (changed("    numbers: [arabic]\n", ""), 10, "needs numbers"),
        (changed("segment: RULE", "segment: rule/1"), 11, "profile.levels.segment"),
        (changed("    words: [Rule]\n", ""), 10, "needs words, phrases or a marker"),
        (changed("section_type: article", "section_type: law"), 14, "profile.levels.section_type 'law'"),
        (changed("section_type: article", "section_type: article\n    marker: 'n)'"), 15, "profile.levels.marker"),
        (changed("section_type: article", "section_type: article\n    within: house"), 10, "within names no level"),
        (changed("forms:", "deepest: house\nforms:"), 7, "profile.deepest 'house'"),
        (changed("forms:", "either_way: [[rule, rule]]\nforms:"), 7, "profile.either_way"),
        (changed("forms:", "sentinels: {begin: x, end: x}\nforms:"), 7, "must differ from begin"),
        (changed("forms:", "status: {markers: {}, default: draft}\nforms:"), 7, "profile.status.scope is missing"),
        (changed("id: house-rules", "id: &a house-rules"), 2, "anchors and aliases"),
        (changed("id: house-rules", "id: !!str house-rules"), 2, "tags are not allowed"),
        (changed("id: house-rules", "id: |\n  house-rules"), 2, "block texts are not allowed"),
        (changed("id: house-rules", "id: house-rules # \u202e"), 2, "U+202E makes a line look other than it is read"),
        (changed("id: house-rules", "id: ~"), 2, "a value is missing"),
        (changed("id: house-rules", "id: ' '"), 2, "profile.id must be a text"),
        (VALID.encode() + b"---\nid: two\n", VALID.count("\n") + 1, "a second document"),
        (changed("id: house-rules", "id: House"), 2, "profile.id 'House'"),
        (b"- a\n", 1, "profile must be a mapping"),
        (b"a: [\n", 2, "not YAML"),
        (b"", 1, "is empty"),
        (b"a: " + b"[" * 5_000, 1, "nested deeper"),
    ],
)
def test_a_wrong_profile_is_refused_with_line_and_field(data: bytes, line: int, message: str) -> None:
    with pytest.raises(InvalidInput) as refusal:
        parse_profile(data)
    assert f"profile line {line}: " in str(refusal.value)
    assert message in str(refusal.value)


def test_bytes_that_are_too_many_or_no_text_are_refused() -> None:
    with pytest.raises(InvalidInput, match="at most"):
        parse_profile(b"#" * (PROFILE_BYTES_MAX + 1))
    with pytest.raises(InvalidInput, match="line 1: byte 4 is not UTF-8"):
        parse_profile(b"id: \xff")
