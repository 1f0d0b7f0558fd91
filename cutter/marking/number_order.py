"""Pure: findings about the numbering of units: numbers that are missing, occur twice or go back."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import compress, pairwise
from statistics import median

from cutter.domain.amounts import counted
from cutter.limits import HEADING_LINE_BYTES
from cutter.marking import numbers
from cutter.marking.hierarchy import Node
from cutter.marking.lines import Lines
from cutter.marking.profile import Profile
from cutter.marking.result import Finding, Severity, finding
from cutter.marking.vocabulary import REPEALED

EXAMPLES = 8
"""The most places that a message names."""

_SPARSE = 0.2
"""If more than this share of the steps skips a number, gaps mean nothing, as in codified and consolidated texts."""

_RANGE = re.compile(
    r"[ \t\u00a0]*(?:to|through|until|bis|und|and|y|et|e|à|a|al|hasta|đến|tot|en met|–|—|-|,)[ \t\u00a0]*"
    r"(?:§+[ \t\u00a0]*|art(?:icle)?s?\.?[ \t\u00a0]*)?([0-9]{1,5})(?![0-9.])", re.IGNORECASE,
)  # fmt: skip
_NEAREST = 16
"""The most headings without a known word that are examined between two numbers."""

_SKIPPED_LETTERS = frozenset("fijlowz")
_STEM = 4
"""Letters of a word that its cases have in common."""

_DIGITS = re.compile("[0-9]{1,5}")
_NAMED_MAX = 200
"""The most numbers that one heading may cover."""

_LONG_BYTES, _LONG_RATIO = 4_000, 4
"""Bytes of text before a gap, and their ratio to the median, from which the text may hold the missing heading."""

_TRACE_STEM = 3
"""Letters of a level's word with which its other spellings begin, so that `Art. 8` is a trace of `Artículo 8`."""

_DASHES = frozenset({b"-", "–".encode(), "—".encode()})

_SUFFIXED = re.compile(rf"(?:[^\W\d_]+|[{numbers.RAISED}]+| - [0-9]+)$")

_NOTE = re.compile(
    r"[ \t\u00a0*_]{0,4}(?P<open>[{\[(]?)(?P<word>§{1,2}|[^\W\d_]{1,20}\.?)[ \t\u00a0]{0,4}"
    r"(?P<numbers>[0-9]{1,5}(?:[ \t]{0,2}(?:[-–—,]|bis|to|und|and|y|a|і|та|и)[ \t]{0,2}[0-9]{1,5}){0,8})(?![0-9])"
    r"[ \t\u00a0:.,({\[–—-]{0,6}"
    rf"(?:{REPEALED})(?!\w)(?P<rest>.*)",
    re.IGNORECASE | re.DOTALL,
)
"""A note that headings were repealed: `{Статтю 60 виключено на підставі …}`, `§§ 5 bis 7 (weggefallen)`."""

_END = re.compile(r"[ \t\r.;)\]}*_]*")


Place = tuple[Node, str, int]
"""A unit, the oddity of its number, and the line index of the unit before it (-1 if that unit gives no information)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RepealNote:
    """The word and the numbers of the headings that a line calls repealed. `closed` is True if it is in brackets."""

    word: str
    numbers: str
    closed: bool


@dataclass(slots=True)
class _Count:
    """One numbering: the units that count together, and the places where the number does not go up by one."""

    nodes: list[Node] = field(default_factory=list)
    missing: list[Place] = field(default_factory=list)
    repeated: list[Place] = field(default_factory=list)
    backwards: list[Place] = field(default_factory=list)
    steps: int = 0
    last_at: int = -1
    told: set[int] = field(default_factory=set)
    """Numbers that headings without a known word name (`Art 74a und 75 (repealed)`) since the last unit."""


def numbering_findings(
    nodes: list[Node], profile: Profile, lines: Lines, explained: Sequence[int]
) -> Iterator[Finding]:
    """At most one finding of each kind for each numbering, with the other places as examples.

    `explained` holds, in order, the lines of other red findings, which already say that a number around them is
    missing.
    """
    regions = _regions(nodes)
    through = _levels_that_count_through(nodes, profile, regions)
    counts: dict[tuple[int | None, str, str], _Count] = defaultdict(_Count)
    named: list[tuple[int, set[int]]] = []
    for position, node in enumerate(nodes):
        number, name = node.heading.number, node.heading.name
        if not name:
            named.append((position, _named(node.heading.title)))
        if number is None or number.value is None or not name:
            continue
        count = counts[regions[position] if name in through else node.parent, name, number.series]
        # Only a bounded number of headings is read, so that this is linear.
        count.told = set[int]().union(*(given for at, given in named[-_NEAREST:] if at > count.last_at))
        _step(count, node, lines)
        count.nodes.append(node)
        count.last_at = position
    # Up to this size the text before a gap is not unusually long.
    starts = [lines.offset(node.heading.index) for node in nodes] + [lines.end]
    usual = max(_LONG_BYTES, _LONG_RATIO * int(median(after - begin for begin, after in pairwise(starts))))
    for (_, name, _), count in counts.items():
        # no line of `explained` is between the two headings
        count.missing = [
            (node, text, before)
            for node, text, before in count.missing
            if bisect_left(explained, lines.number(max(before, 0)))
            == bisect_left(explained, lines.number(node.heading.index))
        ]
        dense = len(count.missing) <= max(2, _SPARSE * count.steps)
        traced = [dense and _has_trace(place, nodes, lines, usual) for place in count.missing]
        yield from _told("number_missing", name, [*compress(count.missing, traced)], lines, "red")
        left = [place for place, trace in zip(count.missing, traced, strict=True) if not trace]
        yield from _told("number_missing", name, left, lines, "amber")
        yield from _told("number_repeated", name, count.repeated, lines, "red")
        yield from _told("number_backwards", name, count.backwards, lines, "red")


def _has_trace(place: Place, nodes: list[Node], lines: Lines, usual: int) -> bool:
    """True if the text before a gap may hold what is missing. It may name the missing number with the level's word
    (glued to it, in any case), begin a line with that number, or be unusually long.
    """
    node, _, before = place
    heading = node.heading
    begin = before if before >= 0 else nodes[node.parent].heading.index if node.parent is not None else 0
    if lines.offset(heading.index) - lines.offset(begin) > usual and before >= 0:
        return True
    value = heading.value or ()
    position = bisect_left(nodes, before, key=lambda node: node.heading.index)
    last = _last_value(nodes[position]) if before >= 0 else ()
    names = _missing_names(last, value, _text(node))
    if not names:
        return True
    words = heading.level.words if heading.level else ()
    stems = {re.escape(word[:_TRACE_STEM]) for word in (*words, heading.word) if word} or {"(?!)"}
    number = "(?:" + "|".join(map(re.escape, names)) + r")(?![0-9])"
    word = rf"(?:{'|'.join(sorted(stems))})\w*[.]?"
    trace = re.compile(
        rf"{word}[\W_]{{0,6}}(?<![0-9]){number}|^[\W_]{{0,8}}{number}(?!\w)|(?<![\w])({number})[\W_]{{0,4}}{word}",
        re.IGNORECASE | re.MULTILINE,
    )
    text = lines.data[lines.offset(begin + 1) : lines.offset(heading.index)].decode("utf-8", "ignore")
    return trace.search(text) is not None


def _missing_names(last: tuple[int, ...], value: tuple[int, ...], text: str) -> list[str]:
    """The missing numbers as the text writes them; empty if they cannot be named, or are too many to look for."""
    if last and (len(last) != len(value) or last[:-1] != value[:-1]):
        value, last = value[:1], last[:1]
    first = last[-1] + 1 if last else 1
    if not value or value[-1] - first > _NAMED_MAX:
        return []
    return numbers.names(first, value[-1], text)


def _regions(nodes: list[Node]) -> list[int | None]:
    """For each unit the position of the title of the document in the file that holds it."""
    regions: list[int | None] = []
    for position, node in enumerate(nodes):
        is_title = node.heading.level is not None and node.heading.level.region
        regions.append(position if is_title else None if node.parent is None else regions[node.parent])
    return regions


def _levels_that_count_through(nodes: list[Node], profile: Profile, regions: list[int | None]) -> set[str]:
    """The levels whose numbers continue from one parent to the next instead of beginning again."""
    votes: dict[str, int] = {level.name: 0 for level in profile.levels}
    last: dict[tuple[str, int | None], tuple[int | None, int]] = {}
    for node, region in zip(nodes, regions, strict=True):
        number, name = node.heading.number, node.heading.name
        if number is None or number.value is None or not name or number.series:
            continue
        parent, before = last.get((name, region), (node.parent, 0))
        if parent != node.parent:
            votes[name] += 1 if number.value[0] > max(before - 1, 1) else -1
        last[name, region] = (node.parent, number.value[0])
    return {level.name for level in profile.levels if votes[level.name] > 0 or level.numbering == "document"}


def _step(count: _Count, node: Node, lines: Lines) -> None:
    value = _value(node)
    if not count.nodes:
        first = 0 if _is_letter(node) else 1
        if value[0] > first and len(value) == 1 and node.parent is not None and not _begins_a_block(value[0]):
            text = numbers.named_gap((*value[:-1], first - 1), value, _text(node))
            count.missing.append((node, f"{text} missing before {_text(node)}, the first number here", -1))
        return
    before = count.nodes[-1]
    count.steps += 1
    last = _last_value(before)
    if value == _value(before):
        count.repeated.append((node, _text(node), -1))
    elif len(value) > 1 and value == last[: len(value)]:
        return  # `1er bis A` may be inserted before `1er bis`
    elif value < last:
        # A numbering that begins again under another parent (such as the articles of an annex) does not go back.
        if value[0] > 1 or before.parent == node.parent:
            same = any(_value(other) == value and other.parent == node.parent for other in count.nodes[-64:])
            (count.repeated if same else count.backwards).append((node, f"{_text(node)} after {_text(before)}", -1))
    elif _gap(last, value, node):
        explained = count.told | _repealed_between(before, node, lines)
        if (
            not (len(value) == 1 and explained.issuperset(range(last[0] + 1, min(value[0], last[0] + _NAMED_MAX))))
            and not _is_a_range(before, node, lines)
            and not (before.parent != node.parent and _begins_a_block(value[0]))
        ):
            text = f"{numbers.named_gap(last, value, _text(node))} missing between {_text(before)} and {_text(node)}"
            count.missing.append((node, text, before.heading.index))


def _begins_a_block(first: int) -> bool:
    """Numbers such as 201 or 1000 that begin the numbering of another chapter."""
    return first >= 100 and first % 100 in (0, 1)


def _gap(last: tuple[int, ...], value: tuple[int, ...], node: Node) -> bool:
    """True if a whole number is missing between the two. A missing letter (5a, 5c) or a new prefix (2.1) is no gap."""
    if last[:-1] == value[:-1] and value[-1] - last[-1] == 1:
        return False
    place = next(
        (i for i, (earlier, later) in enumerate(zip(last, value, strict=False)) if earlier != later), len(last)
    )
    if place >= len(last) or place >= len(value) or place < len(value) - 1 - _suffixed(node):
        return False
    if _suffixed(node) and place == len(value) - 1:
        return False
    if _is_letter(node):
        # A letter counts that all alphabets have. Many laws skip letters that look like others.
        between = numbers.ALPHABET[last[place] + 1 : value[place]]
        return any(sign.isascii() and sign not in _SKIPPED_LETTERS for sign in between)
    return value[place] - last[place] > 1


def _named(title: str) -> set[int]:
    """The whole numbers that a heading names, including ranges. Empty for a long title."""
    values = [int(digits) for digits in _DIGITS.findall(title)[:8]]
    if not values or max(values) - min(values) > _NAMED_MAX:
        return set(values)
    return set(range(min(values), max(values) + 1))


def _repealed_between(before: Node, node: Node, lines: Lines) -> set[int]:
    """The numbers of a heading's kind that notes in the text before it name as repealed."""
    repealed: set[int] = set()
    for line in lines.lines[before.heading.last + 1 : node.heading.index]:
        note = repeal_note(line)
        if note is not None:
            # the same word in another case or number: `Статтю` and `Стаття`, `§§` and `§`, `Art.` and `Artikel`
            mine, other = (text.casefold().rstrip(".")[:_STEM] for text in (node.heading.word, note.word))
            if mine and (mine.startswith(other) or other.startswith(mine)):
                repealed |= _named(note.numbers)
    return repealed


def _is_a_range(before: Node, node: Node, lines: Lines) -> bool:
    """True if only a dash is between two headings, so that together they are a range (`§ 78.`, `–`, `§ 84.`)."""
    between = (line.strip() for line in lines.lines[before.heading.last + 1 : node.heading.index])
    text = [line for line in between if line]
    return len(text) == 1 and text[0] in _DASHES


def _suffixed(node: Node) -> int:
    """1 when the number ends with a letter (5a) or a raised digit (5¹), whose place in `value` is the last."""
    text = _text(node)
    return int(len(_value(node)) > 1 and text[:1].isdigit() and _SUFFIXED.search(text) is not None)


def _is_letter(node: Node) -> bool:
    """True for a single letter; I, V and X are numbers."""
    text = _text(node)
    return len(text) == 1 and text.isalpha() and (text.islower() or text not in "IVX")


def _value(node: Node) -> tuple[int, ...]:
    return node.heading.value or ()


def _last_value(node: Node) -> tuple[int, ...]:
    """The number, or the last one of a heading that stands for several (`§§ 5 to 7`)."""
    value, text, title = _value(node), _text(node), node.heading.title
    if len(value) != 1:
        return value
    at = title.find(text)
    span = _RANGE.match(title, at + len(text)) if at >= 0 else None
    if span is None or int(span.group(1)) <= value[0]:
        return value
    return (int(span.group(1)),)


def _text(node: Node) -> str:
    return node.heading.number.text if node.heading.number else ""


def _told(code: str, name: str, places: list[Place], lines: Lines, severity: Severity) -> Iterator[Finding]:
    if not places:
        return
    first = places[0][0]
    shown = "; ".join(f"{text} (line {lines.number(node.heading.index)})" for node, text, _ in places[:EXAMPLES])
    more = f"; and {counted(len(places) - EXAMPLES, 'place')} more" if len(places) > EXAMPLES else ""
    label = {"number_missing": "", "number_repeated": "numbers come twice: ",
            "number_backwards": "numbers step back: "}[code]  # fmt: skip
    yield finding(code=code, line=lines.number(first.heading.index), address=first.address, severity=severity,
                  text=f"{name}: {label}{shown}{more}")  # fmt: skip


def repeal_note(line: bytes) -> RepealNote | None:
    """The note that a line is, or None. A text after the note is its reason only if all is in brackets."""
    note = _NOTE.match(line[:HEADING_LINE_BYTES].decode("utf-8", "ignore"))
    if note is None:
        return None
    closed = bool(note["open"]) and note["rest"].rstrip(" \t\r.*_").endswith((")", "]", "}"))
    if not closed and _END.fullmatch(note["rest"]) is None:
        return None
    return RepealNote(word=note["word"], numbers=note["numbers"], closed=closed)
