"""Pure: joins a heading that is only a number with a title on its own line."""

from __future__ import annotations

from cutter.marking.lines import Lines
from cutter.marking.profile import Profile
from cutter.marking.recognise import Heading
from cutter.marking.titles import plain_title

_TITLE_BYTES = 8_192
"""How much of a following line is read as a title; titles are cut far below that."""


def merge_titles(headings: list[Heading], lines: Lines, profile: Profile) -> list[Heading]:
    """`## Chapter I` + `## GENERAL` become one heading; `Article 1` takes the title from the next line with text."""
    merged: list[Heading] = []
    position = 0
    while position < len(headings):
        heading = headings[position]
        following = headings[position + 1] if position + 1 < len(headings) else None
        if profile.merge_titles and following is not None and _belongs(heading, following, lines):
            heading.title = f"{heading.title} {following.title}"
            heading.last = following.index
            position += 1
        elif _wants_next_line(heading):
            _take_next_line(heading, following, lines)
        merged.append(heading)
        position += 1
    return merged


def _belongs(heading: Heading, following: Heading, lines: Lines) -> bool:
    """A bare number takes a heading of its own depth or above, without a number, with nothing in between."""
    return (
        heading.level is not None
        and heading.bare
        and heading.form == following.form == "atx"
        and following.level is None
        and following.number is None
        and following.depth <= heading.depth
        and not any(not lines.is_blank(index) for index in range(heading.index + 1, following.index))
    )


def _wants_next_line(heading: Heading) -> bool:
    return heading.level is not None and heading.level.title_next_line and heading.bare


def _take_next_line(heading: Heading, following: Heading | None, lines: Lines) -> None:
    stop = following.index if following is not None else len(lines.lines)
    for index in range(heading.index + 1, stop):
        if lines.is_blank(index):
            continue
        title = plain_title(lines.lines[index][:_TITLE_BYTES].decode("utf-8", "ignore"))
        if title:
            heading.title = f"{heading.title} {title}"
        return
