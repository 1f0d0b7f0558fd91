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
from cutter.marking import Marking, MarkRefusal, Options, examine, load_profile

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
    found = outline(LAW)
    assert [(entry.line, entry.title, entry.parent) for entry in found.entries] == [
        (1, "Act", None), (3, "Chapter I", None), (5, "GENERAL", None), (7, "Article 1 Aim", 5),
        (11, "Article 2 Scope", 5), (17, "Chapter II Ends", None), (19, "Article 3 End", 17),
    ]  # fmt: skip
    assert found.explicit


def test_the_lines_of_the_outline_end_at_lf_and_a_heading_after_cr_is_one_of_it() -> None:
    found = outline("# Act\n\nText\rmore\r\n\n## Article 1\rx\n\ny\r## Article 2\n")
    assert [(entry.line, entry.title) for entry in found.entries] == [(1, "Act"), (5, "Article 1"), (7, "Article 2")]


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


def test_an_amber_finding_about_structure_makes_a_difference_flagged() -> None:
    sparse = "".join(f"## Article {number}\n\nx\n\n" for number in range(1, 13, 2))
    other = outline(sparse.replace("## Article 5", "### Article 5"))
    assert compare(cut(sparse), other).verdict == "flagged"


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
    assert len({one.jurisdiction for one in listed}) >= 8
    assert sum(one.sample for one in listed) >= 2_000
    for one in listed:
        assert re.fullmatch(r"[0-9a-f]{40}", one.commit), one.repository
        assert re.fullmatch(r"[0-9a-f]{64}", one.digest), one.repository


def test_the_page_counts_each_verdict_and_names_an_example() -> None:
    place = {"jurisdiction": "Atlantis", "language": "at", "path": "a.md", "bytes": 9, "explicit": True, "units": 1}
    verdicts = (("default", "silent", "becomes_a_root", ""), ("suggested", "right", "", "high"))
    records = [
        {**place, "cut": cut, "verdict": verdict, "shape": shape, "line": 3, "confidence": confidence}
        for cut, verdict, shape, confidence in verdicts
    ]
    text = page(records, [])
    assert "| Atlantis (at) | 1 | 1 | 0 | 0 | 0 | 0 | 0 | 1 | 0.0 % |" in text
    assert "| silent | a heading inside another one becomes a root | 1 | `a.md:3` |" in text
    assert "| suggested | right, explicit structure | at least 95 % | 100.0 % of 1 | yes |" in text
