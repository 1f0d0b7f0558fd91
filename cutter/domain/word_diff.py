"""Pure: the words that two texts share, and those that only one of them has."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Final, Literal

from cutter import limits

Kind = Literal["same", "removed", "added"]

_WORD = re.compile(
    # Scripts without spaces between words: each letter is compared by itself, with its vowel signs.
    r"[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff][\u0e31-\u0e4e]*"
    r"|[^\W\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff]+|\s+|.",
    re.DOTALL,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Piece:
    """A run of words: in both texts, only in the earlier one, or only in the later one."""

    kind: Kind
    text: str


def word_diff(before: str, after: str, *, pairs: int | None = None) -> tuple[Piece, ...]:
    """The pieces in order. If the texts have more pairs of words than `pairs` (None: WORD_PAIRS_COMPARED_MAX), all
    words between the first and the last difference count as replaced.
    """
    old, new = _WORD.findall(before), _WORD.findall(after)
    head = _common(old, new)
    tail = _common(old[head:][::-1], new[head:][::-1])
    left, right = old[head : len(old) - tail], new[head : len(new) - tail]
    parts: list[tuple[Kind, Sequence[str]]] = [("same", old[:head])]
    if len(left) * len(right) > (limits.WORD_PAIRS_COMPARED_MAX if pairs is None else pairs):
        parts += [("removed", left), ("added", right)]
    else:
        for tag, a, b, c, d in SequenceMatcher(None, left, right, autojunk=False).get_opcodes():
            parts += [("same", left[a:b])] if tag == "equal" else [("removed", left[a:b]), ("added", right[c:d])]
    parts.append(("same", old[len(old) - tail :]))
    # Without empty pieces; neighbours of one kind become one piece.
    made: list[Piece] = []
    for kind, words in parts:
        text = "".join(words)
        if text and made and made[-1].kind == kind:
            made[-1] = Piece(kind=kind, text=made[-1].text + text)
        elif text:
            made.append(Piece(kind=kind, text=text))
    return tuple(made)


def _common(first: Sequence[str], second: Sequence[str]) -> int:
    count = 0
    for left, right in zip(first, second, strict=False):
        if left != right:
            break
        count += 1
    return count


SIGNS: Final[dict[Kind, tuple[str, str]]] = {"removed": ("[-", "-]"), "added": ("{+", "+}"), "same": ("", "")}
"""What is written around a piece, as other programs do it: colours alone are lost in a file."""


def marked(pieces: Sequence[Piece]) -> str:
    """One text with `[-removed-]` and `{+added+}`."""
    return "".join(f"{SIGNS[piece.kind][0]}{piece.text}{SIGNS[piece.kind][1]}" for piece in pieces)


def brief(pieces: Sequence[Piece], around: int) -> tuple[Piece, ...]:
    """The pieces with so many characters of each unchanged text next to a change, and `…` for the rest."""
    shown = []
    for place, piece in enumerate(pieces):
        text = piece.text
        first, last = 0 if place == 0 else around, 0 if place == len(pieces) - 1 else around
        if piece.kind == "same" and len(text) > first + last:
            text = f"{text[:first]}…{text[len(text) - last :]}"
        shown.append(Piece(kind=piece.kind, text=text))
    return tuple(shown)
