"""Pure: which lines of a text are inside a quotation that begins before them."""

from __future__ import annotations

import re
from itertools import pairwise

_OPENING = {"«": "»", "“": "”", "„": "“”", '"': '"', "”": "”", "‘": "’"}
_BEGINS = re.compile(r"[ \t>*_#-]*(?P<sign>[«“„\"”‘])")
_ENDS = re.compile(r"(?P<sign>[»”“\"’])[ \t*_.;,:)]*$")
_WITHIN = re.compile(r"(?P<sign>[«“„])[^»”“]*$")
"""An opening mark in a line that does not close it."""

LINES_MAX = 150
"""A quotation whose end is further away has none; a gazette may open one for a whole law."""


def quoted_lines(lines: list[str]) -> set[int]:
    """The numbers of the lines inside quotations, without the line that opens each."""
    inside: set[int] = set()
    opened: list[tuple[int, str]] = []
    for number, line in enumerate(lines, 1):
        end = _ENDS.search(line)
        if opened and end and end["sign"] in opened[-1][1]:
            begun, _ = opened.pop()
            if number - begun <= LINES_MAX:
                inside.update(range(begun + 1, number + 1))
            continue
        begin = _BEGINS.match(line) or _WITHIN.search(line)
        if begin and not (end and end["sign"] in _OPENING[begin["sign"]] and end.start() > begin.start("sign")):
            opened = [(number, _OPENING[begin["sign"]])]
    return inside


def announced(lines: list[str], number: int) -> bool:
    """True when the last line with text before this one ends with a colon."""
    before = next((line for line in reversed(lines[: number - 1]) if line.strip()), "")
    return before.rstrip(" *_\r\t").endswith(":")


def dense(numbers: list[int]) -> bool:
    """True for lines that follow each other without a text between them, as in a table of contents."""
    return len(numbers) > 2 and all(after - before <= 2 for before, after in pairwise(numbers))
