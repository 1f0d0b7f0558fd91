"""Pure: joins a heading that is only a number with a title on its own line."""

from __future__ import annotations

from cutter.marking.lines import Lines
from cutter.marking.profile import Profile
from cutter.marking.recognise import Heading
from cutter.marking.titles import plain_title

_TITLE_BYTES = 8_192
"""The most bytes of a following line that are read as a title. Titles are cut to far less than that."""


def merge_titles(headings: list[Heading], lines: Lines, profile: Profile) -> list[Heading]:
    """`## Chapter I` + `## GENERAL` become one heading; `Article 1` takes the title from the next line with text."""
    merged: list[Heading] = []
    position = 0
    while position < len(headings):
        heading = headings[position]
        following = headings[position + 1] if position + 1 < len(headings) else None
        if profile.merge_titles and following is not None and _belongs(headings, position, lines):
            heading.title = f"{heading.title} {following.title}"
            heading.last = following.index
            heading.depth = min(heading.depth, following.depth)
            position += 1
        elif heading.level is not None and heading.level.title_next_line and heading.bare:
            stop = following.index if following is not None else len(lines.lines)
            below = next((i for i in range(heading.index + 1, stop) if not lines.is_blank(i)), None)
            line = b"" if below is None else lines.lines[below]
            title = plain_title(line[:_TITLE_BYTES].decode("utf-8", "ignore"))
            heading.title = f"{heading.title} {title}" if title else heading.title
        merged.append(heading)
        position += 1
    return merged


def _belongs(headings: list[Heading], position: int, lines: Lines) -> bool:
    """A bare number takes the following heading as its name, if that heading has no number and nothing is in between.

    A deeper heading is the name only if it is the only heading of its kind there. Two such headings are parts.
    """
    heading, following = headings[position], headings[position + 1]
    return (
        heading.level is not None
        and heading.bare
        and heading.form == following.form == "atx"
        and following.level is None
        and following.number is None
        and not any(not lines.is_blank(index) for index in range(heading.index + 1, following.index))
        and (following.depth <= heading.depth or _is_alone(headings, position))
    )


def _is_alone(headings: list[Heading], position: int) -> bool:
    """True when the heading after a number has no sibling and something below it, before the number's part ends."""
    heading, name = headings[position], headings[position + 1]
    below = False
    for other in headings[position + 2 :]:
        if other.form == "atx" and other.depth <= heading.depth:
            break
        if other.form == "atx" and other.depth == name.depth:
            return False
        below = True
    return below
