"""Pure: decides which plain and bold lines that look like headings are headings.

A cross-reference may be at the beginning of a wrapped line (`Article 5. …`). But the numbers of a level increase within
a parent. So the headings are the longest strictly increasing run of the lines that look like headings of that level.
The other lines are text, and each of them is a finding.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterator

from cutter.marking.lines import Lines
from cutter.marking.profile import Level, Profile
from cutter.marking.recognise import Heading
from cutter.marking.result import Finding

_FORM_ORDER = ("atx", "bold", "plain")


def settle(headings: list[Heading], lines: Lines, profile: Profile) -> tuple[list[Heading], list[Finding]]:
    """The confirmed headings, and a finding for each line that only looked like one."""
    findings: list[Finding] = []
    # If a level is written with `#` anywhere, it is not also read from plain lines.
    forms: dict[str, set[str]] = defaultdict(set)
    for heading in headings:
        if heading.level is not None:
            forms[heading.level.name].add(heading.form)
    best = {name: min(used, key=_FORM_ORDER.index) for name, used in forms.items()}
    kept: list[Heading] = []
    for heading in headings:
        if heading.level is None or heading.form == best[heading.level.name]:
            kept.append(heading)
        else:
            line, name = lines.number(heading.index), heading.level.name
            message = f"line {line}: reads like a {name} but the others are written as {best[name]} headings; "
            message += "it is text"
            findings.append(Finding(code="other_form", line=line, message=message, severity="red"))
    kept = _within(_only_before(kept, profile), profile)
    unsure = {heading.level.name for heading in kept if heading.level is not None and heading.form != "atx"}
    for rank, level in enumerate(profile.levels):
        if level.name not in unsure:
            continue
        outer = {other.name for other in profile.levels[:rank]}
        dropped = {id(heading) for heading in _breaking(kept, level, outer)}
        for heading in kept:
            if id(heading) in dropped:
                line, number = lines.number(heading.index), heading.number.text if heading.number else ""
                message = f"line {line}: {level.name} {number} breaks the numbering around it; it is text"
                findings.append(Finding(code="numbering_break", line=line, message=message, severity="red"))
        kept = [heading for heading in kept if id(heading) not in dropped]
    return kept, findings


def _only_before(headings: list[Heading], profile: Profile) -> list[Heading]:
    """Levels that occur only before another level (such as recitals before the first chapter)."""
    if all(level.only_before is None for level in profile.levels):
        return headings
    first: dict[str, int] = {}
    for heading in headings:
        if heading.level is not None:
            first.setdefault(heading.level.name, heading.index)
    return [
        heading
        for heading in headings
        if heading.level is None
        or heading.level.only_before is None
        or heading.index < first.get(heading.level.only_before, heading.index + 1)
    ]


def _within(headings: list[Heading], profile: Profile) -> list[Heading]:
    """Levels that occur only inside another level, because a numbered line in a preamble or a form is not a clause."""
    if all(level.within is None for level in profile.levels):
        return headings
    ranks = {level.name: rank for rank, level in enumerate(profile.levels)}
    kept: list[Heading] = []
    container = -1
    for heading in headings:
        if heading.level is None:
            container = -1
        elif heading.level.within is None:
            container = ranks[heading.level.name]
        elif container < ranks[heading.level.within]:
            continue
        kept.append(heading)
    return kept


def _breaking(headings: list[Heading], level: Level, outer: set[str]) -> Iterator[Heading]:
    """The plain and bold headings of a level outside the longest strictly increasing run of their series and parent.

    If the numbers continue through the document, the parent does not count. A heading without a number (`PHẦN CHUNG`)
    is never outside.
    """
    groups: dict[tuple[int, str], list[Heading]] = defaultdict(list)
    parent = -1
    for heading in headings:
        name = heading.level.name if heading.level is not None else ""
        if name in outer and level.numbering != "document":
            parent = heading.index
        if name == level.name and heading.form != "atx" and heading.number is not None:
            groups[parent, heading.number.series].append(heading)
    for group in groups.values():
        comparable = [heading for heading in group if heading.number is not None and heading.number.value is not None]
        values = [heading.number.value for heading in comparable if heading.number and heading.number.value is not None]
        standing = {id(comparable[position]) for position in longest_increasing(values)}
        yield from (heading for heading in group if id(heading) not in standing)


def longest_increasing(values: list[tuple[int, ...]]) -> list[int]:
    """Positions of a longest strictly increasing subsequence, in O(n log n); the smallest values win a tie."""
    tails: list[tuple[int, ...]] = []
    tail_positions: list[int] = []
    previous: list[int] = []
    for position, value in enumerate(values):
        place = bisect_left(tails, value)
        previous.append(tail_positions[place - 1] if place else -1)
        if place == len(tails):
            tails.append(value)
            tail_positions.append(position)
        elif value < tails[place]:
            tails[place] = value
            tail_positions[place] = position
    chain = []
    position = tail_positions[-1] if tail_positions else -1
    while position >= 0:
        chain.append(position)
        position = previous[position]
    return chain[::-1]
