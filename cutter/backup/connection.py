"""IO: connections of a backup to PostgreSQL, and the messages of their errors.

A child process gets a password only in its environment. An error shows only the SQLSTATE. It shows neither a connection
string nor a message of the server, because such a message may quote a row.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import psycopg
from psycopg import sql
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from cutter import limits
from cutter.backup.pipeline import Deadline
from cutter.errors import InvalidInput, Unavailable
from cutter.storage.faults import READ_ONLY, WRITABLE

Connection = psycopg.Connection[tuple[Any, ...]]

AWAY = (psycopg.OperationalError, psycopg.InternalError, psycopg.InterfaceError)
"""Errors of the environment: lost, refused, timed out, cancelled, out of space or memory. Others are about the data."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Client:
    """The way in which a PostgreSQL program connects: a connection string, and an environment with the password."""

    conninfo: str
    environment: Mapping[str, str]


def client(dsn: str) -> Client:
    """The connection for pg_dump. Raises InvalidInput for a malformed connection string and does not quote it."""
    parts = _parts(dsn)
    password = parts.pop("password", None)
    if "sslpassword" in parts:
        raise InvalidInput("a client key with a passphrase is not supported: the passphrase would be on a command line")
    environment = dict(os.environ) | {"LC_ALL": "C", "PGAPPNAME": "cutter backup"}
    environment.pop("PGPASSWORD", None)
    if password:
        environment["PGPASSWORD"] = str(password)
    return Client(conninfo=make_conninfo("", **parts), environment=environment)


def connect(dsn: str, deadline: Deadline) -> Connection:
    """A connection with limited waits and without autocommit. Raises Unavailable(what="backup") if it fails."""
    parts = _parts(dsn)
    try:
        return psycopg.connect(
            **parts
            | {
                "connect_timeout": max(2, int(min(deadline.remaining(), 10))),
                "tcp_user_timeout": 15_000,
                "keepalives_idle": 10,
                "keepalives_interval": 5,
                "keepalives_count": 2,
                "application_name": "cutter backup",
                "autocommit": False,
            }
        )
    except psycopg.OperationalError:
        where = f"{parts.get('host', 'the local server')}, database {parts.get('dbname', '')}"
        raise Unavailable(f"no connection to {where} as {parts.get('user', '')}", what="backup") from None


def begin_snapshot(connection: Connection, deadline: Deadline, snapshot: str | None = None) -> None:
    """Let the transaction see one moment: its own, or that of a snapshot which another session has exported."""
    connection.isolation_level = psycopg.IsolationLevel.REPEATABLE_READ
    connection.read_only = True
    if snapshot is not None:
        connection.execute(sql.SQL("SET TRANSACTION SNAPSHOT {}").format(sql.Literal(snapshot)))
    bound(connection, deadline)


def bound(connection: Connection, deadline: Deadline) -> None:
    """Let the server end this transaction soon after the deadline, because a stopped process cannot do it itself."""
    milliseconds = deadline.milliseconds() + limits.BACKUP_GRACE_MILLISECONDS
    for name in ("statement_timeout", "lock_timeout", "transaction_timeout", "idle_in_transaction_session_timeout"):
        connection.execute(sql.SQL("SET LOCAL {} = {}").format(sql.Identifier(name), sql.Literal(milliseconds)))


def away(problem: psycopg.Error) -> Unavailable:
    """The error for an unavailable environment, with the SQLSTATE."""
    if isinstance(problem, psycopg.errors.ReadOnlySqlTransaction):
        return Unavailable(f"the backup needs a server that it can write to: {READ_ONLY}: {WRITABLE}", what="backup")
    return Unavailable(f"PostgreSQL gave up the backup (SQLSTATE {problem.sqlstate or 'none'})", what="backup")


def _parts(dsn: str) -> dict[str, Any]:
    try:
        return dict(conninfo_to_dict(dsn))
    except psycopg.ProgrammingError:
        raise InvalidInput("not a PostgreSQL connection string") from None
