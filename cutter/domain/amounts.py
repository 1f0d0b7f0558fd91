"""Pure: a number with its noun, in the singular or the plural."""

from __future__ import annotations


def counted(number: int, noun: str) -> str:
    """`1 unit`, `2 units`, `0 units`. The noun must be one whose plural only adds an s."""
    return f"{number} {noun}{'' if number == 1 else 's'}"
