"""Pure: the numbers that laws use, and their order. Each style is a bounded expression, so that matching is linear."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

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

_ALSO = {"bis": 1, "ter": 2, "quater": 3, "quáter": 3, "quinquies": 4, "sexies": 5, "septies": 6, "octies": 7}
_AT_END = r"(?=[ \t\u00a0]*(?:$|[.:)\]–—]|(?<=[ \t\u00a0])-))"
_BIS = (
    r"(?:[ -]?(?:" + "|".join(_ALSO) + r")(?![ \u00a0][0-9])"
    r"(?:(?:-[0-9]{1,2})?[ \u00a0](?-i:[A-Z]{1,3})" + _AT_END + ")?)?"
)
"""The suffix must not be before a number, because there `bis` is the German word for "to" (§§ 5 bis 7). Capitals may
follow it: `1er bis AA`, `2 quinquies-0 A`.
"""

_CONTINUED = r"(?:[ ]?\((?:suite|fin)\))?"
"""A second part under the number of the first: `Annexe XXIV(suite)`."""

RAISED = "\u2070\u00b9\u00b2\u00b3\u2074\u2075\u2076\u2077\u2078\u2079"
"""Raised digits: § 5¹ was inserted after § 5."""

INSERTED = rf"(?:[ \u00a0](?-i:[a-zđ]|[A-Z](?=[ \u00a0]?§))|/(?-i:[A-Z])|\.[{RAISED}]{{1,3}}|\([0-9]{{1,2}}\))"
"""What follows the number of an inserted article before its word: 2 a §, 13 A §, 2/A. §, 2.¹ pants, 2(1) straipsnis."""

SPACED_LETTER = r"(?:[ \u00a0](?-i:[a-zđ]))"
"""The letter of an inserted number after a blank: § 2 a."""

_LETTER_AT_END = (
    r"(?:[ \u00a0](?-i:[a-np-zđA-NP-Z])" + _AT_END + r"|[ \u00a0](?-i:[b-df-np-xz])(?=[ \u00a0](?-i:[A-ZÆØÅÄÖ])))"
)
"""After a word, the letter ends the heading, or is before a sign or a title in capitals (`Kapittel 4 b Alderspensjon`;
`Articles 5 a 7` are three); `Art. 5 o` is an ordinal.
"""

_LOWERED = str.maketrans(RAISED, "0123456789")
_RAISED_RUN = re.compile(f"[{RAISED}]+")

STYLES: dict[str, str] = {
    # L111-12-1, R. 5-2, L661-3 A
    "code": r"(?-i:[LRDA])\*?\.?[ ]?[0-9]{1,5}(?:-[0-9]{1,4}){0,6}(?: (?-i:[A-Z]))?",
    # 1.2.3, 39.12.NĐ.1
    "dotted": r"[0-9]{1,4}(?:\.(?:[0-9]{1,4}|(?-i:[A-ZĐ]{1,4})(?=\.[0-9]))){1,6}",
    # 5, 5a, 5 a, 34-1, 1 - 1, 5¹, 5 bis, 1er, 0-B
    "arabic": r"[0-9]{1,5}(?:-[0-9]{1,4}){0,4}(?: - [0-9]{1,2}(?= ?(?:[.)]|$))|["
    + RAISED
    + r"]{1,3})?(?:-(?-i:[A-Z])|(?:er|ère|st|nd|rd|th|º|ª|°)|(?-i:[a-zđA-ZĐ])|"
    + _LETTER_AT_END
    + ")?"
    + _BIS
    + _CONTINUED,
    # IV, IER, VIIIa, XI bis
    "roman": r"(?-i:[IVXLCDM]{1,8})(?:er|ère|º|ª|°|(?-i:[a-z]))?" + _BIS + _CONTINUED,
    "ordinal": "(?:" + "|".join(sorted(ORDINALS, key=len, reverse=True)) + ")",
    "letter": r"(?-i:[A-ZĐ])",
    "small_letter": r"(?-i:[a-zđ])",
    # 十二, 百二十三
    "cjk": "[〇零一二三四五六七八九十百千]{1,9}",
    # M01, A-2
    "lettered": r"(?-i:[A-ZĐ]{1,3})[ -]?[0-9]{1,4}",
}

BEGINNING = (
    r"(?!(?-i:[A-Za-z][a-z]))|(?-i:[IVXLCDM])|(?:" + "|".join(sorted({re.escape(word[:2]) for word in ORDINALS})) + ")"
)
"""The first two characters of a text that can begin with a number and a blank. Small letters mean a numeral or a word.
"""

CJK_DIGITS = {"〇": 0, "零": 0, "一": 1, "二": 2, "三": 3, "四": 4, "五": 5, "六": 6, "七": 7, "八": 8, "九": 9,
              "十": 10, "百": 100, "千": 1000}  # fmt: skip
"""The signs of numbers as in 第十二条. The last three signs multiply the sign before them."""

_ROMAN = {"I": 1, "V": 5, "X": 10, "L": 50, "C": 100, "D": 500, "M": 1000}
ALPHABET = "aăâbcdđeêfghijklmnoôơpqrstuưvwxyz"
"""Latin and Vietnamese letters in one order that agrees with both alphabets."""

_ROMAN_NUMBER = re.compile(r"([IVXLCDM]+)(?:(?i:er|ère)|º|ª|°|[a-z])?(?i:" + _BIS + ")")
_LETTERS = frozenset("LCDM")
"""Alone, these are letters and not Roman numerals: no law has a fiftieth book, but many have a Part C."""
_PIECES = re.compile(r"[0-9]+|[^\W\d_]+")
_LAST_DIGITS = re.compile(r"[0-9]+$")
_CONTINUATIONS = ("(suite)", "(fin)")
_TAIL_MARKS = frozenset({"er", "ère", "st", "nd", "rd", "th", "º", "ª"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Number:
    """A number as written, its series, and its place in the series (None if it cannot be compared)."""

    text: str
    series: str
    value: tuple[int, ...] | None


def pattern(styles: tuple[str, ...]) -> str:
    """An expression for any of the styles, in the order that prefers the longest reading."""
    return "(?:" + "|".join(STYLES[style] for style in STYLES if style in styles) + ")"


def lowered(text: str) -> str:
    """A number with its raised digits as a separate part: 5-1 for 5¹."""
    return _RAISED_RUN.sub(lambda match: "-" + match.group().translate(_LOWERED), text)


def raised(digits: str) -> str:
    """Digits as raised ones: ¹² for 12."""
    return "".join(RAISED[int(digit)] for digit in digits)


@lru_cache(maxsize=4_096)
def parse(text: str) -> Number:
    """Read a number. The part that names its source is the series (`1.12.TT.2` in 1.12.TT.2.1)."""
    if text and all(sign in CJK_DIGITS or sign in "-0123456789" for sign in text) and not text.isascii():
        text = "-".join(str(cjk_value(part)) for part in text.split("-") if part)
    if text.endswith(_CONTINUATIONS):
        return Number(text=text, series=text, value=None)
    word = ORDINALS.get(text.lower())
    if word is not None:
        return Number(text=text, series="", value=(word,))
    roman = _ROMAN_NUMBER.fullmatch(text)
    if roman and text not in _LETTERS:
        numeral = roman_value(roman.group(1))
        rest = text[roman.end(1) :].strip(" -").lower()
        if numeral is None or (rest and rest not in _ALSO and rest not in _TAIL_MARKS and len(rest) > 1):
            return Number(text=text, series="", value=None)
        return Number(text=text, series="", value=(numeral, *_suffix(rest)))
    if len(text) == 1 and text.lower() in ALPHABET:
        return Number(text=text, series="", value=(ALPHABET.index(text.lower()),))
    pieces = _PIECES.findall(lowered(text))
    if not any(piece.isdigit() for piece in pieces):
        return Number(text=text, series=text, value=None)
    last_digits = max(i for i, piece in enumerate(pieces) if piece.isdigit())
    before, tail = pieces[: last_digits + 1], pieces[last_digits + 1 :]
    letters = [i for i, piece in enumerate(before) if not piece.isdigit()]
    cut = letters[-1] + 1 if letters else 0
    if cut > 1 and "." in text:
        cut = last_digits  # in a codified text, the part before the last number names the source
    value = [int(piece) for piece in before[cut:]]
    for piece in tail:
        value.extend(_suffix(piece.lower()))
    return Number(text=text, series=".".join(before[:cut]), value=tuple(value))


def only_looks_roman(text: str) -> bool:
    """True for a text of Roman digits that is no numeral, such as XXXX."""
    return set(text) <= _ROMAN.keys() and roman_value(text) is None


def roman_value(numeral: str) -> int | None:
    """Value of a well-formed Roman numeral, else None (VIX)."""
    values = [_ROMAN[digit] for digit in numeral]
    total = sum(-v if v < following else v for v, following in zip(values, [*values[1:], 0], strict=True))
    return total if _to_roman(total) == numeral else None


def cjk_value(text: str) -> int:
    """Value of a number in digits or in the signs of CJK_DIGITS (十二, 百二十三, 一〇五)."""
    if text.isascii():
        return int(text)
    total, digit = 0, 0
    for sign in text:
        value = CJK_DIGITS[sign]
        if value < 10:
            digit = digit * 10 + value
        else:
            total, digit = total + (digit or 1) * value, 0
    return total + digit


def _to_roman(value: int) -> str:
    signs = ((1000, "M"), (900, "CM"), (500, "D"), (400, "CD"), (100, "C"), (90, "XC"), (50, "L"), (40, "XL"),
             (10, "X"), (9, "IX"), (5, "V"), (4, "IV"), (1, "I"))  # fmt: skip
    written = []
    for amount, sign in signs:
        count, value = divmod(value, amount)
        written.append(sign * count)
    return "".join(written)


def named_gap(last: tuple[int, ...], value: tuple[int, ...], text: str) -> str:
    """The missing numbers between two, with a verb: `17 is`, `L123-5 to L123-8 are`. `text` is the second number. If
    they differ before their last place, or are words: `at least one number is`.
    """
    style = _style(text)
    if len(last) != len(value) or last[:-1] != value[:-1] or style is None:
        return "at least one number is"
    missing = range(last[-1] + 1, value[-1])
    few = len(missing) <= len(ALPHABET)
    # Only letters can be of another alphabet. The names of a wide gap are not made, because a law may have many gaps.
    names = [style(number) for number in (missing if few else (missing[0], missing[-1]))]
    names = [name for name in names if name.isascii()] or names
    if len(names) == 1:
        return f"{names[0]} is"
    return f"{names[0]} {'and' if few and len(names) == 2 else 'to'} {names[-1]} are"


def names(first: int, end: int, text: str) -> list[str]:
    """The numbers of [first, end) written like the given one, and in digits."""
    style = _style(text)
    written = [style(number) for number in range(first, end)] if style else []
    return list(dict.fromkeys([*written, *map(str, range(first, end))]))


def _style(text: str) -> Callable[[int], str] | None:
    """Writes a number like a given one, or None if the given one is written in words or with a suffix."""
    roman = _ROMAN_NUMBER.fullmatch(text)
    if roman and text not in _LETTERS:
        return _to_roman if roman.group(1) == text and roman_value(text) is not None else None
    if len(text) == 1 and text.lower() in ALPHABET:
        return lambda number: ALPHABET[number].upper() if text.isupper() else ALPHABET[number]
    digits = _LAST_DIGITS.search(text)
    return (lambda number: f"{text[: digits.start()]}{number}") if digits else None


def _suffix(rest: str) -> tuple[int, ...]:
    if not rest or rest in _TAIL_MARKS:
        return ()
    if rest in _ALSO:
        return (_ALSO[rest],)
    return tuple(ALPHABET.find(letter) + 1 for letter in (rest if len(rest) == 2 else rest[0]))
