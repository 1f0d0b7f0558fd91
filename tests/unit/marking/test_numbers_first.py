"""Laws that write the number before the word, and inserted numbers, which leave no gap in a numbering."""

from __future__ import annotations

import pytest

from cutter.marking import Marking, MarkRefusal, Options, load_profile, mark
from cutter.marking.suggestion import Suggestion, suggest


def suggested(text: str) -> Suggestion:
    suggestion = suggest(text.encode(), docprefix="LAW")
    assert isinstance(suggestion, Suggestion), suggestion
    return suggestion


def addresses(text: str) -> list[str]:
    result = suggested(text).result
    assert isinstance(result, Marking), result
    return [unit.address.removeprefix("LAW/") for unit in result.candidates]


def ambers(text: str) -> list[tuple[str, int]]:
    result = suggested(text).result
    assert isinstance(result, Marking), result
    return [(finding.code, finding.line) for finding in result.findings if finding.severity == "amber"]


def law(*paragraphs: str) -> str:
    return "\n\n".join(paragraphs) + "\n"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (law("1 § Ett.", "2 § Två.", "2 a § Två a.", "3 § Tre."), "PAR-1 PAR-2 PAR-2-A PAR-3"),
        (law("12 § Tolv.", "13 § Tretton.", "13 A § Tretton a.", "14 § Fjorton."), "PAR-12 PAR-13 PAR-13-A PAR-14"),
        (law("15 n § Ett.", "15 o § Två.", "15 p § Tre."), "PAR-15-N PAR-15-O PAR-15-P"),
        (law("1 § 1 mom. Ett.", "2 § 1 mom. Två.", "3 § Tre."), "PAR-1 PAR-2 PAR-3"),
        (law("1§ Ett.", "2§ Två.", "3§ Tre."), "PAR-1 PAR-2 PAR-3"),
        (law("1\u2009§ Ett", "x", "2\u2009§ Två", "x", "3\u202f§ Tre", "x"), "PAR-1 PAR-2 PAR-3"),
        (law("1 § Ett.", "2 § har upphävts genom lag (2010:1).", "3 § Tre."), "PAR-1 PAR-2 PAR-3"),
        (law("1 §", "x", "2 a § (15.4.2011/343)", "x", "3 §", "4 §:n 2 momentissa säädetään."), "PAR-1 PAR-2-A PAR-3"),
        (law("I. FEJEZET", "1. § (1) A.", "2/A. § (1) B.", "II. FEJEZET", "3. § (1) C."),
         "FEJEZET-I FEJEZET-I/PAR-1 FEJEZET-I/PAR-2-A FEJEZET-II FEJEZET-II/PAR-3"),
        (law("1. peatükk Üks", "§ 1. A", "x", "1<sup>1</sup>. peatükk Uus", "§ 2. B", "x"),
         "PEATUKK-1 PEATUKK-1/PAR-1 PEATUKK-1-1 PEATUKK-1-1/PAR-2"),
        (law("1. pants. A", "x", "2.¹ pants. B", "x", "3. pants. C", "x"), "PANTS-1 PANTS-2-1 PANTS-3"),
        (law("1 straipsnis. A", "x", "2(1) straipsnis. B", "x", "3 straipsnis. C"),
         "STRAIPSNIS-1 STRAIPSNIS-2-1 STRAIPSNIS-3"),
        (law("## § 1 Zweck", "x", "## § 2 a Neue Mittel", "x", "## § 3 Ende", "x"), "PAR-1 PAR-2-A PAR-3"),
        (law("§ 1 n. Foo.", "§ 1 o. Foo.", "§ 1 p. Foo."), "PAR-1-N PAR-1-O PAR-1-P"),
    ],
)  # fmt: skip
def test_each_form_of_a_number_is_read(text: str, expected: str) -> None:
    assert addresses(text) == expected.split()


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("§ 1\n\nx\n\n§ 2\n\nEs gilt auch\n§ 2 a. Das ist so.\n\n§ 3\n\nx\n", 8),
        ("1 §\nEtt.\n\n2 §\nDen som avses i\n2 a § Skollagen ska betala.\n\n3 §\nTre.\n", 6),
        ("1 § Ett.\n\n2 § Den som anges i\n3 § Skollagen ska betala.\n\n4 § Fyra.\n", 4),
    ],
)
def test_a_heading_that_continues_a_sentence_is_amber(text: str, line: int) -> None:
    assert {("heading_in_sentence", line), ("sentence_continued", line)} & set(ambers(text))
    whole = text.replace("auch\n", "auch.\n").replace("avses i\n", "avses i.\n").replace("anges i\n", "anges i.\n")
    assert ambers(whole) == []


def test_an_inserted_heading_that_a_colon_announces_may_be_quoted() -> None:
    text = law("1 § I skollagen införs en ny paragraf av följande lydelse:", "1 a § Rätt till prov.", "2 § Slut.")
    assert ("heading_in_sentence", 3) in ambers(text)
    assert ambers(text.replace("lydelse:", "lydelse.")) == []


@pytest.mark.parametrize(
    ("reference", "kept"),
    [
        ("4. §-ában foglaltak szerint.", "1 2 3"), ("4 §:n mukaan.", "1 2 3"), ("4 §–5 § säädetään.", "1 2 3"),
        ("4 § 2 mom. säädetään.", "1 2 3"), ("4 § Fyra.", "1 2 3 4"), ("4 § - Fyra", "1 2 3 4"),
    ],
)  # fmt: skip
def test_an_ending_of_a_word_after_a_sign_is_no_title(reference: str, kept: str) -> None:
    text = law("1 § Ett.", "2 § Två.", "3 § Tre.", reference)
    assert addresses(text) == [f"PAR-{number}" for number in kept.split()]


def test_the_heading_of_a_content_is_no_table_of_contents() -> None:
    text = law("1 kap. Inledning", "Innehåll", "1 § Ett.", "2 § Två.", "2 kap. Tillsyn", "1 § Tre.", "2 § Fyra.")
    assert addresses(text) == ["KAP-1", "KAP-1/PAR-1", "KAP-1/PAR-2", "KAP-2", "KAP-2/PAR-1", "KAP-2/PAR-2"]


def test_an_inserted_line_below_a_sentence_is_amber() -> None:
    text = "1 § Ett gäller.\n2 § Två gäller.\n2 a § upphörde att gälla.\n3 § Tre gäller.\n4 § Fyra gäller.\n"
    assert ambers(text) == [("heading_unread", 3)]


def test_a_raised_number_without_a_sign_is_amber() -> None:
    text = law("§ 1. A", "x", "§ 1<sup>1</sup> Uus", "x", "§ 2. B", "x")
    assert ambers(text) == [("heading_unread", 5)]


@pytest.mark.parametrize(
    ("paragraph", "amber"),
    [
        ("2 a § två a utan tecken.", True), ("2 a §, andra stycket, gäller.", False), ("§ 2 b (Opphevet)", True),
        ("§ 2 b gjelder ikke.", False), ("4 §:n 2 momentissa säädetään.", False), ("2 b gäller.", False),
    ],
)  # fmt: skip
def test_a_paragraph_that_begins_like_a_heading_is_amber(paragraph: str, amber: bool) -> None:
    text = law("## § 1", "x", "## § 2", "x", paragraph, "## § 3", "x")
    assert (("heading_unread", 9) in ambers(text)) == amber
    assert ambers(text.replace(paragraph, f"Text: {paragraph}")) == []


def test_the_references_of_one_unit_are_one_finding() -> None:
    text = law("## § 1", "x", *(f"{number} a § är text." for number in range(2, 9)), "## § 9", "x")
    (finding,) = [finding for finding in suggested(text).result.findings if finding.code == "heading_unread"]  # type: ignore[union-attr]
    assert (finding.line, finding.address) == (5, "LAW/PAR-1")
    assert "7 paragraphs of text begin like a heading" in finding.message
    assert "and 3 more" in finding.message


def generic(text: str) -> Marking | MarkRefusal:
    return mark(text.encode(), profile=load_profile("generic-markdown"), docprefix="LAW", options=Options())


def test_an_amendment_that_begins_with_a_number_and_a_sign_is_text() -> None:
    text = law("§ 1", "x", "1. § 2 ods. 1 znie:", "2. § 3 sa dopĺňa.", "3. § 4 sa mení.", "§ 2", "x", "§ 3", "x")
    assert addresses(text) == ["PAR-1", "PAR-2", "PAR-3"]
    assert ambers(text) == ambers(text.replace("x", "V § 5 sa slová menia.")) == []


def test_numbered_titles_below_numbered_parts_are_red() -> None:
    sections = [part for number in (1, 2, 3) for part in (f"{number}. Title of it", "x")]
    result = generic(law("# Act", "## Part 1 General", *sections, "## Part 2 Special", "x"))
    assert isinstance(result, MarkRefusal)
    assert result.code == "looks_uncut"


def test_a_title_that_begins_with_a_letter_and_a_word_of_a_level_is_a_title() -> None:
    result = generic("# Act\n\n## 1 Aim\n\nx\n\n## 2 A Book of entries\n\nx\n\n## 3 a Part of it\n\nx\n")
    assert isinstance(result, Marking)
    assert [candidate.address for candidate in result.candidates] == ["LAW/ACT", "LAW/1", "LAW/2", "LAW/3"]


def test_a_wrapped_item_of_a_list_is_no_title() -> None:
    wrapped = "Der Beitrag in der Alterssicherung der Landwirte beträgt für das"
    items = "".join(f"{number}. {wrapped}\n    Kalenderjahr 2014.\n\n" for number in (1, 2, 3))
    assert isinstance(generic(f"# Gesetz\n\n{items}"), Marking)


def test_a_raised_number_in_a_title_is_not_joined_to_the_number_before_it() -> None:
    result = generic("# 2¹ straipsnis. Nauja\n\nx\n")
    assert isinstance(result, Marking)
    assert result.candidates[0].address == "LAW/STRAIPSNIS-2-1"
