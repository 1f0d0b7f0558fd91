"""Levels come from words, depth is the fallback; repeats, empty headings and titles on two lines."""

from __future__ import annotations

import pytest

from cutter.marking import Options, load_profile, mark
from tests.unit.marking.texts import addresses, body, codes, cut, refused, titles

OUT_OF_ORDER = "#### SECCION I\n### CAPITULO I\n##### Artículo 1\nx\n### CAPITULO II\n##### Artículo 2\ny\n"


def test_the_level_comes_from_the_word_when_a_person_chose_so() -> None:
    assert addresses(cut(OUT_OF_ORDER, nesting="words")) == [
        "SECTION-I",
        "SECTION-I/CHAPTER-I",
        "SECTION-I/CHAPTER-I/ARTICLE-1",
        "SECTION-I/CHAPTER-II",
        "SECTION-I/CHAPTER-II/ARTICLE-2",
    ]


def test_the_level_comes_from_the_word_when_all_depths_are_equal() -> None:
    text = "#### TITRE IER : A\n#### Chapitre II : B\n#### Section 1 : C\n##### Article L111-1-2\nx\n#### TITRE II\ny\n"
    assert addresses(cut(text))[-2:] == ["TITLE-IER/CHAPTER-II/SECTION-1/ARTICLE-L111-1-2", "TITLE-II"]


def test_depth_decides_the_parent_where_there_is_no_word_and_may_jump() -> None:
    text = "# Law\nx\n## Aims\nx\n##### Small aims\nx\n### Big aims\nx\n## Ends\nx\n"
    assert addresses(cut(text)) == ["LAW", "AIMS", "AIMS/SMALL-AIMS", "AIMS/BIG-AIMS", "ENDS"]
    assert {unit.section_type for unit in cut(text).candidates} == {"section"}


def test_the_documents_title_is_a_unit_beside_the_others() -> None:
    marking = cut("# Law of Rooms\n\n## Chapter 1\n\n### Article 1\nx\n")
    assert addresses(marking) == ["LAW-OF-ROOMS", "CHAPTER-1", "CHAPTER-1/ARTICLE-1"]
    assert [unit.parent_address for unit in marking.candidates] == [None, None, "LAW/CHAPTER-1"]
    assert [unit.level for unit in marking.candidates] == [1, 1, 2]


def test_several_first_level_headings_are_units_with_children() -> None:
    text = "# One\nx\n## Part\ny\n# Two\nz\n"
    assert addresses(cut(text)) == ["ONE", "ONE/PART", "TWO"]


def test_no_first_level_heading_is_needed() -> None:
    assert addresses(cut("## PART 1 General\n##### 1. **Title**\nx\n##### 2. Terms\ny\n")) == [
        "PART-1",
        "PART-1/1",
        "PART-1/2",
    ]


def test_section_stands_above_article_unless_it_starts_again_under_it() -> None:
    above = "## Section 1\n### Article 1\nx\n### Article 2\nx\n## Section 2\n### Article 3\nx\n"
    below = "## Article I\n### Section 1\nx\n### Section 2\nx\n## Article II\n### Section 1\nx\n"
    assert addresses(cut(above))[-1] == "SECTION-2/ARTICLE-3"
    assert addresses(cut(below))[-1] == "ARTICLE-II/SECTION-1"


def test_two_versions_of_a_section_do_not_turn_the_levels_around() -> None:
    text = (
        "# Chapter 1\n## Section 1\n### Article 1\nx\n## Section 1\n### Article 2\nx\n# Chapter 2\n## Section 1\n"
        "### Article 3\nx\n# Chapter 3\n## Section 1\n### Article 4\nx\n"
    )
    assert addresses(cut(text, duplicates="ordinal"))[-1] == "CHAPTER-3/SECTION-1/ARTICLE-4"


def test_number_and_title_in_two_headings_are_one_unit() -> None:
    text = "## Chương I\n## QUY ĐỊNH CHUNG\n\n### Điều 1. Tên\nx\n#### Mục 1\n\n## THỂ THỨC\n### Điều 2. Hai\ny\n"
    marking = cut(text)
    assert titles(marking) == ["Chương I QUY ĐỊNH CHUNG", "Điều 1. Tên", "Mục 1 THỂ THỨC", "Điều 2. Hai"]
    assert body(text, marking, 0) == "## Chương I\n## QUY ĐỊNH CHUNG"


@pytest.mark.parametrize(
    "text",
    [
        "### CAPITULO I\n#### PODER\n##### Artículo 1\nx\n#### TRIBUNAL\n##### Artículo 2\nx\n",  # two parts
        "### CAPITULO I\n#### PODER\nx\n",  # nothing below: a part
        "## Chapter I\ntext\n## General\nx\n",  # text between
        "## Chapter I. Aims\n## General\nx\n",  # has a title already
        "## Chapter I\n## 1. General\nx\n",  # has a number of its own
    ],
)
def test_other_pairs_of_headings_stay_apart(text: str) -> None:
    assert len(cut(text, empty="heading_only").candidates) == text.count("#\n") + len(
        [line for line in text.split("\n") if line.startswith("#")]
    )


def test_a_repeat_under_one_parent_is_refused_with_its_line_and_number() -> None:
    refusal = refused("# Article 1\nx\n# Article 2\ny\n# Article 1\nz\n# Article 1\nz\n")
    assert (refusal.code, refusal.line) == ("duplicate_address", 5)
    assert dict(refusal.details) == {"address": "LAW/ARTICLE-1", "count": "2"}
    assert "--duplicates ordinal" in refusal.message


def test_ordinals_number_the_repeats_in_document_order() -> None:
    text = "# Title 1\n## Article 1\nx\n## Article 1\ny\n# Title 1\n## Article 1\nz\n"
    marking = cut(text, duplicates="ordinal")
    assert addresses(marking) == [
        "TITLE-1",
        "TITLE-1/ARTICLE-1",
        "TITLE-1/ARTICLE-1~2",
        "TITLE-1~2",
        "TITLE-1~2/ARTICLE-1",
    ]
    assert [unit.ordinal for unit in marking.candidates] == [1, 1, 2, 2, 1]
    assert codes(marking) == [
        ("duplicate_address", 4),
        ("number_repeated", 4),
        ("duplicate_address", 6),
        ("number_repeated", 6),
    ]
    assert [finding.address for finding in marking.unaccepted] == ["LAW/TITLE-1/ARTICLE-1~2", "LAW/TITLE-1~2"]


def test_the_same_heading_under_two_parents_is_no_repeat() -> None:
    assert len(cut("# Part 1\n## Article 1\nx\n# Part 2\n## Article 1\nx\n").candidates) == 4


def test_identical_slices_are_never_refused() -> None:
    marking = cut("# Part 1\n## Aims\n(repealed)\n# Part 2\n## Aims\n(repealed)\n")
    assert len(marking.candidates) == 4


def test_a_container_is_its_heading_and_its_own_text() -> None:
    text = "# Chapter 1\n\nIntro.\n\n## Article 1\nx\n"
    marking = cut(text)
    assert body(text, marking, 0) == "# Chapter 1\n\nIntro."
    assert marking.candidates[0].end <= marking.candidates[1].start


@pytest.mark.parametrize("rest", ["", "\n\n", "---\n", "\n***\n\n"])
def test_a_heading_without_text_or_parts_is_refused(rest: str) -> None:
    refusal = refused(f"# Article 1\nx\n# Article 2\n{rest}# Article 3\ny\n")
    assert (refusal.code, refusal.line) == ("childless_heading", 3)
    assert "--empty heading_only" in refusal.message


def test_a_heading_without_text_may_be_allowed_and_is_then_a_finding() -> None:
    text = "# Article 1\nx\n# Article 2\n"
    marking = cut(text, empty="heading_only")
    assert body(text, marking, 1) == "# Article 2"
    assert codes(marking) == [("heading_only", 3)]


def test_of_several_refusals_the_first_in_the_document_is_told() -> None:
    assert refused("# Article 1\n# Article 2\nx\n# Article 2\nx\n").code == "childless_heading"
    assert refused("# Article 2\nx\n# Article 2\nx\n# Article 1\n").code == "duplicate_address"


def test_numbers_that_step_back_are_a_finding() -> None:
    assert codes(cut("# Article 2\nx\n# Article 1\nx\n# Article 1a\ny\n")) == [("number_backwards", 3)]


def test_long_and_foreign_titles_get_bounded_ascii_segments() -> None:
    text = f"# {'very ' * 30}long one\nx\n# {'very ' * 30}long two\nx\n# Điều khoản ß\nx\n# 法律\nx\n# 規則\nx\n"
    got = addresses(cut(text))
    assert len(set(got)) == 5
    assert all(len(segment) <= 48 and segment.isascii() for segment in got)
    assert got[2] == "DIEU-KHOAN-SS"


def test_addresses_stand_under_the_prefix() -> None:
    marking = mark(b"# Article 1\nx", profile=load_profile("generic-markdown"), docprefix="ICX-9", options=Options())
    assert getattr(marking, "candidates", ())[0].address == "ICX-9/ARTICLE-1"
