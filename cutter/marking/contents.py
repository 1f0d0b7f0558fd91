"""Pure: finds the table of contents, whose entries repeat the headings but are not headings."""

from __future__ import annotations

from collections.abc import Iterable

from cutter.marking.lines import Lines
from cutter.marking.profile import Profile
from cutter.marking.recognise import Heading
from cutter.marking.result import MarkRefusal, refusal
from cutter.marking.titles import plain_title

_LONGEST_LINE = 120
"""The most bytes of a line that may be the title of a table of contents."""


def contents_block(lines: Lines, headings: list[Heading], profile: Profile) -> tuple[int, int] | MarkRefusal | None:
    """Line indexes [begin, end) of the table. None if there is no table, and a refusal if its end cannot be found.

    The table ends where its first entry occurs again, or at the next ATX heading that is not one of its entries.
    """
    # If only `#` makes a heading, the title of the table is a heading too.
    words = {word.lower() for word in profile.contents}
    titles: Iterable[tuple[int, str]] = ((heading.index, heading.title) for heading in headings)
    if words and any(form != "atx" for level in profile.levels for form in level.forms):
        titles = (
            (index, plain_title(line.decode("utf-8", "ignore").strip(" #\r\t")))
            for index, line in enumerate(lines.lines)
            if 0 < len(line) <= _LONGEST_LINE and not lines.opaque[index]
        )
    begin = next((index for index, title in titles if title.lower().rstrip(" :.") in words), None)
    if begin is None:
        return None
    behind = [heading for heading in headings if heading.index > begin]
    if not behind:
        return refusal(
            "contents_without_end", lines.number(begin), "a table of contents with nothing after it; "
            "remove it or end it with a heading",
        )  # fmt: skip
    first = behind[0]
    if first.form == "atx":
        return begin, first.index
    for heading in behind[1:]:
        if heading.form == "atx" or _key(heading) == _key(first):
            return begin, heading.index
    return refusal(
        "contents_without_end", lines.number(begin), f"a table of contents whose first entry {first.title[:60]!r} does "
        "not come again; remove the table or end it with a heading",
    )  # fmt: skip


def _key(heading: Heading) -> tuple[str, str]:
    name = heading.level.name if heading.level else heading.title
    return name, heading.number.text.lower() if heading.number else heading.title.lower()
