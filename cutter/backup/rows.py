"""IO: the rows of one document as lines: out of the live tables, into tables of a session, and their digests.

A line has the name of a table, a tab, and one row as JSON. The first line has the version in place of a table, and the
description of the backup. The live tables and the restored ones give the same lines (docs/reference/backup-files.md).
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Collection, Generator, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, LiteralString

import psycopg
from psycopg import sql
from psycopg.errors import InvalidSchemaName, UndefinedTable
from psycopg.rows import class_row

from cutter import limits
from cutter.backup.record import RECORD_VERSION, TABLES
from cutter.domain.digests import UNIT_SEPARATOR, sha256_hex
from cutter.errors import Unavailable
from cutter.storage.pools import translate
from cutter.storage.records import Connection, queries_in

_TYPE = re.compile(r"[a-z][a-z0-9 ]*(?:\(\d+(?:,\d+)?\))?[a-z ]*(?:\[\])*(?: not null)?")
"""The types that a restore makes. They are PostgreSQL's own, so that a restore needs no other object."""


AWAY = (psycopg.OperationalError, psycopg.InternalError, psycopg.InterfaceError)
"""Errors of the environment: lost, refused, timed out, cancelled, out of space or memory. Others are about the data."""


def away(problem: psycopg.Error) -> Unavailable:
    """The error for an unavailable environment. It shows no message that may quote a row."""
    known = translate(problem)
    if isinstance(known, Unavailable):
        return known
    return Unavailable(f"PostgreSQL gave up the backup (SQLSTATE {problem.sqlstate})", what="backup")


class ContentRefused(ValueError):
    """The content of an artifact is not the rows of a document."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Description:
    """The first line: the document, the database's clock before the snapshot, and the columns of each table."""

    document_id: str
    taken_utc: str
    columns: Mapping[str, Mapping[str, str]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Digests:
    """The number of rows by table, and one digest over every line."""

    row_counts: Mapping[str, int]
    fingerprint: str

    @classmethod
    def of(cls, tables: Mapping[str, tuple[int, str]]) -> Digests:
        """The digests from the number and the digest of each table's lines."""
        every = {**dict.fromkeys(TABLES, (0, sha256_hex(b""))), **tables}
        lines = (UNIT_SEPARATOR.join((table, str(number), digest)) for table, (number, digest) in sorted(every.items()))
        return cls(row_counts={table: every[table][0] for table in TABLES}, fingerprint=sha256_hex("\n".join(lines)))


@dataclass(slots=True)
class Tally:
    """Counts and digests the lines that pass it."""

    lines: dict[str, list[bytes]] = field(default_factory=dict)

    def add(self, line: bytes) -> None:
        """Note one line without its line feed."""
        table = line[: line.index(b"\t")].decode("ascii")
        self.lines.setdefault(table, []).append(hashlib.sha256(line).digest())

    def digests(self) -> Digests:
        """The digests of all lines so far."""
        return Digests.of(
            {table: (len(lines), sha256_hex(b"".join(sorted(lines)))) for table, lines in self.lines.items()}
        )


def _query(name: str) -> LiteralString:
    return queries_in("cutter.backup", "rows.sql")[name]


def lines_of(connection: Connection, document_id: str, docprefix: str, tally: Tally) -> Generator[bytes, None, None]:
    """The lines of a document at one moment, in pieces of whole lines; the first piece is the first line.

    PostgreSQL sends each row by itself. To hand each one to gpg would cost more than to encrypt it.
    """
    named = {
        "document": document_id, "first": f"{docprefix}/", "past": f"{docprefix}0", "version": RECORD_VERSION,
        "tables": list(TABLES),
    }  # fmt: skip
    piece = bytearray()
    with connection.cursor().copy(_query("rows_of_document"), named) as copy:
        for data in copy:
            line = bytes(data)
            tally.add(line[:-1])
            piece += line
            if len(piece) >= limits.BACKUP_CHUNK_BYTES or line.startswith(RECORD_VERSION.encode()):
                yield bytes(piece)
                piece.clear()
    if piece:
        yield bytes(piece)


def described(line: bytes) -> Description:
    """The description of the first line. Raises ContentRefused for any other line."""
    version, _, text = line.partition(b"\t")
    if version != RECORD_VERSION.encode():
        raise ContentRefused(f"the artifact does not begin with {RECORD_VERSION}")
    try:
        value: Any = json.loads(text)
        description = Description(**value)
        columns = [kind for table in TABLES for kind in description.columns[table].values()]
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        raise ContentRefused("the first line of the artifact is malformed") from None
    if set(description.columns) != set(TABLES) or not all(_TYPE.fullmatch(kind) for kind in columns):
        raise ContentRefused("the first line of the artifact names other tables or other types")
    return description


def stage(connection: Connection, lines: Iterator[bytes]) -> None:
    """Copy the lines of a backup into a table of the session. The server parses them, and executes nothing of them.

    If the copy fails, the connection is closed. Otherwise psycopg would log the server's answer, which quotes a row.
    """
    try:
        _stage(connection, lines)
    except (UndefinedTable, InvalidSchemaName):  # The session's first backup. No line has been read yet.
        connection.execute(_query("make_staged"))
        _stage(connection, lines)


def _stage(connection: Connection, lines: Iterator[bytes]) -> None:
    with connection.cursor().copy(_query("stage")) as copy:
        try:
            for piece in lines:
                copy.write(piece)
        except BaseException:
            connection.close()
            raise


@dataclass(frozen=True, slots=True, kw_only=True)
class _Digest:
    tab: str
    number: int
    digest: str


def restore(connection: Connection, description: Description, filled: Collection[str], milliseconds: int) -> Digests:
    """Make the tables of the description, fill them with the staged rows, and digest what the tables hold.

    `filled` names the tables that hold rows according to the backup's record; a staged row of another table is in the
    digest as it was staged. It takes one round trip. The tables belong to the session, so they need no lock, and
    another check finds them empty.
    """
    # In a session, other columns make another table.
    names = {
        table: sql.Identifier(
            "pg_temp", f"{table.partition('.')[2]}_{sha256_hex(json.dumps(description.columns[table]))[:12]}"
        )
        for table in TABLES
        if table in filled
    }
    made = sql.SQL("create temporary table if not exists {} ({}) on commit delete rows")
    restored = sql.SQL(_query("restored"))
    others = sql.SQL("select tab, content from pg_temp.staged where tab <> all({})")  # They are in the digest too.
    lines = sql.SQL(" union all ").join([
        others.format(sql.Literal(list(names))),
        *(restored.format(name=sql.Literal(table), table=name) for table, name in names.items()),
    ])  # fmt: skip
    statements = [
        sql.SQL("begin"),
        sql.SQL("set local statement_timeout = {}").format(sql.Literal(milliseconds)),
        *(made.format(name, _columns(description, table)) for table, name in names.items()),
        *(sql.SQL(_query("fill")).format(table=name, name=sql.Literal(table)) for table, name in names.items()),
        sql.SQL(_query("digests")).format(lines=lines),
        sql.SQL("truncate pg_temp.staged"),
        sql.SQL("commit"),
    ]
    cursor = connection.cursor(row_factory=class_row(_Digest))
    cursor.execute(sql.SQL(";\n").join(statements), prepare=False)
    while cursor.description is None:
        cursor.nextset()
    return Digests.of({row.tab: (row.number, row.digest) for row in cursor})


def _columns(description: Description, table: str) -> sql.Composed:
    """The columns with their types, which `described` has checked."""
    return sql.SQL(", ").join(
        sql.SQL("{} {}").format(sql.Identifier(name), sql.SQL(kind))
        for name, kind in description.columns[table].items()
    )
