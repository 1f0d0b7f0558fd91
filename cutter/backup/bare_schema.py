"""Pure: extracts bare tables from the migrations, for a database that only proves a restore.

A restore of the nine tables into the full schema fails, because of foreign keys to other tables and because of the
gateway trigger (measured). So the scratch database gets only tables, types and schemas. This module leaves out
everything else in the migrations: rows, indexes, grants, foreign keys, and keys that are added later. A check that a
later migration drops must be dropped here too, because a backup may contain rows that it refuses.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from functools import lru_cache

from cutter.storage.sql_text import plain, statements

_KEPT = re.compile(
    r"CREATE\s+(?:SCHEMA|TYPE|DOMAIN|SEQUENCE|TABLE)\b|DROP\s+TABLE\b"
    r"|ALTER\s+TABLE\s(?!.*\bADD\s+CONSTRAINT\b).*\b(?:(?:ADD|ALTER|DROP|RENAME)\s+COLUMN|DROP\s+CONSTRAINT)\b",
    re.IGNORECASE,
)
_TABLE = re.compile(r"(?:CREATE|ALTER|DROP)\s+TABLE\s+(?:IF\s+(?:NOT\s+)?EXISTS\s+)?([\w.]*)", re.IGNORECASE)
_NAME = r"""(?:[\w$]+|"_*")"""
_COLUMNS = r"\([^()]*\)"
_REFERENCES = rf"""(?<![\w$.])(?<!\.[ ])REFERENCES\b [ ]?{_NAME}(?:[ ]?\.[ ]?{_NAME})* (?:[ ]?{_COLUMNS})?
    (?:[ ]?\b(?:MATCH[ ]\w+ | (?:NOT[ ])?(?:DEFERRABLE|ENFORCED|VALID) | INITIALLY[ ]\w+
      | ON[ ](?:DELETE|UPDATE)[ ](?:CASCADE|RESTRICT|NO[ ]ACTION|SET[ ](?:NULL|DEFAULT)\b(?:[ ]?{_COLUMNS})?)))*
"""
_CONSTRAINT = rf"(?:CONSTRAINT\b[ ]?{_NAME}[ ]?)?"
_OF_TABLE = rf"(?:ADD[ ])?{_CONSTRAINT}\bFOREIGN[ ]KEY[ ]?{_COLUMNS}[ ]?{_REFERENCES}"
_CHANGED = re.compile(
    rf"""
    ,[ ]?{_OF_TABLE}
  | (?<![\w$])(?=[acdfr])(?:{_OF_TABLE}[ ]?,? | {_CONSTRAINT}{_REFERENCES} | (?P<drop>DROP[ ]CONSTRAINT\b)(?![ ]IF\b))
    """,
    re.IGNORECASE | re.VERBOSE,
)
"""A foreign key of a table with one comma, a foreign key of a column, or the drop of any constraint."""


def bare_statements(schema_sql: str, tables: Collection[str] | None = None) -> tuple[str, ...]:
    """The statements that make schemas, types, domains, sequences and tables, or drop a table, in their order.

    They make no foreign key. With `tables`, they make only these tables, because each check of a backup makes them and
    the database has many others. Raises ValueError if a statement is not closed.
    """
    bare = _bare(schema_sql)
    if tables is None:
        return bare
    return tuple(
        statement for statement in bare if not (named := _TABLE.match(statement)) or _qualified(named[1]) in tables
    )


@lru_cache(maxsize=2)
def _bare(schema_sql: str) -> tuple[str, ...]:
    texts = (plain(statement.text) for statement in statements(schema_sql))
    return tuple(_without_foreign_keys(text, shape) for text, shape in texts if _KEPT.match(shape))


def _without_foreign_keys(text: str, shape: str) -> str:
    """The statement without its foreign keys, so that the tables to which they refer need not exist.

    A later migration may drop a foreign key. So the statement drops a constraint only if the constraint exists.
    """
    parts, end = [], 0
    for change in _CHANGED.finditer(shape):
        dropped = change["drop"]
        parts += [text[end : change.start()], f"{dropped} IF EXISTS" if dropped else ""]
        end = change.end()
    return "".join(parts) + text[end:]


def _qualified(name: str) -> str:
    """The name with its schema. The statements run with the search path `public`."""
    return name.lower() if "." in name else f"public.{name.lower()}"
