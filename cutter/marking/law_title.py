"""Pure: what a law calls itself, for the head of a page; nothing is decided by it and no digest holds it."""

from __future__ import annotations

import re

from cutter.marking import titles
from cutter.marking.lines import Lines, read_lines

_FIELD = re.compile(r"title:[ \t]*(?P<value>\S.*)", re.IGNORECASE)
_HEADING = re.compile(r" {0,3}(?P<signs>#{1,6})[ \t]+(?P<content>\S.*)")


def law_title(data: bytes) -> str | None:
    """The title of the front matter, else the first heading of the highest level `#`, else the first heading, else
    None.
    """
    lines = read_lines(data, 0, len(data))
    return _titled(_of_front_matter(lines)) or _titled(_of_heading(lines)) or None


def _titled(raw: str) -> str:
    """Without its markup and what nobody sees, at most as long as a unit's title."""
    return titles.cut_title(titles.plain_title(titles.BIDI.sub("", raw)))


def _of_front_matter(lines: Lines) -> str:
    front_matter = [line.decode("utf-8", "replace") for line in lines.lines[1 : max(lines.front_matter - 1, 0)]]
    for index, line in enumerate(front_matter):
        match = _FIELD.match(line)
        if match is not None:
            rest = front_matter[index + 1 :]
            ends = (place for place, more in enumerate(rest) if not more.startswith((" ", "\t")))
            whole = " ".join([match["value"], *rest[: next(ends, len(rest))]])
            return " ".join(whole.split()).strip("\"'")
    return ""


def _of_heading(lines: Lines) -> str:
    """A heading's content; lines in which no heading can be, such as those of a fence, are passed over."""
    first = ""
    for index, line in enumerate(lines.lines):
        if lines.opaque[index] or not line.lstrip(b" ").startswith(b"#"):
            continue
        match = _HEADING.match(line.decode("utf-8", "replace"))
        content = titles.without_closing_hashes(match["content"]) if match else ""
        if match and content and match["signs"] == "#":
            return content
        first = first or content
    return first
