"""Pure: tells which lines look like headings, by the words of the profile and by `#`.

Each expression is anchored at the line's start and reads a bounded piece of it, so that reading is linear.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from functools import lru_cache

from cutter.limits import HEADING_CHARACTERS_READ
from cutter.marking import numbers
from cutter.marking.heading_lines import (
    LISTED,
    PLAIN_CHARACTERS,
    RUNNING_NUMBER,
    follows_number,
    sign_follows,
    title_may_follow,
)
from cutter.marking.lines import ATX, Lines, beginning
from cutter.marking.numbers import Number
from cutter.marking.profile import Form, Level, Profile
from cutter.marking.result import Finding, finding
from cutter.marking.titles import plain_title, visible, with_plain_blanks, without_closing_hashes
from cutter.marking.vocabulary import designation

_BOLD = re.compile(r"[ \u00a0]{0,3}(?:\*\*|__)[ \u00a0]*(?=\S)")
_BULLET = re.compile(r" {0,3}[-*+][ \t]+(?=\S)")
_ALSO_SIGNS = re.compile("[의の之]")
_OTHER_NUMBER = re.compile(
    r"\[?(?:"
    r"(?P<dotted>[0-9]{1,3}(?:\.[0-9]{1,3}){1,5})\.?(?=[ \t:–—-]|$)"
    r"|(?P<signed>[IVXLC]{1,7}(?: ?[a-z])?|[0-9]{1,4}[a-zA-Z]?|[A-Za-z])[.)](?=[ \t:–—-]|$)"
    r"|\((?P<bracketed>[IVXLC]{1,7}|[ivxlc]{1,7}|[0-9]{1,4}[a-z]?|[A-Za-z]{1,2})\)(?=[ \t:–—-]|$)"
    r"|(?P<bare>[0-9]{1,3}(?:[a-zA-Z]| [a-zA-Z](?= ?§))?)(?=[ \t]+\S)"
    r")"
)
_INSERTED_RAW = rf"(?:{numbers.INSERTED}|<sup>[0-9]{{1,3}}</sup>)"
"""What follows the number of an inserted article in a line whose markup is still there."""

PLAIN_DEPTH = 7
"""The depth of a heading that is not an ATX heading. It is below all ATX headings."""


@dataclass(slots=True, kw_only=True)
class Heading:
    """A line that is a heading, or may be one. For plain and bold lines the numbering decides later."""

    index: int
    form: Form
    depth: int
    raw: str
    title: str
    level: Level | None = None
    number: Number | None = None
    bare: bool = False
    status: str = ""
    word: str = ""
    """The level's word as this heading writes it, in lower case."""
    kind: str = ""
    """What its word says it is, if no level knows the heading and the profile leaves kinds to words."""
    last: int = 0
    """Index of the last line that the heading takes (its title may be on a later one)."""
    title_below: int | None = None
    """Index of the line of text from which a heading without a title takes one."""

    @property
    def name(self) -> str:
        """The name of its level, or an empty text."""
        return self.level.name if self.level is not None else ""

    @property
    def value(self) -> tuple[int, ...] | None:
        """Its number, if it can be compared."""
        return self.number.value if self.number is not None else None


@dataclass(frozen=True, slots=True)
class _Reader:
    """The compiled words of one level."""

    level: Level
    worded: re.Pattern[str] | None
    marked: re.Pattern[str] | None
    begins: re.Pattern[str]
    """A quick test of the first two characters of a text, before the two expressions above."""


@lru_cache(maxsize=64)
def _readers(profile: Profile) -> tuple[_Reader, ...]:
    readers = []
    for level in profile.levels:
        parts = [r"\[", *(re.escape(word[:2].rstrip()) for word in level.words + level.phrases)]
        if level.number_first:
            parts.append(numbers.BEGINNING)
        begins = re.compile("" if level.marker is not None else "|".join(parts), re.IGNORECASE)
        readers.append(_Reader(level, _worded(level), _marked(level), begins))
    return tuple(readers)


def _worded(level: Level) -> re.Pattern[str] | None:
    options = []
    if level.words:
        words, number = _alternatives(level.words), numbers.pattern(level.numbers) if level.numbers else ""
        if number:
            signs = [word for word in level.words if not any(map(str.isalpha, word))]
            if signs:
                # § 2 a Zweck: after a sign, a letter and a title cannot be a range or an ordinal number
                options.append(
                    rf"(?:{_alternatives(tuple(signs))})(?P<spaced>{number}{numbers.SPACED_LETTER})"
                    r"(?=[ \t\u00a0]*(?:$|[.:)\]–—])|[ \t\u00a0]+(?-i:[A-ZÀ-Þ(]))"
                )
            options.append(rf"(?:{words})(?:[ \t\u00a0]+|(?=[0-9])|(?<=-))(?P<number>{number})(?!\w)")
            if level.number_first:
                # `2 a` is a number only before a word that some language writes after it: `2 a luku`, not
                # `2 a Part of it`
                after = tuple(word for word in level.words if follows_number(word))
                inserted = rf"{numbers.INSERTED}(?=\.?[ \t\u00a0]*(?:{_alternatives(after)}))" if after else "(?!)"
                first = rf"(?P<first>{number}(?:{inserted})?)"
                options.append(rf"{first}\.?(?:[ \t\u00a0]+|(?<=\.)|(?=§))(?:{words})(?!\w)")
        if level.number_optional:
            options.append(rf"(?:{words})(?!\w)")
    if level.phrases:
        options.append(rf"(?:{_alternatives(level.phrases)})(?!\w)")
    return re.compile(r"\[?(?:" + "|".join(options) + ")", re.IGNORECASE) if options else None


def _alternatives(words: tuple[str, ...]) -> str:
    """Longest first, a blank in a word matching any blanks; a sign such as § needs no blank after it."""
    return "|".join(re.escape(word).replace(r"\ ", r"[ \t\u00a0]+") + ("" if word[-1].isalnum() else r"[ \t\u00a0]*")
                    for word in sorted(words, key=len, reverse=True))  # fmt: skip


def _marked(level: Level) -> re.Pattern[str] | None:
    if level.marker is None:
        return None
    before, after = (re.escape(part) for part in level.marker)
    number = numbers.pattern(level.numbers)
    if not level.marker[1].isascii():
        # 第三条の二, 제5조의2: the number continues after the sign; a particle there makes it a reference
        return re.compile(
            rf"{before}(?P<number>{number}){after}(?P<also>(?:[의の之]{number})*)(?=[ \t\u00a0\u3000(（:：]|$)"
        )
    end = r"[ \t\r]*$" if level.alone else r"(?=[ \t\u00a0\u3000]|$)"
    return re.compile(rf"{before}(?P<number>{number}){after}{end}")


@dataclass(frozen=True, slots=True)
class _Reading:
    """The compiled expressions with which the lines of one text are read."""

    readers: tuple[_Reader, ...]
    starts: re.Pattern[str] | None
    markers: tuple[tuple[str, str], ...]
    words_give_kinds: bool
    likely: dict[tuple[str, Form], tuple[_Reader, ...]] = field(default_factory=dict)

    def readers_of(self, text: str, form: Form) -> tuple[_Reader, ...]:
        """The readers of a form that can match a text that begins like this one, in their order."""
        key = begin, _ = text[:2], form
        if key not in self.likely:
            self.likely[key] = tuple(
                reader for reader in self.readers if form in reader.level.forms and reader.begins.match(begin)
            )
        return self.likely[key]


def find_headings(lines: Lines, profile: Profile) -> tuple[list[Heading], list[Finding]]:
    """All lines that are or may be headings, in order, and findings about bare `##` lines."""
    markers = profile.status.markers if profile.status else ()
    reading = _Reading(_readers(profile), _line_starts(profile), markers, profile.words_give_kinds)
    headings: list[Heading] = []
    findings: list[Finding] = []
    for index, line in enumerate(lines.lines):
        if not line or lines.opaque[index]:
            continue
        atx = ATX.match(line) if b"#" in line[:4] else None
        if atx is None:
            heading = _line_heading(index, line, reading) if reading.starts is not None else None
        else:
            heading = _atx_heading(index, line[atx.end() :], len(atx.group(1)), reading)
            if heading is None:
                text = "a heading without text is read as text"
                findings.append(finding(code="bare_heading", line=lines.number(index), text=text))
        if heading is not None:
            headings.append(heading)
    return headings, findings


def readable_and_unread(lines: Lines, profile: Profile) -> tuple[bool, list[int]]:
    """Whether the profile reads any line as a heading, and the lines that only lack a form which the profile reads."""
    if find_headings(lines, profile)[0]:
        return True, []
    wider, _ = find_headings(lines, in_every_form(profile))
    return False, [heading.index for heading in wider]


def in_every_form(profile: Profile) -> Profile:
    """A profile that reads its words in lines of every form."""
    return replace(profile, levels=tuple(replace(level, forms=("atx", "bold", "plain")) for level in profile.levels))


def _atx_heading(index: int, content: bytes, depth: int, reading: _Reading) -> Heading | None:
    raw = without_closing_hashes(beginning(content, HEADING_CHARACTERS_READ))
    heading = _heading(index, "atx", depth, raw, reading)
    if not heading.title:
        return None
    if _read_level(heading, heading.title, reading, "atx"):
        return heading
    unlisted = LISTED.sub("", heading.title, count=1)
    if unlisted != heading.title and _read_level(heading, unlisted, reading, "atx"):
        return heading
    known = designation(heading.title) if reading.words_give_kinds else None
    if known is not None:
        heading.kind, heading.word = known.kind, known.word
        heading.number = numbers.parse(known.number) if known.number else None
        heading.bare = bool(known.number) and not heading.title[known.end :].strip(" .:–—-")
        return heading
    match = _OTHER_NUMBER.match(heading.title)
    if match is not None:
        heading.number = numbers.parse(next(value for value in match.groupdict().values() if value))
        heading.bare = not heading.title[match.end() :].strip()
    return heading


def _line_heading(index: int, line: bytes, reading: _Reading) -> Heading | None:
    text = with_plain_blanks(beginning(line, PLAIN_CHARACTERS)).rstrip()
    bold, bullet = _BOLD.match(text), _BULLET.match(text)
    lead = bold or bullet or RUNNING_NUMBER.match(text)
    begin = lead.end() if lead else len(text) - len(text.lstrip(" "))
    if reading.starts is None or not reading.starts.match(text, begin):
        return None
    form: Form = "bold" if bold else "plain"
    raw = text[begin:] if bullet else beginning(line, HEADING_CHARACTERS_READ).strip()
    heading = _heading(index, form, PLAIN_DEPTH, raw, reading)
    # A list item may be a point of a clause (`- a) …`) but never an article: lists of references begin like that.
    read = RUNNING_NUMBER.sub("", heading.title, count=1)
    return heading if _read_level(heading, read, reading, form, only_marked=bullet is not None) else None


def _heading(index: int, form: Form, depth: int, raw: str, reading: _Reading) -> Heading:
    text, status = raw, ""
    for name, sign in reading.markers:
        if sign in text:
            status, text = name, text.replace(sign, " ").replace("\ufe0f", "")
    title = plain_title(text) or visible(text)
    return Heading(index=index, form=form, depth=depth, raw=raw, title=title, status=status, last=index)


@lru_cache(maxsize=64)
def _line_starts(profile: Profile) -> re.Pattern[str] | None:
    """A quick test of a line's first characters before the full reading. None if only `#` makes a heading."""
    parts: list[str] = []
    for level in profile.levels:
        if set(level.forms) == {"atx"}:
            continue
        parts.extend(re.escape(word).replace(r"\ ", r"[ \t\u00a0]+") for word in level.words + level.phrases)
        if level.marker is not None:
            parts.append(re.escape(level.marker[0]) + numbers.pattern(level.numbers) + re.escape(level.marker[1]))
        if level.number_first:
            parts.append(numbers.pattern(level.numbers) + _INSERTED_RAW + r"?\.?(?:[ \t\u00a0§]|[^\W\d_])")
    return re.compile(r"\[?(?:" + "|".join(parts) + ")", re.IGNORECASE) if parts else None


def _read_level(heading: Heading, text: str, reading: _Reading, form: Form, *, only_marked: bool = False) -> bool:
    for reader in reading.readers_of(text, form):
        if only_marked and reader.marked is None:
            continue
        for pattern in (reader.marked, reader.worded):
            match = pattern.match(text) if pattern is not None else None
            if match is None or not (pattern is reader.marked or _is_title(text[match.end() :], match, form)):
                continue
            groups = match.groupdict()
            written = groups.get("number") or groups.get("first") or groups.get("spaced")
            if written and groups.get("also"):
                written = "-".join((written, *_ALSO_SIGNS.split(groups["also"].strip("의の之"))))
            heading.level = reader.level
            heading.number = numbers.parse(" ".join(written.split())) if written else None
            word = match.group().replace(written, " ") if written else match.group()
            heading.word = word.strip(" \t\u00a0[].:-").casefold()
            heading.bare = not text[match.end() :].strip(" \t\u00a0.:–—-]*_")
            return True
    return False


def _is_title(rest: str, match: re.Match[str], form: Form) -> bool:
    """A plain line is a heading only if its number ends the line or a sign separates the number from the title.

    `Article 5 of this Regulation` at the start of a wrapped line is a cross-reference.
    """
    if form != "plain" or "also" in match.re.groupindex or match.group().rstrip()[-1:] in ".)º°ª":
        return True
    rest = rest.lstrip(" \t\u00a0")
    if not rest.strip() or sign_follows(rest):
        return True
    return bool(match.groupdict().get("first")) and title_may_follow(match.group(), rest)
