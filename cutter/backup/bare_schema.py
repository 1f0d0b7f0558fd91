"""Pure: extracts bare tables from the migrations, for a database that only proves a restore.

A restore of the nine tables into the full schema fails, because of foreign keys to other tables and because of the
gateway trigger (measured). So the scratch database gets only tables, types and schemas. This module leaves out
everything else in the migrations: rows, indexes, grants, and keys that are added later. The caller
(`cutter.backup.scratch`) drops the foreign keys inside a CREATE TABLE. A check that a later migration drops must be
dropped here too, because a backup may contain rows that it refuses.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Iterable
from functools import lru_cache

from cutter.storage.sql_text import TOKEN, statements

_KEPT = re.compile(
    r"CREATE\s+(?:SCHEMA|TYPE|DOMAIN|SEQUENCE|TABLE)\b|DROP\s+TABLE\b"
    r"|ALTER\s+TABLE\s(?!.*\bADD\s+CONSTRAINT\b).*\b(?:(?:ADD|ALTER|DROP|RENAME)\s+COLUMN|DROP\s+CONSTRAINT)\b",
    re.IGNORECASE,
)


_TABLE = re.compile(r"(?:CREATE|ALTER|DROP)\s+TABLE\s+(?:IF\s+(?:NOT\s+)?EXISTS\s+)?([\w.]+)", re.IGNORECASE)
_REFERENCED = re.compile(r"\bREFERENCES\s+([\w.]+)", re.IGNORECASE)


def bare_statements(schema_sql: str, tables: Collection[str] | None = None) -> tuple[str, ...]:
    """The statements that make schemas, types, domains, sequences and tables, or drop a table, in their order.

    With `tables`, only these tables are made, and those to which their foreign keys refer. Each check of a backup makes
    them, and the database has many others. Raises ValueError if a statement is not closed.
    """
    found = _bare(schema_sql)
    if tables is None:
        return found
    needed = _with_referenced(found, tables)
    return tuple(one for one in found if not (named := _TABLE.match(one)) or _qualified(named[1]) in needed)


@lru_cache(maxsize=2)
def _bare(schema_sql: str) -> tuple[str, ...]:
    return tuple(text for one in statements(schema_sql) if _KEPT.match(text := _on_one_line(one.text)))


def _with_referenced(found: Iterable[str], tables: Collection[str]) -> set[str]:
    """These tables, and every table to which one of them refers, also by way of others."""
    references: defaultdict[str, set[str]] = defaultdict(set)
    for statement in found:
        if named := _TABLE.match(statement):
            references[_qualified(named[1])] |= {_qualified(name) for name in _REFERENCED.findall(statement)}
    needed: set[str] = set()
    following = set(tables)
    while following:
        needed |= following
        following = {name for table in following for name in references[table]} - needed
    return needed


def _qualified(name: str) -> str:
    """The name with its schema. The statements run with the search path `public`."""
    return name.lower() if "." in name else f"public.{name.lower()}"


def _on_one_line(statement: str) -> str:
    """The statement without comments and line breaks. Quoted and dollar-quoted texts stay as they are."""
    parts: list[str] = []
    for token in TOKEN.finditer(statement):
        text = token[0]
        if not text.startswith(("--", "/*")):
            parts.append(" " if text.isspace() and not (parts and parts[-1].isspace()) else text)
    return "".join(parts).strip()
