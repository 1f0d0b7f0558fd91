"""IO: reads named SQL blocks, which begin with a line `-- name: some_query`. Each file is read once."""

from __future__ import annotations

import re
from functools import cache
from importlib import resources
from importlib.resources.abc import Traversable
from typing import LiteralString

_NAME = re.compile(r"^-- name: ([a-z0-9_]+)$", re.MULTILINE)
_CONTRACT = re.compile(r"\A(?:\s*--[^\n]*\n)+")


@cache
def queries() -> dict[str, LiteralString]:
    """Every named block of every file in sql/queries. A repeated name is a programmer's mistake."""
    folder = resources.files("cutter.storage") / "sql" / "queries"
    files = [file for file in folder.iterdir() if file.name.endswith(".sql")]
    return _blocks(sorted(files, key=lambda file: file.name))


@cache
def queries_in(package: str, file: str) -> dict[str, LiteralString]:
    """The named blocks of one `.sql` file that belongs to a package."""
    return _blocks([resources.files(package) / file])


def query(name: str) -> LiteralString:
    """The SQL of that name. A KeyError is a programmer's mistake."""
    return queries()[name]


def _blocks(files: list[Traversable]) -> dict[str, LiteralString]:
    blocks: dict[str, LiteralString] = {}
    for file in files:
        parts = _NAME.split(file.read_text(encoding="utf-8"))
        for name, body in zip(parts[1::2], parts[2::2], strict=True):
            if name in blocks:
                raise ValueError(f"query {name} is duplicated")
            blocks[name] = _CONTRACT.sub("", body).strip()
    return blocks
