"""The comparison of cuts with an independent outline finds each planted fault, and none where there is none."""

from __future__ import annotations

import ast
import re
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from benchmarks import documents, quotations, tails, words
from benchmarks import outline as outlines
from benchmarks.canada import render
from benchmarks.comparison import compare, difference
from benchmarks.corpus import LIST, Collection, collections, half_of, laws, version
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
    names: list[str] = []
    for module in (outlines, documents, quotations, tails, words):
        tree = ast.parse(Path(module.__file__ or "").read_text(encoding="utf-8"))
        names += [node.module or "" for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)]
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
    text = "".join(f"## Article {number}\n\nSee article 3, article III.\n\n" for number in numbers)
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
    text = "## Article 1\n\nSee article 2.\n\n## Article 3\n\ny\n\n## Annex\n\nx\n\n### Form\n\ny\n"
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


def test_plain_articles_that_do_not_fit_the_numbering_do_not_count_in_a_law_with_hashes() -> None:
    text = "# Act\n\n## Article 1. A\n\nArticle 7. Quoted\n\n## Article 2. B\n\ny\n"
    assert [entry.line for entry in outline(text, ARTICLES).entries] == [1, 3, 7]


def test_the_list_pins_at_least_twenty_jurisdictions_with_commits_and_digests() -> None:
    listed = collections(LIST).collections
    assert len({collection.jurisdiction for collection in listed}) >= 20
    assert sum(collection.sample for collection in listed) >= 2_000
    for collection in listed:
        assert re.fullmatch(r"[0-9a-f]{40}", collection.commit), collection.repository
        assert re.fullmatch(r"[0-9a-f]{64}", collection.digests["seen"]), collection.repository


def test_the_seed_changes_with_the_version_and_the_halves_do_not() -> None:
    listing = collections(LIST)
    assert listing.seed == f"marking-quality-{version()}"
    paths = [f"ar/LEY-{number}.md" for number in range(2_000)]
    first = [path for path in paths if half_of(path) == "seen"]
    assert 900 < len(first) < 1_100
    assert half_of("ar/LEY-21534.md") == half_of("ar/LEY-21534.md")


def test_a_sample_has_laws_of_its_half_only(tmp_path: Path) -> None:
    def git(*arguments: str) -> str:
        command = ["git", "-C", str(tmp_path), "-c", "user.name=a", "-c", "user.email=a@b.c", *arguments]
        return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()

    git("init", "-q")
    for number in range(20):
        (tmp_path / f"{number}.md").write_text(PLAIN.replace("Chapter I", f"Chapter {number}"), encoding="utf-8")
    git("add", ".")
    git("commit", "-qm", "laws")
    collection = Collection(jurisdiction="Atlantis", language="at", repository="a/b", commit=git("rev-parse", "HEAD"),
                            paths="*.md", sample=20, digests={}, articles=ARTICLES)  # fmt: skip
    halves = {
        half: [law.path for law in laws(collection, tmp_path / ".git", "s", 20, half)] for half in ("seen", "unseen")
    }
    assert sorted(halves["seen"] + halves["unseen"]) == sorted(f"{number}.md" for number in range(20))
    assert {half_of(path) for path in halves["seen"]} == {"seen"}


STATUTE = b"""<Statute><Identification><ShortTitle>Ferry Act</ShortTitle></Identification><Body>
<Heading level="1"><TitleText>Boats</TitleText></Heading>
<Section><MarginalNote>Bells</MarginalNote><Label>1</Label><Text>A boat has a bell.</Text></Section>
<Section><MarginalNote>Fees</MarginalNote><Label>2</Label>
<Subsection><Label>(1)</Label><Text>A rider pays.</Text><Paragraph><Label>(a)</Label><Text>at noon</Text></Paragraph>
</Subsection><Subsection><MarginalNote>Goats</MarginalNote><Label>(2)</Label><Text>A goat is free.</Text></Subsection>
</Section></Body>
<Schedule id="1"><ScheduleFormHeading><Label>SCHEDULE</Label></ScheduleFormHeading><P><Text>x</Text></P>
</Schedule></Statute>"""


def test_an_official_act_is_rendered_as_plain_text_and_as_markdown() -> None:
    plain, marked = render(STATUTE, markdown=False), render(STATUTE, markdown=True)
    assert plain is not None
    assert marked is not None
    lines = plain.text.split("\n")
    assert [lines[line - 1] for line in sorted(plain.sections)] == ["1 A boat has a bell.", "2 (1) A rider pays."]
    assert plain.text.startswith("FERRY ACT\n\nBoats\n\nBells\n\n1 A boat has a bell.\n\nFees\n\n2 (1) A rider pays.")
    assert "(a) at noon\n\nGoats\n\n(2) A goat is free.\n\nSCHEDULE\n\nx" in plain.text
    assert marked.text.startswith("# Ferry Act\n\n## Boats\n\n#### 1 Bells\n\nA boat has a bell.\n\n#### 2 Fees")
    assert render(b"<Statute/>", markdown=True) is None


LAW_RECORD = {"jurisdiction": "Atlantis", "language": "at", "path": "a.md", "bytes": 9, "units": 1, "form": "explicit",
              "verdict": "right", "shape": "", "line": None, "confidence": "", "finding": "", "unnamed": False,
              "wrong_kinds": 0, "half": "seen"}  # fmt: skip


def test_the_page_counts_each_verdict_and_names_an_example() -> None:
    silent = {**LAW_RECORD, "cut": "default", "verdict": "silent", "shape": "becomes_a_root", "line": 3}
    kind = {
        **LAW_RECORD,
        "cut": "suggested",
        "verdict": "wrong kind",
        "shape": "wrong_kind",
        "wrong_kinds": 2,
        "line": 5,
    }
    text = page([silent, kind, {**LAW_RECORD, "cut": "suggested"}], [], "9.9")
    assert "| Atlantis (at) | 1 | 1 | 0 | 0 | 0 | 0 | 0 | 0 | 1 | 0.0 % |" in text
    assert "| Atlantis (at) | 2 | 2 | 1 | 0 | 0 | 0 | 0 | 1 | 0 | 50.0 % |" in text
    assert "| silent | a heading inside another one becomes a root | 1 | `a.md:3` |" in text
    assert "| wrong kinds, of all accepted | 0 | 1 of 2, 50.0 % | no | 0 of 1, 0.0 % |" in text
    assert "Measured with version 9.9." in text


def test_the_page_names_no_law_of_the_unseen_half() -> None:
    silent = {**LAW_RECORD, "verdict": "silent", "shape": "becomes_a_root", "half": "unseen", "path": "hidden.md"}
    text = page([{**silent, "cut": cut} for cut in ("default", "suggested")], [], "9.9")
    assert "hidden.md" not in text
    assert "## The seen half\n\nIt was not measured with this version." in text
    assert "| silent | a heading inside another one becomes a root | 1 |" in text


def test_the_page_names_each_missed_target_with_a_measured_law_its_line_and_its_finding() -> None:
    law = {**LAW_RECORD, "line": 7, "cut": "suggested"}
    giant = {**law, "verdict": "refused though right", "shape": "giant_unit", "finding": "giant_unit:LAW/X"}
    gap = {**law, "verdict": "refused", "shape": "looks_uncut", "finding": "looks_uncut:LAW/Y", "form": "pdf"}
    records = [
        {**giant, "path": "b.md", "bytes": 20}, {**giant, "path": "a.md"}, {**gap, "path": "c.md"},
        {**law, "verdict": "silent", "shape": "becomes_a_root", "path": "d.md"},
    ]  # fmt: skip
    _, _, missed = page(records, [], "9.9").partition("### Missed targets\n")
    missed = missed.partition("\n## ")[0]
    assert (
        "| right, laws with explicit structure | refused though right | 2 | `a.md:7` | `giant_unit:LAW/X` |" in missed
    )
    assert "| right, text of PDFs | refused | 1 | `c.md:7` | `looks_uncut:LAW/Y` |" in missed
    assert "| silent | silent | 1 | `d.md:7` | none: a heading inside another one becomes a root |" in missed


def test_the_page_names_no_target_that_is_met() -> None:
    text = page([{**LAW_RECORD, "cut": cut} for cut in ("default", "suggested")], [], "9.9")
    assert "Every target is met." in text
