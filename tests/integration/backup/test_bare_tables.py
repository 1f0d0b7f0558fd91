"""The bare tables of a restore check are the tables of the migrated schema, without foreign keys."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from typing import Any

import psycopg
import pytest

from cutter.backup import connection as postgres
from cutter.backup import scratch as bare
from cutter.backup.pipeline import Deadline
from cutter.backup.tables import BACKUP_TABLES, SEGMENT_TABLES
from tests.support.database import Database

Row = tuple[Any, ...]

COLUMNS = """
    select a.attrelid::regclass::text, a.attname, a.attnum - (
               select count(*) from pg_attribute b
                where b.attrelid = a.attrelid and b.attisdropped and b.attnum between 1 and a.attnum),
           format_type(a.atttypid, a.atttypmod), a.attnotnull, a.attidentity::text, a.attgenerated::text,
           a.attcollation::regcollation::text, pg_get_expr(d.adbin, d.adrelid)
      from pg_attribute a left join pg_attrdef d on d.adrelid = a.attrelid and d.adnum = a.attnum
     where a.attnum > 0 and not a.attisdropped and a.attrelid = any (%s::regclass[])
     order by 1, 3"""
CONSTRAINTS = """
    select conrelid::regclass::text, contype::text, conname, pg_get_constraintdef(oid)
      from pg_constraint where conrelid = any (%s::regclass[]) and contype <> 't' order by 1, 2, 3"""
MADE = """
    select n.nspname || '.' || c.relname from pg_class c join pg_namespace n on n.oid = c.relnamespace
     where c.relkind in ('r', 'p') and n.nspname not like 'pg\\_%' and n.nspname <> 'information_schema' order by 1"""

LATER = re.findall(r"\badd constraint (\w+)", bare.schema_sql())
"""The constraints that a statement of its own adds. The bare tables have none of these."""


@pytest.fixture
def empty(scratch: str) -> Iterator[postgres.Connection]:
    """An empty scratch database, which is rolled back."""
    deadline = Deadline(60)
    with psycopg.connect(scratch) as connection:
        bare.lock(connection, deadline)
        assert bare.empty(connection) is None
        yield connection
        connection.rollback()


def rows(connection: postgres.Connection, query: str, tables: Collection[str]) -> list[Row]:
    connection.execute("set local search_path = pg_catalog")
    return connection.execute(query.encode(), [list(tables)]).fetchall()


@pytest.mark.parametrize("tables", [BACKUP_TABLES, SEGMENT_TABLES], ids=["backup", "segment"])
def test_the_bare_tables_have_every_column_and_constraint_but_foreign_keys(
    empty: postgres.Connection, database: Database, tables: tuple[str, ...]
) -> None:
    full = database.connect("postgres")
    assert bare.make_tables(empty, bare.schema_sql(), tables) is None
    assert [name for (name,) in empty.execute(MADE)] == sorted(tables)
    assert rows(empty, COLUMNS, tables) == rows(full, COLUMNS, tables)
    constraints = rows(full, CONSTRAINTS, tables)
    assert {kind for _, kind, *_ in constraints} == {"p", "u", "c", "f", "n"}
    assert rows(empty, CONSTRAINTS, tables) == [row for row in constraints if row[1] != "f" and row[2] not in LATER]
