"""Pure: the words with which laws name and number their parts, in the languages of the measured collections.

The table is the measure's own: it shares nothing with the words of the marking, so that each can find a fault of the
other. Texts are compared without accents and in one case.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal
from unicodedata import combining, normalize

Role = Literal["annex", "group", "section", "article", "bare"]
"""`group` holds articles. `section` does so in most languages, but is the smallest part of an English act. `bare` is a
number without a word."""

KINDS: dict[Role, frozenset[str]] = {
    "annex": frozenset({"appendix"}),
    "group": frozenset({"section"}),
    "section": frozenset({"section", "article"}),
    "article": frozenset({"article"}),
}
"""The kinds of unit (`section_type`) that do not contradict a heading's word."""

_FIRST: dict[Role, str] = {
    "annex": "annex annexe appendix schedule sceideal anlage anhang anexo anexa allegato bijlage priloha lampiran "
             "vedlegg lisa liite bilaga bilag zalacznik phu-luc παραρτημα додаток приложение",
    "group": "chapter chapitre kapitel kapittel capitulo capitolul capitol capo hoofdstuk chuong kapitola hlava "
             "peatukk luku bab κεφαλαιο глава розділ part partie teil hauptstuck parte partea phan deel del osa cast "
             "μερος частина часть book livre buch libro boek kniha cartea llibre βιβλιο книга title titre titel titulo "
             "titlul titol τιτλος afdeling abschnitt unterabschnitt avdeling seccion seccio sectiunea oddil oddiel "
             "jagu jaotis bagian τμημα muc division",
    "section": "section sec",
    "article": "article artikel articulo articol articolul art artigo articolo artykul pasal dieu clanek clanok cl "
               "straipsnis pants αρθρο стаття статья член § §§",
}  # fmt: skip
"""Words before their number."""

_AFTER: dict[Role, str] = {
    "group": "kap kapitel kapittel luku osa peatukk jagu jaotis abschnitt unterabschnitt teil titel hauptstuck buch "
             "avdeling avd cast hlava diel oddiel bolum fejezet skyrius nodala kafli hoofdstuk afdeling",
    "article": "§ gr straipsnis pants",
}  # fmt: skip
"""Words after their number."""

_SIGNS: dict[str, Role] = {"编": "group", "篇": "group", "章": "group", "节": "group", "条": "article"}
_CHINESE = {sign: value for value, sign in enumerate("零一二三四五六七八九")} | {"〇": 0}
_ROMAN = {"i": 1, "v": 5, "x": 10, "l": 50, "c": 100}

_ORDINALS = (
    "unico unica first premier premiere primero primera primer erster erste erstes eerste prvni prva prvy pirma kesatu "
    "πρωτο перша preliminar",
    "second deuxieme segundo segunda zweiter zweite zweites tweede druha druhy kedua δευτερο друга",
    "third troisieme tercero tercera tercer dritter dritte drittes derde treti tretia ketiga τριτο третя",
    "fourth quatrieme cuarto cuarta vierter vierte viertes vierde ctvrta stvrta keempat τεταρτο",
    "fifth cinquieme quinto quinta funfter funfte funftes vijfde pata piata kelima πεμπτο",
    "sixth sixieme sexto sexta sechster sechste sechstes zesde sesta siesta keenam εκτο",
    "seventh septieme septimo septima siebter siebte siebenter siebtes sedma ketujuh",
    "eighth huitieme octavo octava achter achte achtes osma kedelapan",
    "ninth neuvieme noveno novena neunter neunte neuntes devata deviata kesembilan",
    "tenth dixieme decimo decima zehnter zehnte zehntes desata desiata kesepuluh",
)
_ORDINAL_VALUES = {word: value for value, words in enumerate(_ORDINALS, 1) for word in words.split()}


def _alternatives(words: str) -> str:
    each = sorted(words.split(), key=len, reverse=True)
    return "|".join(re.escape(word).replace(r"\-", "[ -]") for word in each)


_ROLE_OF = {word.replace("-", " "): role for words in (_FIRST, _AFTER) for role, row in words.items()
            for word in row.split()}  # fmt: skip
_NUMBER = (
    r"(?:(?P<arabic>[0-9]{1,5})(?:er|re|ro|do|to|os?|(?P<suffix>[^\W\d_]{1,2}))?[º°ª]?"
    r"|(?P<roman>c{0,3}(?:xc|xl|l?x{0,3})(?:ix|iv|v?i{0,3})(?<=[ivxlc]))"
    rf"|(?P<ordinal>{_alternatives(' '.join(_ORDINALS))})"
    r"|(?P<letter>[a-zα-ω]))(?![^\W_])"
)
_LATIN = "bis|ter|quater|quinquies|sexies|septies|octies|novies|decies"
_NUMBER_FIRST = r"(?P<arabic>[0-9]{1,4})(?:[ ]?(?P<suffix>[a-z])(?=[ ]))?|(?P<roman>[ivxlc]{1,7})"
_WORD_FIRST = re.compile(
    rf"(?P<word>{_alternatives(' '.join(_FIRST.values()))})(?:[.]|(?<=§)|(?![^\W_]))[ ]*(?:n[º°.]+[ ]*)?[:–—-]?[ ]*"
    rf"{_NUMBER}[ ]?(?P<latin>{_LATIN}|[-–][ ]?[0-9]{{1,3}})?(?![^\W_])"
)
_WORD_AFTER = re.compile(
    rf"(?:(?:{_NUMBER_FIRST})[.]?|(?P<ordinal>{_alternatives(' '.join(_ORDINALS))}))[ ]*"
    rf"(?P<word>{_alternatives(' '.join(_AFTER.values()))})(?![^\W_])[.]?"
)
_SIGN = re.compile(r"第(?P<number>[一二三四五六七八九十百千零〇0-9]{1,9})(?P<word>[编篇章节条])")
_BARE = re.compile(r"(?P<arabic>[0-9]{1,4})(?P<suffix>(?:[.][0-9]{1,3})*)(?=[.)(\s—-]|$)")
_TWO_NUMBERS = re.compile(r"\([0-9]{1,6}\)[ ]*(?=§)")
"""A running number before the section's own, as in `(4376) § 3.`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Head:
    """The numbered beginning of a heading: its word without accents, its role, its number and the text after it.

    `inserted` is True for a number with a letter or a Latin word (`71a`, `2 bis`). `value` is None for a letter alone.
    """

    word: str
    role: Role
    value: int | None
    after: str
    inserted: bool = False

    @property
    def kind(self) -> str:
        """One name for the spellings of an article's word, so that `Art. 2` follows `Article 1`."""
        return "article" if self.role == "article" and self.word[0] in "aαс" else self.word


def plain(text: str) -> str:
    """A text without accents and markup at its beginning, in one case and with single spaces."""
    kept = "".join(sign for sign in normalize("NFKD", text.replace("đ", "d").replace("Đ", "D")) if not combining(sign))
    return " ".join(kept.casefold().split()).lstrip("*_#>\"'«“„‘` ")


def head(title: str) -> Head | None:
    """The word and number at the beginning of a heading; None where no known word is beside a number."""
    text = plain(title)
    text = text[match.end() :] if (match := _TWO_NUMBERS.match(text)) else text
    if match := _SIGN.match(text):
        sign = match["word"]
        return Head(word=sign, role=_SIGNS[sign], value=_chinese(match["number"]), after=text[match.end() :])
    for expression in (_WORD_FIRST, _WORD_AFTER):
        if match := expression.match(text):
            word = match["word"].replace("-", " ")
            numbers = match.groupdict()
            inserted = bool(numbers.get("suffix") or numbers.get("latin"))
            return Head(word=word, role=_ROLE_OF[word], value=_value(numbers), after=text[match.end() :],
                        inserted=inserted)  # fmt: skip
    if match := _BARE.match(text):
        return Head(word="", role="bare", value=int(match["arabic"]), after=text[match.end() :],
                    inserted=bool(match["suffix"]))  # fmt: skip
    return None


def contradicts(title: str, kind: str, *, holds_articles: bool = False) -> bool:
    """True when the heading's own word says that the unit is of another kind. A `§` that holds articles is a group."""
    known = head(title)
    if known is None or known.role not in KINDS:
        return False
    return kind not in KINDS["section" if holds_articles and known.word.startswith("§") else known.role]


def names_an_annex(title: str) -> bool:
    """True when the word of an annex is anywhere in a heading, such as after its translation."""
    return bool(set(re.split(r"[^\w]+", plain(title))) & set(_FIRST["annex"].split()))


def _value(numbers: dict[str, str | None]) -> int | None:
    if arabic := numbers.get("arabic"):
        return int(arabic)
    if numeral := numbers.get("roman"):
        return None if numeral in ("c", "l") else roman(numeral)
    return _ORDINAL_VALUES[ordinal] if (ordinal := numbers.get("ordinal")) else None


def roman(written: str) -> int:
    """The value of a Roman numeral in small letters."""
    values = [_ROMAN[sign] for sign in written]
    return sum(-value if value < after else value for value, after in zip(values, [*values[1:], 0], strict=True))


def _chinese(written: str) -> int:
    if written.isdecimal():
        return int(written)
    total, digit = 0, 0
    for sign in written:
        unit = {"十": 10, "百": 100, "千": 1000}.get(sign)
        total, digit = (total + max(digit, 1) * unit, 0) if unit else (total, _CHINESE[sign])
    return total + digit
