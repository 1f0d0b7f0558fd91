"""Pure: finds lines that look like headings of a law in any of the languages below, independent of the profile.

The profile decides which lines are headings. This module gives a second opinion, which notices lines that the profile
left out. Every expression is anchored at the line's start and bounded, so that reading is linear in the text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from cutter.limits import HEADING_LINE_BYTES
from cutter.marking import numbers
from cutter.marking.lines import COMMENT, FRONT, Lines
from cutter.marking.titles import with_plain_blanks

KINDS: dict[str, str] = {
    "article": "Articles?|Artikel|Art[íi]culos?|Artigos?|Articol[oi]|Articolul|Artyku[łl]|Artikla|Arts?\\.|Art|Čl\\.|"
    "Článek|Článok|Стаття|Статья|Член|Чл\\.|Άρθρο|Madde|Pasal|Điều|§{1,2}|มาตรา|المادة|مادة|ماده",
    "chapter": "Chapters?|Chapitre|Kapitel|Cap[íi]tulo|Capitolul|Capitol|Capo|Hoofdstuk|Chương|Kapitola|Hlava|"
    "Rozdzia[łl]|Розділ|Глава|Κεφάλαιο|Peatükk|Luku|Bölüm|Bab|BAB|หมวด|الفصل",
    "part": "Parts?|Partie|Teil|Parte|Phần|Deel|Część|Část|Časť|Часть|Частина|Μέρος|Kısım|ภาค|الباب",
    "title": "Title|Titre|Titel|Título|Titulo|Titolo|Titlul|Τίτλος",
    "book": "Book|Livre|Buch|Libro|Boek|Kniha|Księga|Книга|Kitap",
    "section": "Sections?|Sec\\.|Secci[óo]n|Secção|Seção|Sezione|Secțiunea|Abschnitt|Unterabschnitt|Afdeling|Oddíl|"
    "Oddiel|Oddział|Mục|Tiểu mục|Τμήμα|Paragraaf|Jagu",
    "annex": "Annex|Annexe|Anexo|Anexa|Allegato|Anlage|Anhang|Bijlage|Schedule|Appendix|Phụ lục|Příloha|Príloha|"
    "Załącznik|Додаток|Приложение|Παράρτημα",
    "division": "Division|Subdivision",
}
"""Words of headings by kind. Each kind has its own numbering in the order of a text."""

AFTER_NUMBER: dict[str, str] = {
    "article": "§|straipsnis|pants|artikla|gr\\.|artikulua|člen|бап",
    "chapter": "luku|kap\\.|kapitel|kafli|kapitulua|тарау|hauptstück|peatükk|skyrius|nodaļa|fejezet",
    "part": "osasto|osa|avd\\.|avdelning|dalis|daļa|rész",
    "section": "jagu|jaotis|alljaotis|skirsnis|abschnitt",
    "annex": "melléklet|priedas|pielikums",
}
"""The same for languages that write the number before the word: `2 §`, `3 luku` and `1. peatükk`."""

_CJK_KINDS = {"조": "article", "条": "article", "條": "article", "장": "chapter", "章": "chapter", "편": "part",
              "編": "part", "编": "part", "절": "section", "節": "section", "节": "section"}  # fmt: skip

_NUMBER = numbers.pattern(("code", "dotted", "arabic", "roman", "ordinal", "letter"))
_LEAD = r"[ \t\u00a0\u3000]{0,80}(?:#{1,6}[ \t\u00a0]*)?(?:\*\*|__|\*|_)?[ \t\u00a0]*\[?"
_LINE = re.compile(
    _LEAD
    + "(?:"
    + "|".join(rf"(?P<{kind}>{words})" for kind, words in KINDS.items())
    + rf")(?:[ \t\u00a0]{{0,8}})(?P<number>(?i:{_NUMBER}))(?![^\W_])"
)
_INSERTED = rf"(?:(?-i:[a-z])|[{numbers.RAISED}]{{1,3}}|<sup>[0-9]{{1,3}}</sup>|{numbers.INSERTED})"
_NUMBER_FIRST = re.compile(
    _LEAD
    + rf"(?P<number>[0-9]{{1,4}}{_INSERTED}?|(?-i:[IVXLC]{{1,8}})(?![. \u00a0]{{0,3}}§))\.?[ \t\u00a0]{{0,3}}(?:"
    + "|".join(rf"(?P<{kind}>{words})" for kind, words in AFTER_NUMBER.items())
    + r")(?![^\W_])",
    re.IGNORECASE,
)
_MAY_HAVE_WORD = re.compile(rb"[0-9]{1,4}.{0,16}?(?:\xc2\xa7|[A-Za-z])")
"""A quick test of a line that begins with a digit."""

_CAPITALS = re.compile(_LINE.pattern, re.IGNORECASE)
_CJK = re.compile(
    _LEAD
    + rf"[제第] ?(?P<number>[0-9]{{1,4}}|[{''.join(numbers.CJK_DIGITS)}]{{1,9}}) ?(?P<unit>[{''.join(_CJK_KINDS)}])"
    rf"(?P<sub>(?:[의之の][0-9{''.join(numbers.CJK_DIGITS)}]{{1,4}})*)(?=[ \t\u00a0\u3000(（:：]|$|\*)"
)
_CODE = re.compile(_LEAD + r"(?P<number>[LRDA]\*?\.? ?[0-9]{1,4}(?:-[0-9]{1,4}){0,4})(?:\*\*)?[ \t]*$")
_FIRST = re.compile(
    r"[ \t\u00a0\u3000]*(?:#|\*|_|\[|[제第]|§|[LRDA]\*?\.? ?[0-9]|["
    + "".join(sorted({word[0] for words in KINDS.values() for word in words.split("|")} | set("abcdehkpstABCDEHKPST")))
    + "])"
)
NEVER = frozenset(b"abcdefghijklmnopqrstuvwxyz(|-")
"""First bytes of many lines of text. A line that begins with one of them never looks like a heading here."""

_DIGITS = frozenset(b"0123456789")
_ROMAN_FIRST = frozenset("IVXLC")

_BEGINNINGS = frozenset(
    word[:2] if word[:2].isalpha() else word[0] for words in KINDS.values() for word in words.split("|")
)
"""The first two letters of each word. A sign such as § counts alone."""

_CJK_FIRST = frozenset("제第")
_CODE_FIRST = frozenset("LRDA")
_BEFORE_WORDS = " \t\u00a0\u3000#*_["
_SIGNS = ".:–—-)]*_º°ª"
_WORD_AFTER = re.compile(r"[ \t\u00a0]+[(\[]?[A-ZÀ-ÞĐА-ЯΑ-Ω]")
_LETTER_AFTER = re.compile(r"(?:[ \u00a0][a-z]|<sup>[0-9]{1,3}</sup>)(?=[.:)]|$|[ \t\u00a0]+[(\[A-ZÀ-Þ])")
_CONTINUED = re.compile(r"[,;/]|[:-][a-zà-öø-ÿőű]|[–-][0-9]")
"""What follows the word of a reference: a comma, a Finnish or Hungarian ending (`4 §:n`, `4. §-ában`), or a range."""
_NUMBER_AFTER = re.compile(r"[ \u00a0]*[0-9]+(?! mom\b|[0-9])")
"""A number after a number and its word, as in the amendment `1. § 2 ods. 1 znie`."""


@dataclass(slots=True, kw_only=True, eq=False)
class HeadingLine:
    """A line that looks like a heading. It has number `value` of its kind in its series (the series of L111-4 is
    `111`).

    `text` is its word and number. A strong line has a sign or nothing after its number, is bold, or is written like
    第1条.
    """

    index: int
    kind: str
    series: str
    value: int
    text: str
    strong: bool
    opaque: int


_FOLLOWS = re.compile("|".join(AFTER_NUMBER.values()), re.IGNORECASE)


def follows_number(word: str) -> bool:
    """Whether some language writes this word after its number."""
    return _FOLLOWS.fullmatch(word) is not None


def sign_follows(rest: str) -> bool:
    """Whether a sign parts a number from its title. `rest` is what follows the number, without blanks before it."""
    return rest[:1] in tuple(".:–—-") and not _CONTINUED.match(rest)


def heading_lines(lines: Lines) -> Iterator[HeadingLine]:
    """The lines that look like headings, in order. Comments and the front matter are skipped."""
    for index, line in enumerate(lines.lines):
        if not line or line[0] in NEVER or lines.opaque[index] in (FRONT, COMMENT):
            continue
        if line[0] in _DIGITS and not _MAY_HAVE_WORD.match(line):
            continue
        heading = read_line(line[:HEADING_LINE_BYTES].decode("utf-8", "ignore"), index, lines.opaque[index])
        if heading is not None:
            yield heading


def read_line(text: str, index: int, opaque: int) -> HeadingLine | None:
    """The heading that a line looks like, or None for text."""
    begin = text.lstrip(_BEFORE_WORDS)[:2]
    first = begin[:1]
    if first.isdigit() or first in _ROMAN_FIRST:
        text = with_plain_blanks(text)
        match = _NUMBER_FIRST.match(text)
        if match is not None or first.isdigit():
            return _worded(match, str(match.lastgroup), text.rstrip(), index, opaque) if match is not None else None
    worded = begin in _BEGINNINGS or first in _BEGINNINGS
    if not (worded or first in _CJK_FIRST or first in _CODE_FIRST or begin.isupper()):
        return None
    text = with_plain_blanks(text).rstrip()
    match = _CJK.match(text) if first in _CJK_FIRST else None
    if match is not None:
        counted = ("", numbers.cjk_value(match["number"]))
        return (
            _line(index, _CJK_KINDS[match["unit"]], counted, match.group(), True, opaque) if not match["sub"] else None
        )
    match = _CODE.match(text) if first in _CODE_FIRST and not begin[1:].isalpha() else None
    if match is not None:
        return _line(index, "code", _place(match["number"]) or ("", 0), match.group(), True, opaque)
    match = _LINE.match(text) if worded else None
    if match is None:
        if not text[:100].lstrip(_BEFORE_WORDS)[:2].isupper() or not _FIRST.match(text):
            return None
        match = _CAPITALS.match(text)
        if match is None or not text[: match.start("number")].isupper():
            return None
    return _worded(match, next(filter(match.group, KINDS)), text, index, opaque)


def begins_like_heading(text: str) -> str | None:
    """The word and number with which a text begins, if it may be a heading that nothing else can prove.

    Such a heading has a number before its word, or an inserted number after it. None for other texts.
    """
    begin = text.lstrip(_BEFORE_WORDS)[:2]
    numbered = begin[:1].isdigit() or begin[:1] in _ROMAN_FIRST
    if not numbered and begin not in _BEGINNINGS and begin[:1] not in _BEGINNINGS:
        return None
    text = with_plain_blanks(text.rstrip())
    match = _NUMBER_FIRST.match(text) if numbered else None
    if match is not None:
        reference = _CONTINUED.match(text, match.end()) or (match["article"] and _NUMBER_AFTER.match(text, match.end()))
        beginning = None if reference else match.group()
    else:
        match = _LINE.match(text)
        if match is None:
            return None
        rest = text[match.end() :]
        letter = _LETTER_AFTER.match(rest)
        inserted = letter is not None or _place(" ".join(match["number"].split())) is None
        rest = rest[letter.end() :] if letter else rest
        titled = not rest or rest[0] in _SIGNS or _WORD_AFTER.match(rest)
        beginning = match.group() + (letter.group() if letter else "") if inserted and titled else None
    return beginning.strip("# \t\u00a0\u3000*_[") if beginning else None


def _place(written: str) -> tuple[str, int] | None:
    """The series, and the place in it. None for 5a and for numbers that cannot be compared."""
    number = numbers.parse(written)
    if number.value is None or (len(number.value) > 1 and written[-1:].isalpha()):
        return None
    if len(number.value) == 1:
        return number.series, number.value[0]
    prefix = (number.series, *map(str, number.value[:-1]))
    return ".".join(filter(None, prefix)), number.value[-1]


def _worded(match: re.Match[str], kind: str, text: str, index: int, opaque: int) -> HeadingLine | None:
    place = _place(" ".join(match["number"].split()))
    if place is None:
        return None
    rest = text[match.end() :]
    lead = text[: min(match.start(kind), match.start("number"))].strip("\u00a0\u3000 \t")
    marked = bool(lead) or match["number"][-1] in "º°ª"
    if _CONTINUED.match(rest):
        return None
    strong = marked or not rest.strip() or rest.lstrip(" \t\u00a0")[:1] in _SIGNS or rest.startswith(" o.")
    if not strong and not _WORD_AFTER.match(rest):
        return None
    return _line(index, kind, place, match.group(), strong, opaque)


def _line(index: int, kind: str, place: tuple[str, int], text: str, strong: bool, opaque: int) -> HeadingLine:
    return HeadingLine(
        index=index,
        kind=kind,
        series=place[0],
        value=place[1],
        text=text.strip("# \t\u00a0\u3000*_["),
        strong=strong,
        opaque=opaque,
    )
