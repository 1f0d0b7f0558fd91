"""IO: makes and loads the nine bare tables in a database that proves a restore, in the caller's transaction."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import LiteralString

from psycopg import sql

from cutter import limits
from cutter.backup.bare_schema import bare_statements
from cutter.backup.connection import Connection
from cutter.backup.pipeline import Deadline
from cutter.backup.record import BackupRefusal, RefusalCode
from cutter.backup.script import Load, Rows, events
from cutter.backup.tables import BACKUP_TABLES
from cutter.domain.digests import sha256_hex
from cutter.storage.queries import queries_in
from cutter.storage.records import Rows as RowsOf
from cutter.storage.records import records, values
from cutter.storage.sql_files import shipped

LOCK = 0x6B75_7073
"""The advisory lock of a scratch database. Of two checks, one waits for the other, so that their rows never mix."""

_KEPT_SCHEMA = "cutter_governance"
"""The schema that the migrations make. Its comment says from which statements a check made its tables."""
_KEPT_VERSION = "check-tables/1"


def _query(name: str) -> LiteralString:
    return queries_in("cutter.backup", "scratch.sql")[name]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Constraint:
    """A table, and the name of one of its constraints."""

    table: str
    name: str


_TRY_LOCK: RowsOf[bool] = values("try_lock", named=_query)
_OWNED: RowsOf[bool] = values("owned", named=_query)
_SCHEMAS: RowsOf[str] = values("schemas", named=_query)
_TABLES: RowsOf[str] = values("tables", named=_query)
_KEPT: RowsOf[bool] = values("kept", named=_query)
_CONSTRAINTS = records("constraints", _Constraint, named=_query)
_IDENTITY_COLUMNS: RowsOf[str] = values("identity_columns", named=_query)


def schema_sql() -> str:
    """The SQL of all migrations, which make cutter's tables."""
    return "\n".join(migration.body for migration in shipped().migrations)


def lock(connection: Connection, deadline: Deadline) -> None:
    """Wait for the lock of this database. Raises Unavailable(what="backup") at the deadline."""
    while not _TRY_LOCK.one(connection, {"key": LOCK}):
        connection.execute(_query("end_overdue"), {"key": LOCK})
        time.sleep(min(limits.BACKUP_POLL_SECONDS, deadline.remaining()))
    connection.execute(_query("announce"), {"seconds": deadline.remaining()})


def require_own(connection: Connection) -> BackupRefusal | None:
    """Refuse a database of another role. A check drops everything in the database, so this role must own it."""
    if _OWNED.first(connection, None) is True:
        return None
    return _unfit("it belongs to another role: a restore check works only in a database that cutter_backup owns")


def empty(connection: Connection) -> BackupRefusal | None:
    """Drop everything in the database if this role owns it. A check rolls back, so nothing is lost."""
    if unfit := require_own(connection):
        return unfit
    for schema in _SCHEMAS.all(connection, None):
        connection.execute(sql.SQL("DROP SCHEMA {} CASCADE").format(sql.Identifier(schema)))
    connection.execute("CREATE SCHEMA public")
    return None


def require_empty(connection: Connection) -> BackupRefusal | None:
    """Refuse a database that has tables. A permanent restore drops nothing, so it needs an empty database."""
    table = _TABLES.first(connection, None)
    return _unfit(f"it holds {table}: name an empty database") if table else None


def make_tables(
    connection: Connection, schema: str, tables: Collection[str] | None = BACKUP_TABLES
) -> BackupRefusal | None:
    """Make these tables with their columns and checks, without foreign keys and triggers.

    None means every table, without checks: a later migration may have replaced one, and this module adds none.
    """
    # These statements come from our own migrations, never from an artifact. One round trip sends them all.
    connection.execute("; ".join(("SET LOCAL search_path = public", *bare_statements(schema, tables))))
    if missing := sorted(set(tables or ()).difference(_TABLES.all(connection, None))):
        return _unfit(f"the migrations do not make {missing[0]}")
    # The statements hold no foreign key. If this package did not see one in a later migration, it is dropped here.
    _drop_constraints(connection, ["f"] if tables is not None else ["f", "c", "u"])
    return None


def _drop_constraints(connection: Connection, kinds: Sequence[str]) -> None:
    """Drop every constraint of these kinds, which are the letters of `pg_constraint.contype`."""
    drop = sql.SQL("ALTER TABLE {} DROP CONSTRAINT {}")
    constraints = _CONSTRAINTS.all(connection, {"kinds": list(kinds)})
    if drops := [drop.format(_name(constraint.table), sql.Identifier(constraint.name)) for constraint in constraints]:
        connection.execute(sql.SQL("; ").join(drops))


def check_tables(connection: Connection, schema: str, tables: Collection[str], column: str) -> BackupRefusal | None:
    """Let the database hold these tables for one check, empty and with one more column of text.

    An earlier check has left them there, or they are made. Making them costs more than loading a small law. They have
    no keys, because a check compares every row with the snapshot, whose tables have the keys.
    """
    mark = sha256_hex("\n".join((_KEPT_VERSION, schema, *tables, column)))
    kept = {"tables": list(tables), "count": len(tables), "schema": _KEPT_SCHEMA, "mark": mark}
    if not _KEPT.one(connection, kept):
        if unfit := empty(connection) or make_tables(connection, schema, tables):
            return unfit
        add_column(connection, tables, column)
        _drop_constraints(connection, ["p", "u"])
        comment = sql.SQL("COMMENT ON SCHEMA {} IS {}").format(sql.Identifier(_KEPT_SCHEMA), sql.Literal(mark))
        connection.execute(comment)
    truncate = sql.SQL("SAVEPOINT kept; TRUNCATE {}").format(sql.SQL(", ").join(map(_name, tables)))
    connection.execute(truncate)
    return None


def leave_tables(connection: Connection) -> None:
    """Drop the rows that a check loaded, and commit, so that the next check finds its tables."""
    connection.execute("ROLLBACK TO SAVEPOINT kept")
    connection.commit()


def load(
    connection: Connection,
    chunks: Iterable[bytes],
    tables: Collection[str] = BACKUP_TABLES,
    kept: Callable[[bytes], bytes] = bytes,
    *,
    left_out: str | None = None,
) -> None:
    """Load the rows from a script. `kept` takes whole lines and returns those to load, without the column `left_out`.

    Raises ScriptRefused, or psycopg's errors.
    """
    script = events(chunks, tables)
    event = next(script, None)
    while event is not None:
        if not isinstance(event, Load):
            event = next(script, None)
            continue
        with connection.cursor().copy(_copy(event, left_out)) as copy, _silent_end(connection):
            while isinstance(event := next(script, None), Rows):
                copy.write(kept(event.data))


@contextmanager
def _silent_end(connection: Connection) -> Iterator[None]:
    """Close the connection if a load fails.

    Otherwise psycopg would end the COPY and log the server's answer, and this answer quotes a row of the law.
    """
    whole = False
    try:
        yield
        whole = True
    finally:
        if not whole:
            connection.close()


def add_column(connection: Connection, tables: Collection[str], column: str) -> None:
    """Add a column of text to the tables, which are empty."""
    statement = sql.SQL("ALTER TABLE {} ADD COLUMN {} text NOT NULL")
    added = (statement.format(_name(table), sql.Identifier(column)) for table in tables)
    connection.execute(sql.SQL("; ").join(added))


def drop_tables(connection: Connection, tables: Collection[str]) -> None:
    """Drop the tables that `make_tables` made in an empty database, and the schema that it made for them."""
    connection.execute(sql.SQL("DROP TABLE IF EXISTS {}").format(sql.SQL(", ").join(map(_name, tables))))
    connection.execute(sql.SQL("DROP SCHEMA IF EXISTS {} CASCADE").format(sql.Identifier(_KEPT_SCHEMA)))


def drop_column(connection: Connection, tables: Collection[str], column: str) -> None:
    """Drop that column again."""
    statement = sql.SQL("ALTER TABLE {} DROP COLUMN {}")
    dropped = (statement.format(_name(table), sql.Identifier(column)) for table in tables)
    connection.execute(sql.SQL("; ").join(dropped))


def continue_identities(connection: Connection, tables: Collection[str] = BACKUP_TABLES) -> None:
    """Let the identity columns of a permanent restore continue after their highest value."""
    for table in tables:
        for column in _IDENTITY_COLUMNS.all(connection, {"table": table}):
            connection.execute(
                sql.SQL(_query("continue_identity")).format(
                    name=sql.Literal(table),
                    column=sql.Literal(column),
                    identifier=sql.Identifier(column),
                    table=_name(table),
                )
            )


def _copy(event: Load, left_out: str | None) -> sql.Composed:
    columns = [name for name in event.columns if name != left_out]
    return sql.SQL(_query("load")).format(
        table=_name(event.table), columns=sql.SQL(", ").join(map(sql.Identifier, columns))
    )


def _name(table: str) -> sql.Identifier:
    return sql.Identifier(*table.split(".", 1))


def _unfit(why: str) -> BackupRefusal:
    return BackupRefusal(
        code=RefusalCode.SCRATCH_UNFIT, message=f"the database is not fit for this restore: {why}", observed=why
    )
