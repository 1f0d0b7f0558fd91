"""IO: one digest of everything that the nine tables hold, computed by the server.

Framing (version line `backup/1`): one line a table in the order of BACKUP_TABLES, its fields joined by U+001F: name,
columns as `name type` ordered by name and joined by a comma, number of rows, sha256 over the rows' digests in the
order of their bytes. Lines are joined by LF; sha256 of the UTF-8.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from psycopg import sql

from cutter.backup.connection import Connection
from cutter.backup.record import RECORD_VERSION, Contents
from cutter.backup.tables import BACKUP_TABLES
from cutter.domain.digests import UNIT_SEPARATOR, sha256_hex
from cutter.storage.queries import queries_in

_OUTPUT = {
    "DateStyle": "ISO, YMD",
    "IntervalStyle": "postgres",
    "TimeZone": "UTC",
    "extra_float_digits": "3",
    "bytea_output": "hex",
    "xmlbinary": "base64",
    "search_path": "pg_catalog",
    # A row that a policy hides must be an error, not an absence.
    "row_security": "off",
}
"""Settings that change how a value is written; pinned, so that two sessions write the same."""


class TableMissing(LookupError):
    """One of the nine tables does not exist in this database."""


def content_fingerprint(connection: Connection) -> str:
    """`contents(connection).fingerprint`."""
    return contents(connection).fingerprint


def contents(connection: Connection) -> Contents:
    """Digest and row counts as this transaction sees them; in READ COMMITTED the tables may be of different moments.

    Raises TableMissing, or psycopg's errors. Leaves the transaction's settings as they were.
    """
    with _pinned_output(connection):
        read = {table: _table(connection, table) for table in BACKUP_TABLES}
    lines = [
        UNIT_SEPARATOR.join((table, columns, str(count), digest)) for table, (columns, count, digest) in read.items()
    ]
    return Contents(
        fingerprint=sha256_hex("\n".join([RECORD_VERSION, *lines])),
        row_counts={table: count for table, (_, count, _) in read.items()},
    )


def _table(connection: Connection, table: str) -> tuple[str, int, str]:
    blocks = queries_in("cutter.backup", "fingerprint.sql")
    columns = connection.execute(blocks["columns"], {"table": table}).fetchall()
    if not columns:
        raise TableMissing(table)
    row = connection.execute(
        sql.SQL(blocks["rows"]).format(
            columns=sql.SQL(", ").join(sql.Identifier(name) for name, _ in columns),
            table=sql.Identifier(*table.split(".")),
        )
    ).fetchone()
    assert row is not None  # an aggregate without GROUP BY always has one row
    return ",".join(f"{name} {kind}" for name, kind in columns), row[0], row[1]


@contextmanager
def _pinned_output(connection: Connection) -> Iterator[None]:
    blocks = queries_in("cutter.backup", "fingerprint.sql")
    before: dict[str, str] = {}
    for name, value in _OUTPUT.items():
        row = connection.execute(blocks["setting"], {"name": name}).fetchone()
        assert row is not None  # every one of them is a setting of the server
        before[name] = row[0]
        connection.execute(blocks["set_setting"], {"name": name, "value": value})
    yield
    for name, value in before.items():
        connection.execute(blocks["set_setting"], {"name": name, "value": value})
