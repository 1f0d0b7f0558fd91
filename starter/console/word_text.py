"""IO: a difference by word on a terminal. Its signs show it without colours too."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from rich.text import Text

from cutter.domain.word_diff import SIGNS, Kind, Piece
from starter.console.terminal import line, plain, quoted

_STYLES: Final[dict[Kind, str]] = {"removed": "red strike", "added": "green", "same": ""}


def by_word(pieces: Sequence[Piece]) -> Text:
    """The pieces as one indented text; a text that is unchanged is not repeated."""
    if [piece.kind for piece in pieces] == ["same"]:
        return line("  the same text")
    shown = plain("")
    for piece in pieces:
        before, after = SIGNS[piece.kind]
        shown.append_text(plain(f"{before}{piece.text}{after}", _STYLES[piece.kind]))
    shown.rstrip()
    return quoted(shown)
