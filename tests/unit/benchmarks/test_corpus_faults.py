"""The comparison counts each known kind of wrong cut as silent, and the right cut of the same text as right."""

from __future__ import annotations

import re
from dataclasses import dataclass

import pytest

from benchmarks.comparison import compare
from benchmarks.outline import Outline, outline
from cutter.marking import Finding
from tests.unit.benchmarks.markings import Unit, line_of, marking

ART = re.compile(r"(?:[*]{2})?(?:ARTICULO|Artículo) (?:[0-9]+[º°]?|[IVX]+|Único)(?:[.:]|[ ]?—|[*]|$)")
TREATY = """# TRATADOS

**ARTICULO 1°.-** Apruébase el convenio de faros.

**ARTICULO 2°.-** Comuníquese.

A. Torres

**CONVENIO DE FAROS**

ARTICULO I

Los faros se encienden de noche.

ARTICULO II

El aceite se paga.

ARTICULO III

Este convenio dura diez años.
"""
IN_HASHES = TREATY.replace("**ARTICULO 1°.-**", "##### ARTICULO 1°").replace("**ARTICULO 2°.-**", "##### ARTICULO 2°")
ACT = """THE FERRY ACT

ARRANGEMENT OF SECTIONS

1. Short title.
2. Boats.
3. Fees.

SCHEDULES

Schedule 1. Tolls.

1. Short title

This is the Ferry Act, and it is the law of all ferries in the country.

2. Boats

A boat has a bell, a lamp and a keeper who can swim across the river.

3. Fees

A rider pays one crown, and a rider with a horse pays two crowns.

Schedule 1

Tolls

One crown for a goat.
"""
BELGIAN = """**Art. 1.** § 1. Le passeur garde le bac.

§ 2. Il peut demander de l'aide.

**Art. 2.** Le bac part à midi.

**Art. 3.** Le maire nomme le passeur.
"""
MEXICAN = """LEY DE PUENTES
Artículo 1.- El puente es de todos.
Artículo 2.- El puente se cierra de noche.
Artículo 3.- La multa es de un peso.
TRANSITORIOS
Artículo 1.- Esta ley entra en vigor mañana.
Artículo 2.- Se deroga la ley anterior.
"""
OMNIBUS = """# Brückengesetz

## Artikel 1 Brücken

## § 1 Bau

Eine Brücke ist aus Stein.

## § 2 Zoll

Der Zoll ist ein Taler.

## Artikel 2 Stege

## § 1 Bau

Ein Steg ist aus Holz.

## § 2 Zoll

Ein Steg ist frei.
"""
CHAPTERS = """# Bridges Act

## Chapter 1

1. Short title.

This is the Bridges Act.

2. Stone.

A bridge is of stone.

## Chapter 2

3. Tolls.

A toll is one crown.

4. Fines.

A fine is ten crowns.

## Chapter 3

5. Appeals.

An owner may appeal.

6. Start.

This Act starts tomorrow.
"""
CONVENTION = """# CONVENCION

**ARTICULO 1º.** Se aprueban las reglas de la Convención, según el

artículo 2 de la Convención de puentes, con sus notas.

**ARTICULO 2º.** Los puentes se cierran.

**ARTICULO 3º.** Comuníquese.
"""
SCHEDULE = """BRIDGE LAMPS ACT

Section 1. Name.

This is the Bridge Lamps Act.

Section 2. Lists.

Schedule 1 of the principal Act is amended by the insertion of the following item:

"7 Keeper of a bridge"

Section 3. Keepers.

The council names a keeper.

Schedule 1

List of bridges

1 North bridge
"""
TWO_NUMBERS = """CODE OF BRIDGES

ARTICLE I. Claims

(71) § 1. The claim is written.

(72) § 2. The claim has a date.

ARTICLE II. Answers

(73) § 1. The answer is written.
"""
NAMES = "# Rule on bridges\n" + "".join(
    f"\n#### Article {number}\n\n##### {name}\n\nThe keeper does what is right.\n"
    for number, name in enumerate(("Subject", "Stone", "Tolls", "Start"), 1)
)
LOST = "# Bridges Act\n" + "".join(
    f"\n## Article {number} {name}\n" + ("" if number == 3 else "\nThe keeper does what is right.\n")
    for number, name in enumerate(("Subject", "Stone", "Tolls", "Start"), 1)
)
SWEDISH = """# Lag om broar

1 kap. Inledning

1 § Lagen gäller broar.

2 § En bro är av sten.

2 kap. Vakter

1 § Vakten stänger bron enligt
3 kap. 1 §.

2 § Vakten har en nyckel.

3 kap. Avgifter

1 § Staden betalar.
"""


@dataclass(frozen=True, kw_only=True)
class Fault:
    """A text with today's wrong cut, the shape by which the comparison must see it, and the right cut."""

    text: str
    articles: re.Pattern[str] | None
    wrong: tuple[Unit, ...]
    right: tuple[Unit, ...]
    shape: str
    at: str
    contents: tuple[int, int] | None = None

    def expected(self) -> Outline:
        return outline(self.text, self.articles)


def units(text: str, *rows: tuple[str, str, str] | tuple[str, str, str, int]) -> tuple[Unit, ...]:
    """Units by the beginning of their line and, where it comes more than once, its occurrence."""
    return tuple((line_of(text, row[0], *row[3:]), row[1], row[2]) for row in rows)


NAMES_RIGHT = tuple((line_of(NAMES, f"#### Article {n}"), f"ARTICLE-{n}", "article") for n in range(1, 5))
FAULTS = {
    "1: the treaty becomes the law": Fault(
        text=TREATY, articles=ART, shape="article_not_cut", at="**ARTICULO 1",
        wrong=units(TREATY, ("# T", "T", "section"), ("ARTICULO III", "ART-III", "article")),
        right=units(TREATY, ("# T", "T", "section"), ("**ARTICULO 1", "ART-1", "article"),
                    ("**ARTICULO 2", "ART-2", "article"), ("**CONVENIO", "CONVENIO", "appendix"),
                    ("ARTICULO I", "CONVENIO/ART-I", "article"), ("ARTICULO II", "CONVENIO/ART-II", "article"),
                    ("ARTICULO III", "CONVENIO/ART-III", "article")),
    ),
    "1: the treaty is part of the last article": Fault(
        text=IN_HASHES, articles=ART, shape="second_document_in_an_article", at="ARTICULO I",
        wrong=units(IN_HASHES, ("# T", "T", "section"), ("##### ARTICULO 1", "ART-1", "article"),
                    ("##### ARTICULO 2", "ART-2", "article"), ("ARTICULO I", "ART-2/ART-I", "article"),
                    ("ARTICULO II", "ART-2/ART-II", "article"), ("ARTICULO III", "ART-2/ART-III", "article")),
        right=units(IN_HASHES, ("# T", "T", "section"), ("##### ARTICULO 1", "ART-1", "article"),
                    ("##### ARTICULO 2", "ART-2", "article"), ("**CONVENIO", "CONVENIO", "appendix")),
    ),
    "2: the contents hold the law": Fault(
        text=ACT, articles=re.compile(r"[0-9]+\. "), shape="contents_hold_the_law", at="ARRANGEMENT",
        contents=(3, line_of(ACT, "Schedule 1", 2) - 1),
        wrong=units(ACT, ("Schedule 1", "SCHEDULE-1", "appendix", 2)),
        right=units(ACT, ("1. ", "1", "section", 2), ("2. ", "2", "section", 2), ("3. ", "3", "section", 2),
                    ("Schedule 1", "SCHEDULE-1", "appendix", 2)),
    ),
    "3: the articles are inside a paragraph of the first": Fault(
        text=BELGIAN, articles=re.compile(r"[*]{2}Art[.] [0-9]+"), shape="unit_without_heading", at="§ 2",
        wrong=units(BELGIAN, ("**Art. 1", "ART-1", "article"), ("§ 2", "PAR-2", "article"),
                    ("**Art. 2", "PAR-2/ART-2", "article"), ("**Art. 3", "PAR-2/ART-3", "article")),
        right=units(BELGIAN, *((f"**Art. {n}", f"ART-{n}", "article") for n in (1, 2, 3))),
    ),
    "4: the transitory articles are text of the last one": Fault(
        text=MEXICAN, articles=ART, shape="second_document_in_an_article", at="Artículo 1.- Esta",
        wrong=units(MEXICAN, *((f"Artículo {n}", f"ART-{n}", "article") for n in (1, 2, 3))),
        right=units(MEXICAN, *((f"Artículo {n}", f"ART-{n}", "article") for n in (1, 2, 3)),
                    ("TRANSITORIOS", "TRANSITORIOS", "section")),
    ),
    "5: articles and paragraphs are on one level": Fault(
        text=OMNIBUS, articles=None, shape="kinds_flat", at="## § 1",
        wrong=units(OMNIBUS, ("# B", "B", "section"), ("## Artikel 1", "ART-1", "article"), ("## § 1", "A", "article"),
                    ("## § 2", "B2", "article"), ("## Artikel 2", "ART-2", "article"), ("## § 1", "C", "article", 2),
                    ("## § 2", "D", "article", 2)),
        right=units(OMNIBUS, ("# B", "B", "section"), ("## Artikel 1", "ART-1", "article"),
                    ("## § 1", "ART-1/PAR-1", "article"), ("## § 2", "ART-1/PAR-2", "article"),
                    ("## Artikel 2", "ART-2", "article"), ("## § 1", "ART-2/PAR-1", "article", 2),
                    ("## § 2", "ART-2/PAR-2", "article", 2)),
    ),
    "6: sections with bare numbers are text of their chapters": Fault(
        text=CHAPTERS, articles=None, shape="sections_not_cut", at="1. ",
        wrong=units(CHAPTERS, ("# B", "B", "section"), *((f"## Chapter {n}", f"C-{n}", "section") for n in (1, 2, 3))),
        right=(),
    ),
    "7: a line that goes on with a sentence becomes a unit": Fault(
        text=CONVENTION, articles=ART, shape="unit_without_heading", at="artículo 2",
        wrong=units(CONVENTION, ("# C", "C", "section"), ("**ARTICULO 1", "ART-1", "article"),
                    ("artículo 2", "ART-2~1", "article"), ("**ARTICULO 2", "ART-2", "article"),
                    ("**ARTICULO 3", "ART-3", "article")),
        right=units(CONVENTION, ("# C", "C", "section"),
                    *((f"**ARTICULO {n}", f"ART-{n}", "article") for n in (1, 2, 3))),
    ),
    "8: a schedule is lost in the last section": Fault(
        text=SCHEDULE, articles=re.compile(r"Section [0-9]+\."), shape="document_in_the_last_article",
        at="Schedule 1\n",
        wrong=units(SCHEDULE, *((f"Section {n}", f"SECTION-{n}", "section") for n in (1, 2, 3))),
        right=units(SCHEDULE, *((f"Section {n}", f"SECTION-{n}", "section") for n in (1, 2, 3)),
                    ("Schedule 1", "SCHEDULE-1", "appendix", 2)),
    ),
    "8: sections with two numbers are text": Fault(
        text=TWO_NUMBERS, articles=re.compile(r"(?:ARTICLE [IVX]+\.|\([0-9]+\) § [0-9]+\.)"), shape="article_not_cut",
        at="(71)",
        wrong=units(TWO_NUMBERS, ("ARTICLE I.", "ART-I", "article"), ("ARTICLE II.", "ART-II", "article")),
        right=units(TWO_NUMBERS, ("ARTICLE I.", "ART-I", "article"), ("(71)", "ART-I/PAR-1", "article"),
                    ("(72)", "ART-I/PAR-2", "article"), ("ARTICLE II.", "ART-II", "article"),
                    ("(73)", "ART-II/PAR-1", "article")),
    ),
    "16: the name of an article is a unit": Fault(
        text=NAMES, articles=None, shape="name_is_a_unit", at="##### Subject",
        wrong=((1, "R", "section"),
               *(unit for line, address, kind in NAMES_RIGHT
                 for unit in ((line, address, kind), (line + 2, f"{address}/NAME", "section")))),
        right=(),
    ),
    "17: an article lost its text": Fault(
        text=LOST, articles=None, shape="article_without_text", at="## Article 3",
        wrong=units(LOST, ("# B", "B", "section"), *((f"## Article {n}", f"ART-{n}", "article") for n in (1, 2, 3, 4))),
        right=(),
    ),
    "18: a reference at the start of a line becomes a chapter": Fault(
        text=SWEDISH, articles=re.compile(r"[0-9]+ (?:kap\.|§) "), shape="article_not_cut", at="3 kap. Avgifter",
        wrong=units(SWEDISH, ("# L", "L", "section"), ("1 kap", "KAP-1", "section"), ("1 §", "KAP-1/PAR-1", "article"),
                    ("2 §", "KAP-1/PAR-2", "article"), ("2 kap", "KAP-2", "section"),
                    ("1 §", "KAP-2/PAR-1", "article", 2), ("3 kap", "KAP-3", "section"),
                    ("2 §", "KAP-3/PAR-2", "article", 2), ("1 §", "KAP-3/PAR-1", "article", 3)),
        right=units(SWEDISH, ("# L", "L", "section"), ("1 kap", "KAP-1", "section"), ("1 §", "KAP-1/PAR-1", "article"),
                    ("2 §", "KAP-1/PAR-2", "article"), ("2 kap", "KAP-2", "section"),
                    ("1 §", "KAP-2/PAR-1", "article", 2), ("2 §", "KAP-2/PAR-2", "article", 2),
                    ("3 kap", "KAP-3", "section", 2), ("1 §", "KAP-3/PAR-1", "article", 3)),
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", FAULTS)
def test_a_known_fault_is_silent_without_a_finding(name: str) -> None:
    fault = FAULTS[name]
    made = compare(marking(fault.text, *fault.wrong, contents=fault.contents), fault.expected())
    place = fault.text[: fault.text.rindex(fault.at) if fault.at.endswith("\n") else fault.text.index(fault.at)]
    assert (made.verdict, made.shape, made.line) == ("silent", fault.shape, place.count("\n") + 1)


@pytest.mark.parametrize("name", [name for name, fault in FAULTS.items() if fault.right])
def test_the_right_cut_of_the_same_text_is_right(name: str) -> None:
    fault = FAULTS[name]
    contents = (3, line_of(ACT, "1. ", 2) - 1) if fault.contents else None
    made = compare(marking(fault.text, *fault.right, contents=contents), fault.expected())
    assert (made.verdict, made.shape, made.line) == ("right", "", None)


def test_sections_below_chapters_and_articles_with_their_names_are_right() -> None:
    sections = [(line_of(CHAPTERS, f"{n}. "), f"C-{(n + 1) // 2}/S-{n}", "section") for n in range(1, 7)]
    chapters = [(line_of(CHAPTERS, f"## Chapter {n}"), f"C-{n}", "section") for n in (1, 2, 3)]
    whole = marking(CHAPTERS, (1, "B", "section"), *sorted([*chapters, *sections]))
    assert compare(whole, outline(CHAPTERS, re.compile(r"[0-9]+\. "))).verdict == "right"


def test_an_amber_finding_about_a_reference_flags_the_unit_that_begins_there() -> None:
    fault = FAULTS["7: a line that goes on with a sentence becomes a unit"]
    line = line_of(CONVENTION, "artículo 2")
    doubt = Finding(code="heading_in_sentence", line=line, message=f"line {line}: x", severity="amber")
    assert compare(marking(fault.text, *fault.wrong, findings=(doubt,)), fault.expected()).verdict == "flagged"
    notes = tuple(Finding(code=code, line=line, message=f"line {line}: x", severity="amber")
                  for code in ("heading_only", "duplicate_address"))  # fmt: skip
    assert compare(marking(fault.text, *fault.wrong, findings=notes), fault.expected()).verdict == "silent"


def test_a_red_finding_refuses_a_fault() -> None:
    fault = FAULTS["17: an article lost its text"]
    red = Finding(code="articles_empty", line=7, message="line 7: x", severity="red")
    made = compare(marking(fault.text, *fault.wrong, findings=(red,)), fault.expected())
    assert (made.verdict, made.difference) == ("refused", "article_without_text")


def test_one_difference_that_no_finding_names_is_silent_beside_one_that_is_flagged() -> None:
    wrong = FAULTS["5: articles and paragraphs are on one level"].wrong
    lost = OMNIBUS.replace("Ein Steg ist frei.\n", "TRANSITORIOS\n\nx\n\ny\n")
    line = line_of(OMNIBUS, "## § 1")
    doubt = Finding(code="hashes_overruled", line=line, message=f"line {line}: x", severity="amber")
    assert compare(marking(OMNIBUS, *wrong, findings=(doubt,)), outline(OMNIBUS)).verdict == "flagged"
    made = compare(marking(lost, *wrong, findings=(doubt,)), outline(lost))
    assert (made.verdict, made.shape) == ("silent", "document_in_the_last_article")


def test_a_repeated_address_is_silent_unless_a_red_finding_says_that_the_text_repeats_the_number() -> None:
    text = "# Act\n\n## Article 1\n\nx\n\n## Article 2\n\ny\n\n## Article 2\n\nz\n"
    cut = ((1, "A", "section"), (3, "ART-1", "article"), (7, "ART-2", "article"), (11, "ART-2~2", "article"))
    amber = Finding(code="duplicate_address", line=11, message="line 11: x", severity="amber")
    made = compare(marking(text, *cut, findings=(amber,)), outline(text))
    assert (made.verdict, made.shape, made.line) == ("silent", "address_repeated", 11)
    red = Finding(code="number_repeated", line=11, message="line 11: x", severity="red")
    assert compare(marking(text, *cut, findings=(amber, red)), outline(text)).verdict == "refused for its numbers"


@pytest.mark.parametrize(
    ("heading", "kind", "verdict"),
    [("§ 1 Aim", "principle", "wrong kind"), ("§ 1 Aim", "article", "right"),
     ("Erster Abschnitt", "article", "wrong kind"),
     ("Capítulo Primero", "section", "right"), ("Artículo 1º — Aim", "principle", "wrong kind"),
     ("Section 1 Aim", "article", "right"), ("Section 1 Aim", "principle", "wrong kind"),
     ("Preamble", "principle", "right"),
     ("Anexo I", "article", "wrong kind"), ("第一条 某", "section", "wrong kind"), ("Điều 1. Aim", "article", "right"),
     ("BAB I KETENTUAN", "article", "wrong kind"), ("1. Abschnitt: Aim", "section", "right")],
)  # fmt: skip
def test_a_kind_that_contradicts_the_word_of_its_heading_is_wrong(heading: str, kind: str, verdict: str) -> None:
    text = f"# Act\n\n## {heading}\n\nText.\n\n## Last words\n\nText.\n"
    made = compare(marking(text, (1, "A", "section"), (3, "B", kind), (7, "C", "section")), outline(text))
    assert (made.verdict, made.wrong_kinds) == (verdict, int(verdict == "wrong kind"))


def test_a_kind_is_counted_in_a_refused_cut_too() -> None:
    text = "# Act\n\n## § 1 Aim\n\nText.\n\n## § 2 End\n\nText.\n"
    red = Finding(code="giant_unit", line=3, message="line 3: x", severity="red")
    cut = marking(text, (1, "A", "section"), (3, "B", "principle"), (7, "C", "principle"), findings=(red,))
    made = compare(cut, outline(text))
    assert (made.verdict, made.wrong_kinds) == ("refused though right", 2)


QUOTED = """# Ley

Artículo 1.- Se enmienda la ley de puentes, como sigue:

«Artículo 7.- El puente es de piedra.

Artículo 8.- El puente es de madera.»

Artículo 2.- Esta ley empieza mañana.
"""


def test_a_quoted_article_is_no_article_of_the_law() -> None:
    own = units(QUOTED, ("# L", "L", "section"), ("Artículo 1", "ART-1", "article"), ("Artículo 2", "ART-2", "article"))
    assert compare(marking(QUOTED, *own), outline(QUOTED, ART)).verdict == "right"
    quoted = (line_of(QUOTED, "Artículo 8"), "ART-8", "article")
    made = compare(marking(QUOTED, *sorted((*own, quoted))), outline(QUOTED, ART))
    assert (made.verdict, made.shape) == ("silent", "unit_without_heading")


DECREE = """DECRETO

Artículo Único. Se expide la Ley de Puentes:

Capítulo I

Artículo 1. El puente es de piedra.

Artículo 2. El puente es de todos.

Capítulo II

Artículo 3. La multa es de un peso.
"""


def test_a_law_after_its_decree_is_cut_whole_and_not_inside_the_decree() -> None:
    whole = units(DECREE, ("Artículo Único", "U", "article"), ("Capítulo I", "CAP-I", "section"),
                  ("Artículo 1", "CAP-I/ART-1", "article"), ("Artículo 2", "CAP-I/ART-2", "article"),
                  ("Capítulo II", "CAP-II", "section"), ("Artículo 3", "CAP-II/ART-3", "article"))  # fmt: skip
    expected = outline(DECREE, ART)
    assert compare(marking(DECREE, *whole), expected).verdict == "right"
    in_part = compare(marking(DECREE, *(unit for unit in whole if not unit[1].endswith("ART-1"))), expected)
    assert (in_part.verdict, in_part.shape) == ("silent", "article_not_cut")
    inside = compare(marking(DECREE, whole[0]), expected)
    assert (inside.verdict, inside.shape) == ("silent", "second_document_in_an_article")


def test_one_article_in_a_plain_line_among_articles_with_hashes_is_one_of_them() -> None:
    text = "# D\n\n**Artículo 1º —** Uno.\n\n##### Artículo 2º — Dos.\n\nx\n\n##### Artículo 3º — Tres.\n\ny\n"
    without = ((1, "D", "section"), (5, "ART-2", "article"), (9, "ART-3", "article"))
    made = compare(marking(text, *without), outline(text, ART))
    assert (made.verdict, made.shape, made.line) == ("silent", "article_not_cut", 3)
    assert (
        compare(marking(text, without[0], (3, "ART-1", "article"), *without[1:]), outline(text, ART)).verdict == "right"
    )


def test_a_section_that_begins_with_a_bare_number_may_begin_at_its_name() -> None:
    text = "PATHS ACT\n\nShort title\n\n1 This is the Paths Act.\n\nRiders\n\n2 A rider has a bell.\n"
    expected = outline(text, sections=frozenset({5, 9}))
    assert compare(marking(text, (5, "1", "section"), (9, "2", "section")), expected).verdict == "right"
    named = marking(text, (3, "1", "section"), (7, "2", "section"))
    assert compare(named, expected).verdict == "silent"
    assert compare(marking(text, (5, "1", "section")), expected).shape == "article_not_cut"
