"""Pure: finds the lines of a text that look like headings without using a profile, and groups them by kind.

A kind is a word with numbers, such as `Article 5` or `5. peatükk`. A word that no table knows is a kind if its numbers
count up from the beginning. Each line is read once, from its start up to a bound.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from dataclasses import dataclass
from itertools import pairwise

from cutter.marking import numbers
from cutter.marking.asides import quoted_lines
from cutter.marking.heading_lines import LikelyHeading, likely_heading
from cutter.marking.lines import Lines
from cutter.marking.profile import Form
from cutter.marking.vocabulary import Role, role_of

_UNKNOWN_LINES_MIN = 3
"""An unknown word must begin this many lines before it counts as a kind of heading."""

_STEPS_SHARE_MIN = 0.6
"""At least this share of the steps between the numbers of an unknown word must go up by one, or back to one."""

_PREFERRED = ("arabic", "roman", "ordinal", "letter", "dotted", "lettered", "code", "cjk")
"""Styles in the order of preference. A later one is chosen only for numbers that no earlier one reads."""

_STYLE = {style: re.compile(numbers.STYLES[style] + r"\Z", re.IGNORECASE) for style in _PREFERRED}


@dataclass(frozen=True, slots=True, kw_only=True)
class Kind:
    """Lines that begin with the same word, in one form."""

    word: str
    form: Form
    depth: int
    role: Role | None
    lines: tuple[LikelyHeading, ...]
    styles: tuple[str, ...]
    number_first: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """All lines that look like headings, in order, and the kinds among them."""

    lines: tuple[LikelyHeading, ...]
    kinds: tuple[Kind, ...]
    others: tuple[LikelyHeading, ...] = ()
    """Lines without `#` that have the word and number of an article and are of no kind, or of a smaller one."""


def read_evidence(lines: Lines) -> Evidence:
    headings = [line for index in range(len(lines.lines)) if (line := likely_heading(index, lines)) is not None]
    quoted = quoted_lines(lines)
    groups: dict[tuple[str, Form], list[LikelyHeading]] = defaultdict(list)
    for line in headings:
        if line.word and not line.hidden and (line.form == "atx" or line.index not in quoted):
            groups[line.key, line.form].append(line)
    digits = Counter(line.depth for line in headings if line.form == "atx" and line.title[:1].isdigit())
    candidates = [(form, kept) for (_, form), group in groups.items() if (kept := _without_titles(group, digits))]
    kinds = [kind for form, group in candidates if (kind := _kind(form, group)) is not None]
    if not kinds and not digits:
        # the one article of a law that has no other numbered part
        single = (_kind(form, group, fewest=1) for form, group in candidates)
        kinds = [kind for kind in single if kind and kind.role and kind.role.name == "article"]
    of_a_kind = {line.index for kind in kinds for line in kind.lines}
    read = tuple(line for line in headings if line.form == "atx" or not line.word or line.index in of_a_kind)
    others = tuple(
        line for (_, form), group in groups.items() if form != "atx" for line in group if line.number and line.parted
    )  # fmt: skip
    return Evidence(lines=read, kinds=tuple(sorted(kinds, key=lambda kind: kind.lines[0].index)), others=others)


def read_named(index: int, lines: Lines) -> LikelyHeading | None:
    """A line that a person names as a heading, also if it is alone of its kind. None without a word and number."""
    line = likely_heading(index, lines) if 0 <= index < len(lines.lines) else None
    return line if line is not None and line.word and line.number and line.parted else None


def _without_titles(lines: list[LikelyHeading], digits: Counter[int]) -> list[LikelyHeading]:
    """The lines without those whose word begins a title (`31. Regulation of taxis`): fewer than half of the headings
    that begin with a digit at their depth have the word. `digits` counts these headings by depth."""
    first = Counter(line.depth for line in lines if line.number_first and line.form == "atx")
    titles = {depth for depth, count in first.items() if 2 * count < digits[depth]}
    return [line for line in lines if not (line.number_first and line.form == "atx" and line.depth in titles)]


def _kind(form: Form, lines: list[LikelyHeading], *, fewest: int = 2) -> Kind | None:
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
    # the fewest styles, in the order of preference, that read every number
    left = {line.number for line in numbered}
    styles = []
    for style in _PREFERRED:
        read = {number for number in left if _STYLE[style].match(number)}
        styles += [style] if read else []
        left -= read
    return Kind(word=" ".join(word.split()), form=form, depth=depth, role=role, lines=tuple(kept),
                styles=tuple(styles), number_first=any(line.number_first for line in kept))  # fmt: skip


def _counts_up(lines: list[LikelyHeading]) -> bool:
    """True when the numbers of an unknown word begin at one and mostly step by one, or start again."""
    values = [value[0] for line in lines if (value := numbers.parse(line.number).value)]
    if len(values) < _UNKNOWN_LINES_MIN or values[0] > 1 or len(set(values)) < _UNKNOWN_LINES_MIN:
        return False
    steps = list(pairwise(values))
    good = sum(after - before in (0, 1) or after <= 1 for before, after in steps)
    return good >= _STEPS_SHARE_MIN * len(steps)
