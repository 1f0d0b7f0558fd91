"""IO: named SQL blocks. A `.sql` file under sql/queries holds `-- name: some_query` lines; this reads them once.

A comment below the name states the query's contract; it is not sent to the server.
"""

from __future__ import annotations

import re
from functools import cache
from importlib import resources
from typing import LiteralString

_NAME = re.compile(r"^-- name: ([a-z0-9_]+)$", re.MULTILINE)
_CONTRACT = re.compile(r"\A(?:\s*--[^\n]*\n)+")


@cache
def queries() -> dict[str, LiteralString]:
    """Every named block of every file; a name that stands twice is our mistake."""
    found: dict[str, LiteralString] = {}
    folder = resources.files("cutter.storage") / "sql" / "queries"
    for file in sorted(folder.iterdir(), key=lambda item: item.name):
        if not file.name.endswith(".sql"):
            continue
        parts = _NAME.split(file.read_text(encoding="utf-8"))
        for name, body in zip(parts[1::2], parts[2::2], strict=True):
            if name in found:
                raise ValueError(f"query {name} stands twice")
            found[name] = _CONTRACT.sub("", body).strip()
    return found


def query(name: str) -> LiteralString:
    """The SQL of that name; KeyError is a programmer's error."""
    return queries()[name]
