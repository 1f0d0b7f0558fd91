"""Pure: a heading's text without its Markdown markup, on one line, cut at a word; and what a law calls itself."""

from __future__ import annotations

import html
import re

from cutter.limits import TITLE_CHARACTERS_MAX
from cutter.marking import numbers
from cutter.marking.lines import Lines, read_lines

BIDI = re.compile("[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")
"""Characters that change the order in which a line is shown."""

ZERO_WIDTH = re.compile("[\u00ad\u180e\u200b-\u200d\u2060-\u2064\ufeff]")
"""Characters that a reader does not see."""

_IMAGE_OR_LINK = re.compile(r"!?\[([^\[\]]*)\](?:\([^()]*(?:\([^()]*\)[^()]*)*\)|\[[^\[\]]*\])")
_AUTOLINK = re.compile(r"<((?:https?|mailto):[^<>\s]*)>")
_RAISED = re.compile(r"(?<=[0-9])<sup>([0-9]{1,3})</sup>")
"""An inserted number such as § 5<sup>1</sup>. If only the tags were removed, it would read 51."""
_TAG = re.compile(r"</?[A-Za-z][^<>]*>")
_FOOTNOTE = re.compile(r"\[\^[^\[\]\s]*\]")
_CODE = re.compile(r"`+")
_ENTITY = re.compile(r"&(?:#[0-9]{1,7}|#[xX][0-9A-Fa-f]{1,6}|[A-Za-z][A-Za-z0-9]{1,31});")
_STARS = re.compile(r"(?<![\s*])\*{1,3}(?!\*)|(?<!\*)\*{1,3}(?![\s*])")
_UNDERSCORES = re.compile(r"(?<![\w_])_{1,3}(?=[^\s_])|(?<=[^\s_])_{1,3}(?![\w_])")
_ESCAPE = re.compile(r"\\([!-/:-@\[-`{-~])")
_CLOSING_HASHES = re.compile(r"(?:^|[ \t])#+[ \t\r]*$")
_SPACES = re.compile(r"[\s\x00-\x1f\x7f-\x9f\u2028\u2029]+")
_MARKED = re.compile(r"[\\\[\]<>`&*_\x00]")
"""A sign that one of these patterns needs. Most titles have none."""
_RARE_BLANKS = re.compile("[\u1680\u2000-\u200a\u202f\u205f]")
_FIELD = re.compile(r"title:[ \t]*(?P<value>\S.*)", re.IGNORECASE)
_HEADING = re.compile(r" {0,3}(?P<signs>#{1,6})[ \t]+(?P<content>\S.*)")
_HIDDEN = "\x00"
"""A placeholder for an escaped character. No text that cutter accepts contains it."""


def plain_title(raw: str) -> str:
    """Text of a heading's content without links, images, emphasis, code marks, tags and invisible characters."""
    if not _MARKED.search(raw):
        return visible(raw)
    kept: list[str] = _ESCAPE.findall(raw)
    text = _ESCAPE.sub(_HIDDEN, raw)
    for _ in range(2):  # an image inside a link
        text = _IMAGE_OR_LINK.sub(r"\1", text)
    text = _AUTOLINK.sub(r"\1", _FOOTNOTE.sub("", text))
    text = _RAISED.sub(lambda match: numbers.raised(match.group(1)), text)
    text = _CODE.sub("", _TAG.sub("", text))
    text = _UNDERSCORES.sub("", _STARS.sub("", text))
    text = _ENTITY.sub(lambda match: html.unescape(match.group()), text)
    pieces = text.split(_HIDDEN)
    if len(pieces) == len(kept) + 1:
        text = pieces[0] + "".join(sign + piece for sign, piece in zip(kept, pieces[1:], strict=True))
    else:
        text = text.replace(_HIDDEN, "")
    return _SPACES.sub(" ", ZERO_WIDTH.sub("", text)).strip()


def visible(raw: str) -> str:
    """A text on one line without control and invisible characters, its markup kept."""
    if raw.isprintable() and "  " not in raw:
        return raw.strip(" ")
    return _SPACES.sub(" ", ZERO_WIDTH.sub("", raw)).strip()


def with_plain_blanks(text: str) -> str:
    """A text whose thin and other rare blanks are usual ones, as in a title. The number of characters stays."""
    return text if text.isascii() else _RARE_BLANKS.sub(" ", text)


def without_closing_hashes(content: str) -> str:
    """ATX content without the optional closing run of `#`."""
    bare = content.strip(" \t\r")
    return _CLOSING_HASHES.sub("", content).strip(" \t\r") if bare.endswith("#") else bare


def cut_title(title: str) -> str:
    """At most TITLE_CHARACTERS_MAX characters, cut at a word where there is one."""
    if len(title) <= TITLE_CHARACTERS_MAX:
        return title
    head, space, _ = title[: TITLE_CHARACTERS_MAX + 1].rpartition(" ")
    return (head if space else title[:TITLE_CHARACTERS_MAX]).rstrip()


def law_title(data: bytes) -> str | None:
    """The title of the front matter, else the first heading of the highest level `#`, else the first heading, else
    None. It is for the head of a page: nothing is decided by it, and no digest holds it.
    """
    lines = read_lines(data, 0, len(data))
    return _titled(_of_front_matter(lines)) or _titled(_of_heading(lines)) or None


def _titled(raw: str) -> str:
    """Without its markup and what nobody sees, at most as long as a unit's title."""
    return cut_title(plain_title(BIDI.sub("", raw)))


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
        content = without_closing_hashes(match["content"]) if match else ""
        if match and content and match["signs"] == "#":
            return content
        first = first or content
    return first
