"""Pure: the characters that a reader cannot see, and how a text shows them: by their code.

Such a character may move the cursor, write the clipboard, reorder a line or hide a word. There is one rule for
terminals, documents, pages and signed statements, so that no place knows fewer of them than another.
"""

from __future__ import annotations

import json
import unicodedata
from typing import Any

_CATEGORIES = frozenset(("Cc", "Cf", "Cn", "Co", "Cs", "Zl", "Zp"))
"""Controls, formats, unassigned and private characters, surrogates, separators of lines and paragraphs."""

_FILLERS = frozenset(
    chr(code)
    for first, last in (
        (0x034F, 0x034F),  # combining grapheme joiner
        (0x115F, 0x1160),  # Hangul fillers
        (0x17B4, 0x17B5),  # Khmer inherent vowels
        (0x180B, 0x180F),  # Mongolian variation selectors
        (0x2800, 0x2800),  # blank Braille pattern
        (0x3164, 0x3164),  # Hangul filler
        (0xFE00, 0xFE0F),  # variation selectors
        (0xFFA0, 0xFFA0),  # halfwidth Hangul filler
        (0xE0100, 0xE01EF),  # more variation selectors
    )
    for code in range(first, last + 1)
)
"""Letters, marks and symbols without a picture: those of Unicode's ignorable characters that no category names."""


def is_hidden(character: str) -> bool:
    """Whether a reader cannot see this one character; a tab and a line feed are such characters too."""
    return unicodedata.category(character) in _CATEGORIES or character in _FILLERS


class _Shown(dict[int, str]):
    """What `str.translate` puts in place of each character, worked out when it first occurs."""

    def __missing__(self, code: int) -> str:
        character = chr(code)
        self[code] = f"\u27e8U+{code:04X}\u27e9" if character != "\n" and is_hidden(character) else character
        return self[code]


class _Escaped(dict[int, str]):
    """The same for a JSON text."""

    def __missing__(self, code: int) -> str:
        character = chr(code)
        hidden = character != "\n" and is_hidden(character)
        self[code] = json.dumps(character)[1:-1] if hidden else character
        return self[code]


_SHOWN = _Shown()
_ESCAPED = _Escaped()


def visible(text: str) -> str:
    """The text with every hidden character but a line feed as its code, such as ⟨U+202E⟩."""
    return text if text.isascii() and text.isprintable() else text.translate(_SHOWN)


def visible_line(text: str) -> str:
    """The same on one line: a line feed too is shown by its code, so that a text cannot add a line of its own."""
    return visible(text).replace("\n", "\u27e8U+000A\u27e9")


def json_visible(text: str) -> str:
    """A JSON text of the same value, in which hidden characters are written as escapes; other letters stay readable."""
    return text if text.isascii() and text.isprintable() else text.translate(_ESCAPED)


def json_text(value: Any, *, indent: int | None = None, sort_keys: bool = True) -> str:
    """A value as JSON without a hidden character; what JSON does not know is written as its text."""
    return json_visible(json.dumps(value, ensure_ascii=False, indent=indent, sort_keys=sort_keys, default=str))
