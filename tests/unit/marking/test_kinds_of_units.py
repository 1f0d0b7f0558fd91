"""The kinds of units: the word of a heading gives them, the number of `#` only the depth."""

from __future__ import annotations

import pytest

from cutter.errors import InvalidInput
from cutter.marking import Marking, Options, examine, mark, parse_profile, profile_bytes
from cutter.marking.suggestion import Suggestion, suggest
from cutter.marking.vocabulary import designation, kind_of_segment
from tests.golden.expectations import GOLDEN
from tests.unit.marking.texts import cut, result

OLD = parse_profile(
    profile_bytes("generic-markdown").replace(
        b"forms: [atx]", b"forms: [atx]\ndepths: [section, article, principle]", 1
    )
)
"""A profile as an earlier version wrote it: the number of `#` gives the kinds of headings that no level knows."""


def suggested(file: str) -> tuple[Suggestion, list[tuple[str, str]]]:
    data = (GOLDEN / "hard-laws" / file).read_bytes()
    suggestion = suggest(data, docprefix="LAW", compared=())
    assert isinstance(suggestion, Suggestion)
    marking = mark(data, profile=parse_profile(suggestion.body), docprefix="LAW", options=Options())
    assert isinstance(marking, Marking)
    assert marking == suggestion.result
    return suggestion, [(unit.address.removeprefix("LAW/"), unit.section_type) for unit in marking.candidates[1:]]


def test_the_paragraphs_of_an_omnibus_law_are_in_its_articles() -> None:
    suggestion, units = suggested("08-omnibus-articles-and-paragraphs.md")
    inner = [f"ARTIKEL-{article}/PAR-{number}" for article in (1, 2) for number in (1, 2)]
    tree = ["ARTIKEL-1", *inner[:2], "ARTIKEL-2", *inner[2:], "ARTIKEL-3"]
    assert units == [(address, "article") for address in tree]
    assert isinstance(suggestion.result, Marking)
    assert [item.code for item in suggestion.result.findings if item.code == "suggestion_doubted"]


def test_an_article_and_its_name_are_one_unit() -> None:
    suggestion, units = suggested("18-article-and-its-name.md")
    assert units == [(f"ARTICLE-{number}", "article") for number in range(1, 11)]
    assert isinstance(suggestion.result, Marking)
    assert suggestion.result.candidates[1].title == "Article 1 Subject matter"
    assert b"depths" not in suggestion.body


@pytest.mark.parametrize(
    ("title", "kind"),
    [
        ("Erster Abschnitt Ziele", "section"), ("§ 3 Mittel", "article"), ("Artículo 4. Fines", "article"),
        ("Kapittel 2. Fiske", "chapter"), ("12 § Tillsyn", "article"), ("ČÁST PRVNÍ", "part"), ("Čl. I", "article"),
        ("Capítol segon. Normes", "chapter"), ("„§ 10", "article"), ("“Article 12. Funcions", "article"),
        ("Chuong I - Quy dinh", "chapter"), ("第三章 総則", "chapter"), ("3. peatükk Üldosa", "chapter"),
        ("Anlage", "annex"), ("Annexe II", "annex"), ("HOOFDSTUK IV", "chapter"),
        ("ΠΑΡΑΡΤΗΜΑ II", "annex"), ("ΜΕΡΟΣ Β΄", "part"), ("ARTICOL UNIC", "article"),
    ],
)  # fmt: skip
def test_the_word_beside_a_number_says_what_a_heading_is(title: str, kind: str) -> None:
    known = designation(title)
    assert known is not None
    assert known.kind == kind


@pytest.mark.parametrize("title", ["Title of the act", "Part of a thing", "12 Articles of iron", "Section about lamps"])
def test_a_word_without_a_number_says_nothing(title: str) -> None:
    assert designation(title) is None


def test_a_number_keeps_its_place_in_the_address_under_a_new_title() -> None:
    before, after = (f"# Wet\n\n## Hoofdstuk 1 {name}\n\n### Bepaling\nx\n" for name in ("Oud", "Nieuw"))
    addresses = [[unit.address for unit in cut(text).candidates] for text in (before, after)]
    assert addresses[0] == addresses[1] == ["LAW/WET", "LAW/HOOFDSTUK-1", "LAW/HOOFDSTUK-1/BEPALING"]


def test_a_number_without_a_word_is_the_smallest_part_if_nothing_else_is_an_article() -> None:
    act = "# Act\n\n## Part 1\n\n### 1. Short title\nx\n\n### 2. Aim\nx\n\n## Schedule\nx\n\n### 1. Fees\nx\n"
    assert [unit.section_type for unit in cut(act).candidates] == [
        "section", "section", "article", "article", "appendix", "section",
    ]  # fmt: skip
    assert {unit.section_type for unit in cut("# A\n\n## Article 1\nx\n\n## 2. More\nx\n").candidates} == {
        "section", "article",
    }  # fmt: skip


def test_a_word_that_is_found_by_its_numbers_has_its_kind() -> None:
    text = "".join(f"## Pasal {number}\n\nIsi.\n\n" for number in (1, 2, 3))
    suggestion = suggest(text.encode(), docprefix="LAW", compared=())
    assert isinstance(suggestion, Suggestion)
    assert isinstance(suggestion.result, Marking)
    assert {unit.section_type for unit in suggestion.result.candidates} == {"article"}


def test_a_sign_that_holds_articles_is_a_section() -> None:
    marking = cut("# Wet\n\n## § 1. Begrippen\n\n### Artikel 1\nx\n\n### Artikel 2\nx\n")
    assert [unit.section_type for unit in marking.candidates] == ["section", "section", "article", "article"]


def test_a_profile_with_depths_cuts_as_before_and_its_wrong_kinds_are_amber() -> None:
    text = "# Laki\n\n## 1 luku\n\n### 1 §\nx\n"
    old = examine(text.encode(), profile=OLD, docprefix="LAW", options=Options())
    assert isinstance(old, Marking)
    assert [(unit.address, unit.section_type) for unit in old.candidates] == [
        ("LAW/LAKI", "section"), ("LAW/1", "article"), ("LAW/1/1", "principle"),
    ]  # fmt: skip
    assert {item.severity for item in old.findings if item.code == "kind_differs"} == {"amber"}
    assert isinstance(result(text, OLD), Marking)


def test_a_level_has_a_kind_that_gives_its_section_type() -> None:
    annex = parse_profile(profile_bytes("german-law")).levels[0]
    assert (annex.kind, annex.section_type) == ("annex", "appendix")
    own = profile_bytes("german-law").replace(b"kind: annex", b"kind: annex\n    section_type: section")
    assert parse_profile(own).levels[0].section_type == "section"
    with pytest.raises(InvalidInput, match=r"profile.levels.section_type is missing"):
        parse_profile(profile_bytes("german-law").replace(b"    kind: annex\n", b""))


@pytest.mark.parametrize(
    ("segment", "kind"), [("ARTICULO", "article"), ("PAR", "article"), ("TITULO", "title"), ("SHO", "chapter"),
                          ("TIEU-MUC", "subsection"), ("RULES", None)],
)  # fmt: skip
def test_the_word_of_an_address_names_the_kind(segment: str, kind: str | None) -> None:
    assert kind_of_segment(segment) == kind
