"""Pure: texts of others inside our Markdown documents, for readers that do not sanitise.

Such a text cannot make a heading, a link, an image or a tag. It cannot leave its line or its block, and it cannot hide
or reorder the text next to it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any

from cutter.domain.visible import hides, json_text, visible

_MARKUP = frozenset("\\`*_[]()!|~:@$")
_LEADING = frozenset("#+-.=")
_ENTITIES = {"<": "&lt;", ">": "&gt;", "&": "&amp;"}
_SPECIAL = re.compile(r"[^\w ,;'\"/?%^{}]|[^\x20-\x7e]+|_", re.ASCII)
"""What may need an escape: every sign that is not surely plain, and each run of characters outside of ASCII."""
_FENCE_LENGTH = 3


def escape(text: str) -> str:
    """One line without markup. Hidden characters become `U+XXXX`, line feeds become spaces."""
    text = text.replace("\n", " ").strip(" ")
    # A number sign or a dash is markup only at the beginning; a full stop also after www, which readers turn to links.
    first = len(text.split(" ", 1)[0])
    links = {match.end() - 1 for match in re.finditer(r"(?i)www\.", text)}
    return _SPECIAL.sub(lambda match: _escaped(match[0], leading=match.start() < first or match.start() in links), text)


def _escaped(character: str, *, leading: bool) -> str:
    if character in _MARKUP or (leading and character in _LEADING):
        return f"\\{character}"
    return _ENTITIES.get(character) or visible(character)


_HARMLESS = re.compile(r"[\w .,;:+/'\"(){}\[\]=%✓→·…-]*")
_ACTIVE = re.compile(r"\][(\[:]|://|www\.|mailto:|xmpp:|(?<![^\W_])_|_(?![^\W_])", re.IGNORECASE)
"""Escape the harmless characters that would still make a link or emphasis."""


def prose(text: str) -> str:
    """The text, escaped only if it needs an escape, because reports are made again byte for byte."""
    harmless = text[:1].isalpha() and _HARMLESS.fullmatch(text) and not _ACTIVE.search(text)
    return text if harmless and not hides(text) else escape(text)


def cell(text: str) -> str:
    """The same text in a table, where the beginning of a text has no meaning for Markdown."""
    return prose(f"x{text}")[1:]


def code(text: str) -> str:
    """A code span, also in a table. A text that could leave the span is escaped instead."""
    plain = "`" not in text and "|" not in text and not hides(text)
    return f"`{text}`" if plain and text.strip() else escape(text)


def fenced(lines: Iterable[str], language: str = "") -> Iterator[str]:
    """The lines of a code block that no line of its text can close, and a blank line after it."""
    shown = [line for text in lines for line in visible(text).split("\n")]
    longest = max((len(run) for line in shown for run in re.findall(r"`+", line)), default=0)
    fence = "`" * max(_FENCE_LENGTH, longest + 1)
    yield f"{fence}{language}"
    yield from shown
    yield fence
    yield ""


def json_block(value: Any) -> Iterator[str]:
    yield from fenced([json_text(value, indent=2)], "json")
