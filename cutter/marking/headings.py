"""Pure: decides for each line that looks like a heading whether it is a unit, a row not in force, a group, or text.

A cross-reference may be at the beginning of a wrapped line (`Article 5. …`). But the numbers of a level increase within
a parent. So the headings are the longest strictly increasing run of the lines that look like headings of that level.
The other lines are text, and each of them is a finding.

A law's own markers decide which rows are in force (facts-domain, "status of a row"). Tier 1 is the marker of the group
header above a row, tier 2 the row's own, tier 3 the profile's default. A row is cut only if neither of its markers
objects: neither a 📋 row in an enacted group is cut, nor a ✅ row in a deferred group.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from operator import attrgetter
from typing import Literal

from cutter.marking.asides import filling, without_false_regions, without_quotations
from cutter.marking.lines import Lines
from cutter.marking.options import Options
from cutter.marking.profile import EXCLUSION_REASONS, FORMS, STATUSES, Form, Level, Profile, StatusRules
from cutter.marking.recognise import Heading, find_headings
from cutter.marking.result import Finding, MarkRefusal, finding, refusal
from cutter.marking.titles import BIDI, plain_title

BIDI_IN_HEADING = "bidi_in_heading"

_CONTENTS_TITLE_BYTES_MAX = 120
_ENTRY_SIGNS = re.compile(rb"[\s.:*_#-]+|[\s.]+[0-9]{1,4}\s*$")
"""What an entry of a table of contents and its heading may have differently, such as the number of a page."""

_ENTRY_BYTES_MIN = 4

_TITLE_BYTES = 8_192
"""The most bytes of a following line that are read as a title. Titles are cut to far less than that."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Block:
    """Lines [begin, end) that are excluded as a whole."""

    begin: int
    end: int
    reason: str


@dataclass(slots=True, kw_only=True)
class Row:
    """A heading with its role in the cut. `reason` and `basis` say why an excluded row is not cut."""

    heading: Heading
    kind: Literal["unit", "excluded", "group"]
    reason: str = ""
    basis: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Headings:
    """The headings of a text after each step, and the result: rows in order, and blocks that are excluded as a whole.

    `wanted` is without the table of contents and without levels below the finest that is cut. `left_out` holds the
    indexes of lines that the profile reads as headings but that are not units.
    """

    found: list[Heading]
    wanted: list[Heading]
    settled: list[Heading]
    merged: list[Heading]
    rows: tuple[Row, ...]
    blocks: tuple[Block, ...]
    bare: list[Finding]
    breaks: list[Finding]
    findings: tuple[Finding, ...]
    left_out: frozenset[int]
    refused: MarkRefusal | None


def read_headings(lines: Lines, profile: Profile, options: Options) -> Headings:
    """All steps, also if the text is refused because of its headings."""
    every, bare = find_headings(lines, profile)
    wanted = every
    blocks = [Block(begin=0, end=lines.front_matter, reason="front_matter")] if lines.front_matter else []
    contents = _contents(lines, every, profile)
    if isinstance(contents, Block):
        blocks.append(contents)
        wanted = [heading for heading in wanted if not contents.begin <= heading.index < contents.end]
    deepest = options.deepest or profile.deepest
    if deepest is not None:
        names = profile.level_names()
        cut = names[: names.index(deepest) + 1]
        wanted = [heading for heading in wanted if not heading.name or heading.name in cut]
    wanted, beside = without_quotations(wanted, lines)
    wanted, untitled = without_false_regions(wanted, lines)
    settled, breaks = _settle(wanted, lines, profile)
    breaks = sorted([*beside, *untitled, *breaks], key=attrgetter("line"))
    hidden = _bidi(settled, lines)
    merged = _merge_titles(settled, lines, profile)
    hidden = hidden or _bidi(merged, lines)
    rows, conflicts = _rows(merged, lines, profile, options)
    units = {row.heading.index for row in rows if row.kind == "unit"}
    return Headings(
        found=every, wanted=wanted, settled=settled, merged=merged, rows=tuple(rows), blocks=tuple(blocks), bare=bare,
        breaks=breaks, findings=(*lines.findings, *bare, *breaks, *conflicts),
        left_out=frozenset(
            {item.line - lines.first_line for item in breaks}
            | {heading.index for heading in every if heading.index not in units}
        ),
        refused=contents if isinstance(contents, MarkRefusal) else hidden,
    )  # fmt: skip


def _contents(lines: Lines, headings: list[Heading], profile: Profile) -> Block | MarkRefusal | None:
    """The table of contents, up to where its first entry occurs again, or to the next ATX heading that is not an entry.
    None if there is no table, and a refusal if its end cannot be found.
    """
    # If only `#` makes a heading, the title of the table is a heading too.
    words = {word.lower() for word in profile.contents}
    titles: Iterable[tuple[int, str]] = ((heading.index, heading.title) for heading in headings)
    if words and any(form != "atx" for level in profile.levels for form in level.forms):
        titles = (
            (index, plain_title(line.decode("utf-8", "ignore").strip(" #\r\t")))
            for index, line in enumerate(lines.lines)
            if 0 < len(line) <= _CONTENTS_TITLE_BYTES_MAX and not lines.opaque[index]
        )
    begin = next((index for index, title in titles if title.lower().rstrip(" :.") in words), None)
    if begin is None:
        return None
    below = [heading for heading in headings if heading.index > begin]
    first = below[0] if below else None
    if first is None:
        problem = "a table of contents with nothing after it; remove it or end it with a heading"
        return refusal("contents_without_end", lines.number(begin), problem)
    ends = (heading.index for heading in below[1:] if heading.form == "atx" or _entry(heading) == _entry(first))
    end = first.index if first.form == "atx" else next(ends, None)
    if end is None:
        return refusal(
            "contents_without_end", lines.number(begin), f"a table of contents whose first entry {first.title[:60]!r} "
            "does not come again; remove the table or end it with a heading",
        )  # fmt: skip
    return Block(begin=begin, end=min(end, _again(lines, begin, end)), reason="table_of_contents")


def _again(lines: Lines, begin: int, end: int) -> int:
    """The line of the table of contents where its first line comes again, or its end."""
    entries = ((index, _ENTRY_SIGNS.sub(b"", lines.lines[index])) for index in range(begin + 1, end))
    texts = ((index, text.lower()) for index, text in entries if len(text) >= _ENTRY_BYTES_MIN)
    first = next(texts, (end, b""))[1]
    return next((index for index, text in texts if text == first and first[:1].isdigit()), end)


def _entry(heading: Heading) -> tuple[str, str]:
    return heading.name or heading.title, heading.number.text.lower() if heading.number else heading.title.lower()


def _settle(headings: list[Heading], lines: Lines, profile: Profile) -> tuple[list[Heading], list[Finding]]:
    """The confirmed headings, and a finding for each line that only looked like one."""
    findings: list[Finding] = []
    # If a level is written with `#` anywhere, it is not also read from plain lines.
    best: dict[str, Form] = {}
    for heading in headings:
        best[heading.name] = min(best.get(heading.name, heading.form), heading.form, key=FORMS.index)
    filled = _filled(headings, best, lines)
    kept: list[Heading] = []
    for heading in headings:
        name = heading.name
        if (
            not name
            or heading.form == best[name]
            or heading.index in filled
            or (heading.level is not None and heading.level.region)
        ):
            kept.append(heading)
        else:
            findings.append(finding(
                code="other_form", line=lines.number(heading.index), severity="red",
                text=f"reads like a {name} but the others are written as {best[name]} headings; it is text",
            ))  # fmt: skip
    kept = _in_place(kept, profile)
    unsure = {heading.name for heading in kept if heading.form != "atx"}
    for rank, level in enumerate(profile.levels):
        if level.name not in unsure:
            continue
        outer = {other.name for other in profile.levels[:rank]}
        dropped = {heading.index: heading for heading in _breaking(kept, level, outer)}
        kept = [heading for heading in kept if heading.index not in dropped]
        for index, heading in dropped.items():
            number = heading.number.text if heading.number else ""
            findings.append(finding(
                code="numbering_break", line=lines.number(index), severity="red",
                text=f"{level.name} {number} breaks the numbering around it; it is text"))  # fmt: skip
    return kept, findings


def _filled(headings: list[Heading], best: dict[str, Form], lines: Lines) -> set[int]:
    """Headings of another form than their level's, each a paragraph of its own, whose numbers fill a gap of it."""
    main: dict[str, list[tuple[int, int]]] = defaultdict(list)
    others: dict[str, list[tuple[int, int]]] = defaultdict(list)
    for heading in headings:
        if heading.name and heading.value is not None and len(heading.value) == 1:
            place = heading.index, heading.value[0]
            if heading.form == best[heading.name]:
                main[heading.name].append(place)
            # A profile that names two forms says that the level is written in both; one that names all does not know.
            elif (
                heading.level
                and len(heading.level.forms) == 2
                and (not heading.index or lines.is_blank(heading.index - 1))
            ):
                others[heading.name].append(place)
    return set().union(*(filling(main[name], places) for name, places in others.items()))


def _in_place(headings: list[Heading], profile: Profile) -> list[Heading]:
    """Without a level after another one before which alone it can occur, such as recitals before the first chapter.

    Also without a level outside the one in which alone it can occur: a numbered line of a preamble is no clause.
    """
    first: dict[str, int] = {}
    for heading in headings:
        first.setdefault(heading.name, heading.index)
    ranks = {level.name: rank for rank, level in enumerate(profile.levels)}
    kept: list[Heading] = []
    container = -1
    for heading in headings:
        level = heading.level
        if level is None:
            container = -1
        elif level.only_before is not None and heading.index >= first.get(level.only_before, heading.index + 1):
            continue
        elif level.within is None:
            container = ranks[level.name]
        elif container < ranks[level.within]:
            continue
        kept.append(heading)
    return kept


def _breaking(headings: list[Heading], level: Level, outer: set[str]) -> Iterator[Heading]:
    """The plain and bold headings of a level outside the longest strictly increasing run of their series and parent. If
    the numbers continue through the document, only a region counts as a parent. A heading without a number is never
    outside.
    """
    groups: dict[tuple[int, str], list[tuple[Heading, tuple[int, ...] | None]]] = defaultdict(list)
    parent = -1
    for heading in headings:
        of_region = heading.level is not None and heading.level.region
        if heading.name in outer and (level.numbering != "document" or of_region):
            parent = heading.index
        if heading.name == level.name and heading.form != "atx" and heading.number is not None:
            groups[parent, heading.number.series].append((heading, heading.number.value))
    for group in groups.values():
        comparable = [(heading.index, value) for heading, value in group if value is not None]
        standing = {comparable[position][0] for position in longest_increasing([value for _, value in comparable])}
        yield from (heading for heading, _ in group if heading.index not in standing)


def longest_increasing(values: list[tuple[int, ...]]) -> list[int]:
    """Positions of a longest strictly increasing subsequence, in O(n log n); the smallest values win a tie."""
    tails: list[tuple[int, ...]] = []
    tail_positions: list[int] = []
    previous: list[int] = []
    for position, value in enumerate(values):
        place = bisect_left(tails, value)
        previous.append(tail_positions[place - 1] if place else -1)
        if place == len(tails) or value < tails[place]:
            tails[place : place + 1] = [value]
            tail_positions[place : place + 1] = [position]
    chain = []
    position = tail_positions[-1] if tail_positions else -1
    while position >= 0:
        chain.append(position)
        position = previous[position]
    return chain[::-1]


def _bidi(headings: list[Heading], lines: Lines) -> MarkRefusal | None:
    """Refuse a heading that may look different from its stored text."""
    for heading in headings:
        line, title = lines.lines[heading.index], heading.title
        if line.isascii() and title.isascii():
            continue
        sign = BIDI.search(line.decode("utf-8")) or BIDI.search(title)
        if sign is not None:
            name = f"U+{ord(sign.group()):04X}"
            return refusal(BIDI_IN_HEADING, lines.number(heading.index),
                           f"the heading holds {name}, which changes its order as shown; give --remove-direction-marks",
                           character=name)  # fmt: skip
    return None


def _merge_titles(headings: list[Heading], lines: Lines, profile: Profile) -> list[Heading]:
    """`## Chapter I` + `## GENERAL` become one heading; `Article 1` takes the title from the next line with text."""
    merged: list[Heading] = []
    position = 0
    while position < len(headings):
        heading = headings[position]
        following = headings[position + 1] if position + 1 < len(headings) else None
        if profile.merge_titles and following is not None and _belongs(headings, position, lines, profile):
            heading.title = f"{heading.title} {following.title}"
            heading.last = following.index
            heading.depth = min(heading.depth, following.depth)
            position += 1
        elif heading.level is not None and heading.level.title_next_line and heading.bare:
            stop = following.index if following is not None else len(lines.lines)
            below = next((i for i in range(heading.index + 1, stop) if not lines.is_blank(i)), None)
            heading.title_below = below
            line = b"" if below is None else lines.lines[below]
            title = plain_title(line[:_TITLE_BYTES].decode("utf-8", "ignore"))
            heading.title = f"{heading.title} {title}" if title else heading.title
        merged.append(heading)
        position += 1
    return merged


def _belongs(headings: list[Heading], position: int, lines: Lines, profile: Profile) -> bool:
    """A bare number takes the following heading as its name, if that has no number, nothing is in between, and it is
    not deeper or alone of its kind there. Two such headings are parts. A deeper name must hold a heading too, except
    that of an article in a profile whose words give the kinds.
    """
    heading, following = headings[position], headings[position + 1]
    holds = not (profile.words_give_kinds and heading.level is not None and heading.level.section_type == "article")
    return (
        heading.level is not None
        and heading.bare
        and heading.form == following.form == "atx"
        and following.level is None
        and following.number is None
        and all(map(lines.is_blank, range(heading.index + 1, following.index)))
        and (following.depth <= heading.depth or _is_alone(headings, position, holds=holds))
    )


def _is_alone(headings: list[Heading], position: int, *, holds: bool) -> bool:
    """True when the heading after a number has no sibling, and something below it if `holds`, before the number's part
    ends.
    """
    heading, name = headings[position], headings[position + 1]
    below = not holds
    for other in headings[position + 2 :]:
        if other.form == "atx" and other.depth <= heading.depth:
            break
        if other.form == "atx" and other.depth == name.depth:
            return False
        below = True
    return below


def _rows(headings: list[Heading], lines: Lines, profile: Profile, options: Options) -> tuple[list[Row], list[Finding]]:
    """Rows in document order, and a finding for each ✅ row under a header that is not enacted."""
    rules = profile.status
    enacted_only = rules is not None and (options.scope == "enacted_only" if options.scope else rules.enacted_only)
    rows: list[Row] = []
    findings: list[Finding] = []
    groups: list[Heading] = []  # the headers that are open, outermost first
    current: Heading | None = None
    for heading in headings:
        if not profile.other_headings_are_units and heading.level is None:
            if current is not None and heading.depth > current.depth:
                continue  # a heading inside a row is text of that row
            while groups and groups[-1].depth >= heading.depth:
                groups.pop()
            groups.append(heading)
            rows.append(Row(heading=heading, kind="group"))
            current = None
            continue
        current = heading
        if rules is None:
            rows.append(Row(heading=heading, kind="unit"))
            continue
        status, basis = _status(heading, groups, rules)
        if heading.status and basis == "tier_1_group_header":
            findings.append(finding(
                code="status_conflict", line=lines.number(heading.index), severity="amber",
                text=f"is marked {heading.status} under a header that is {status}; the header counts"))  # fmt: skip
        if not enacted_only or status == "enacted":
            rows.append(Row(heading=heading, kind="unit"))
        else:
            rows.append(Row(heading=heading, kind="excluded", reason=EXCLUSION_REASONS[status], basis=basis))
    return rows, findings


def _status(row: Heading, groups: list[Heading], rules: StatusRules) -> tuple[str, str]:
    """The effective status of a row below these headers, and the tier that decided it."""
    group = max((header.status for header in groups if header.status), key=STATUSES.index, default="")
    if not row.status and not group:
        return rules.default, "tier_3_default"
    if row.status and (not group or STATUSES.index(row.status) >= STATUSES.index(group)):
        return row.status, "tier_2_row_marker"
    return group, "tier_1_group_header"
