"""For any text: no byte is lost, no units overlap, the same bytes give the same cut, a Markdown parser agrees."""

from __future__ import annotations

import unicodedata
from itertools import pairwise

from hypothesis import example, given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from cutter.marking import (
    PROFILES,
    Marking,
    MarkRefusal,
    Options,
    build_plan,
    load_profile,
    mark,
    rebuild_digest_reversed,
)
from cutter.marking.headings import longest_increasing

ACCEPT = Options(duplicates="ordinal", empty="heading_only", max_candidates=10_000)

LINES = st.sampled_from(
    [
        "# Law", "## Chapter I", "## GENERAL", "### Article 1", "##### Artículo 2 - Title", "## 1. Short title",
        "#### Mục 1", "# NT-1: Aim ✅", "## Group 📋", "### Điều 44 📋", "Điều 1. Tên", "**Điều 2.** Tên", "Article 5",
        "CHAPTER II", "(1)", "1. clause", "a) point", "- đ) point", "SUBCHAPTER I— X", "##", "#### ##", "    # code",
        "\t# code", "```", "~~~", "<!-- c", "-->", "<pre>", "</pre>", "---", "===", "", "", "text", "  text  ",
        "\ufeff", "x\u200by", "\u202ex", "a\rb", "c\r", "\x0c", "\u2028", "Mục lục", "Contents", "Done at X",
        "<!-- cutter:begin -->", "<!-- cutter:end -->", "title: x", "# [a](b) *c*", "# &#10; &#x202E;", "# \\* \\#",
        "   ### x #", "#tag", "Phần thứ nhất", "# 法律", "# " + "w " * 400, "[" * 60, "# " + "*_`[(" * 40,
    ]
)  # fmt: skip
TEXTS = st.one_of(
    st.lists(LINES, max_size=40).map("\n".join),
    st.lists(st.one_of(LINES, st.text(max_size=20)), max_size=20).map("\n".join),
    st.text(max_size=80),
)


@settings(deadline=None, max_examples=60)
@given(text=TEXTS, profile=st.sampled_from(PROFILES), deepest=st.booleans())
@example(text="\ufeff---\na: b\n---\n# A\nx", profile="generic-markdown", deepest=False)
def test_no_byte_is_lost_and_units_never_overlap(text: str, profile: str, deepest: bool) -> None:
    data = unicodedata.normalize("NFC", text).encode("utf-8", "surrogatepass")
    chosen = load_profile(profile)
    finest = chosen.levels[-1].name if deepest else None
    options = Options(duplicates="ordinal", empty="heading_only", max_candidates=10_000, deepest=finest)
    marking = mark(data, profile=chosen, docprefix="LAW", options=options)
    if isinstance(marking, MarkRefusal):
        assert marking.message
        return
    marking.prove(data)
    parts = marking.parts()
    assert b"".join(data[part.start : part.end] for part in parts) == data[marking.region_start : marking.region_end]
    assert all(before.end == after.start for before, after in pairwise(parts))
    for unit in marking.candidates:
        assert unit.line == data.count(b"\n", 0, unit.start) + 1
        assert unit.address.isascii()
        assert data[unit.start : unit.end].decode().strip()


@settings(deadline=None, max_examples=60)
@given(text=TEXTS, profile=st.sampled_from(PROFILES))
def test_the_same_bytes_give_the_same_cut_and_both_builds_agree(text: str, profile: str) -> None:
    data = unicodedata.normalize("NFC", text).encode("utf-8", "surrogatepass")
    first = mark(data, profile=load_profile(profile), docprefix="LAW", options=ACCEPT)
    assert first == mark(data, profile=load_profile(profile), docprefix="LAW", options=ACCEPT)
    if isinstance(first, Marking):
        plan = build_plan(data, first, docprefix="LAW", source_version_id="v")
        assert plan.writer_digest == rebuild_digest_reversed(data, first, docprefix="LAW")
        assert [row.body.encode() for row in plan.rows] == [data[u.start : u.end] for u in first.candidates]


MARKDOWN = st.lists(
    st.sampled_from(
        [
            "# alpha", "## beta b", "### gamma", "###### delta #", "   # three", "    # four", "#none", "##", "text",
            "", "", "```", "````", "~~~", "``` info", "<!-- c", "c -->", "<!-- one -->", "\ttab", "# e *f* [g](h)",
            "# 'q' \\* z", "#\ttab", "####### seven", "# C#", "# a `#` b", "## x ## ", "\\# esc",
        ]
    ),
    max_size=25,
)  # fmt: skip


@settings(deadline=None, max_examples=60)
@given(lines=MARKDOWN)
def test_a_markdown_parser_sees_the_same_headings(lines: list[str]) -> None:
    text = "\n".join(lines)
    tokens = MarkdownIt("commonmark").parse(text)
    expected = [
        token.map[0] + 1
        for position, token in enumerate(tokens)
        if token.type == "heading_open" and token.map and token.markup.startswith("#") and tokens[position + 1].content
    ]
    marking = mark(text.encode(), profile=load_profile("generic-markdown"), docprefix="LAW", options=ACCEPT)
    headings = [unit.line for unit in marking.candidates] if isinstance(marking, Marking) else []
    assert headings == expected


@settings(deadline=None, max_examples=60)
@given(before=st.integers(0, 5), text=TEXTS)
def test_text_behind_a_unit_never_changes_the_units_before_it(before: int, text: str) -> None:
    head = "".join(f"# Aim {number}\nx\n" for number in "abcdef"[: before + 1])
    alone = mark(head.encode(), profile=load_profile("generic-markdown"), docprefix="LAW", options=ACCEPT)
    data = f"{head}# Last\nx\n```\n{text}".encode("utf-8", "surrogatepass")
    longer = mark(data, profile=load_profile("generic-markdown"), docprefix="LAW", options=ACCEPT)
    assert isinstance(alone, Marking)
    if isinstance(longer, Marking) and "```" not in text and "cutter:" not in text:
        assert longer.candidates[: len(alone.candidates)] == alone.candidates


@settings(deadline=None, max_examples=60)
@given(values=st.lists(st.tuples(st.integers(0, 9)), max_size=10))
def test_the_kept_numbers_are_a_longest_increasing_run(values: list[tuple[int, ...]]) -> None:
    kept = longest_increasing(values)
    assert kept == sorted(kept)
    run = [values[position] for position in kept]
    assert all(before < after for before, after in pairwise(run))
    best = [1] * len(values)
    for position, value in enumerate(values):
        best[position] += max((best[i] for i in range(position) if values[i] < value), default=0)
    assert len(run) == max(best, default=0)
