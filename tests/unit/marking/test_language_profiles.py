"""The profiles of languages: own small texts in the shape of each language's laws, cut as a reader expects."""

from __future__ import annotations

import pytest

from tests.unit.marking.texts import addresses, cut

NBSP = "\u00a0"

LAWS = {
    "korean-law": (
        "# 법\n\n제1장 총칙\n\n제1조(목적) 이 법은 말한다.\n\n제2조(정의) 제1조에 따라.\n\n제2조의2(추가) x\n\n"
        "제1조에 따른 것.\n\n제2장 벌칙\n\n제3조(적용) x\n",
        ["JANG-1", "JANG-1/JO-1", "JANG-1/JO-2", "JANG-1/JO-2-2", "JANG-2", "JANG-2/JO-3"],
    ),
    "japanese-law": (
        "# 法\n\n第一章\u3000総則\n\n第一条\u3000目的。\n\n第二条\u3000この。\n"
        "第二条の二\u3000x\n\n第三条\u3000x\n第一条の規定により\n",
        ["SHO-1", "SHO-1/JO-1", "SHO-1/JO-2", "SHO-1/JO-2-2", "SHO-1/JO-3"],
    ),
    "chinese-law": (
        "# 法\n\n第一章 总则\n\n第一条 为了。\n\n第二条 根据第一条。\n\n第二章 附则\n\n第三条 x\n",
        ["ZHANG-1", "ZHANG-1/TIAO-1", "ZHANG-1/TIAO-2", "ZHANG-2", "ZHANG-2/TIAO-3"],
    ),
    "brazilian-law": (
        "# Lei\n\nTÍTULO I\nDisposições\n\nCAPÍTULO I\nGerais\n\nArt. 1º Esta lei trata.\n\nParágrafo único. x\n\n"
        "Art. 2º Fica criado:\n\nI - x\n\nArt. 3º Revogam-se.\n",
        ["TITULO-I", *(f"TITULO-I/CAPITULO-I{rest}" for rest in ("", "/ARTIGO-1", "/ARTIGO-2", "/ARTIGO-3"))],
    ),
    "dutch-law": (
        "# Wet\n\nHoofdstuk 1. Algemeen\n\nArtikel 1\n\nx\n\nArtikel 2 van de wet geldt.\n\nArtikel 2\n\ny\n\n"
        "Hoofdstuk 2. Slot\n\nArtikel 3\n\nz\n",
        ["HOOFDSTUK-1", "HOOFDSTUK-1/ARTIKEL-1", "HOOFDSTUK-1/ARTIKEL-2", "HOOFDSTUK-2", "HOOFDSTUK-2/ARTIKEL-3"],
    ),
    "common-law-act": (
        "# Act\n\n## PART 1 General\n##### 1. **Title**\nx\n##### 2. Terms\ny\n## PART 2\n##### 3. x\ny\n"
        "## FIRST SCHEDULE\nz\n### Part 1\nq\n",
        ["PART-1", "PART-1/1", "PART-1/2", "PART-2", "PART-2/3", "SCHEDULE-FIRST", "SCHEDULE-FIRST/PART-1"],
    ),
    "spanish-law": (
        f"# Ley\n\n**Título{NBSP}I**\n\n**Artículo{NBSP}1.-{NBSP}Objeto**\n\nx\n\n{NBSP}**Artículo{NBSP}2.-** y\n\nx\n",
        ["TITULO-I", "TITULO-I/ARTICULO-1", "TITULO-I/ARTICULO-2"],
    ),
    "german-law": (
        "# Gesetz\n\n## Erster Abschnitt\n### § 1 Zweck\nx\n### § 2\ny\n"
        "## Zweiter Abschnitt\n### § 3\ny\n### Anlage 1\nz\n",
        ["ABSCHNITT-ERSTER", "ABSCHNITT-ERSTER/PAR-1", "ABSCHNITT-ERSTER/PAR-2", "ABSCHNITT-ZWEITER",
         "ABSCHNITT-ZWEITER/PAR-3", "ANLAGE-1"],
    ),
    "french-law": (
        "# Code\n\n## PARTIE LÉGISLATIVE\n### Livre Ier : A\n#### Titre Ier : B\n##### Article L1-1\nx\n"
        "##### Article L1-2\nx\n#### Titre II : C\n##### Article L2-1\nx\n",
        [f"PARTIE-LEGISLATIVE{rest}" for rest in (
            "", "/LIVRE-IER", "/LIVRE-IER/TITRE-IER", "/LIVRE-IER/TITRE-IER/ARTICLE-L1-1",
            "/LIVRE-IER/TITRE-IER/ARTICLE-L1-2", "/LIVRE-IER/TITRE-II", "/LIVRE-IER/TITRE-II/ARTICLE-L2-1")],
    ),
}  # fmt: skip


@pytest.mark.parametrize("profile", LAWS)
def test_a_law_is_cut_by_the_profile_of_its_language(profile: str) -> None:
    text, expected = LAWS[profile]
    marking = cut(text, profile)
    assert addresses(marking)[1:] == expected
    assert marking.unaccepted == ()


def test_every_source_of_a_codified_text_counts_by_itself() -> None:
    numbers = ("1.12.LQ.1", "1.12.TT.2.1", "1.12.TT.5.1", "1.12.TT.2.2", "1.12.LQ.2", "1.12.TT.5.2", "1.12.TT.2.3")
    marking = cut("".join(f"Điều {number}. Tên\n\nx\n\n" for number in numbers), "vietnamese-law")
    assert addresses(marking) == [f"DIEU-{number.replace('.', '-')}" for number in numbers]
    assert marking.findings == ()


def test_paragraphs_stand_in_the_articles_that_they_count_under() -> None:
    inside = "## Art 1\n## § 1\nx\n## § 2\nx\n## Art 2\n## § 1\nx\n"
    assert addresses(cut(inside)) == ["ARTICLE-1", "ARTICLE-1/PAR-1", "ARTICLE-1/PAR-2", "ARTICLE-2", "ARTICLE-2/PAR-1"]
    outside = "## § 1\n## Art 1\nx\n## Art 2\nx\n## § 2\n## Art 1\nx\n"
    assert addresses(cut(outside))[-1] == "PAR-2/ARTICLE-1"


@pytest.mark.parametrize("form", ["# Form for complaints", "# Annex form", "## Schedule of fees"])
def test_an_annex_is_no_child_of_the_form_before_it(form: str) -> None:
    text = f"# Article 1\nx\n# Article 2\nx\n## Annex 1\nx\n{form}\ny\n## Annex 2\nx\n## Annex 3\nx\n"
    assert addresses(cut(text, duplicates="ordinal"))[-2:] == ["ANNEX-2", "ANNEX-3"]


def test_annexes_under_a_heading_that_groups_them_stay_there() -> None:
    text = "# Article 1\nx\n# Annexes\n## Annex 1\nx\n## Annex 2\nx\n"
    assert addresses(cut(text))[1:] == ["ANNEXES", "ANNEXES/ANNEX-1", "ANNEXES/ANNEX-2"]


@pytest.mark.parametrize("names", [("## GENERAL",), ("### GENERAL",), ("\n", "#### GENERAL")])
def test_a_chapter_and_the_heading_that_names_it_are_one_unit(names: tuple[str, ...]) -> None:
    text = "\n".join(("## Chapter I", *names, "##### Article 1", "x", "## Chapter II", "y", ""))
    marking = cut(text)
    assert [unit.title for unit in marking.candidates] == ["Chapter I GENERAL", "Article 1", "Chapter II"]
    assert marking.unaccepted == ()
