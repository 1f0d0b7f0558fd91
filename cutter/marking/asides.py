"""Pure: lines that read like headings but are quoted, continue a sentence, or are a title repeated on each page.

A plain or bold line of these is text, and an amber finding names it. Titles of regions are judged here too: a region is
another document in the file, whose numbers begin again after its title.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Sequence
from itertools import pairwise

from cutter.limits import QUOTATION_LINES_MAX
from cutter.marking.lines import Lines
from cutter.marking.recognise import Heading
from cutter.marking.result import Finding, finding
from cutter.marking.vocabulary import REGION_TITLES

QUOTED, CONTINUED, NO_REGION = "heading_quoted", "sentence_continued", "region_title"

ASIDES = frozenset({QUOTED, CONTINUED, NO_REGION})
"""The findings of lines that were judged to be text although they read like headings."""

_OPENING = {"«": "»", "“": "”", "„": "“”", '"': '"', "”": "”"}
_OPENS = re.compile(r"[ \t>*_#-]*(?P<sign>[«“„\"”])")
_OPENS_WITHIN = re.compile(r"(?P<sign>[«“„])[^»”“]*$")
_CLOSES = re.compile(r"(?P<sign>[»”“\"])[ \t*_.;,:)]*\r?$")
_SIGNS = tuple(sign.encode() for sign in '«“„”»"')

_REFERENCE = re.compile(r"[^\W\d_]+[.]?[ ]+\S+[ ]+[^\W\d_A-ZÀ-Þ]")
"""`artículo 1° del Decreto`: small letters before and after the number."""

_SENTENCE_ENDS = tuple('.:;!?"*_”»“)|-–—>°º。：；」）')
"""What the line before a heading ends with, if that line is no part of a wrapped sentence."""

_FORMULA = re.compile(rb"[ \t*_]*(?:SE )?(?:HA )?(?:RESUELVE|RESUELTO|DECRETA|ACUERDA)[ \t*_]*:[ \t*_\r]*")
"""An enacting formula: what comes after it is a third document without a title."""

_STANDING = frozenset(title.casefold() for title in REGION_TITLES)

_PAGE_HEADS_MIN = 3
"""From this number of equal titles on, they are probably the heads of pages."""


def quoted_lines(lines: Lines) -> frozenset[int]:
    """The lines inside quotations of at most QUOTATION_LINES_MAX lines, without the line that opens each."""
    inside: set[int] = set()
    opened: tuple[int, str] | None = None
    for index, raw in enumerate(lines.lines):
        if not any(sign in raw for sign in _SIGNS):
            continue
        line = raw.decode("utf-8", "ignore")
        end = _CLOSES.search(line)
        if opened is not None and end is not None and end["sign"] in opened[1]:
            if index - opened[0] <= QUOTATION_LINES_MAX:
                inside.update(range(opened[0] + 1, index + 1))
            opened = None
            continue
        begin = _OPENS.match(line) or _OPENS_WITHIN.search(line)
        if begin is not None:
            closing = _OPENING[begin["sign"]]
            if not (end is not None and end["sign"] in closing and end.start() > begin.start("sign")):
                opened = index, closing
    return frozenset(inside)


def without_quotations(headings: list[Heading], lines: Lines) -> tuple[list[Heading], list[Finding]]:
    """The headings without plain and bold lines that are quoted or continue a sentence, and a finding for each."""
    quoted = quoted_lines(lines)
    begins = {heading.index for heading in headings if heading.bare}
    plain = [heading for heading in headings if heading.form == "plain"]
    glued = {heading.index for heading in plain if _continues(heading.index, lines, begins)}
    glued = set() if 3 * len(glued) >= len(plain) else glued - _fitting(headings, glued)
    capitals = Counter(heading.name for heading in headings if heading.title[:1].isupper())
    small = Counter(heading.name for heading in headings if heading.title[:1].islower())
    kept: list[Heading] = []
    findings: list[Finding] = []
    for heading in headings:
        code = ""
        if heading.form != "atx" and heading.index in quoted:
            code, text = QUOTED, "is inside a quotation"
        elif heading.index in glued or _goes_on(heading, small[heading.name], capitals):
            code, text = CONTINUED, "continues a sentence"
        if not code:
            kept.append(heading)
            continue
        text = f"{heading.title[:60]!r} reads like a heading and {text}; it is text"
        findings.append(finding(code=code, line=lines.number(heading.index), severity="amber", text=text))
    return kept, findings


def _goes_on(heading: Heading, small: int, capitals: Counter[str]) -> bool:
    """True for a line that begins with a small letter, where most headings of its level begin with a capital."""
    if not heading.name or not heading.title[:1].islower():
        return False
    if heading.form == "atx":
        return small < capitals.total() and _REFERENCE.match(heading.title) is not None
    return heading.form == "plain" and small < capitals[heading.name]


def _fitting(headings: list[Heading], glued: set[int]) -> set[int]:
    """The lines of `glued` whose number is the next one, and which no other heading of that count has."""
    runs: Counter[str] = Counter()
    last: dict[str, int] = {}
    own: set[tuple[str, int, int]] = set()
    places: list[tuple[int, tuple[str, int, int]]] = []
    for heading in headings:
        if heading.value is None:
            continue
        name, value = heading.name, heading.value[0]
        if heading.index not in glued:
            runs[name] += value < last.get(name, 0)
            own.add((name, runs[name], value))
        elif value == last.get(name, 0) + 1:
            places.append((heading.index, (name, runs[name], value)))
        else:
            continue
        last[name] = value
    return {index for index, place in places if place not in own}


def filling(main: Sequence[tuple[int, int]], others: Sequence[tuple[int, int]]) -> set[int]:
    """The indexes of `others` whose numbers fill exactly the gap of `main` in which they are, count up to its first
    number, or continue it. Both are (index of the line, number), in order.
    """
    fits: set[int] = set()
    starts = [index for index, _ in main]
    gaps: dict[int, list[tuple[int, int]]] = defaultdict(list)
    for index, value in others:
        gaps[bisect_left(starts, index)].append((index, value))
    for place, lines in gaps.items():
        last = main[place - 1][1] if place else 0
        following = main[place][1] if place < len(main) else 0
        chain = [index for step, (index, value) in enumerate(lines) if value == last + 1 + step]
        complete = len(chain) == len(lines) and following in (0, 1, last + 1 + len(lines))
        fits.update(chain if complete and (place or following > 1) else ())
    return fits


def _continues(index: int, lines: Lines, begins: set[int]) -> bool:
    """True if the line before is text without the end of a sentence."""
    if index == 0 or index - 1 in begins or lines.is_blank(index - 1):
        return False
    before = lines.lines[index - 1].decode("utf-8", "ignore").rstrip()
    return not before.endswith(_SENTENCE_ENDS) and not before.lstrip().startswith("#")


def without_false_regions(headings: list[Heading], lines: Lines) -> tuple[list[Heading], list[Finding]]:
    """The headings without titles of a region after which the numbers before them continue, and a finding for each."""
    titles = [position for position, heading in enumerate(headings) if heading.level and heading.level.region]
    if not titles:
        return headings, []
    repeats = Counter(headings[position].title.casefold() for position in titles)
    dropped: set[int] = set()
    silent: set[int] = set()
    last: dict[str, tuple[int, ...]] = {}
    for begin, end in pairwise([-1, *titles, len(headings)]):
        below = [heading for heading in headings[begin + 1 : end] if heading.name and heading.value is not None]
        if begin >= 0 and not last:
            silent.add(begin)  # the title of the law itself
        elif begin >= 0:
            first = next((heading for heading in below if heading.name in last), None)
            title = headings[begin].title.casefold()
            is_head = repeats[title] >= _PAGE_HEADS_MIN and title.rstrip(".: ") not in _STANDING
            again = (
                first is not None
                and (first.value or ())[:1] <= (1,)
                and not any(map(_FORMULA.fullmatch, lines.lines[headings[begin].index : first.index]))
            )
            if again or (first is None and not is_head):
                last = {}
            else:
                (silent if is_head else dropped).add(begin)
        for heading in below:
            last[heading.name] = max(last.get(heading.name, ()), heading.value or ())
    findings = [
        finding(code=NO_REGION, line=lines.number(headings[position].index), severity="amber",
                text=f"{headings[position].title[:60]!r} reads like the title of another document, but the numbers "
                "before it continue after it; it is text")
        for position in sorted(dropped)
    ]  # fmt: skip
    return [heading for position, heading in enumerate(headings) if position not in dropped | silent], findings
