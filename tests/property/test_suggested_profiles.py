"""For any text: a suggested profile is accepted, suggesting is deterministic, and each line's rule is the marking's."""

from __future__ import annotations

import re
import unicodedata
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from cutter.marking import PROFILES, Marking, MarkRefusal, Options, Profile, load_profile, parse_profile
from cutter.marking.explain import RULES, Explanation, explainer
from cutter.marking.result import Candidate, Exclusion
from cutter.marking.suggestion import Suggestion, suggest
from tests.property.test_marking_partition import LINES, TEXTS

EXAMPLES = sorted((Path(__file__).parents[2] / "examples" / "laws").glob("*.md"))
ACCEPT = Options(duplicates="ordinal", empty="heading_only", max_candidates=10_000)
DROPPED = ("numbering_break", "other_form", "below_deepest", "within", "only_before", "bare_heading", "next_line_title")
"""Rules that tell more of a line than that its part is left out."""

BREAKS = ("numbering_break", "other_form")
UNREAD = ("form_not_read", "no_sign", "no_word")
HASHES = re.compile("#{1,6}[ \\t]+[^\\s#]")

WORDS = ("Article", "§", "Rule", "Kapitel", "Άρθρο", "Стаття", "peatükk", "Section", "No", "null", "~x", "Art.")
HEADINGS = st.builds(
    "{} {} {}{} {}".format, st.sampled_from(["", "#", "##", "#####", "**"]), st.sampled_from(WORDS),
    st.sampled_from(["1", "2", "3", "IV", "5a", "12.3", "first", "十二"]), st.sampled_from(["", ".", ":"]),
    st.sampled_from(["", "Aim", "of this law", "**"]),
).map(str.strip)  # fmt: skip
LAWS = st.one_of(
    TEXTS,
    st.lists(st.one_of(HEADINGS, LINES), max_size=30).map("\n".join),
    st.lists(st.builds("第{}{} 文".format, st.sampled_from("一二三四"), st.sampled_from("章节条")), max_size=9).map(
        "\n".join
    ),
)


def bytes_of(text: str) -> bytes:
    return unicodedata.normalize("NFC", text).encode("utf-8", "surrogatepass")


@settings(deadline=None, max_examples=60)
@given(text=LAWS)
@example(text="# A\n\nNo 1.\n\nNo 2.\n\nNo 3.\n")
def test_a_suggested_profile_is_accepted_and_the_same_text_gives_the_same_one(text: str) -> None:
    found = suggest(bytes_of(text), docprefix="LAW", compared=())
    if isinstance(found, MarkRefusal):
        assert found.message
        return
    profile = parse_profile(found.body)
    assert [level.name for level in profile.levels] == [level.name for level in found.levels]
    assert found == suggest(bytes_of(text), docprefix="LAW", compared=())
    if isinstance(found.result, Marking):
        found.result.prove(bytes_of(text))
        assert found.result.profile_sha256 == profile.sha256


def explained(data: bytes, profile: Profile) -> tuple[list[Explanation], Marking | MarkRefusal] | None:
    made = explainer(data, profile=profile, docprefix="LAW", options=ACCEPT)
    if isinstance(made, MarkRefusal):
        return None
    reader, result = made
    count = data.count(b"\n") + (not data.endswith(b"\n"))
    return [reader.line(number) for number in range(1, count + 1)], result


def require_agreement(data: bytes, profile: Profile) -> None:
    """Each line of the text is by its rule what the marking made of it."""
    made = explained(data, profile)
    if made is None or isinstance(made[1], MarkRefusal):
        return
    lines, result = made
    begins = {unit.line: unit.address for unit in result.candidates}
    assert {line.line: line.address for line in lines if line.verdict == "unit"} == begins
    headers = {gap.line for gap in result.non_content if gap.kind == "group_header"}
    assert {line.line for line in lines if line.verdict == "group"} == headers
    for part in result.parts():
        first = lines[part.line - 1]
        if isinstance(part, Exclusion):
            assert first.verdict == "excluded" or first.rule in DROPPED, (part, first)
        elif isinstance(part, Candidate):
            assert first.verdict == "unit", (part, first)
    for line in lines:
        assert RULES[line.rule][0] == line.verdict
    broken = {finding.line for finding in result.findings if finding.code in BREAKS}
    assert broken <= {line.line for line in lines if line.rule in (*BREAKS, "next_line_title")}
    for line in lines:
        if line.rule in UNREAD:
            assert not HASHES.match(line.text), (line, "a # is always a heading, or dropped by a rule with a name")


@settings(deadline=None, max_examples=60)
@given(text=LAWS, profile=st.sampled_from(PROFILES))
def test_the_explanation_of_every_line_agrees_with_the_marking(text: str, profile: str) -> None:
    require_agreement(bytes_of(text), load_profile(profile))


@settings(deadline=None, max_examples=40)
@given(text=LAWS)
def test_the_explanation_agrees_with_the_marking_by_a_suggested_profile(text: str) -> None:
    found = suggest(bytes_of(text), docprefix="LAW", compared=())
    if isinstance(found, Suggestion):
        require_agreement(bytes_of(text), parse_profile(found.body))


@pytest.mark.parametrize("file", EXAMPLES, ids=lambda file: file.name)
@pytest.mark.parametrize("profile", PROFILES)
def test_every_line_of_the_example_laws_is_explained_as_it_is_marked(file: Path, profile: str) -> None:
    require_agreement(file.read_bytes(), load_profile(profile))


@pytest.mark.parametrize("file", EXAMPLES, ids=lambda file: file.name)
def test_the_example_laws_get_a_profile_that_cuts_all_their_headings(file: Path) -> None:
    found = suggest(file.read_bytes(), docprefix="LAW")
    assert isinstance(found, Suggestion)
    assert isinstance(found.result, Marking)
    assert not [line for line in found.unused if line.why == "text"]
