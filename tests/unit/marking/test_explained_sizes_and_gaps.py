"""A long article that is one list, and a gap that the text itself explains, do not refuse a cut; what looks so does."""

from __future__ import annotations

import pytest

from cutter.limits import GIANT_ITEM_BYTES, GIANT_UNIT_BYTES, GIANT_UNIT_ITEMS
from cutter.marking import Marking
from cutter.marking.suggestion import Suggestion, suggest
from tests.unit.marking.texts import codes, cut, reds

GIANT = "giant_unit:LAW/ARTICLE-2"
HEAD = "# Article {}. Rule\n\n"
SENTENCE = "The minister may say more about this point. "


def items(form: str, *marks: object, size: int = 1_200) -> str:
    """Items of a list, each of about `size` bytes."""
    text = SENTENCE * (size // len(SENTENCE))
    return "".join(f"{form.format(mark)} {text}\n\n" for mark in marks)


def law(body: str, *, head: str = HEAD, others: tuple[int, ...] = (3, 4, 5)) -> str:
    """A law whose second article has the given text."""
    short = "".join(f"{head.format(number)}Text.\n\n" for number in (1, *others))
    first, _, rest = short.partition(head.format(3))
    return f"{first}{head.format(2)}{body}{head.format(3)}{rest}" if others else f"{first}{head.format(2)}{body}"


LIST = items("{}.", *range(1, 21))
NESTED = items("({})", 1, 2, 3) + "(4) These:\n\n" + items("{})", *"abcdefghijklm") + items("({})", 5, 6)

LISTS = {
    "numbers": LIST,
    "numbers in brackets": items("({})", *range(1, 21)),
    "letters": items("{})", *"abcdefghijklmnopqrst"),
    "bullets with numbers": items("- {}.", *range(1, 21)),
    "an inserted item": items("{}.", *range(1, 8), "7a", "7b", *range(8, 20)),
    "a repealed item": items("{}.", *range(1, 8), *range(9, 22)),
    "an item that is a list": NESTED,
    "a sentence before it": f"These words have these meanings: {SENTENCE}\n\n{LIST}",
}


@pytest.mark.parametrize("body", [pytest.param(body, id=name) for name, body in LISTS.items()])
def test_an_article_that_is_one_list_is_amber_although_it_is_long(body: str) -> None:
    assert len(body) > GIANT_UNIT_BYTES
    marking = cut(law(body))
    assert ("giant_unit", 5) in codes(marking)
    assert marking.unaccepted == ()


HALVES = items("{}.", *range(1, 11))
SWALLOWED = {
    "a list that begins again": HALVES + HALVES,
    "a list that steps back": items("{}.", *range(1, 11)) + items("{}.", *range(5, 15)),
    "text without an end after a list": HALVES + SENTENCE * 300 + "\n\n",
    "text without an end before a list": SENTENCE * 300 + "\n\n" + HALVES,
    "an item that is too long": items("{}.", 1, 2, 3) + items("{}.", 4, size=2 * GIANT_ITEM_BYTES) + items("{}.", 5, 6),
    "few items": items("{}.", *range(1, GIANT_UNIT_ITEMS), size=GIANT_ITEM_BYTES - 4_000),
    "a list that begins in the middle": items("{}.", *range(2, 22)),
    "a list that lacks most of its numbers": items("{}.", *range(1, 41, 2)),
    "a line that looks like a heading": HALVES + "Chapter 9 Of lamps\n\n" + items("{}.", *range(11, 21)),
    "a line in bold letters alone": HALVES + "**Of lamps**\n\n" + items("{}.", *range(11, 21)),
}


@pytest.mark.parametrize("body", [pytest.param(body, id=name) for name, body in SWALLOWED.items()])
def test_a_long_article_that_may_hide_another_stays_red(body: str) -> None:
    assert len(body) > GIANT_UNIT_BYTES
    assert reds(law(body)) == [GIANT]


def test_a_list_does_not_explain_the_size_of_a_unit_without_a_number() -> None:
    assert reds(law(LIST).replace("# Article 2. Rule", "# Entry into force")) == [
        "giant_unit:LAW/ENTRY-INTO-FORCE", "number_missing:LAW/ARTICLE-3",
    ]  # fmt: skip


def test_items_that_are_written_like_the_headings_may_be_units() -> None:
    assert reds(law(LIST, head="# {}. Rule\n\n")) == ["giant_unit:LAW/2"]
    assert reds(law(LIST.replace(". ", ") "), head="# {}. Rule\n\n")) == []


def test_a_list_does_not_explain_the_size_of_one_of_three_units() -> None:
    assert reds(law(LIST, others=(3,))) == [GIANT]


ARTICLE = "# {} {}. Rule\n\nText.\n\n"


def with_gap(between: str, word: str = "Article", after: int = 6) -> str:
    """Two articles, a text, and a later article."""
    first = "".join(ARTICLE.format(word, number) for number in (1, 2))
    return f"{first}{between}\n\n{ARTICLE.format(word, after)}"


EXPLAINED = [
    ("Article", "Articles 3 to 5 (repealed)", 6),
    ("Article", "[Articles 3 to 5 repealed]", 6),
    ("Article", "{Articles 3, 4 and 5 repealed by the Act of 1999 (No. 5)}", 6),
    ("Article", "(Articles 3 and 4 revoked)\n\n(Article 5 omitted by the order of 1980)", 6),
    ("§", "§§ 3 bis 5 (weggefallen)", 6),
    ("§", "§ 3 (aufgehoben)", 4),
    ("Artículo", "(Artículo 3 derogado por la Ley 5)", 4),
]


def gaps(text: str) -> list[str]:
    """Addresses before which a number is missing."""
    return [finding.address or "" for finding in cut(text).findings if finding.code == "number_missing"]


@pytest.mark.parametrize(("word", "note", "after"), EXPLAINED)
def test_a_gap_that_a_note_explains_is_none(word: str, note: str, after: int) -> None:
    assert gaps(with_gap(note, word, after)) == []
    assert gaps(with_gap("", word, after)) != []


@pytest.mark.parametrize(
    "note",
    [
        "{Статтю 3 виключено на підставі Закону [№ 871-12 від 20.03.91](/go/871-12) }",
        "{Стаття 3 втратила чинність на підставі Закону № 2121-III}",
    ],
)
def test_a_note_may_write_the_word_in_another_case(note: str) -> None:
    def missing(between: str) -> list[str]:
        suggestion = suggest(with_gap(between, "Стаття", 4).encode(), docprefix="LAW")
        assert isinstance(suggestion, Suggestion)
        assert isinstance(suggestion.result, Marking)
        return [finding.code for finding in suggestion.result.findings if finding.code.startswith("number_")]

    assert missing("") == ["number_missing"]
    assert missing(note) == []


@pytest.mark.parametrize("note", ["[Articles 3 to 5 repealed]", "(Article 3 repealed by the Act of 1999)"])
def test_a_note_in_brackets_is_no_heading_that_was_swallowed(note: str) -> None:
    assert reds(with_gap(note, after=6 if "to" in note else 4)) == []


@pytest.mark.parametrize(
    "note",
    [
        "Articles 3 and 4 (repealed)",
        "{Section 3 to 5 repealed by the Act of 1999}",
        "Articles 3 to 5 of the Act of 1999 are repealed.",
        "The king rules. (Articles 3 to 5 repealed)",
        "(Articles 3 to 5) The king rules.",
    ],
    ids=["not all of them", "another kind", "another law", "within a paragraph", "no repeal"],
)
def test_a_note_about_other_headings_explains_no_gap(note: str) -> None:
    assert gaps(with_gap(note)) == ["LAW/ARTICLE-6"]


@pytest.mark.parametrize(
    "swallowed",
    [
        "Article 3. Repealed acts\n\nThe Act of 1999 is repealed.",
        "Article 3 (repealed) The king rules.",
        "**Article 3** Abrogation\n\nThe Act of 1999 is repealed.",
        "Article 3 Derogado el decreto anterior",
    ],
)
def test_a_swallowed_article_about_a_repeal_stays_red(swallowed: str) -> None:
    assert reds(with_gap(swallowed, after=4)) != []


def test_two_headings_with_a_dash_between_them_are_a_range() -> None:
    text = "# § 1. Aim\n\nx\n\n# § 2.\n\n{}\n\n# § 6.\n\n[left out]\n\n# § 7. End\n\nx\n"
    assert reds(text.format("–")) == []
    assert reds(text.format("-")) == []
    assert gaps(text.format("– and what was swallowed")) == ["LAW/PAR-6"]
    assert gaps(text.format("–\n\nWhat was swallowed.")) == ["LAW/PAR-6"]
