"""IO: the rows of some documents: their columns, digests, and their text as COPY writes it.

The server computes the digests. The live tables and the tables into which segments were loaded give the same ones. The
digest of a document is the SHA-256 of lines. The first are the version and the digest of the columns. Then each table
has its name, the number of rows, and the sha256 over the digests of the rows in the order of their bytes.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import LiteralString

from psycopg import sql
from psycopg.rows import class_row

from cutter import limits
from cutter.backup.connection import Connection
from cutter.backup.fingerprint import columns_of, pinned_output
from cutter.backup.segments.header import Columns, Document, digest_of_columns
from cutter.backup.tables import SEGMENT_TABLES
from cutter.domain.digests import UNIT_SEPARATOR, sha256_hex
from cutter.storage.queries import queries_in

DOCUMENT_COLUMN = "backup_document"
"""The first column of each row in a segment, and of the tables into which segments are loaded."""

DIGEST_VERSION = "document-rows/1"

_NO_ROWS = sha256_hex(b"")


def query_of(name: str) -> LiteralString:
    """A query of this package."""
    return queries_in("cutter.backup.segments", "rows.sql")[name]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Digest:
    """A document's rows in one table."""

    table: str
    document: str
    number: int
    digest: str


@dataclass(frozen=True, slots=True, kw_only=True)
class _Size:
    """A document, and about how many bytes its rows have."""

    document: str
    number: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Described:
    """Documents with the digests of their rows, and the number of rows by table. `digests` has, by table and document,
    the digest of the rows in that table.
    """

    documents: Mapping[str, Document]
    row_counts: Mapping[str, int]
    digests: Mapping[str, Mapping[str, str]]

    def differing(self, document: str, other: Described) -> list[str]:
        """The tables whose rows of this document are not those of the other description."""
        return [
            table
            for table, digests in self.digests.items()
            if digests.get(document) != other.digests[table].get(document)
        ]


@dataclass(frozen=True, slots=True, kw_only=True)
class Rows:
    """The rows of documents in one database, as one transaction sees them.

    `live` are cutter's own tables (see `live_rows`). Otherwise the tables hold loaded segments.
    """

    connection: Connection
    columns: Columns
    live: bool

    def described(self, changes: Mapping[str, int]) -> Described:
        """Each document of `changes` with its number of rows and their digest; also a document without rows."""
        tables: dict[str, dict[str, _Digest]] = {table: {} for table in SEGMENT_TABLES}
        with pinned_output(self.connection):
            for row in self._digests(list(changes)):
                tables[row.table][row.document] = row
        return Described(
            documents={name: self._document(name, changes[name], tables) for name in changes},
            row_counts={table: sum(digest.number for digest in digests.values()) for table, digests in tables.items()},
            digests={
                table: {name: digest.digest for name, digest in digests.items()} for table, digests in tables.items()
            },
        )

    def copied(self, table: str, documents: Sequence[str]) -> Iterator[bytes]:
        """The rows as COPY text, each with its document in the first column, in pieces of many whole rows.

        PostgreSQL sends each row by itself. Handing each one to gpg cost more than encrypting it.
        """
        statement = sql.SQL("copy ({}) to stdout").format(self._selected(table))
        piece = bytearray()
        with self.connection.cursor().copy(statement, {"documents": list(documents)}) as copy:
            for data in copy:
                piece += data
                if len(piece) >= limits.BACKUP_CHUNK_BYTES:
                    yield bytes(piece)
                    piece.clear()
        if piece:
            yield bytes(piece)

    def fitting(self, documents: Sequence[str], size_bytes: int) -> Sequence[str]:
        """The first of these documents whose rows have about so many bytes together; at least one document."""
        statement = sql.SQL(query_of("sizes")).format(units=self._units())
        cursor = self.connection.cursor(row_factory=class_row(_Size))
        cursor.execute(statement, {"documents": list(documents), "unit_bytes": limits.SEGMENT_UNIT_BYTES})
        sizes = {size.document: size.number for size in cursor}
        totals = itertools.accumulate(sizes.get(name, 0) for name in documents)
        return documents[: max(1, sum(total <= size_bytes for total in totals))]

    def _digests(self, documents: Sequence[str]) -> list[_Digest]:
        """The digests of all tables, in one round trip."""
        digests = sql.SQL(query_of("digests"))
        parts = (
            digests.format(table=table, columns=_listed("s", self.columns[table]), rows=self._selected(table))
            for table in SEGMENT_TABLES
        )
        cursor = self.connection.cursor(row_factory=class_row(_Digest))
        cursor.execute(sql.SQL("\nunion all\n").join(parts), {"documents": list(documents)})
        return list(cursor)

    def _selected(self, table: str) -> sql.Composed:
        listed = _listed("t", self.columns[table])
        if not self.live:
            return sql.SQL(query_of("restored")).format(columns=listed, table=sql.Identifier(*table.split(".")))
        return sql.SQL(query_of(table.split(".")[1])).format(columns=listed, units=self._units())

    def _units(self) -> sql.Composed:
        return sql.SQL(query_of("information_unit")).format(columns=sql.SQL("t.id"))

    def _document(self, name: str, changes: int, tables: Mapping[str, Mapping[str, _Digest]]) -> Document:
        lines = [DIGEST_VERSION, digest_of_columns(self.columns)]
        total = 0
        for table in SEGMENT_TABLES:
            rows = tables[table].get(name)
            total += rows.number if rows else 0
            lines.append(
                UNIT_SEPARATOR.join((table, str(rows.number if rows else 0), rows.digest if rows else _NO_ROWS))
            )
        return Document(changes=changes, rows=total, fingerprint=sha256_hex("\n".join(lines)))


def live_rows(connection: Connection, named: Columns) -> Rows:
    """The rows of cutter's own tables. To the end of the transaction, PostgreSQL finds rows by indexes only.

    It takes each document for half a per cent of all units. So it would read whole tables for a dozen documents.
    """
    connection.execute(query_of("by_index"))
    return Rows(connection=connection, columns=named, live=True)


def columns(connection: Connection) -> Columns:
    """The columns of the tables of a segment. Raises TableMissing."""
    by_table = columns_of(connection, SEGMENT_TABLES)
    return {table: tuple((column.name, column.kind) for column in listed) for table, listed in by_table.items()}


def _listed(alias: str, named: Sequence[tuple[str, str]]) -> sql.Composed:
    return sql.SQL(", ").join(sql.Identifier(alias, name) for name, _ in named)
