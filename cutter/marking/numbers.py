"""Pure: the numbers that laws count with, and the order between them.

A number is written in one of a closed set of styles; each style is a bounded expression, so that no profile can make
matching slower than linear.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

ORDINALS: dict[str, int] = {
    "préambule": 0, "preambule": 0, "préliminaire": 0, "preliminaire": 0, "preliminar": 0,
    "premier": 1, "première": 1, "unique": 1, "unico": 1, "único": 1, "única": 1, "unica": 1,
    "primero": 1, "primera": 1, "segundo": 2, "segunda": 2, "tercero": 3, "tercera": 3, "cuarto": 4, "cuarta": 4,
    "quinto": 5, "quinta": 5, "sexto": 6, "sexta": 6, "séptimo": 7, "séptima": 7, "octavo": 8, "octava": 8,
    "deuxième": 2, "troisième": 3, "quatrième": 4, "cinquième": 5, "sixième": 6, "septième": 7, "huitième": 8,
    "erster": 1, "erste": 1, "erstes": 1, "zweiter": 2, "zweite": 2, "zweites": 2, "dritter": 3, "dritte": 3,
    "drittes": 3, "vierter": 4, "vierte": 4, "viertes": 4, "fünfter": 5, "fünfte": 5, "fünftes": 5, "sechster": 6,
    "sechste": 6, "sechstes": 6, "siebter": 7, "siebte": 7, "siebtes": 7, "siebenter": 7, "achter": 8, "achte": 8,
    "achtes": 8, "neunter": 9, "neunte": 9, "neuntes": 9, "zehnter": 10, "zehnte": 10, "zehntes": 10, "elfter": 11,
    "elfte": 11, "elftes": 11, "zwölfter": 12, "zwölfte": 12, "zwölftes": 12,
    "first": 1, "second": 2, "third": 3, "fourth": 4, "fifth": 5, "sixth": 6, "seventh": 7, "eighth": 8, "ninth": 9,
    "tenth": 10, "thứ nhất": 1, "thứ hai": 2, "thứ ba": 3, "thứ tư": 4, "thứ năm": 5, "thứ sáu": 6, "thứ bảy": 7,
    "thứ tám": 8, "thứ chín": 9, "thứ mười": 10,
}  # fmt: skip
"""Numbers written as words, in lower case."""

_ALSO = {"bis": 1, "ter": 2, "quater": 3, "quinquies": 4, "sexies": 5, "septies": 6}
_BIS = r"(?:[ -]?(?:" + "|".join(_ALSO) + r"))?"

STYLES: dict[str, str] = {
    # L111-12-1, R. 5-2, L661-3 A
    "code": r"(?-i:[LRDA])\*?\.?[ ]?[0-9]{1,5}(?:-[0-9]{1,4}){0,6}(?: (?-i:[A-Z]))?",
    # 1.2.3, 39.12.NĐ.1
    "dotted": r"[0-9]{1,4}(?:\.(?:[0-9]{1,4}|(?-i:[A-ZĐ]{1,4})(?=\.[0-9]))){1,6}",
    # 5, 5a, 34-1, 5 bis, 1er, 0-B
    "arabic": r"[0-9]{1,5}(?:-[0-9]{1,4}){0,4}(?:-(?-i:[A-Z])|(?:er|ère|st|nd|rd|th|º|ª|°)|(?-i:[a-zđA-ZĐ]))?" + _BIS,
    # IV, IER, VIIIa, XI bis
    "roman": r"(?-i:[IVXLCDM]{1,8})(?:er|ère|º|ª|°|(?-i:[a-z]))?" + _BIS,
    "ordinal": "(?:" + "|".join(sorted(ORDINALS, key=len, reverse=True)) + ")",
    "letter": r"(?-i:[A-ZĐ])",
    "small_letter": r"(?-i:[a-zđ])",
    # M01, A-2
    "lettered": r"(?-i:[A-ZĐ]{1,3})[ -]?[0-9]{1,4}",
    # 十二, 一百零五, 一〇五
    "han": r"[〇零一二三四五六七八九十百千]{1,9}",
}

_ROMAN = {"I": 1, "V": 5, "X": 10, "L": 50, "C": 100, "D": 500, "M": 1000}
_ALPHABET = "aăâbcdđeêfghijklmnoôơpqrstuưvwxyz"
"""Latin and Vietnamese letters in one order that agrees with both alphabets."""

_ROMAN_NUMBER = re.compile(r"([IVXLCDM]+)(?:(?i:er|ère)|º|ª|°|[a-z])?(?i:" + _BIS + ")")
_LETTERS = frozenset("LCDM")
"""Alone they are letters: no law has a fiftieth book, many have a Part C."""
_HAN = {digit: value for value, digit in enumerate("〇一二三四五六七八九")} | {"零": 0}
_HAN_UNITS = {"十": 10, "百": 100, "千": 1000}
_PIECES = re.compile(r"[0-9]+|[^\W\d_]+")
_TAIL_MARKS = frozenset({"er", "ère", "st", "nd", "rd", "th"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Number:
    """A number as written, the series it counts in and its place there (None when it cannot be compared)."""

    text: str
    series: str
    value: tuple[int, ...] | None


def pattern(styles: tuple[str, ...]) -> str:
    """An expression for any of the styles, in the order that prefers the longest reading."""
    return "(?:" + "|".join(STYLES[style] for style in STYLES if style in styles) + ")"


def parse(text: str) -> Number:
    """Read a number; letters in front of the last digits name its series (`39.12.NĐ.` in 39.12.NĐ.7)."""
    word = ORDINALS.get(text.lower())
    if word is not None:
        return Number(text=text, series="", value=(word,))
    roman = _ROMAN_NUMBER.fullmatch(text)
    if roman and text not in _LETTERS:
        return _roman_number(text, roman.group(1))
    if text and text[0] in _HAN | _HAN_UNITS:
        return _han_number(text)
    if len(text) == 1 and text.lower() in _ALPHABET:
        return Number(text=text, series="", value=(_ALPHABET.index(text.lower()),))
    return _decimal(text)


def _han_number(text: str) -> Number:
    """A Chinese numeral as digits, so that addresses and the order need no other script (十二 is 12)."""
    total = digits = 0
    for sign in text:
        if sign in _HAN_UNITS:
            total += max(digits, 1) * _HAN_UNITS[sign]
            digits = 0
        elif sign in _HAN:
            digits = digits * 10 + _HAN[sign]
        else:
            return Number(text=text, series=text, value=None)
    return Number(text=str(total + digits), series="", value=(total + digits,))


def _roman_number(text: str, numeral: str) -> Number:
    value = roman_value(numeral)
    rest = text[len(numeral) :].strip(" -").lower()
    if value is None or (rest and rest not in _ALSO and rest not in _TAIL_MARKS and len(rest) > 1):
        return Number(text=text, series="", value=None)
    return Number(text=text, series="", value=(value, *_suffix(rest)))


def roman_value(numeral: str) -> int | None:
    """Value of a well-formed Roman numeral, else None (VIX)."""
    values = [_ROMAN[digit] for digit in numeral]
    total = sum(-v if v < following else v for v, following in zip(values, [*values[1:], 0], strict=True))
    return total if _to_roman(total) == numeral else None


def _to_roman(value: int) -> str:
    signs = ((1000, "M"), (900, "CM"), (500, "D"), (400, "CD"), (100, "C"), (90, "XC"), (50, "L"), (40, "XL"),
             (10, "X"), (9, "IX"), (5, "V"), (4, "IV"), (1, "I"))  # fmt: skip
    written = []
    for amount, sign in signs:
        count, value = divmod(value, amount)
        written.append(sign * count)
    return "".join(written)


def _decimal(text: str) -> Number:
    pieces = _PIECES.findall(text)
    if not any(piece.isdigit() for piece in pieces):
        return Number(text=text, series=text, value=None)
    last_digits = max(i for i, piece in enumerate(pieces) if piece.isdigit())
    before, tail = pieces[: last_digits + 1], pieces[last_digits + 1 :]
    letters = [i for i, piece in enumerate(before) if not piece.isdigit()]
    cut = letters[-1] + 1 if letters else 0
    series = ".".join(before[:cut])
    value = [int(piece) for piece in before[cut:]]
    for piece in tail:
        value.extend(_suffix(piece.lower()))
    return Number(text=text, series=series, value=tuple(value))


def _suffix(rest: str) -> tuple[int, ...]:
    if not rest or rest in _TAIL_MARKS:
        return ()
    if rest in _ALSO:
        return (_ALSO[rest],)
    return (_ALPHABET.find(rest[0]) + 1,)
