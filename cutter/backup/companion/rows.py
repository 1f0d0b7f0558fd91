"""IO: the tables that segments do not hold, in one database: their columns, digests, and rows as COPY text."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import LiteralString

from psycopg import sql
from psycopg.rows import class_row, scalar_row

from cutter.backup.companion.header import Table
from cutter.backup.connection import Connection
from cutter.backup.fingerprint import Column, pinned_output
from cutter.backup.tables import SEGMENT_TABLES
from cutter.storage.queries import queries_in
from cutter.storage.records import Rows, records, the_row, values


def query_of(name: str) -> LiteralString:
    """A query of this package."""
    return queries_in("cutter.backup.companion", "tables.sql")[name]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Digest:
    rows: int
    digest: str


@dataclass(frozen=True, slots=True, kw_only=True)
class _Sequence:
    """A sequence and its last value."""

    name: str
    value: int


_TABLES: Rows[str] = values("tables", named=query_of)
_COLUMNS = records("columns", Column, named=query_of)
_SEQUENCES = records("sequences", _Sequence, named=query_of)


def tables(connection: Connection) -> tuple[str, ...]:
    """The tables of a companion: every table of cutter, without those of a segment."""
    return tuple(name for name in _TABLES.all(connection) if name not in SEGMENT_TABLES)


def described(connection: Connection) -> dict[str, Table]:
    """Each of these tables with its columns, the number of its rows and their digest, as this transaction sees them."""
    with pinned_output(connection):
        return {name: _described(connection, name) for name in tables(connection)}


def _described(connection: Connection, table: str) -> Table:
    columns = tuple((column.name, column.kind) for column in _COLUMNS.all(connection, {"table": table}))
    statement = sql.SQL(query_of("digest")).format(columns=_listed(columns), table=sql.Identifier(*table.split(".")))
    row = the_row("digest", connection.cursor(row_factory=class_row(_Digest)).execute(statement))
    return Table(columns=columns, rows=row.rows, digest=row.digest)


def copied(connection: Connection, described_tables: Mapping[str, Table]) -> Iterator[bytes]:
    """The rows of the tables as a script, each table with its COPY line."""
    with pinned_output(connection):
        for name, table in described_tables.items():
            columns = ", ".join(column for column, _ in table.columns)
            yield f"COPY {name} ({columns}) FROM stdin;\n".encode("ascii")
            statement = sql.SQL("copy {} ({}) to stdout").format(
                sql.Identifier(*name.split(".")), _listed(table.columns)
            )
            with connection.cursor().copy(statement) as copy:
                for data in copy:
                    yield bytes(data)
            yield b"\\.\n"


def count(connection: Connection, table: str) -> int:
    """The number of rows of any table."""
    statement = sql.SQL(query_of("count")).format(table=sql.Identifier(*table.split(".")))
    return int(the_row("count", connection.cursor(row_factory=scalar_row).execute(statement)))


def sequences(connection: Connection) -> dict[str, int]:
    """The last value of each sequence that was used. It is at least as high as any value in the rows of a snapshot."""
    return {sequence.name: sequence.value for sequence in _SEQUENCES.all(connection)}


def _listed(columns: tuple[tuple[str, str], ...]) -> sql.Composed:
    return sql.SQL(", ").join(sql.Identifier(name) for name, _ in columns)
