"""IO: named SQL blocks. A `.sql` file holds `-- name: some_query` lines; each file is read once.

A comment below the name states the query's contract; it is not sent to the server.
"""

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
    """Every named block of every file under sql/queries; a repeated name is our mistake."""
    folder = resources.files("cutter.storage") / "sql" / "queries"
    files = [file for file in folder.iterdir() if file.name.endswith(".sql")]
    return _blocks(sorted(files, key=lambda file: file.name))


@cache
def queries_in(package: str, file: str) -> dict[str, LiteralString]:
    """The named blocks of one `.sql` file that belongs to a package."""
    return _blocks([resources.files(package) / file])


def query(name: str) -> LiteralString:
    """The SQL of that name; KeyError is a programmer's error."""
    return queries()[name]


def _blocks(files: list[Traversable]) -> dict[str, LiteralString]:
    found: dict[str, LiteralString] = {}
    for file in files:
        parts = _NAME.split(file.read_text(encoding="utf-8"))
        for name, body in zip(parts[1::2], parts[2::2], strict=True):
            if name in found:
                raise ValueError(f"query {name} is duplicated")
            found[name] = _CONTRACT.sub("", body).strip()
    return found
