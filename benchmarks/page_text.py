"""Pure: paragraphs and lists of docs/internals/performance.md, in lines of at most 112 characters."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from textwrap import wrap

WIDTH = 112


def paragraph(*sentences: str) -> list[str]:
    """The sentences as one paragraph, and an empty line."""
    return [*_wrapped(" ".join(sentences)), ""]


def listed(items: Iterable[str]) -> list[str]:
    """A list, and an empty line after it. Without items there are no lines."""
    lines = [line for item in items for line in _wrapped(f"- {item}", indent="  ")]
    return [*lines, ""] if lines else []


def _wrapped(text: str, indent: str = "") -> Iterator[str]:
    yield from wrap(text, WIDTH, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False)
