"""Pure: finds the characters that a reader cannot see, and shows each by its code.

Such a character may move the cursor, write the clipboard, reorder a line or hide a word. Terminals, documents, pages
and signed statements share this one rule, so that none of them misses a character that another one shows.
"""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Callable
from typing import Any

_CATEGORIES = frozenset(("Cc", "Cf", "Cn", "Co", "Cs", "Zl", "Zp"))
"""Control, format, unassigned and private characters, surrogates, and separators of lines and paragraphs."""

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
"""Letters, marks and symbols without a picture: Unicode's ignorable characters that none of these categories names."""


def is_hidden(character: str) -> bool:
    """True if a reader cannot see this one character. A tab and a line feed are such characters too."""
    return unicodedata.category(character) in _CATEGORIES or character in _FILLERS


def hides(text: str) -> bool:
    """True if a reader cannot see some character of the text."""
    return not (text.isascii() and text.isprintable()) and any(map(is_hidden, text))


class _Written(dict[int, str]):
    """The replacement of each character for `str.translate`. It is computed when the character first occurs."""

    def __init__(self, hidden: Callable[[str], str]) -> None:
        self._hidden = hidden

    def __missing__(self, code: int) -> str:
        character = chr(code)
        self[code] = self._hidden(character) if character != "\n" and is_hidden(character) else character
        return self[code]


_SHOWN = _Written(lambda character: f"\u27e8U+{ord(character):04X}\u27e9")
_ESCAPED = _Written(lambda character: json.dumps(character)[1:-1])


def visible(text: str) -> str:
    """The text with each hidden character as its code, such as ⟨U+202E⟩. A line feed stays."""
    return text if text.isascii() and text.isprintable() else text.translate(_SHOWN)


def visible_line(text: str) -> str:
    """The text on one line. A line feed is shown by its code too, so that a text cannot add a line."""
    return visible(text).replace("\n", "\u27e8U+000A\u27e9")


def json_visible(text: str) -> str:
    """A JSON text of the same value. Hidden characters are written as escapes, and other letters stay readable."""
    return text if text.isascii() and text.isprintable() else text.translate(_ESCAPED)


def json_text(value: Any, *, indent: int | None = None, sort_keys: bool = True) -> str:
    """A value as JSON without a hidden character. A value that JSON cannot hold is written as its text."""
    return json_visible(json.dumps(value, ensure_ascii=False, indent=indent, sort_keys=sort_keys, default=str))
