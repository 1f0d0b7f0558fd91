"""Pure: extracts bare tables from the migrations, for a database that only proves a restore.

A restore of the nine tables into the full schema fails, because of foreign keys to other tables and because of the
gateway trigger (measured). So the scratch database gets only tables, types and schemas. This module leaves out
everything else in the migrations: rows, indexes, grants, and keys that are added later. The caller
(`cutter.backup.scratch`) drops the foreign keys inside a CREATE TABLE. A check that a later migration drops must be
dropped here too, because a backup may contain rows that it refuses.
"""

from __future__ import annotations

import re

from cutter.storage.sql_text import TOKEN, statements

_KEPT = re.compile(
    r"CREATE\s+(?:SCHEMA|TYPE|DOMAIN|SEQUENCE|TABLE)\b|DROP\s+TABLE\b"
    r"|ALTER\s+TABLE\s(?!.*\bADD\s+CONSTRAINT\b).*\b(?:(?:ADD|ALTER|DROP|RENAME)\s+COLUMN|DROP\s+CONSTRAINT)\b",
    re.IGNORECASE,
)


def bare_statements(schema_sql: str) -> tuple[str, ...]:
    """The statements that make schemas, types, domains, sequences and tables, or drop a table, in their order.

    Raises ValueError if a statement is not closed.
    """
    return tuple(text for one in statements(schema_sql) if _KEPT.match(text := _on_one_line(one.text)))


def _on_one_line(statement: str) -> str:
    """The statement without comments and line breaks. Quoted and dollar-quoted texts stay as they are."""
    parts: list[str] = []
    for token in TOKEN.finditer(statement):
        text = token[0]
        if not text.startswith(("--", "/*")):
            parts.append(" " if text.isspace() and not (parts and parts[-1].isspace()) else text)
    return "".join(parts).strip()
