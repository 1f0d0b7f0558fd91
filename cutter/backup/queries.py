"""IO: the named SQL blocks that stand beside this package (`-- name: x` opens one)."""

from __future__ import annotations

from functools import cache
from importlib import resources
from typing import LiteralString

_OPEN = "-- name: "


@cache
def queries(file: str) -> dict[str, LiteralString]:
    """Blocks of one `.sql` file of this package by name."""
    text = resources.files("cutter.backup").joinpath(file).read_text(encoding="utf-8")
    blocks = dict(block.split("\n", 1) for block in text.split(_OPEN)[1:])
    return {name.strip(): body.strip() for name, body in blocks.items()}
