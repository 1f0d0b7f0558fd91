"""Pure: the bare tables of schema.sql, for a database that only proves a restore.

Restoring nine tables into the full schema fails on foreign keys to the others and on the gateway trigger (measured), so
the scratch gets tables, types and schemas only. What else schema.sql holds (functions, triggers, indexes, grants, keys
added later) is left out here; foreign keys and defaults written inside a CREATE TABLE are dropped from the catalogue
by the caller (`cutter.backup.scratch`).
"""

from __future__ import annotations

import re
from collections.abc import Iterator

_TOKEN = re.compile(
    r"""
    --[^\n]*
  | /\*.*?\*/
  | [eE]'(?:[^'\\]|\\.|'')*'
  | '(?:[^']|'')*'
  | "(?:[^"]|"")*"
  | \$(?P<tag>[A-Za-z_]\w*|)\$.*?\$(?P=tag)\$
  | ;
  | [A-Za-z_][\w$]*
  | .
    """,
    re.VERBOSE | re.DOTALL,
)
_KEPT = re.compile(
    r"CREATE\s+(?:SCHEMA|TYPE|DOMAIN|SEQUENCE|TABLE)\b"
    r"|ALTER\s+TABLE\s(?!.*\bADD\s+CONSTRAINT\b).*\b(?:ADD|ALTER|DROP|RENAME)\s+COLUMN\b",
    re.IGNORECASE,
)


def bare_statements(schema_sql: str) -> tuple[str, ...]:
    """The statements of schema.sql that make schemas, types, domains, sequences and tables, in its order.

    Raises ValueError when a statement is not closed.
    """
    return tuple(text for text in _statements(schema_sql) if _KEPT.match(text))


def _statements(sql: str) -> Iterator[str]:
    """Statements without comments and closing semicolon; quotes and dollar quotes keep what they hold."""
    parts: list[str] = []
    for token in _TOKEN.finditer(sql):
        text = token[0]
        if text == ";":
            if statement := "".join(parts).strip():
                yield statement
            parts = []
        elif not text.startswith(("--", "/*")):
            parts.append(" " if text.isspace() and not (parts and parts[-1].isspace()) else text)
    if "".join(parts).strip():
        raise ValueError("schema.sql ends within a statement")
