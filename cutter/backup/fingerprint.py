"""IO: one digest of the whole contents of the nine tables. The server computes it.

The digest is the SHA-256 of a text in UTF-8, whose lines are joined by LF. The first line is `backup/1`. Each further
line is a table, in the order of BACKUP_TABLES. Its fields are joined by U+001F: the name, the columns, the number of
rows, and the sha256 over the rows' digests in the order of their bytes. The columns are written as `name type`, ordered
by name and joined by a comma.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import LiteralString

from psycopg import sql
from psycopg.rows import class_row

from cutter.backup.connection import Connection
from cutter.backup.record import RECORD_VERSION, Contents
from cutter.backup.tables import BACKUP_TABLES
from cutter.domain.digests import UNIT_SEPARATOR, sha256_hex
from cutter.storage.queries import queries_in
from cutter.storage.records import records, the_row

_OUTPUT = {
    "DateStyle": "ISO, YMD",
    "IntervalStyle": "postgres",
    "TimeZone": "UTC",
    "extra_float_digits": "3",
    "bytea_output": "hex",
    "xmlbinary": "base64",
    "search_path": "pg_catalog",
    # If a row-security policy hides rows, the query must fail. Otherwise the rows would be missing silently.
    "row_security": "off",
}
"""Settings that change the text of a value. They are pinned, so that two sessions write the same text."""


def _query(name: str) -> LiteralString:
    return queries_in("cutter.backup", "fingerprint.sql")[name]


@dataclass(frozen=True, slots=True, kw_only=True)
class Column:
    """A column of a table, with its type."""

    table: str
    name: str
    kind: str


@dataclass(frozen=True, slots=True, kw_only=True)
class _Digest:
    """The number of rows of a table, and the digest of all rows."""

    number: int
    digest: str


@dataclass(frozen=True, slots=True, kw_only=True)
class _Pinned:
    """A setting, its value before and its value now."""

    name: str
    before: str
    after: str


_COLUMNS = records("columns", Column, named=_query)
_PIN = records("pin", _Pinned, named=_query)


class TableMissing(LookupError):
    """One of the nine tables does not exist in this database."""


def content_fingerprint(connection: Connection) -> str:
    """The fingerprint of the nine tables as this transaction sees them."""
    return contents(connection).fingerprint


def contents(connection: Connection) -> Contents:
    """The digest and the row counts as this transaction sees them.

    In READ COMMITTED the tables may be from different moments. Raises TableMissing, or psycopg's errors. It restores
    the settings of the transaction.
    """
    with pinned_output(connection):
        read = {
            table: _table(connection, table, columns)
            for table, columns in columns_of(connection, BACKUP_TABLES).items()
        }
    lines = [
        UNIT_SEPARATOR.join((table, columns, str(rows.number), rows.digest)) for table, (columns, rows) in read.items()
    ]
    return Contents(
        fingerprint=sha256_hex("\n".join([RECORD_VERSION, *lines])),
        row_counts={table: rows.number for table, (_, rows) in read.items()},
    )


def _table(connection: Connection, table: str, columns: Sequence[Column]) -> tuple[str, _Digest]:
    cursor = connection.cursor(row_factory=class_row(_Digest)).execute(
        sql.SQL(_query("rows")).format(
            columns=sql.SQL(", ").join(sql.Identifier(column.name) for column in columns),
            table=sql.Identifier(*table.split(".")),
        )
    )
    return ",".join(f"{column.name} {column.kind}" for column in columns), the_row("rows", cursor)


def columns_of(connection: Connection, tables: Sequence[str]) -> dict[str, list[Column]]:
    """The columns of each table, ordered by name. Raises TableMissing."""
    by_table: dict[str, list[Column]] = {table: [] for table in tables}
    for column in _COLUMNS.all(connection, {"tables": list(tables)}):
        by_table[column.table].append(column)
    for table, columns in by_table.items():
        if not columns:
            raise TableMissing(table)
    return by_table


@contextmanager
def pinned_output(connection: Connection) -> Iterator[None]:
    """Write values in one way, whatever the settings of the session are. The transaction gets its settings back."""
    before = _pin(connection, _OUTPUT)
    yield
    _pin(connection, before)


def _pin(connection: Connection, settings: Mapping[str, str]) -> dict[str, str]:
    """Set the settings in one round trip, and return their values before."""
    wanted = {"names": list(settings), "values": list(settings.values())}
    return {setting.name: setting.before for setting in _PIN.all(connection, wanted)}
