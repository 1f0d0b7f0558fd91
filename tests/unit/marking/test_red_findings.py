"""Each fault of a cut is refused with its line and its name, and the text beside it that only looks so is not."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import pytest

from cutter.errors import InvalidInput
from cutter.limits import ACCEPTANCES_MAX, GIANT_UNIT_BYTES, RED_FINDINGS_OF_A_KIND
from cutter.marking import Marking, Options, Profile, parse_profile, profile_bytes
from cutter.marking.profile import Empty
from tests.golden.expectations import CHECKOUT
from tests.unit.marking.texts import codes, cut, reds, refused, result

NBSP = "\u00a0"


def articles(*numbers: int | str, head: str = "# Article {}. Rule\n\nText.\n\n") -> str:
    """A law of these articles."""
    return "".join(head.format(number) for number in numbers)


@dataclass(frozen=True, kw_only=True)
class Fault:
    """A wrong text with the name of its finding and its line, and a right text that differs a little."""

    wrong: str
    name: str
    line: int
    right: str
    profile: str | Profile = "generic-markdown"
    empty: Empty = "refuse"


ARTICLES_AS_SECTIONS = parse_profile(profile_bytes("eu-regulation").replace(b"kind: article", b"section_type: section"))
LONG = "A sentence of a tariff. " * 900
PLAIN = "Article {}. Rule\n\nText.\n\n"

SEE_3 = "It applies as article 3 says.\n\n"
"""A trace of the article that is missing."""

FAULTS = {
    "plain articles": Fault(
        wrong="# Act\n\n" + articles(1, 2, 3, head=PLAIN),
        name="looks_uncut:LAW/ACT", line=3,
        right="# Act\n\nArticle 5 of the old act, Article 9 of the new one.\n",
    ),
    "a swallowed article": Fault(
        wrong=articles(1, 2) + "Article 3. Aim\n\nText.\n\n" + articles(4),
        name="heading_absorbed:LAW/ARTICLE-2", line=9,
        right=articles(1, 2) + "Article 3 of the old act applies.\n\n" + articles(3, 4),
    ),
    "a swallowed article that no sign shows, after a chapter": Fault(
        wrong="## Chapter 1\n\n### § 1 Aim\nx\n\n## Chapter 2\n\n§ 2 Duty to report\n\n(1) x\n\n### § 3 Lamp\nx\n",
        name="heading_absorbed:LAW/CHAPTER-2", line=8, profile="german-law",
        right="## Chapter 1\n\n### § 1 Aim\nx\n\n§ 2 Duty to report applies.\n\n### § 2 Duty\nx\n\n### § 3 Lamp\nx\n",
    ),
    "two swallowed articles that no sign shows": Fault(
        wrong=articles(1, 2) + "Article 3 Aim\n\nx\n\nArticle 4 Lamp\n\nx\n\n" + articles(5),
        name="heading_absorbed:LAW/ARTICLE-2", line=9,
        right=articles(1, 2) + "Article 3 Aim\n\nx\n\n" + articles(3, 4, 5),
    ),
    "a swallowed article at the end": Fault(
        wrong=articles(1, 2) + "**Article 3**\n\nText.\n",
        name="heading_absorbed:LAW/ARTICLE-2", line=9,
        right=articles(1, 2) + "**Article 1**\n\nText.\n",
    ),
    "Dutch chapters": Fault(
        wrong="# Wet\n\nHoofdstuk 1 Algemeen\n\nx\n\nHoofdstuk 2 Regels\n\nx\n\nHoofdstuk 3 Slot\n\nx\n",
        name="looks_uncut:LAW/WET", line=3,
        right="# Wet\n\nZie hoofdstuk 1 en hoofdstuk 2.\n",
    ),
    "Finnish articles, whose number is before the sign": Fault(
        wrong="# Laki\n\n1 §\n\nx\n\n2 §\n\nx\n\n2 a §\n\nx\n\n3 §\n\nx\n",
        name="looks_uncut:LAW/LAKI", line=3,
        right="# Laki\n\n2 § andra stycket och\n3 § tredje stycket gäller.\n4 § första stycket.\n",
    ),
    "Swedish articles, whose text is on the same line": Fault(
        wrong="# Lag\n\n1 § Denna lag gäller.\n\n2 § Med saker avses ting.\n\n3 § Regeringen får.\n",
        name="looks_uncut:LAW/LAG", line=3,
        right="# Lag\n\nEnligt 1 § denna lag och 2 § förordningen.\n",
    ),
    "Hungarian chapters with Roman numbers": Fault(
        wrong="# Törvény\n\nI. Fejezet\n\nx\n\nII. Fejezet\n\nx\n\nIII. Fejezet\n\nx\n",
        name="looks_uncut:LAW/TORVENY", line=3,
        right="# Törvény\n\nA II. fejezet szerint.\n",
    ),
    "a swallowed Finnish article": Fault(
        wrong="# Laki\n\n## 1 §\nx\n\n## 2 §\nx\n\n3 §\n\nx\n\n## 4 §\nx\n",
        name="heading_absorbed:LAW/PAR-2", line=9,
        right="# Laki\n\n## 1 §\nx\n\n## 2 §\nx\n\n3 § andra stycket\n\n## 3 §\nx\n",
    ),
    "numbered titles of a law without numbered units": Fault(
        wrong="# Act\n\n12. Aim\n\nx\n\n13. Commencement\n\nx\n\n14. Scope\n\nx\n",
        name="looks_uncut:LAW/ACT", line=3,
        right="# Act\n\n1. Fee\n\n2. Form\n\n3. Photo\n\nx\n\n4. Pay by 1 May.\n\nx\n\n5. Sign here;\n\nx\n",
    ),
    "Korean articles": Fault(
        wrong="# 법\n\n제1조(목적) 이 법은 …\n\n제2조(정의) …\n\n제3조(적용) …\n",
        name="looks_uncut:LAW/U-BC47FEF0", line=3,
        right="# 법\n\n제1조에 따라 제2조를 적용한다.\n",
    ),
    "Japanese articles": Fault(
        wrong="# A\n\n第一条\u3000目的\n\n第二条\u3000定義\n\n第十条の二\u3000x\n\n第三条\u3000適用\n",
        name="looks_uncut:LAW/A", line=3,
        right="# A\n\n第一条の規定により、第二条を適用する。\n",
    ),
    "Portuguese articles": Fault(
        wrong="# Lei\n\nArt. 1º Esta lei trata.\n\nArt. 2º Fica criado.\n\nArt. 3º Revogam-se.\n",
        name="looks_uncut:LAW/LEI", line=3,
        right="# Lei\n\nO disposto no art. 1º e no art. 2º.\n",
    ),
    "French regulatory articles": Fault(
        wrong="# Code\n\nArticle R8\n\nx\n\nArticle R9\n\nx\n\nArticle R10\n\nx\n",
        name="looks_uncut:LAW/CODE", line=3,
        right="# Code\n\nArticle R8 du code, article R24.\n",
    ),
    "French numbers alone": Fault(
        wrong="# Code\n\nR8\n\nx\n\nR9\n\nx\n\nR10\n\nx\n",
        name="looks_uncut:LAW/CODE", line=3,
        right="# Code\n\nA4 paper\n\nR24 is a road.\n",
    ),
    "bold headings with hard spaces": Fault(
        wrong=f"# Ley\n\n**Artículo{NBSP}1.-{NBSP}Objeto**\n\nx\n\n"
        f"{NBSP}**Artículo{NBSP}2.-**\n\nx\n\n**Artículo 3.-**\n\nx\n",
        name="looks_uncut:LAW/LEY", line=3,
        right=f"# Ley\n\nSegún el artículo{NBSP}1 y el **artículo{NBSP}2**.\n",
    ),
    "Australian contents that stay in the text": Fault(
        wrong="# Act\n\nPart 1\u2014Preliminary\n\nPart 2\u2014Rates\n\nPart 3\u2014Other\n",
        name="looks_uncut:LAW/ACT", line=3,
        right="# Act\n\nPart 1\u2014One\n\nPart 2\u2014Two\n\n# Part 1\u2014One\n\nx\n\n# Part 2\u2014Two\n\nx\n",
    ),
    "a single article in a plain line": Fault(
        wrong="# Ley\n\nArtículo único. Se declara.\n", name="looks_uncut:LAW/LEY", line=3,
        right="# Ley\n\n## Artículo 1\n\nArtículo 233-A. Texto citado.\n",
    ),
    "a heading after another line break": Fault(
        wrong=articles(1, 2) + "Text.\r## Article 3\r\n", name="heading_in_line:LAW/ARTICLE-2", line=9,
        right=articles(1, 2).replace("\n", "\r\n") + "Text.\rNo. #3 of them.\r\n",
    ),
    "headings in a fence": Fault(
        wrong=articles(1) + "```\n# Article 2. Aim\n```\n",
        name="heading_in_fence:LAW/ARTICLE-1", line=6,
        right=articles(1) + "```\n# install the tool\n```\n",
    ),
    "a fence that never ends": Fault(
        wrong=articles(1, 2) + "```\n" + articles(3, 4),
        name="heading_in_fence:LAW/ARTICLE-2", line=10,
        right=articles(1, 2) + "```\nsome code\n",
    ),
    "a giant among articles": Fault(
        wrong=articles(1, 2) + LONG + "\n\n" + articles(3, 4),
        name="giant_unit:LAW/ARTICLE-2", line=5,
        right=articles(1, 2) + LONG[: GIANT_UNIT_BYTES // 2] + "\n\n" + articles(3, 4),
    ),
    "a giant that is neither a table nor quoted": Fault(
        wrong=articles(1, 2) + "| a | b |\n\n" + LONG + "\n\n" + articles(3, 4),
        name="giant_unit:LAW/ARTICLE-2", line=5,
        right=articles(1, 2) + "| tariff | rate |\n" * 1_400 + "\n" + articles(3) + f"“{LONG}”\n\n" + articles(4),
    ),
    "two headings in a long text": Fault(
        wrong=f"# Article 1\n\n{LONG}\n\n# Article 2\n\nx\n",
        name="giant_unit:LAW/ARTICLE-1", line=1,
        right=f"# Article 1\n\nx\n\n# Annex 1\n\n{LONG}\n",
    ),
    "a chapter under its section": Fault(
        wrong="## Section 1\n\n### Chapter 1\n\n#### Article 1\nx\n\n### Chapter 2\n\n#### Article 2\nx\n",
        name="nesting_differs:LAW/SECTION-1/CHAPTER-1", line=3,
        right="## Chapter 1\n\n### Section 1\n\n#### Article 1\nx\n\n"
        "## Chapter 2\n\n### Section 1\n\n#### Article 2\nx\n",
    ),
    "a section with more # than its chapters": Fault(
        wrong="#### SECCION I\n\n### CAPITULO I\n##### Artículo 1\nx\n### CAPITULO II\n##### Artículo 2\nx\n"
        "#### SECCION II\n\n### CAPITULO I\n##### Artículo 3\nx\n### CAPITULO II\n##### Artículo 4\nx\n",
        name="nesting_differs:LAW/CHAPTER-I", line=3,
        right="### CAPITULO I\n\n#### SECCION I\n##### Artículo 1\nx\n#### SECCION II\n##### Artículo 2\nx\n"
        "### CAPITULO II\n\n#### SECCION I\n##### Artículo 3\nx\n",
    ),
    "articles and paragraphs at one level": Fault(
        wrong="## Art 1\nx\n\n## § 1\nx\n\n## § 2\nx\n\n## Art 2\nx\n\n## § 3\nx\n",
        name="kinds_mixed:LAW/ARTICLE-1/PAR-1", line=4,
        right="## Art 1\nx\n\n## § 1\nx\n\n## § 2\nx\n\n## Art 2\nx\n\n## § 1\nx\n",
    ),
    "articles that a profile calls sections": Fault(
        wrong="# Law\n\n## Article 1\nx\n\n## Article 2\nx\n", name="kind_differs:LAW/ARTICLE-1", line=3,
        right="# Law\n\n## Part 1\nx\n\n## Part 2\nx\n", profile=ARTICLES_AS_SECTIONS,
    ),
    "two words of one level that count apart": Fault(
        wrong="# Anlage 1\nx\n# Anlage 2\nx\n# Anhang 2\nx\n# Anhang 3\nx\n",
        name="kinds_mixed:LAW/ANNEX-2~2", line=5,
        right="# Article 1\nx\n# Art. 2\nx\n# Articles 3\nx\n",
    ),
    "a name that became a unit": Fault(
        wrong="## Chapter I. Aims\n\n### Aims\n\n#### Article 1\nx\n",
        name="heading_is_a_name:LAW/CHAPTER-I/AIMS", line=3,
        right="## Chapter I\n\n### Aims\n\n#### Article 1\nx\n",
    ),
    "a missing number": Fault(
        wrong=articles(1, 2) + SEE_3 + articles(4), name="number_missing:LAW/ARTICLE-4", line=11,
        right=articles(1, 2, "2a", 3, 4),
    ),
    "a missing number across chapters": Fault(
        wrong="# Chapter 1\n\n## Article 1\nx\n## Article 2\nSee article 3.\n# Chapter 2\n\n## Article 4\nx\n"
        "## Article 5\nx\n",
        name="number_missing:LAW/CHAPTER-2/ARTICLE-4", line=9,
        right="# Chapter 1\n\n## Article 1\nx\n## Article 2\nx\n# Chapter 2\n\n## Article 1\nx\n## Article 2\nx\n",
    ),
    "a chapter that begins with its second article": Fault(
        wrong="# Chapter 1\nSee § 1.\n## § 2\nx\n## § 3\nx\n# Chapter 2\n\n## § 1\nx\n## § 2\nx\n",
        name="number_missing:LAW/CHAPTER-1/PAR-2", line=3,
        right="# Chapter 1\n\n## § 1\nx\n## §§ 2 bis 4 (weggefallen)\nx\n## § 5\nx\n",
    ),
    "a number that steps back": Fault(
        wrong=articles(1, 2, 4, 3, 5), name="number_backwards:LAW/ARTICLE-3", line=13,
        right=articles("L1-1", "L1-2", "L2-1", "L2-2"),
    ),
    "a number that comes twice across chapters": Fault(
        wrong="# Chapter 1\n\n## § 1\nx\n## § 2\nx\n# Chapter 2\n\n## § 2\nx\n## § 3\nx\n",
        name="number_repeated:LAW/CHAPTER-2/PAR-2", line=9,
        right="# Chapter 1\n\n## § 1\nx\n## § 2\nx\n# Chapter 2\n\n## § 1\nx\n## § 2\nx\n",
    ),
    "a reference that reads like an article": Fault(
        wrong=articles(1, 2, head=PLAIN) + "It applies as follows.\nArticle 1.\n\n" + articles(3, head=PLAIN),
        name="numbering_break:LINE-10", line=10, profile="french-law",
        right=articles(1, 2, head=PLAIN) + "It applies as in\nArticle 1 of the law.\n\n" + articles(3, head=PLAIN),
    ),
    "an article that lost its text": Fault(
        wrong="# Article 1. Aim\n\nText.\n\n# Article 2. Scope\n\n# Article 3. End\n\nText.\n",
        name="text_missing:LAW/ARTICLE-2", line=5, empty="heading_only",
        right="# Article 1. Aim\n\nText.\n\n# Article 2. (repealed)\n\n# Article 3. End\n\nText.\n",
    ),
    "a contents list that swallows the law": Fault(
        wrong="Sommaire\n\n" + articles(1, 2, 3, head=PLAIN) + "Article 1. Rule\n\nText.\n",
        name="contents_too_large:LINE-1", line=1, profile="french-law",
        right="Sommaire\n\nArticle 1. Rule\n\n" + articles(1, 2, head=PLAIN),
    ),
    "a plain article among articles with #": Fault(
        wrong=articles(1) + "**Article 2**\n\nText.\n\n" + articles(3),
        name="other_form:LINE-5", line=5, profile="french-law",
        right="# Chapitre 1\n\n**Article 1**\n\nText.\n\n# Chapitre 2\n\n**Article 2**\n\nText.\n",
    ),
}  # fmt: skip


@pytest.mark.parametrize("fault", [pytest.param(fault, id=name) for name, fault in FAULTS.items()])
def test_each_fault_is_refused_with_its_kind_and_line(fault: Fault) -> None:
    refusal = refused(fault.wrong, fault.profile, empty=fault.empty)
    assert fault.name in [finding.name for finding in refusal.findings]
    finding = next(finding for finding in refusal.findings if finding.name == fault.name)
    assert finding.line == fault.line
    each = " ".join(f"--accept {finding.name}" for finding in refusal.findings)
    assert f"{each} --because TEXT" in refusal.message


@pytest.mark.parametrize("fault", [pytest.param(fault, id=name) for name, fault in FAULTS.items()])
def test_a_text_that_only_looks_like_the_fault_is_marked(fault: Fault) -> None:
    answer = result(fault.right, fault.profile, empty=fault.empty)
    assert isinstance(answer, Marking), answer
    assert answer.unaccepted == ()


def test_every_kind_of_red_finding_has_such_a_pair_and_its_line_in_the_reference() -> None:
    table = (CHECKOUT / "docs/reference/marking.md").read_text(encoding="utf-8").partition("| red | when |")[2]
    documented = {
        kind
        for row in table.partition("\n\n")[0].splitlines()[2:]
        for kind in re.findall(r"`(\w+)`", row.split("|")[1])
    }
    kinds = set(red_kinds())
    assert {"giant_unit", "number_missing", "looks_uncut", "other_form"} < kinds
    assert {fault.name.partition(":")[0] for fault in FAULTS.values()} == kinds == documented


def red_kinds() -> Iterator[str]:
    """The kinds of findings that the code of marking can make red, read from its calls."""
    for path in sorted((CHECKOUT / "cutter/marking").glob("*.py")):
        calls = [node for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))) if isinstance(node, ast.Call)]
        for call in calls:
            if isinstance(call.func, ast.Name) and call.func.id in ("_finding", "_told"):
                yield from constants(call.args[:1])
            elif isinstance(call.func, ast.Name) and call.func.id == "finding":
                given = {word.arg: word.value for word in call.keywords}
                if "severity" in given and ast.unparse(given["severity"]) not in ("'amber'", "'info'"):
                    yield from constants([given["code"]])


def constants(values: Sequence[ast.expr]) -> Iterator[str]:
    return (str(value.value) for value in values if isinstance(value, ast.Constant))


@pytest.mark.parametrize("fault", [pytest.param(fault, id=name) for name, fault in FAULTS.items()])
def test_each_fault_is_marked_once_its_findings_are_accepted_by_name(fault: Fault) -> None:
    chosen = {"duplicates": "ordinal", "empty": "heading_only"}
    names = reds(fault.wrong, fault.profile, **chosen)
    for left_out in names:
        some = {name: "read in the source" for name in names if name != left_out}
        assert left_out in reds(fault.wrong, fault.profile, **chosen, accept=some)
    marking = cut(fault.wrong, fault.profile, **chosen, accept=dict.fromkeys(names, "read in the source"))
    assert (marking.unaccepted, len(marking.accepted)) == ((), len(names))
    assert fault.name in dict(marking.accepted)


@pytest.mark.parametrize(
    "sentence",
    [
        "Article 3 Nothing applies.",
        "Text\nArticle 3 Nothing applies to\nthe lamp",
        "    Article 3 Aim",
        f"Article 3 A{'n act with a long name' * 10}",
        "Article 5 Aim",
    ],
    ids=["a sentence", "within a paragraph", "indented", "long", "another number"],
)
def test_a_line_of_text_in_a_gap_is_not_taken_for_the_missing_heading(sentence: str) -> None:
    text = articles(1, 2) + f"{sentence}\n\n" + SEE_3 + articles(4)
    assert reds(text) == ["number_missing:LAW/ARTICLE-4"]


def test_a_line_that_could_be_a_heading_is_none_where_no_number_is_missing() -> None:
    assert reds(articles(1, 2) + "Article 3 Aim and\nscope of it\n\n" + articles(3, 4)) == []


def test_a_swallowed_heading_is_told_once_and_at_its_own_line() -> None:
    fault = FAULTS["a swallowed article that no sign shows, after a chapter"]
    assert reds(fault.wrong, fault.profile) == [fault.name]


@pytest.mark.parametrize(
    ("text", "gap"),
    [
        (articles(1, 2, 4), "3 is missing between 2 and 4 (line 9)"),
        (articles(1, 2, 5), "3 and 4 are missing between 2 and 5 (line 9)"),
        (articles(1, 2, 9), "3 to 8 are missing between 2 and 9 (line 9)"),
        (articles("I", "II", "IV"), "III is missing between II and IV (line 9)"),
        (articles("A", "B", "D", head="# Part {}. Rule\n\nText.\n\n"), "C is missing between B and D (line 9)"),
        (articles("L1-1", "L1-2", "L1-4"), "L1-3 is missing between L1-2 and L1-4 (line 9)"),
        (
            "# Chapter 1\n\n## § 3\nx\n# Chapter 2\n\n## § 1\nx\n",
            "1 and 2 are missing before 3, the first number here (line 3)",
        ),
    ],
)
def test_a_gap_names_the_numbers_that_are_missing(text: str, gap: str) -> None:
    (finding,) = [finding for finding in cut(text).findings if finding.code == "number_missing"]
    assert finding.severity == "amber"
    assert finding.message.endswith(f": {gap}")


def test_two_readings_of_the_nesting_are_said_in_plain_words() -> None:
    text = "## Section 1\n\n### Chapter 1\n\n#### Article 1\nx\n\n### Chapter 2\n\n#### Article 2\nx\n"
    first, *_ = [finding.message for finding in refused(text).findings if finding.code == "nesting_differs"]
    assert first == (
        "line 3: 'Chapter 1' (and 1 more heading of the kind chapter): the # marks put it inside 'Section 1'; "
        "the words of the headings put it at the top level. The cut follows the # marks. If the words are right, "
        "correct the # marks or use --nesting words"
    )
    words = refused(text, nesting="words").findings
    assert "The cut follows the words. If the # marks are right, use --nesting hashes" in words[0].message
    annex = cut("## Chapter I\n\n### Article 1\nx\n\n### Annex\nx\n").findings
    assert [finding.message for finding in annex if finding.code == "hashes_overruled"] == [
        "line 6: 1 heading of the kind annex is cut at the top level, although the number of # alone would put it "
        "inside the chapter before. The words of the headings agree with the cut. If the # marks are right, correct "
        "the words or the profile"
    ]


def test_an_acceptance_that_is_not_needed_is_refused_with_the_valid_names() -> None:
    swallowed = FAULTS["a swallowed article"]
    both = {"giant_unit:LAW/ARTICLE-2": "x", swallowed.name: "x"}
    refusal = refused(swallowed.wrong, accept=both)
    assert refusal.code == "acceptance_unknown"
    assert "giant_unit:LAW/ARTICLE-2" in refusal.message
    assert f"the red findings are {swallowed.name}" in refusal.message
    assert refused(swallowed.right, accept=both).message.endswith("it has no red finding")


def test_an_amber_finding_cannot_be_accepted() -> None:
    text = "# Article 1\nx\n# Article 2\n"
    assert codes(cut(text, empty="heading_only")) == [("heading_only", 3)]
    accept = {"heading_only:LAW/ARTICLE-2": "x"}
    assert refused(text, empty="heading_only", accept=accept).code == "acceptance_unknown"


def test_many_findings_of_one_kind_are_one_of_the_whole_text() -> None:
    chapters = "".join(f"# Chapter {n}\n\n## § 1\nSee § 2.\n## § 3\nx\n" for n in range(1, RED_FINDINGS_OF_A_KIND + 2))
    assert reds(chapters) == ["number_missing:LAW"]
    marking = cut(chapters)
    assert sum(finding.severity == "amber" for finding in marking.findings) == RED_FINDINGS_OF_A_KIND + 1
    assert reds(chapters, accept={"number_missing:LAW": "repealed"}) == []


def test_a_second_red_finding_of_one_kind_at_one_unit_is_amber_and_counts_in_the_digest() -> None:
    two = FAULTS["two swallowed articles that no sign shows"]
    marking = cut(two.wrong, accept={two.name: "quoted"})
    absorbed = [(finding.severity, finding.line) for finding in marking.findings if finding.code == "heading_absorbed"]
    assert (absorbed, marking.unaccepted) == ([("red", 9), ("amber", 13)], ())
    fewer = cut(two.wrong.replace("Article 4", "# Article 4"), accept={two.name: "quoted"})
    assert fewer.unaccepted == ()
    assert fewer.findings_digest != marking.findings_digest


def test_numbers_that_are_missing_everywhere_are_amber() -> None:
    assert reds(articles(1, 3, 5, 7, 9, 11)) == []
    assert codes(cut(articles(1, 3, 5, 7, 9, 11))) == [("number_missing", 5)]


def test_the_numbering_confirms_the_hashes_or_not() -> None:
    confirmed = (
        "## Section 1\n\n### Chapter 1\n\n#### Article 1\nx\n\n### Chapter 2\n\n#### Article 2\nx\n\n"
        "## Section 2\n\n### Chapter 1\n\n#### Article 3\nx\n"
    )
    assert reds(confirmed) == []
    assert "nesting_differs" in {code for code, _ in codes(cut(confirmed))}


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("## Chapter I\n\n### Article 1\nx\n\n### Annex\nx\n", 6),
        ("# Act\n\n### Chapter I\n\n### Article 1\nx\n\n### Article 2\nx\n", 5),
        ("# Act\n\n### Part\n\n#### § 1\nx\n\n#### § 2\n\n### Entry into force\n\nx\n\n### Rest\n\nx\n", 8),
    ],
    ids=["an annex at the end", "two kinds with equal #", "a name with fewer #"],
)
def test_a_parent_that_a_rule_decided_against_the_hashes_is_amber(text: str, line: int) -> None:
    assert reds(text) == []
    assert ("hashes_overruled", line) in codes(cut(text))
    plain = "# Act\n\n## Chapter I\n\n### Article 1\nx\n\n### Article 2\nx\n\n## Annex\n\nx\n"
    assert codes(cut(plain)) == []


def test_articles_in_two_forms_are_amber_and_articles_in_one_are_not() -> None:
    treaty = "# Ley\n\n## Sección 1\n\nx\n\n## Sección 2\n\nx\n\n## Anexo\n\nArtículo 1. A\n\nx\n\nArtículo 2. B\n\ny\n"
    mixed = cut(treaty, "spanish-law")
    assert codes(mixed) == [("forms_mixed", 13)]
    assert mixed.unaccepted == ()
    assert codes(cut(treaty.replace("Artículo", "### Artículo"), "spanish-law")) == []


def test_a_reason_that_hides_empty_headings_and_repeats_is_told_before_them() -> None:
    text = "## Section 1\n### Chapter 1\n#### Article 1\nx\n## Section 1\n"
    assert refused(text).code == "nesting_differs"
    assert refused(text, accept=dict.fromkeys(reds(text), "so printed")).code == "duplicate_address"


def test_the_findings_digest_covers_findings_and_acceptances() -> None:
    swallowed = FAULTS["a swallowed article"]
    plain = cut(swallowed.wrong)
    accepted = cut(swallowed.wrong, accept={swallowed.name: "quoted"})
    otherwise = cut(swallowed.wrong, accept={swallowed.name: "printed so"})
    fewer = cut(swallowed.right)
    digests = {plain.findings_digest, accepted.findings_digest, otherwise.findings_digest, fewer.findings_digest}
    assert len(digests) == 4
    assert plain.mark_digest == accepted.mark_digest


@pytest.mark.parametrize(
    "accept",
    [
        {"giant_unit": "no place"},
        {"giant_unit:LAW/X": ""},
        {"giant_unit:LAW/X": "two\nlines"},
        {"giant_unit:LAW/X": 3},
        {3: "x"},
        "text",
        [("a", "b", "c")],
        {f"giant_unit:LAW/X-{number}": "x" for number in range(ACCEPTANCES_MAX + 1)},
    ],
)
def test_acceptances_of_another_form_are_refused(accept: object) -> None:
    with pytest.raises(InvalidInput, match="accept"):
        Options(accept=accept)  # type: ignore[arg-type]


def test_one_line_is_counted_in_the_singular() -> None:
    refusal = refused("# Llei\n\nArticle 1\n\nText.\n")
    assert (
        "1 line begins like a heading and is text; put # before them, or type `cutter profile suggest FILE --refine"
        in refusal.message
    )


def test_a_text_that_is_mostly_in_no_unit_has_an_amber_finding() -> None:
    text = "The whole law is in this line, and no heading is before it.\n\n## Annex\n\nIn force.\n"
    finding = next(finding for finding in cut(text).findings if finding.code == "text_outside")
    assert (finding.line, finding.severity, finding.name) == (1, "amber", "text_outside:LINE-1")
    assert "text_outside" not in codes(cut("Preamble.\n\n## Text\n\n" + text))
    assert "text_outside" not in codes(cut("---\ntitle: A long title of a short law in force\n---\n# A\n\nb\n"))
