"""Model laws of the shapes that were once cut wrong, and what each must be: cut right, or refused by a red finding.

The texts are the project's own. `tree` are the addresses of all units without `LAW/`, as a reader of the law expects
them; `red` is the name and the line of the finding that must refuse the law.
"""

from __future__ import annotations

from dataclasses import dataclass

ALL = {"duplicates": "ordinal", "empty": "heading_only", "max_candidates": 10_000}


@dataclass(frozen=True, kw_only=True)
class Shape:
    """One law: its text, the profile that a person would choose, and one of the two answers."""

    text: str
    tree: str = ""
    red: tuple[str, int] | None = None
    profile: str = "generic-markdown"


def law(*paragraphs: str) -> str:
    """Paragraphs with a blank line between them."""
    return "\n\n".join(paragraphs) + "\n"


def articles(head: str, first: int, last: int) -> list[str]:
    """Articles with one line of text each; `{}` in the head is the number."""
    return [f"{head.format(number)}\n\nText of number {number}." for number in range(first, last + 1)]


CHAPTERS_ABOVE_SECTIONS = {
    "a code of companies in Spanish": Shape(
        text=law("# Código de las sociedades",
                 "### CAPITULO I", "#### SECCION I", *articles("##### Artículo {}", 1, 2),
                 "#### SECCION II", *articles("##### Artículo {}", 3, 4),
                 "### CAPITULO II", "#### SECCION I", "##### SUB SECCION I", *articles("###### Artículo {}", 5, 6)),
        tree="CODIGO-DE-LAS-SOCIEDADES CHAPTER-I CHAPTER-I/SECTION-I CHAPTER-I/SECTION-I/ARTICLE-1 "
             "CHAPTER-I/SECTION-I/ARTICLE-2 CHAPTER-I/SECTION-II CHAPTER-I/SECTION-II/ARTICLE-3 "
             "CHAPTER-I/SECTION-II/ARTICLE-4 CHAPTER-II CHAPTER-II/SECTION-I CHAPTER-II/SECTION-I/SUBSECTION-I "
             "CHAPTER-II/SECTION-I/SUBSECTION-I/ARTICLE-5 CHAPTER-II/SECTION-I/SUBSECTION-I/ARTICLE-6",
    ),
    "a German law whose sections hold chapters": Shape(
        text=law("## Abschnitt 1", "### Kapitel 1", *articles("#### § {}", 1, 2), "### Kapitel 2",
                 *articles("#### § {}", 3, 4), "## Abschnitt 2", "### Kapitel 1", *articles("#### § {}", 5, 6)),
        tree="SECTION-1 SECTION-1/CHAPTER-1 SECTION-1/CHAPTER-1/PAR-1 SECTION-1/CHAPTER-1/PAR-2 SECTION-1/CHAPTER-2 "
             "SECTION-1/CHAPTER-2/PAR-3 SECTION-1/CHAPTER-2/PAR-4 SECTION-2 SECTION-2/CHAPTER-1 "
             "SECTION-2/CHAPTER-1/PAR-5 SECTION-2/CHAPTER-1/PAR-6",
    ),
    "an English law whose one chapter is above its section": Shape(
        text=law("# Harbours Act", "### Chapter 1", "#### Section 1", *articles("##### Article {}", 1, 2),
                 "#### Section 2", *articles("##### Article {}", 3, 3)),
        tree="HARBOURS-ACT CHAPTER-1 CHAPTER-1/SECTION-1 CHAPTER-1/SECTION-1/ARTICLE-1 CHAPTER-1/SECTION-1/ARTICLE-2 "
             "CHAPTER-1/SECTION-2 CHAPTER-1/SECTION-2/ARTICLE-3",
    ),
    "a chapter that slipped under the section before it": Shape(
        text=law("## Chapter I", "### Section 1", *articles("#### Article {}", 1, 2),
                 "#### Chapter II", "### Section 1", *articles("#### Article {}", 3, 4)),
        red=("nesting_differs:LAW/CHAPTER-I/SECTION-1/CHAPTER-II", 13),
    ),
    "a French title under the chapter of the one before": Shape(
        text=law("## Titre Ier", "### Chapitre Ier", *articles("#### Article {}", 1, 2), "#### Titre II",
                 "### Chapitre Ier", *articles("#### Article {}", 3, 4)),
        red=("nesting_differs:LAW/TITLE-IER/CHAPTER-IER/TITLE-II", 13),
    ),
}  # fmt: skip

CODIFIED_NUMBERS = {
    "two sources that take turns": Shape(
        profile="vietnamese-law",
        text=law(*(f"Điều 2.7.{source}. Tên\n\nNội dung." for source in ("NĐ.1.1", "TT.2.1", "NĐ.1.2", "TT.2.2"))),
        tree="DIEU-2-7-ND-1-1 DIEU-2-7-TT-2-1 DIEU-2-7-ND-1-2 DIEU-2-7-TT-2-2",
    ),
    "a later source before an earlier one": Shape(
        profile="vietnamese-law",
        text=law(*(f"Điều 9.3.{source}. Tên\n\nMột." for source in ("TT.5.1", "TT.5.2", "LQ.1", "TT.5.3", "LQ.2"))),
        tree="DIEU-9-3-TT-5-1 DIEU-9-3-TT-5-2 DIEU-9-3-LQ-1 DIEU-9-3-TT-5-3 DIEU-9-3-LQ-2",
    ),
    "sources under their chapters": Shape(
        profile="vietnamese-law",
        text=law("Chương I", "QUY ĐỊNH CHUNG", "Điều 4.1.LQ.1. A\n\nMột.", "Điều 4.1.NĐ.2.1. B\n\nHai.", "Chương II",
                 "TỔ CHỨC", "Điều 4.1.LQ.2. C\n\nBa.", "Điều 4.1.NĐ.2.2. D\n\nBốn."),
        tree="CHUONG-I CHUONG-I/DIEU-4-1-LQ-1 CHUONG-I/DIEU-4-1-ND-2-1 CHUONG-II CHUONG-II/DIEU-4-1-LQ-2 "
             "CHUONG-II/DIEU-4-1-ND-2-2",
    ),
    "an article of one source that steps back": Shape(
        profile="vietnamese-law",
        text=law(*(f"Điều 3.1.TT.2.{number}. Tên\n\nNội dung." for number in (1, 2, 5, 3, 4))),
        red=("numbering_break:LINE-9", 9),
    ),
    "a source with a number that is missing": Shape(
        profile="vietnamese-law",
        text=law(*(f"Điều 3.1.TT.2.{number}. Tên\n\nNội dung." for number in (1, 2)), "Theo Điều 3.1.TT.2.3 thì khác.",
                 "Điều 3.1.TT.2.4. Tên\n\nNội dung.", "Điều 3.1.NĐ.6.1. A\n\nMột."),
        red=("number_missing:LAW/DIEU-3-1-TT-2-4", 11),
    ),
}  # fmt: skip

PLAIN_ARTICLES = {
    "English articles in plain lines": Shape(
        text=law("# Reading Act", *articles("Article {}. Rule", 1, 5)), red=("looks_uncut:LAW/READING-ACT", 3),
    ),
    "bold Spanish articles below chapters with #": Shape(
        text=law("# Ley", "## Capítulo I", *articles("**Artículo {}.-** Regla", 1, 3), "## Capítulo II",
                 *articles("**Artículo {}.-** Regla", 4, 6)),
        red=("looks_uncut:LAW/CHAPTER-I", 5),
    ),
    "Greek articles in plain lines": Shape(
        text=law("# Νόμος", *articles("Άρθρο {}", 1, 4)), red=("looks_uncut:LAW/U-9ED348DF", 3),
    ),
    "Ukrainian articles below a chapter with #": Shape(
        text=law("# Закон", "## Розділ I", *articles("Стаття {}. Назва", 1, 4)), red=("looks_uncut:LAW/ROZDIL-I", 5),
    ),
    "a law of a single article in a plain line": Shape(
        text=law("# Ley del día del libro", "Artículo único. Se declara el día del libro.", "Dado en Lima."),
        red=("looks_uncut:LAW/LEY-DEL-DIA-DEL-LIBRO", 3),
    ),
    "plain articles by a profile that reads plain lines": Shape(
        profile="spanish-law",
        text=law("# Ley", "## Capítulo I", *articles("Artículo {}.- Regla", 1, 2), "## Capítulo II",
                 *articles("Artículo {}.- Regla", 3, 4)),
        tree="LEY CAPITULO-I CAPITULO-I/ARTICULO-1 CAPITULO-I/ARTICULO-2 CAPITULO-II CAPITULO-II/ARTICULO-3 "
             "CAPITULO-II/ARTICULO-4",
    ),
}  # fmt: skip

ARTICLES_AND_PARAGRAPHS = {
    "paragraphs that begin again below each article": Shape(
        text=law("# Mantelgesetz", "## Art 1", *articles("## § {}", 1, 2), "## Art 2", *articles("## § {}", 1, 3)),
        tree="MANTELGESETZ ARTICLE-1 ARTICLE-1/PAR-1 ARTICLE-1/PAR-2 ARTICLE-2 ARTICLE-2/PAR-1 ARTICLE-2/PAR-2 "
             "ARTICLE-2/PAR-3",
    ),
    "articles below each paragraph by their #": Shape(
        text=law("## § 1", *articles("### Art {}", 1, 2), "## § 2", *articles("### Art {}", 1, 2)),
        tree="PAR-1 PAR-1/ARTICLE-1 PAR-1/ARTICLE-2 PAR-2 PAR-2/ARTICLE-1 PAR-2/ARTICLE-2",
    ),
    "paragraphs that count through all articles": Shape(
        text=law("## Art 1", "Text of it.", *articles("## § {}", 1, 2), "## Art 2", "Text of it.",
                 *articles("## § {}", 3, 4)),
        red=("kinds_mixed:LAW/ARTICLE-1/PAR-1", 5),
    ),
    "two words for annexes that count apart": Shape(
        text=law(*articles("## Anlage {}", 1, 2), *articles("## Anhang {}", 1, 2)),
        red=("kinds_mixed:LAW/ANNEX-1~2", 9),
    ),
    "a law that spells its articles in two ways": Shape(
        text=law("## Article 1", "One.", "## Art. 2", "Two.", "## Article 3", "Three."),
        tree="ARTICLE-1 ARTICLE-2 ARTICLE-3",
    ),
}  # fmt: skip

ANNEXES_AFTER_FORMS = {
    "annexes that follow a form": Shape(
        text=law("# Decree", *articles("## Article {}", 1, 2), "## Annex 1", "List.", "## Application form", "Name:",
                 "## Annex 2", "Fees.", "## Annex 3", "Places."),
        tree="DECREE ARTICLE-1 ARTICLE-2 ANNEX-1 APPLICATION-FORM ANNEX-2 ANNEX-3",
    ),
    "a form inside its annex": Shape(
        text=law("# Decree", *articles("## Article {}", 1, 2), "## Annex 1", "For section 1.", "### Application form",
                 "Name:", "## Annex 2", "Fees."),
        tree="DECREE ARTICLE-1 ARTICLE-2 ANNEX-1 ANNEX-1/APPLICATION-FORM ANNEX-2",
    ),
    "an annex that is only called a form": Shape(
        text=law("# Decree", *articles("## Article {}", 1, 2), "## Annex 1", "### Application form", "Name:",
                 "## Annex 2", "Fees."),
        red=("heading_is_a_name:LAW/ANNEX-1/APPLICATION-FORM", 13),
    ),
    "Vietnamese annexes after the title of a form": Shape(
        profile="vietnamese-law",
        text=law("# Điều 1. Phạm vi", "Một.", "# Phụ lục I", "Danh mục.", "# MẪU ĐƠN", "Họ tên:", "## Phụ lục II",
                 "Phí.", "## Phụ lục III", "Nơi nộp."),
        tree="DIEU-1 PHU-LUC-I MAU-DON PHU-LUC-II PHU-LUC-III",
    ),
    "a schedule after the last chapter": Shape(
        text=law("## Chapter I", *articles("### Article {}", 1, 2), "### Schedule 1", "Rates.", "### Schedule 2",
                 "Forms."),
        tree="CHAPTER-I CHAPTER-I/ARTICLE-1 CHAPTER-I/ARTICLE-2 ANNEX-1 ANNEX-2",
    ),
}  # fmt: skip

NAMES_OF_CHAPTERS = {
    "a number and its name with equal #": Shape(
        text=law("## Chapter I", "## General rules", *articles("### Article {}", 1, 2), "## Chapter II",
                 "## Final rules", *articles("### Article {}", 3, 4)),
        tree="CHAPTER-I CHAPTER-I/ARTICLE-1 CHAPTER-I/ARTICLE-2 CHAPTER-II CHAPTER-II/ARTICLE-3 CHAPTER-II/ARTICLE-4",
    ),
    "a German number and a deeper name": Shape(
        text=law("## Abschnitt 1", "### Ziele", *articles("#### § {}", 1, 2), "## Abschnitt 2", "### Schluss",
                 *articles("#### § {}", 3, 4)),
        tree="SECTION-1 SECTION-1/PAR-1 SECTION-1/PAR-2 SECTION-2 SECTION-2/PAR-3 SECTION-2/PAR-4",
    ),
    "a French number and a name with fewer #": Shape(
        text=law("# Loi", "### Chapitre Ier", "## Objet", *articles("#### Article {}", 1, 2)),
        tree="LOI CHAPTER-IER CHAPTER-IER/ARTICLE-1 CHAPTER-IER/ARTICLE-2",
    ),
    "a name that repeats the heading above it": Shape(
        text=law("## Chapter I. Aims", "### Aims", *articles("#### Article {}", 1, 2)),
        red=("heading_is_a_name:LAW/CHAPTER-I/AIMS", 3),
    ),
}  # fmt: skip

LONG = "A sentence of the tariff that nobody divided. " * 600

GIANTS = {
    "two headings in a long text": Shape(
        text=law("# Tariff", "## Rates", LONG, "## Ends", "It ends."), red=("giant_unit:LAW/RATES", 3),
    ),
    "an article that swallowed its neighbours": Shape(
        text=law(*articles("## § {}", 1, 3), LONG, *articles("## § {}", 4, 6)), red=("giant_unit:LAW/PAR-3", 9),
    ),
    "a whole law in one unit": Shape(text=law("# Ordonnance", LONG), red=("giant_unit:LAW/ORDONNANCE", 1)),
    "a long table in an annex": Shape(
        text=law(*articles("## Article {}", 1, 3), "## Annex 1", "| place | rate |\n" * 1_600),
        tree="ARTICLE-1 ARTICLE-2 ARTICLE-3 ANNEX-1",
    ),
}  # fmt: skip

SHAPES = {
    "chapters above sections": CHAPTERS_ABOVE_SECTIONS,
    "codified numbers": CODIFIED_NUMBERS,
    "plain articles": PLAIN_ARTICLES,
    "articles and paragraphs": ARTICLES_AND_PARAGRAPHS,
    "annexes after forms": ANNEXES_AFTER_FORMS,
    "names of chapters": NAMES_OF_CHAPTERS,
    "giants": GIANTS,
}
