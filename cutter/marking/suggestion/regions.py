"""Pure: finds the lines that may be titles of other documents in the file: transitory articles, annexes, treaties."""

from __future__ import annotations

import re

from cutter.marking.heading_lines import LikelyHeading
from cutter.marking.lines import ATX, BLANK_BYTES, Lines
from cutter.marking.titles import plain_title
from cutter.marking.vocabulary import ANNEX_WORDS, DOCUMENT_WORDS, REGION_TITLES

_TITLE_BYTES_MAX = 160

_NUMBER = r"(?:[ ]*(?:N[º°o.]+[ ]*)?(?:[0-9]{1,3}|[IVXLC]{1,7}|[A-Z]))?"
_ALONE = re.compile(
    rf"(?:(?:{'|'.join(map(re.escape, REGION_TITLES))})|(?:{'|'.join(map(re.escape, ANNEX_WORDS))}){_NUMBER})[.:–—-]?",
    re.IGNORECASE,
)  # fmt: skip
_DOCUMENT = re.compile(rf"(?:{'|'.join(map(re.escape, DOCUMENT_WORDS))})[ ]")


def region_lines(lines: Lines, taken: frozenset[int]) -> tuple[LikelyHeading, ...]:
    """Lines without `#` that are only a title of such a document, except the headings in `taken`."""
    titles: list[LikelyHeading] = []
    for index, raw in enumerate(lines.lines):
        if not raw or len(raw) > _TITLE_BYTES_MAX or index in taken or lines.opaque[index] or ATX.match(raw):
            continue
        if not raw.strip(BLANK_BYTES):
            continue
        text = raw.decode("utf-8", "ignore").strip()
        title = plain_title(text)
        bold = text.startswith(("**", "__"))
        alone = bool(_ALONE.fullmatch(title)) and title[:1].isupper() and (
            bold or title.isupper() or index == 0 or lines.is_blank(index - 1)
            or lines.lines[index - 1].rstrip().endswith(b".")
        )  # fmt: skip
        if alone or (title.isupper() and _DOCUMENT.match(title)):
            titles.append(LikelyHeading(index=index, form="bold" if bold else "plain", depth=0, title=title))
    return tuple(titles)
