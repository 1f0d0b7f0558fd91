"""Pure: reads lines that look like headings, by the words of the vocabulary and without a profile.

The findings read strictly (`heading_lines`), to notice headings that the profile left out. The suggestion reads widely
(`likely_heading`), to find the words and forms of a text. Every expression is anchored at the line's start and bounded.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace

from cutter.limits import HEADING_LINE_BYTES
from cutter.marking import numbers
from cutter.marking.lines import ATX, COMMENT, FRONT, Lines, beginning
from cutter.marking.profile import Form
from cutter.marking.titles import plain_title, with_plain_blanks, without_closing_hashes
from cutter.marking.vocabulary import NUMBER, SIGNS, SUGGESTED_WORD, found_words

_FOUND = found_words(after=False)
_FOUND_AFTER = found_words(after=True)


def _by_kind(words: dict[str, tuple[str, ...]]) -> str:
    return "|".join(f"(?P<{kind}>{'|'.join(map(re.escape, group))})" for kind, group in words.items())


_NUMBER = numbers.pattern(("code", "dotted", "arabic", "roman", "ordinal", "letter"))
_LEAD = r"[ \t\u00a0\u3000]{0,80}(?:#{1,6}[ \t\u00a0]*)?(?:\*\*|__|\*|_)?[ \t\u00a0]*\[?"
_LINE = re.compile(rf"{_LEAD}(?:{_by_kind(_FOUND)})[ \t\u00a0]{{0,8}}(?P<number>(?i:{_NUMBER}))(?![^\W_])")
_CAPITALS = re.compile(_LINE.pattern, re.IGNORECASE)
_NUMBER_FIRST = re.compile(
    rf"{_LEAD}(?P<number>[0-9]{{1,4}}(?:(?-i:[a-z])|[{numbers.RAISED}]{{1,3}}|<sup>[0-9]{{1,3}}</sup>|"
    rf"{numbers.INSERTED})?|(?-i:[IVXLC]{{1,8}})(?![. \u00a0]{{0,3}}§))\.?[ \t\u00a0]{{0,3}}"
    rf"(?:{_by_kind(_FOUND_AFTER)})(?![^\W_])",
    re.IGNORECASE,
)
_CJK_DIGITS = "".join(numbers.CJK_DIGITS)
_CJK = re.compile(
    rf"{_LEAD}[제第] ?(?P<number>[0-9]{{1,4}}|[{_CJK_DIGITS}]{{1,9}}) ?"
    rf"(?P<sign>[{''.join(sign for sign, (kind, _, _) in SIGNS.items() if kind)}])"
    rf"(?P<sub>(?:[의之の][0-9{_CJK_DIGITS}]{{1,4}})*)(?=[ \t\u00a0\u3000(（:：]|$|\*)"
)
_CODE = re.compile(_LEAD + r"(?P<number>[LRDA]\*?\.? ?[0-9]{1,4}(?:-[0-9]{1,4}){0,4})(?:\*\*)?[ \t]*$")
_MAY_HAVE_WORD = re.compile(rb"[0-9]{1,4}.{0,16}?(?:\xc2\xa7|[A-Za-z])")
"""A quick test of a line that begins with a digit."""

NEVER = frozenset(b"abcdefghijklmnopqrstuvwxyz(|-")
"""First bytes of many lines of text. A line that begins with one of them never looks like a heading here."""

_BEGINNINGS = frozenset(
    word[:2] if word[:2].isalpha() else word[0] for words in _FOUND.values() for word in words
)  # fmt: skip
"""The first two letters of each word. A sign such as § counts alone."""

_BEFORE_WORDS = " \t\u00a0\u3000#*_["
_ROMAN_FIRST, _CJK_FIRST, _CODE_FIRST = frozenset("IVXLC"), frozenset("제第"), frozenset("LRDA")
_SIGNS = ".:–—-)]*_º°ª"
_WORD_AFTER = re.compile(r"[ \t\u00a0]+[(\[]?[A-ZÀ-ÞĐА-ЯΑ-Ω]")
_LETTER_AFTER = re.compile(r"(?:[ \u00a0][a-z]|<sup>[0-9]{1,3}</sup>)(?=[.:)]|$|[ \t\u00a0]+[(\[A-ZÀ-Þ])")
_CONTINUED = re.compile(r"[,;/]|[:-][a-zà-öø-ÿőű]|[–-][0-9]")
"""What follows the word of a reference: a comma, a Finnish or Hungarian ending (`4 §:n`, `4. §-ában`), or a range."""
_NUMBER_AFTER = re.compile(r"[ \u00a0]*[0-9]+(?! mom\b|[0-9])")
"""A number after a number and its word, as in the amendment `1. § 2 ods. 1 znie`."""
_AFTER_SIGN = re.compile(r"[0-9]{1,2} mom\b\.? +(?-i:[A-ZÅÄÖ])|har upph|on kumottu|kumottu", re.IGNORECASE)
"""What may follow `§` in addition: a Swedish clause number, or the verb of a repeal. Other numbers are references."""
_OPENING = tuple("([\"'„“”«»‘’")
_WRITTEN_AFTER = frozenset(word.casefold() for words in _FOUND_AFTER.values() for word in words)


def follows_number(word: str) -> bool:
    """Whether some language writes this word after its number."""
    return word.casefold() in _WRITTEN_AFTER


def sign_follows(rest: str) -> bool:
    """Whether a sign parts a number from its title. `rest` is what follows the number, without blanks before it."""
    return rest[:1] in tuple(".:–—-") and not _CONTINUED.match(rest)


def title_may_follow(matched: str, rest: str) -> bool:
    """Whether a title or text can follow a number and its word without a sign: `1 § Denna lag`, `1. § (1) A törvény`,
    `4 § har upphävts`. A reference continues in small letters: `1 § andra stycket`.
    """
    return rest[:1].isupper() or rest[:1] in _OPENING or ("§" in matched and bool(_AFTER_SIGN.match(rest)))


@dataclass(slots=True, kw_only=True, eq=False)
class HeadingLine:
    """A line that looks like a heading, with number `value` of its kind in its series (`111` for L111-4). A strong line
    has a sign or nothing after its number, is bold, or is like 第1条.
    """

    index: int
    kind: str
    series: str
    value: int
    text: str
    strong: bool
    opaque: int


def heading_lines(lines: Lines) -> Iterator[HeadingLine]:
    """The lines that look like headings, in order. Comments and the front matter are skipped."""
    for index, line in enumerate(lines.lines):
        if not line or line[0] in NEVER or lines.opaque[index] in (FRONT, COMMENT):
            continue
        if line[:1].isdigit() and not _MAY_HAVE_WORD.match(line):
            continue
        heading = read_line(line, index, lines.opaque[index])
        if heading is not None:
            yield heading


def read_line(line: bytes, index: int = 0, opaque: int = 0) -> HeadingLine | None:
    """The heading that a line looks like, or None for text."""
    match = _match(line)
    if match is None:
        return None
    strong = True
    if match.re is _CJK:
        kind = SIGNS[match["sign"]][0]
        place = None if match["sub"] else ("", numbers.cjk_value(match["number"]))
    elif match.re is _CODE:
        kind, place = "code", _place(match["number"]) or ("", 0)
    else:
        kind = next(name for name, word in match.groupdict().items() if word and name != "number")
        place = _place(match["number"])
        rest = match.string[match.end() :]
        lead = match.string[: min(match.start(kind), match.start("number"))].strip("\u00a0\u3000 \t")
        strong = bool(lead) or match["number"][-1] in "º°ª" or not rest.strip()
        strong = strong or rest.lstrip(" \t\u00a0")[:1] in _SIGNS or rest.startswith(" o.")
        if _CONTINUED.match(rest) or not (strong or _WORD_AFTER.match(rest)):
            return None
    if place is None:
        return None
    return HeadingLine(index=index, kind=kind, series=place[0], value=place[1], text=_shown(match.group()),
                       strong=strong, opaque=opaque)  # fmt: skip


def begins_like_heading(line: bytes) -> str | None:
    """The word and number of a line that may be a heading that nothing else can prove: its number is before its word,
    or is an inserted number after it. None for other lines.
    """
    match = _match(line)
    if match is None:
        return None
    rest = match.string[match.end() :]
    if match.re is _NUMBER_FIRST:
        reference = _CONTINUED.match(rest) or (match["article"] and _NUMBER_AFTER.match(rest))
        return None if reference else _shown(match.group())
    if match.re is not _LINE:
        return None
    letter = _LETTER_AFTER.match(rest)
    rest = rest[letter.end() :] if letter else rest
    titled = not rest or rest[0] in _SIGNS or _WORD_AFTER.match(rest)
    inserted = letter is not None or _place(match["number"]) is None
    return _shown(match.group() + (letter.group() if letter else "")) if inserted and titled else None


def _match(line: bytes) -> re.Match[str] | None:
    """A word and number at the beginning of a line. The quick tests at first keep the expressions from most lines."""
    text = line[:HEADING_LINE_BYTES].decode("utf-8", "ignore")
    begin = text.lstrip(_BEFORE_WORDS)[:2]
    first = begin[:1]
    numbered = first.isdigit() or first in _ROMAN_FIRST
    worded = begin in _BEGINNINGS or first in _BEGINNINGS
    cjk, code = first in _CJK_FIRST, first in _CODE_FIRST and not begin[1:].isalpha()
    if not (numbered or worded or cjk or code or begin.isupper()):
        return None
    text = with_plain_blanks(text).rstrip()
    for maybe, expression in ((numbered, _NUMBER_FIRST), (cjk, _CJK), (code, _CODE), (worded, _LINE)):
        match = expression.match(text) if maybe else None
        if match is not None or (first.isdigit() and maybe):
            return match
    capitals = _CAPITALS.match(text) if text.lstrip(_BEFORE_WORDS)[:2].isupper() else None
    return capitals if capitals is not None and text[: capitals.start("number")].isupper() else None


def _shown(text: str) -> str:
    return text.strip("# \t\u00a0\u3000*_[")


def _place(written: str) -> tuple[str, int] | None:
    """The series, and the place in it. None for 5a and for numbers that cannot be compared."""
    written = " ".join(written.split())
    number = numbers.parse(written)
    if number.value is None or (len(number.value) > 1 and written[-1:].isalpha()):
        return None
    if len(number.value) == 1:
        return number.series, number.value[0]
    prefix = (number.series, *map(str, number.value[:-1]))
    return ".".join(filter(None, prefix)), number.value[-1]


@dataclass(frozen=True, slots=True, kw_only=True)
class LikelyHeading:
    """A line that may be a heading. `word` and `number` are as written, or empty; `depth` is its number of `#`."""

    index: int
    form: Form
    depth: int
    title: str
    word: str = ""
    number: str = ""
    number_first: bool = False
    bare: bool = False
    parted: bool = False
    hidden: bool = False
    """`parted`: nothing or a sign follows the number. `hidden`: no heading can be here (a fence, a comment)."""

    @property
    def key(self) -> str:
        return " ".join(self.word.casefold().split())


PLAIN_CHARACTERS = 600
"""How far a line without `#` is read for its word and number."""

_OUTSTANDING_CHARACTERS_MAX = 120
"""A line in bold or in capitals that is longer than this is a sentence."""

RUNNING_NUMBER = re.compile(r"\([0-9]{1,6}\)[ \t\u00a0]*(?=§)")
"""A running number before the section's own: `(4376) § 3.`"""

LISTED = re.compile(r"[0-9]{1,4}[.)][ \t]+")
"""The number of an item of a list."""

_BOLD = re.compile(r" {0,3}(?:\*\*|__)(?=\S)")
_WORD = re.compile(r"[^\W\d_]{2,24}\.?")
_AFTER = re.compile(
    rf"[ \t\u00a0]*(?P<number>{_NUMBER}|{numbers.STYLES['lettered']})(?!\w)", re.IGNORECASE
)  # fmt: skip
_FIRST = re.compile(
    rf"\[?(?P<number>{numbers.pattern(('arabic', 'roman', 'ordinal'))}{numbers.INSERTED}?)\.?"
    r"(?:[ \t\u00a0]+|(?<=\.)|(?=§))",
    re.IGNORECASE,
)
_MARKED = re.compile(
    rf"第(?P<number>{numbers.pattern(('cjk', 'arabic'))})"
    rf"(?P<sign>[{''.join(sign for sign, (_, role, _) in SIGNS.items() if role)}])"
    r"(?=[ \t\u00a0\u3000]|$|(?P<titled>（))"
)
"""A title in brackets may follow (`第一条（目的）`). In a plain line that is more often a reference."""


def likely_heading(index: int, lines: Lines) -> LikelyHeading | None:
    """A line with `#`, with a word and a number in either order, or that is short and in bold or capitals."""
    data = lines.lines[index]
    if not data or lines.is_blank(index) or index < lines.front_matter:
        return None
    atx = ATX.match(data)
    text = beginning(data[atx.end() if atx else 0 :], PLAIN_CHARACTERS)
    raw = without_closing_hashes(text) if atx else text.strip()
    form: Form = "atx" if atx else "bold" if _BOLD.match(text) else "plain"
    running = RUNNING_NUMBER.match(raw)
    raw = raw[running.end() :] if running else raw
    sign = raw[:1]
    capital = sign.isupper() or (sign.isalpha() and not sign.islower())
    if form == "plain" and not (capital or sign.isdigit() or sign in "§["):
        return None
    title = plain_title(raw)
    designation = _designation(title, form)
    if designation is None and not atx:
        # only a short line that is entirely bold or in capitals
        bold = form == "bold" and raw.rstrip(" .:").endswith(("**", "__"))
        capitals = form != "bold" and title.isupper() and sum(map(str.isalpha, title)) >= 4
        if len(title) > _OUTSTANDING_CHARACTERS_MAX or not (bold or capitals):
            return None
    line = LikelyHeading(index=index, form=form, depth=len(atx.group(1)) if atx else 0, title=title,
                         hidden=bool(lines.opaque[index]))  # fmt: skip
    if designation is None:
        return line if title else None
    word, number, end, first = designation
    rest = title[end:].strip(" \t\u00a0")
    parted = NUMBER in word or not rest or sign_follows(rest)
    parted = parted or (first and follows_number(word) and title_may_follow(title[:end], rest))
    return replace(line, word=word, number=" ".join(number.split()), number_first=first, parted=parted,
                   bare=not rest.strip(".:–—-]*_ "))  # fmt: skip


def _designation(title: str, form: Form) -> tuple[str, str, int, bool] | None:
    """(Word, number, end, whether the number is first) of a title. A known word of an ATX line may lack a number."""
    marked = _MARKED.match(title)
    if marked is not None and not (form == "plain" and marked["titled"]):
        return f"第{NUMBER}{marked['sign']}", marked["number"], marked.end(), False
    begin = 1 if title.startswith("[") else 0
    listed = LISTED.match(title, begin)
    at = listed.end() if listed else begin
    word = _word(title, at)
    after = _AFTER.match(title, at + len(word)) if word else None
    if after is not None and (after["number"][0].isdigit() or after.start("number") > at + len(word)
                              or not word[-1].isalpha()):  # fmt: skip
        # `9. Section 2 is amended` is an item of a list, and `PARTIV` is a word
        return None if listed and form != "atx" else (word, after["number"], after.end(), False)
    known = _word(title, begin, known=True) if form == "atx" else ""
    if known:
        return known, "", begin + len(known), False
    first = _FIRST.match(title)
    word = _word(title, first.end(), known=form != "atx") if first else ""
    return (word, first["number"], first.end() + len(word), True) if first and word else None


def _word(title: str, begin: int, *, known: bool = False) -> str:
    """The word at a place in a title, or an empty text. With `known`, only a word of the vocabulary."""
    match = SUGGESTED_WORD.match(title, begin)
    if match is not None and title[match.end() - 1].isalpha() and title[match.end() : match.end() + 1].isalpha():
        match = None
    match = match or (None if known else _WORD.match(title, begin))
    return match.group() if match else ""
