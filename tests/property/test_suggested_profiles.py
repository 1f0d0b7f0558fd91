"""For any text: a suggested profile is accepted, suggesting is deterministic, and each line's rule is the marking's."""

from __future__ import annotations

import re
import unicodedata
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from cutter.marking import PROFILES, Marking, MarkRefusal, Options, Profile, load_profile, mark, parse_profile
from cutter.marking.explain import RULES, Explanation, explainer
from cutter.marking.result import Candidate, Exclusion
from cutter.marking.suggestion import Suggestion, suggest
from tests.property.test_marking_partition import LINES, TEXTS

EXAMPLES = sorted((Path(__file__).parents[2] / "examples" / "laws").glob("*.md"))
ACCEPT = Options(duplicates="ordinal", empty="heading_only", max_candidates=10_000)
DROPPED = ("numbering_break", "other_form", "below_deepest", "within", "only_before", "bare_heading", "next_line_title")
"""Rules that say more about a line than that its part is left out."""

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
    suggestion = suggest(bytes_of(text), docprefix="LAW", compared=())
    if isinstance(suggestion, MarkRefusal):
        assert suggestion.message
        return
    profile = parse_profile(suggestion.body)
    assert [level.name for level in profile.levels] == [level.name for level in suggestion.levels]
    assert suggestion == suggest(bytes_of(text), docprefix="LAW", compared=())
    if isinstance(suggestion.result, Marking):
        suggestion.result.prove(bytes_of(text))
        assert suggestion.result.profile_sha256 == profile.sha256


def explained(data: bytes, profile: Profile) -> tuple[list[Explanation], Marking | MarkRefusal] | None:
    made = explainer(data, profile=profile, docprefix="LAW", options=ACCEPT)
    if isinstance(made, MarkRefusal):
        return None
    reader, result = made
    count = data.count(b"\n") + (not data.endswith(b"\n"))
    return [reader.line(number) for number in range(1, count + 1)], result


def disagreements(data: bytes, profile: Profile) -> list[object]:
    """Each place where the explained rule of a line differs from what the marking made of the line."""
    made = explained(data, profile)
    if made is None or isinstance(made[1], MarkRefusal):
        return []
    lines, result = made
    broken = {finding.line for finding in result.findings if finding.code in BREAKS}
    dropped = {line.line for line in lines if line.rule in (*BREAKS, "next_line_title")}
    return [
        *_differences("units", {line.line: line.address for line in lines if line.verdict == "unit"},
                      {unit.line: unit.address for unit in result.candidates}),
        *_differences("group headers", {line.line for line in lines if line.verdict == "group"},
                      {gap.line for gap in result.non_content if gap.kind == "group_header"}),
        *((part, lines[part.line - 1]) for part in result.parts() if not _agrees(part, lines[part.line - 1])),
        *(("verdict of the rule", line) for line in lines if RULES[line.rule][0] != line.verdict),
        *(("break without a rule", line) for line in sorted(broken - dropped)),
        *(("a # is always a heading, or dropped by a rule with a name", line)
          for line in lines if line.rule in UNREAD and HASHES.match(line.text)),
    ]  # fmt: skip


def _differences(what: str, explained: object, marked: object) -> list[object]:
    return [] if explained == marked else [(what, explained, marked)]


def _agrees(part: object, first: Explanation) -> bool:
    if isinstance(part, Exclusion):
        return first.verdict == "excluded" or first.rule in DROPPED
    return not isinstance(part, Candidate) or first.verdict == "unit"


@settings(deadline=None, max_examples=60)
@given(text=LAWS, profile=st.sampled_from(PROFILES))
def test_the_explanation_of_every_line_agrees_with_the_marking(text: str, profile: str) -> None:
    assert disagreements(bytes_of(text), load_profile(profile)) == []


@settings(deadline=None, max_examples=40)
@given(text=LAWS)
def test_the_explanation_agrees_with_the_marking_by_a_suggested_profile(text: str) -> None:
    suggestion = suggest(bytes_of(text), docprefix="LAW", compared=())
    if isinstance(suggestion, Suggestion):
        assert disagreements(bytes_of(text), parse_profile(suggestion.body)) == []


@pytest.mark.parametrize("file", EXAMPLES, ids=lambda file: file.name)
@pytest.mark.parametrize("profile", PROFILES)
def test_every_line_of_the_example_laws_is_explained_as_it_is_marked(file: Path, profile: str) -> None:
    assert disagreements(file.read_bytes(), load_profile(profile)) == []


@pytest.mark.parametrize("file", EXAMPLES, ids=lambda file: file.name)
def test_the_example_laws_get_a_profile_that_cuts_all_their_headings(file: Path) -> None:
    suggestion = suggest(file.read_bytes(), docprefix="LAW")
    assert isinstance(suggestion, Suggestion)
    assert isinstance(suggestion.result, Marking)
    assert not [line for line in suggestion.unused if line.why == "text"]


KINDS = {
    "Article {}": {"article"}, "Artículo {}": {"article"}, "§ {}": {"article", "section"}, "Điều {}": {"article"},
    "Chapter {}": {"section"}, "Kapitel {}": {"section"}, "Título {}": {"section"}, "{}. peatükk": {"section"},
    "Hoofdstuk {}": {"section"}, "Annex {}": {"appendix"}, "Anlage {}": {"appendix"}, "Schedule {}": {"appendix"},
}  # fmt: skip
"""Headings and the section types that do not contradict them, as a reader of laws says."""

TYPED = st.lists(
    st.tuples(st.sampled_from(sorted(KINDS)), st.integers(1, 5), st.integers(1, 9)), min_size=1, max_size=12
).map(lambda rows: [(word, f"{'#' * depth} {word.format(number)}") for word, depth, number in rows])
WRONG = {"article": "section", "section": "principle", "appendix": "article"}


def said_or_right(data: bytes, profile: Profile, kinds: dict[int, set[str]]) -> bool:
    """Whether each unit has a right kind, or the cut is refused, or a finding says that kinds differ."""
    result = mark(data, profile=profile, docprefix="LAW", options=ACCEPT)
    if isinstance(result, MarkRefusal):
        return True
    wrong = [unit for unit in result.candidates if unit.section_type not in kinds[unit.line]]
    return not wrong or "kind_differs" in {finding.code for finding in result.findings}


@settings(deadline=None, max_examples=80)
@given(rows=TYPED, old=st.booleans())
def test_a_wrong_kind_is_refused_or_flagged_and_no_suggestion_has_one(rows: list[tuple[str, str]], old: bool) -> None:
    data = "\n\nText.\n\n".join(heading for _, heading in rows).encode() + b"\n\nText.\n"
    kinds = {1 + 4 * place: KINDS[word] for place, (word, _) in enumerate(rows)}
    suggestion = suggest(data, docprefix="LAW", compared=())
    assert isinstance(suggestion, Suggestion)
    assert isinstance(suggestion.result, Marking)
    assert all(unit.section_type in kinds[unit.line] for unit in suggestion.result.candidates)
    body = suggestion.body
    for right, wrong in WRONG.items():
        body = body.replace(f"section_type: {right}\n".encode(), f"section_type: ~{wrong}\n".encode())
    body = body.replace(b"section_type: ~", b"section_type: ") + b"depths: [principle]\n" * old
    assert said_or_right(data, parse_profile(body), kinds)
