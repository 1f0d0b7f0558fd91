"""The comparison of cuts with an independent outline finds each planted fault, and none where there is none."""

from __future__ import annotations

import ast
import re
from dataclasses import replace
from pathlib import Path

import pytest

from benchmarks import outline as outlines
from benchmarks.comparison import compare, difference
from benchmarks.corpus import LIST, collections
from benchmarks.corpus_page import page
from benchmarks.outline import Outline, outline
from cutter.marking import Finding, Marking, MarkRefusal, Options, examine, load_profile

LAW = """# Act

## Chapter I

## GENERAL

### Article 1 Aim[^1]

Text.

### Article 2 [Scope](x)

```
### Sample
```

## Chapter II Ends

### Article 3 End

Text.
"""
PLAIN = "# Act\n\n## Chapter I\n\nArticle 1. Aim\n\nText.\n\nArticle 2. Scope\n\nText.\n"
ARTICLES = re.compile(r"Article [0-9]+\.")


def cut(text: str, profile: str = "generic-markdown") -> Marking | MarkRefusal:
    return examine(text.encode(), profile=load_profile(profile), docprefix="LAW", options=Options())


def test_the_outline_is_read_without_the_code_of_the_marking() -> None:
    tree = ast.parse(Path(outlines.__file__).read_text(encoding="utf-8"))
    names = [node.module or "" for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)]
    names += [alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names]
    assert not [name for name in names if name.startswith(("cutter", "starter"))]


def test_the_outline_has_headings_with_their_parents() -> None:
    headings = outline(LAW)
    assert [(entry.line, entry.title, entry.parent) for entry in headings.entries] == [
        (1, "Act", None), (3, "Chapter I", None), (5, "GENERAL", None), (7, "Article 1 Aim", 5),
        (11, "Article 2 Scope", 5), (17, "Chapter II Ends", None), (19, "Article 3 End", 17),
    ]  # fmt: skip
    assert headings.explicit


def test_the_lines_of_the_outline_end_at_lf_and_a_heading_after_cr_is_one_of_it() -> None:
    headings = outline("# Act\n\nText\rmore\r\n\n## Article 1\rx\n\ny\r## Article 2\n")
    assert [(entry.line, entry.title) for entry in headings.entries] == [(1, "Act"), (5, "Article 1"), (7, "Article 2")]


def test_a_right_cut_is_right_and_a_heading_with_its_name_is_one() -> None:
    made = compare(cut(LAW), outline(LAW))
    assert (made.verdict, made.shape, made.units, made.expected) == ("right", "", 6, 7)


@pytest.mark.parametrize(
    ("text", "shape", "line"),
    [
        (LAW.replace("### Article 2", "Article 2"), "heading_not_cut", 11),
        (LAW.replace("# Article 2 [Scope]", "# Article 2 [Aims]"), "title_differs", 11),
        (LAW.replace("```\n### Sample\n```", "x\n### Sample\ny"), "unit_without_heading", 14),
    ],
)
def test_a_cut_of_another_structure_differs(text: str, shape: str, line: int) -> None:
    result = cut(text)
    assert isinstance(result, Marking)
    assert difference(result, outline(LAW)) == (shape, line)


def test_a_swallowed_article_in_a_plain_line_differs() -> None:
    expected = outline(PLAIN, ARTICLES)
    assert not expected.explicit
    result = cut(PLAIN)
    assert isinstance(result, Marking)
    assert difference(result, expected) == ("article_not_cut", 5)


def test_an_inverted_parent_is_silently_different() -> None:
    result = cut(LAW)
    assert isinstance(result, Marking)
    entries = outline(LAW).entries
    inverted = Outline(entries=tuple(replace(entry, depth=2) if entry.line == 7 else entry for entry in entries))
    made = compare(result, inverted)
    assert (made.verdict, made.shape, made.line) == ("silent", "root_inside_another", 7)


UNCLOSED = "# Act\n\n## Article 1\n\nx\n\n```\n\n## Article 2\n\ny\n"


def test_a_red_finding_refuses_a_cut_that_differs() -> None:
    made = compare(cut(UNCLOSED), outline(UNCLOSED.replace("```\n", "")))
    assert (made.verdict, made.shape, made.line) == ("refused", "heading_in_fence", 9)
    assert made.difference == "heading_not_cut"


def test_a_red_finding_in_a_cut_that_does_not_differ_is_a_false_alarm() -> None:
    quoted = LAW.replace("### Sample", "### Article 9")
    made = compare(cut(quoted), outline(quoted))
    assert (made.verdict, made.shape, made.line) == ("refused though right", "heading_in_fence", 14)
    assert made.difference == ""


@pytest.mark.parametrize("numbers", [(1, 2, 4), (1, 2, 2, 3), ("I", "II", "IV")])
def test_a_number_that_is_odd_in_the_outline_too_is_no_false_alarm(numbers: tuple[object, ...]) -> None:
    text = "".join(f"## Article {number}\n\nx\n\n" for number in numbers)
    options = Options(duplicates="ordinal")
    result = examine(text.encode(), profile=load_profile("generic-markdown"), docprefix="LAW", options=options)
    assert compare(result, outline(text)).verdict == "refused for its numbers"


SPARSE = "".join(f"## Article {number}\n\nx\n\n" for number in range(1, 13, 2))


@pytest.mark.parametrize("article", [3, 5, 9])
def test_an_amber_finding_that_names_the_line_of_a_difference_flags_it(article: int) -> None:
    made = compare(cut(SPARSE), outline(SPARSE.replace(f"## Article {article}\n", f"### Article {article}\n")))
    assert (made.verdict, made.line, made.finding) == ("flagged", 2 * article - 1, "number_missing:LAW/ARTICLE-3")


def test_an_amber_finding_that_names_the_parent_of_a_difference_flags_it() -> None:
    text = "# Part 1\n\n## Article 1\n\nx\n\n## Article 2\n\ny\n"
    result = cut(text)
    assert isinstance(result, Marking)
    other = outline(text.replace("## Article 2", "# Article 2"))
    assert compare(result, other).verdict == "silent"
    about = Finding(code="forms_mixed", line=1, message="line 1: x", address="LAW/PART-1", severity="amber")
    assert compare(replace(result, findings=(about,)), other).verdict == "flagged"
    assert compare(replace(result, findings=(replace(about, address="LAW/PART-2"),)), other).verdict == "silent"
    assert compare(replace(result, findings=(replace(about, severity="info"),)), other).verdict == "silent"


def test_an_amber_finding_about_another_place_leaves_a_difference_silent() -> None:
    text = SPARSE + "## Annex\n\nx\n\n### Form\n\ny\n"
    made = compare(cut(text), outline(text.replace("### Form", "## Form")))
    assert (made.verdict, made.shape, made.line, made.finding) == ("silent", "root_inside_another", 29, "")


def test_a_red_finding_about_another_place_leaves_the_difference_unnamed() -> None:
    text = "## Article 1\n\nx\n\n## Article 3\n\ny\n\n## Annex\n\nx\n\n### Form\n\ny\n"
    elsewhere = compare(cut(text), outline(text.replace("### Form", "## Form")))
    assert (elsewhere.verdict, elsewhere.unnamed) == ("refused", True)
    there = compare(cut(text), outline(text.replace("## Article 3", "### Article 3")))
    assert (there.verdict, there.unnamed, there.finding) == ("refused", False, "number_missing:LAW/ARTICLE-3")
    assert not compare(cut(text), outline(text)).unnamed


def test_an_amber_finding_that_is_no_doubt_about_the_structure_leaves_a_difference_silent() -> None:
    alone = "# Act\n\n## Article 1\n\n## Article 2\n\nx\n\n## Article 3\n\ny\n"
    options = Options(empty="heading_only")
    result = examine(alone.encode(), profile=load_profile("generic-markdown"), docprefix="LAW", options=options)
    assert isinstance(result, Marking)
    assert [finding.code for finding in result.findings] == ["heading_only"]
    assert compare(result, outline(alone.replace("## Article 3", "# Article 3"))).verdict == "silent"


def test_a_refusal_is_refused_with_its_code() -> None:
    text = "# Act\n\n## Article 1\n\n## Article 2\n\nx\n"
    made = compare(cut(text), outline(text))
    assert (made.verdict, made.shape, made.line) == ("refused", "childless_heading", 3)


def test_plain_articles_do_not_count_in_a_law_that_writes_them_with_hashes() -> None:
    text = "# Act\n\n## Article 1. A\n\nArticle 7. Quoted\n\n## Article 2. B\n\ny\n"
    assert [entry.line for entry in outline(text, ARTICLES).entries] == [1, 3, 7]


def test_the_list_pins_at_least_eight_jurisdictions_with_commits_and_digests() -> None:
    _, listed = collections(LIST)
    assert len({collection.jurisdiction for collection in listed}) >= 8
    assert sum(collection.sample for collection in listed) >= 2_000
    for collection in listed:
        assert re.fullmatch(r"[0-9a-f]{40}", collection.commit), collection.repository
        assert re.fullmatch(r"[0-9a-f]{64}", collection.digest), collection.repository


def test_the_page_counts_each_verdict_and_names_an_example() -> None:
    place = {"jurisdiction": "Atlantis", "language": "at", "path": "a.md", "bytes": 9, "explicit": True, "units": 1}
    verdicts = (("default", "silent", "becomes_a_root", ""), ("suggested", "right", "", "high"))
    records = [
        {**place, "cut": cut, "verdict": verdict, "shape": shape, "line": 3, "confidence": confidence, "finding": "",
         "unnamed": False}
        for cut, verdict, shape, confidence in verdicts
    ]  # fmt: skip
    text = page(records, [])
    assert "| Atlantis (at) | 1 | 1 | 0 | 0 | 0 | 0 | 0 | 1 | 0.0 % |" in text
    assert "| silent | a heading inside another one becomes a root | 1 | `a.md:3` |" in text
    assert "| suggested | right, explicit structure | at least 95 % | 100.0 % of 1 | yes |" in text


def test_the_page_names_each_missed_target_with_a_measured_law_its_line_and_its_finding() -> None:
    law = {"jurisdiction": "Atlantis", "language": "at", "bytes": 9, "units": 1, "confidence": "", "unnamed": False,
           "line": 7}  # fmt: skip
    giant = {**law, "verdict": "refused though right", "shape": "giant_unit", "finding": "giant_unit:LAW/X"}
    gap = {**law, "verdict": "refused", "shape": "looks_uncut", "finding": "looks_uncut:LAW/Y"}
    silent = {**law, "verdict": "silent", "shape": "becomes_a_root", "finding": ""}
    records = [
        {**giant, "path": "b.md", "bytes": 20, "explicit": True, "cut": "default"},
        {**giant, "path": "a.md", "explicit": True, "cut": "default"},
        {**gap, "path": "c.md", "explicit": False, "cut": "suggested"},
        {**silent, "path": "d.md", "explicit": True, "cut": "suggested"},
    ]
    _, _, missed = page(records, []).partition("## Missed targets\n")
    missed = missed.partition("\n## ")[0]
    first = "| default | right, explicit structure | refused though right | 2 | `a.md:7` | `giant_unit:LAW/X` |"
    assert first in missed
    assert "| suggested | right, articles in plain lines | refused | 1 | `c.md:7` | `looks_uncut:LAW/Y` |" in missed
    root = "none: a heading inside another one becomes a root"
    assert f"| suggested | silently different | silent | 1 | `d.md:7` | {root} |" in missed


def test_the_page_names_no_target_that_is_met() -> None:
    right = {"jurisdiction": "Atlantis", "language": "at", "path": "a.md", "bytes": 9, "units": 1, "explicit": True,
             "verdict": "right", "shape": "", "line": None, "confidence": "", "finding": "",
             "unnamed": False}  # fmt: skip
    text = page([{**right, "cut": cut} for cut in ("default", "suggested")], [])
    assert "## Missed targets" not in text
    assert "Every target is met." in text
