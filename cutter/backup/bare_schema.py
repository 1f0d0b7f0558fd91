"""Pure: the bare tables of the migrations, for a database that only proves a restore.

Restoring nine tables into the full schema fails on foreign keys to the others and on the gateway trigger (measured), so
the scratch gets tables, types and schemas only. What else the migrations hold (rows, indexes, grants, keys added later)
is left out here; the caller (`cutter.backup.scratch`) drops the foreign keys written inside a CREATE TABLE. A check
that a later migration drops must be dropped here too, because rows that it refuses may be in a backup.
"""

from __future__ import annotations

import re

from cutter.storage.sql_text import TOKEN, statements

_KEPT = re.compile(
    r"CREATE\s+(?:SCHEMA|TYPE|DOMAIN|SEQUENCE|TABLE)\b"
    r"|ALTER\s+TABLE\s(?!.*\bADD\s+CONSTRAINT\b).*\b(?:(?:ADD|ALTER|DROP|RENAME)\s+COLUMN|DROP\s+CONSTRAINT)\b",
    re.IGNORECASE,
)


def bare_statements(schema_sql: str) -> tuple[str, ...]:
    """The statements that make schemas, types, domains, sequences and tables, in their order.

    Raises ValueError when a statement is not closed.
    """
    return tuple(text for one in statements(schema_sql) if _KEPT.match(text := _on_one_line(one.text)))


def _on_one_line(statement: str) -> str:
    """The statement without comments and line breaks; quotes and dollar quotes keep what they hold."""
    parts: list[str] = []
    for token in TOKEN.finditer(statement):
        text = token[0]
        if not text.startswith(("--", "/*")):
            parts.append(" " if text.isspace() and not (parts and parts[-1].isspace()) else text)
    return "".join(parts).strip()
