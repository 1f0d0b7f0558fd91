"""Pure: finds the lines of a text that look like headings without using a profile, and groups them by kind.

A kind is a word with numbers, such as `Article 5` or `5. peatükk`. A word that no table knows is a kind if its numbers
count up from the beginning. Each line is read once, from its start up to a bound.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from dataclasses import dataclass, replace
from itertools import pairwise

from cutter.marking import numbers
from cutter.marking.heading_lines import follows_number, sign_follows
from cutter.marking.lines import Lines
from cutter.marking.profile import Form
from cutter.marking.recognise import ATX, title_may_follow
from cutter.marking.suggestion.vocabulary import MARKERS, NUMBER, Role, known_words, role_of
from cutter.marking.titles import plain_title, without_closing_hashes

_CHARACTERS = 600
"""The most characters of a line that are read."""

_UNKNOWN_LINES_MIN = 3
"""An unknown word must begin this many lines before it counts as a kind of heading."""

_STEPS_SHARE_MIN = 0.6
"""At least this share of the steps between the numbers of an unknown word must go up by one, or back to the
beginning.
"""

_OUTSTANDING_CHARACTERS_MAX = 120
"""A line in bold or in capitals that is longer than this is a sentence."""

_STYLES_AFTER = ("code", "dotted", "arabic", "roman", "ordinal", "letter", "lettered")
_STYLES_FIRST = ("arabic", "roman", "ordinal")
_PREFERRED = ("arabic", "roman", "ordinal", "letter", "dotted", "lettered", "code", "cjk")
"""The order in which styles are chosen for a kind. A later style is chosen only for numbers that no earlier style
reads.
"""

_BOLD = re.compile(r" {0,3}(?:\*\*|__)(?=\S)")
_WORD = re.compile(r"[^\W\d_]{2,24}\.?")
_AFTER = re.compile(rf"[ \t\u00a0]*(?P<number>{numbers.pattern(_STYLES_AFTER)})(?!\w)", re.IGNORECASE)
_FIRST = re.compile(
    rf"\[?(?P<number>{numbers.pattern(_STYLES_FIRST)}{numbers.INSERTED}?)\.?(?:[ \t\u00a0]+|(?<=\.)|(?=§))",
    re.IGNORECASE,
)
_MARKED = re.compile(
    rf"第(?P<number>{numbers.pattern(('cjk', 'arabic'))})(?P<sign>[{''.join(MARKERS)}])(?=[ \t\u00a0\u3000]|$)"
)
_MARKED_WITH_TITLE = re.compile(_MARKED.pattern.replace("|$)", "|$|（)"))
"""The same with a title in brackets (`第一条（目的）`). In a plain line that is more often a reference."""
_LISTED = re.compile(r"[0-9]{1,4}[.)][ \t]+")
_STYLE = {style: re.compile(numbers.STYLES[style] + r"\Z", re.IGNORECASE) for style in _PREFERRED}


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """A line that looks like a heading. `word` and `number` are as written, or empty; `depth` is its number of `#`."""

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


@dataclass(frozen=True, slots=True, kw_only=True)
class Kind:
    """Lines that begin with the same word, in one form."""

    word: str
    form: Form
    depth: int
    role: Role | None
    lines: tuple[Line, ...]
    styles: tuple[str, ...]
    number_first: bool

    @property
    def unnumbered(self) -> int:
        return sum(not line.number for line in self.lines)


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """All lines that look like headings, in order, and the kinds among them."""

    lines: tuple[Line, ...]
    kinds: tuple[Kind, ...]


def read_evidence(lines: Lines) -> Evidence:
    """Everything in a text that looks like a heading."""
    headings = [line for index in range(len(lines.lines)) if (line := _read(index, lines)) is not None]
    kinds = _kinds(headings)
    of_a_kind = {line.index for kind in kinds for line in kind.lines}
    kept = tuple(line for line in headings if _outstanding(line) or line.index in of_a_kind)
    return Evidence(lines=kept, kinds=kinds)


def read_named(index: int, lines: Lines) -> Line | None:
    """A line that a person names as a heading, also if it is the only one of its kind. None if it begins with no word
    and number.
    """
    line = _read(index, lines) if 0 <= index < len(lines.lines) else None
    return line if line is not None and line.word and line.number and line.parted else None


def _read(index: int, lines: Lines) -> Line | None:
    data = lines.lines[index]
    if not data or lines.is_blank(index) or index < lines.front_matter:
        return None
    atx = ATX.match(data)
    text = data[atx.end() if atx else 0 :][: 4 * _CHARACTERS].decode("utf-8", "ignore")[:_CHARACTERS]
    raw = without_closing_hashes(text) if atx else text.strip()
    form: Form = "atx" if atx else "bold" if _BOLD.match(text) else "plain"
    hidden = bool(lines.opaque[index])
    if form == "plain" and not _may_begin(raw):
        return None
    title = plain_title(raw)
    if not title:
        return None
    depth = len(atx.group(1)) if atx else 0
    return _designated(index, form, depth, title, hidden) or _undesignated(index, form, depth, title, raw, hidden)


def _may_begin(raw: str) -> bool:
    """A quick test: plain lines begin with a capital, a sign, a digit or a bracket when they are headings."""
    first = raw[:1]
    return first.isupper() or first.isdigit() or first in "§[" or (first.isalpha() and not first.islower())


def _designated(index: int, form: Form, depth: int, title: str, hidden: bool) -> Line | None:
    """A line that begins with a word and a number, in either order; a known word of an ATX line may lack a number."""
    marked = (_MARKED if form == "plain" else _MARKED_WITH_TITLE).match(title)
    if marked is not None:
        word = f"第{NUMBER}{marked.group('sign')}"
        line = _line(index, form, depth, title, word, marked.group("number"), marked.end(), False, hidden)
        return replace(line, parted=True)
    begin = 1 if title.startswith("[") else 0
    listed = _LISTED.match(title, begin)
    designation = _word_and_number(title, begin) or (_word_and_number(title, listed.end()) if listed else None)
    if designation is not None:
        if listed is not None and form != "atx":
            return None  # `9. Section 2 is amended` is an item of a list
        return _line(index, form, depth, title, designation[0], designation[1], designation[2], False, hidden)
    known = _known_word(title, begin)
    if known is not None and form == "atx":
        return _line(index, form, depth, title, known, "", begin + len(known), False, hidden)
    first = _FIRST.match(title)
    after = _known_word(title, first.end()) if first else None
    if first is not None and after is None and form == "atx":
        unknown = _WORD.match(title, first.end())
        after = unknown.group() if unknown else None
    if first is None or after is None:
        return None
    return _line(index, form, depth, title, after, first.group("number"), first.end() + len(after), True, hidden)


def _word_and_number(title: str, begin: int) -> tuple[str, str, int] | None:
    """(Word, number, end) if a number follows a word. Letters inside the word do not count as a number."""
    word = _known_word(title, begin)
    if word is None:
        unknown = _WORD.match(title, begin)
        word = unknown.group() if unknown else None
    if word is None:
        return None
    end = begin + len(word)
    after = _AFTER.match(title, end)
    if after is None:
        return None
    number = after.group("number")
    if after.start("number") == end and word[-1].isalpha() and not number[0].isdigit():
        return None
    return word, number, after.end()


def _known_word(title: str, begin: int) -> str | None:
    known = known_words().match(title, begin)
    if known is None or (title[known.end() - 1].isalpha() and title[known.end() : known.end() + 1].isalpha()):
        return None
    return known.group()


def _line(
    index: int, form: Form, depth: int, title: str, word: str, number: str, end: int, first: bool, hidden: bool
) -> Line:
    rest = title[end:].strip(" \t\u00a0")
    parted = not rest or sign_follows(rest) or (first and follows_number(word) and title_may_follow(title[:end], rest))
    return Line(index=index, form=form, depth=depth, title=title, word=word, number=" ".join(number.split()),
                number_first=first, bare=not rest.strip(".:–—-]*_ "), parted=parted, hidden=hidden)  # fmt: skip


def _undesignated(index: int, form: Form, depth: int, title: str, raw: str, hidden: bool) -> Line | None:
    """A heading without a word and number: any ATX line, or a short line that is entirely bold or in capitals."""
    if form == "plain":
        letters = [character for character in title if character.isalpha()]
        if len(title) > _OUTSTANDING_CHARACTERS_MAX or len(letters) < 4 or not title.isupper():
            return None
    if form == "bold" and (len(title) > _OUTSTANDING_CHARACTERS_MAX or not raw.rstrip(" .:").endswith(("**", "__"))):
        return None
    return Line(index=index, form=form, depth=depth, title=title, hidden=hidden)


def _outstanding(line: Line) -> bool:
    """Lines that look like headings but belong to no kind: with `#`, entirely bold, or entirely in capitals."""
    return line.form == "atx" or not line.word


def _kinds(headings: list[Line]) -> tuple[Kind, ...]:
    groups: dict[tuple[str, Form], list[Line]] = defaultdict(list)
    for line in headings:
        if line.word and not line.hidden:
            groups[line.key, line.form].append(line)
    digits = Counter(line.depth for line in headings if line.form == "atx" and line.title[:1].isdigit())
    groups = {key: _without_titles(lines, digits) for key, lines in groups.items()}
    kinds = [kind for (_, form), lines in groups.items() if lines and (kind := _kind(form, lines)) is not None]
    if not kinds and not digits:
        kinds = [kind for (_, form), lines in groups.items() if (kind := _only_article(form, lines)) is not None]
    return tuple(sorted(kinds, key=lambda kind: kind.lines[0].index))


def _only_article(form: Form, lines: list[Line]) -> Kind | None:
    """The one article of a law that has no other numbered part."""
    kind = _kind(form, lines, fewest=1) if lines else None
    return kind if kind is not None and kind.role is not None and kind.role.name == "article" else None


def _without_titles(lines: list[Line], digits: Counter[int]) -> list[Line]:
    """The lines without those whose word begins a title (`31. Regulation of taxis`): fewer than half of the headings
    that begin with a digit at their depth have the word. `digits` counts these headings by depth."""
    first = Counter(line.depth for line in lines if line.number_first and line.form == "atx")
    titles = {depth for depth, count in first.items() if 2 * count < digits[depth]}
    return [line for line in lines if not (line.number_first and line.form == "atx" and line.depth in titles)]


def _kind(form: Form, lines: list[Line], *, fewest: int = 2) -> Kind | None:
    """The kind of these lines; None if they are probably text. `fewest` counts numbered lines without `#`."""
    role = role_of(lines[0].word) or role_of(lines[0].word.rstrip("."))
    kept = [line for line in lines if line.parted or form == "atx" or (form == "bold" and not line.number_first)]
    numbered = [line for line in kept if line.number]
    if role is None and not _counts_up(numbered):
        return None
    if not numbered and (role is None or role.name != "annex"):
        return None
    if role is not None and form != "atx" and len(numbered) < fewest:
        return None
    depths = Counter(line.depth for line in kept)
    depth = max(depths, key=lambda value: (depths[value], -value))
    word = Counter(line.word for line in kept).most_common(1)[0][0]
    return Kind(word=" ".join(word.split()), form=form, depth=depth, role=role, lines=tuple(kept),
                styles=_styles(numbered), number_first=any(line.number_first for line in kept))  # fmt: skip


def _counts_up(lines: list[Line]) -> bool:
    """True when the numbers of an unknown word begin at one and mostly step by one, or start again."""
    values = [value[0] for line in lines if (value := numbers.parse(line.number).value)]
    if len(values) < _UNKNOWN_LINES_MIN or values[0] > 1 or len(set(values)) < _UNKNOWN_LINES_MIN:
        return False
    steps = list(pairwise(values))
    good = sum(after - before in (0, 1) or after <= 1 for before, after in steps)
    return good >= _STEPS_SHARE_MIN * len(steps)


def _styles(lines: list[Line]) -> tuple[str, ...]:
    """The fewest styles, in the order of preference, that read every number of the lines."""
    left = {line.number for line in lines}
    chosen = []
    for style in _PREFERRED:
        read = {number for number in left if _STYLE[style].match(number)}
        if read:
            chosen.append(style)
            left -= read
    return tuple(chosen)
