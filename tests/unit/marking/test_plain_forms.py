"""Articles as plain and bold lines, cross-references, tables of contents, clauses and points."""

from __future__ import annotations

import pytest

from tests.unit.marking.texts import addresses, body, codes, cut, refused, titles

LAW = "vietnamese-law"
EU = "eu-regulation"


@pytest.mark.parametrize(
    "line",
    [
        "Điều 1. Tên",
        "Điều 1.Tên",
        "**Điều 1.** Tên",
        "**Điều 1. Tên**",
        "### Điều 1. Tên",
        "  Điều 1: Tên",
        "Điều1. Tên",
    ],
)
def test_an_article_may_be_plain_bold_or_a_heading(line: str) -> None:
    marking = cut(f"{line}\n\nNội dung.\n", LAW)
    assert addresses(marking) == ["DIEU-1"]


def test_number_and_title_may_stand_on_separate_lines() -> None:
    text = "CHAPTER I\n\nGeneral provisions\n\nArticle 1\n\nSubject matter\n\n1. Text.\n"
    marking = cut(text, EU)
    assert titles(marking) == ["CHAPTER I General provisions", "Article 1 Subject matter"]
    assert body(text, marking, 0) == "CHAPTER I\n\nGeneral provisions"


@pytest.mark.parametrize("line", ["Article 5 of this Regulation applies.", "Điều 5 của Luật này", "Articles 5 and 6"])
def test_a_cross_reference_at_the_start_of_a_line_is_text(line: str) -> None:
    profile = LAW if line.startswith("Điều") else EU
    word = "Điều" if profile == LAW else "Article"
    assert len(cut(f"{word} 1.\n\nAs said in\n{line}\n\n{word} 2.\n\ny\n", profile).candidates) == 2


@pytest.mark.parametrize("line", ["    Điều 2. Trích", "\tĐiều 2. Trích", "- Điều 2. Trích", "* **Điều 2.** Trích"])
def test_an_article_in_indented_code_or_in_a_list_is_text(line: str) -> None:
    assert addresses(cut(f"Điều 1. Một\n\nxem:\n\n{line}\n\nĐiều 3. Ba\nx\n", LAW)) == ["DIEU-1", "DIEU-3"]


def test_a_line_that_breaks_the_numbering_is_text_and_a_finding() -> None:
    text = "Điều 1. Một\nx\nĐiều 2. Hai\nxem\nĐiều 5. Đã nói ở trên\nĐiều 3. Ba\nx\nĐiều 4. Bốn\nx\nĐiều 2. Lại\nx\n"
    marking = cut(text, LAW)
    assert addresses(marking) == ["DIEU-1", "DIEU-2", "DIEU-3", "DIEU-4"]
    assert codes(marking) == [("numbering_break", 5), ("numbering_break", 10)]


def test_articles_count_through_chapters_and_sections_within_them() -> None:
    text = "Chương I\nA\nMục 1\nB\nĐiều 1. X\nx\nChương II\nC\nMục 1\nD\nĐiều 1. Lại\ny\nĐiều 2. Y\ny\n"
    marking = cut(text, LAW)
    assert addresses(marking)[-1] == "CHUONG-II/MUC-1/DIEU-2"
    assert codes(marking) == [("numbering_break", 11)]


def test_series_of_a_codified_text_count_apart() -> None:
    text = "Điều 39.12.NĐ.1. A\nx\nĐiều 39.12.QĐ.1.1. B\nx\nĐiều 39.12.NĐ.2. C\nx\nĐiều 39.12.QĐ.1.2. D\nx\n"
    assert addresses(cut(text, LAW)) == [
        "DIEU-39-12-ND-1",
        "DIEU-39-12-QD-1-1",
        "DIEU-39-12-ND-2",
        "DIEU-39-12-QD-1-2",
    ]


def test_a_level_written_with_hashes_is_not_also_read_from_plain_lines() -> None:
    marking = cut("### Điều 1. Một\nx\nĐiều 2. Trích dẫn\n### Điều 3. Ba\ny\n", LAW)
    assert addresses(marking) == ["DIEU-1", "DIEU-3"]
    assert codes(marking) == [("other_form", 3)]


def test_a_plain_table_of_contents_is_an_exclusion_to_its_first_repeat() -> None:
    text = (
        "Mục lục\n\nChương I. A\nĐiều 1. B\nChương II. C\n\nChương I\n\nA\n\nĐiều 1. B\nx\nChương II\nC\nĐiều 2. D\ny\n"
    )
    marking = cut(text, LAW)
    assert [(piece.line, piece.reason) for piece in marking.exclusions] == [(1, "table_of_contents")]
    assert addresses(marking) == ["CHUONG-I", "CHUONG-I/DIEU-1", "CHUONG-II", "CHUONG-II/DIEU-2"]


def test_a_contents_heading_is_an_exclusion_to_the_next_heading() -> None:
    text = "# Law\nx\n## Contents\n- [Article 1](#a)\n- [Article 2](#b)\n\n## Article 1\nx\n"
    marking = cut(text)
    assert addresses(marking) == ["LAW", "ARTICLE-1"]
    assert [piece.line for piece in marking.exclusions] == [3]


@pytest.mark.parametrize("text", ["Mục lục\nĐiều 1. A\nĐiều 2. B\nx\n", "Điều 1. A\nx\nMục lục\n"])
def test_a_table_of_contents_without_an_end_is_refused(text: str) -> None:
    assert refused(text, LAW).code == "contents_without_end"


def test_clauses_and_points_are_units_when_asked() -> None:
    preamble = "Căn cứ luật:\n1. Không phải khoản\n\n"
    text = f"{preamble}Điều 1. A\n\n1. Một:\n\na) x;\n\n- đ) y.\n\n2. Hai.\n\nĐiều 2. B\n\nChỉ một đoạn.\n"
    assert addresses(cut(text, LAW)) == ["DIEU-1", "DIEU-2"]
    assert addresses(cut(text, LAW, deepest="khoan")) == ["DIEU-1", "DIEU-1/KHOAN-1", "DIEU-1/KHOAN-2", "DIEU-2"]
    assert addresses(cut(text, LAW, deepest="diem")) == [
        "DIEU-1",
        "DIEU-1/KHOAN-1",
        "DIEU-1/KHOAN-1/DIEM-A",
        "DIEU-1/KHOAN-1/DIEM-DD",
        "DIEU-1/KHOAN-2",
        "DIEU-2",
    ]


def test_points_d_and_dd_have_addresses_of_their_own() -> None:
    text = "Điều 1. A\n1. Một:\nc) x;\nd) y;\nđ) z;\ne) w.\n"
    assert addresses(cut(text, LAW, deepest="diem"))[2:] == [
        "DIEU-1/KHOAN-1/DIEM-C",
        "DIEU-1/KHOAN-1/DIEM-D",
        "DIEU-1/KHOAN-1/DIEM-DD",
        "DIEU-1/KHOAN-1/DIEM-E",
    ]


def test_recitals_stand_before_the_first_article_only() -> None:
    text = "(1)\n\nWhereas.\n\n(2)\n\nAlso.\n\nArticle 1\n\nTerms\n\n(3)\n\nterm: x\n"
    marking = cut(text, EU)
    assert addresses(marking) == ["RECITAL-1", "RECITAL-2", "ARTICLE-1"]
    assert codes(marking) == []


def test_the_closing_block_behind_the_last_article_is_an_exclusion() -> None:
    text = "Article 1\n\nA\n\nDone at once.\n\nArticle 2\n\nB\n\nx\n\nDone at Brussels.\n\n(1) OJ L 1.\n"
    marking = cut(text, EU)
    assert [(piece.line, piece.reason) for piece in marking.exclusions] == [(13, "closing_block")]
