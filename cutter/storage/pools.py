"""IO: one pool of direct connections for each role (spec 04 "Connections").

Advisory locks and session settings do not survive a pooler, so a connection must be direct. `check_direct` asks for the
backend's pid twice, in two transactions.
"""

from __future__ import annotations

import select
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from functools import partial

import psycopg
from psycopg_pool import ConnectionPool

from cutter import limits
from cutter.catalogue import Role
from cutter.settings import Settings, dsn
from cutter.storage.faults import pooled, translated
from cutter.storage.records import Rows, answer, values

Connection = psycopg.Connection[tuple[object, ...]]
Pool = ConnectionPool[Connection]

CLOCK: Rows[datetime] = values("database_clock")

SESSION = " ".join(
    f"-c {name}={value}"
    for name, value in {
        "client_connection_check_interval": "500ms",
        "lock_timeout": f"{limits.LOCK_TIMEOUT_SECONDS}s",
        "idle_in_transaction_session_timeout": f"{limits.IDLE_IN_TRANSACTION_SECONDS}s",
        "timezone": "UTC",
        # A gate reads few rows in long queries. To compile them would take longer than to run them.
        "jit": "off",
        # A role can change its own defaults. The settings of a connection override these defaults.
        "statement_timeout": "0",
        "transaction_timeout": "0",
        "default_transaction_isolation": "read\\ committed",
        "default_transaction_read_only": "off",
        "default_transaction_deferrable": "off",
        "search_path": "public",
        "client_encoding": "UTF8",
        "datestyle": "ISO",
        "local_preload_libraries": "",
        # If a policy of row security would hide rows, the query fails. A backup would be without these rows.
        "row_security": "off",
        "bytea_output": "hex",
        "extra_float_digits": "3",
        "intervalstyle": "postgres",
    }.items()
)
"""Settings of every session, so that PostgreSQL frees a killed worker's locks in half a second, not eight."""

PERCENT_OF_CONNECTIONS = {
    Role.OWNER: 3,
    Role.READ: 35,
    Role.BACKUP: 20,
    Role.EXEC: 14,
    Role.VERIFY: 8,
    Role.OPERATOR: 10,
    Role.DIRECTUS: 3,
    Role.API: 3,
    Role.DESK: 3,
}
"""The percentage of the server's connections that each role may hold. The superuser and monitoring get the rest.

- As cutter_read, a cutter worker holds a pool of 4, one connection for its heartbeat, and one for each batch that it
  steers or has just steered (at most 32). As cutter_backup, it holds a pool of 4 in each of two databases.
- An exec worker holds a pool of 4, one connection for its heartbeat, and one for each of 8 gates that read back.
- A verify worker holds a pool of 4 and one connection for its heartbeat.

A server with 200 connections has room for two workers of each role, while at most ten gates take a backup at once.
"""

CONNECTIONS_MIN = 5
"""The fewest connections of a role on a small server: a pool and a heartbeat."""


class _Session(psycopg.Connection[tuple[object, ...]]):
    """A connection whose pipelines end with a Sync."""

    @contextmanager
    def pipeline(self) -> Iterator[psycopg.Pipeline]:
        """psycopg's pipeline, without the Flush that psycopg sends after the last Sync while it waits for answers.

        PostgreSQL stops its idle timer at every message and starts it only at a Sync (measured with 18). After such a
        Flush, a stopped worker kept its gate's locks until the gate's cap. A Sync makes the server flush anyway.
        """
        with super().pipeline() as made:
            yield made
            if made.level == 1:
                fetch = made._fetch_gen
                made._fetch_gen = lambda *, flush: fetch(flush=False)  # type: ignore[method-assign]  # noqa: ARG005


SCRATCH = "cutter_scratch"
"""The database of cutter_backup, in which a backup is restored and compared."""


def open_pool(
    settings: Settings, role: Role, *, database: str = "cutter", size: int = 4, timeout: float = 10,
    statement_seconds: float = 0,
) -> Pool:  # fmt: skip
    """A pool of at most `size` connections. It opens them lazily, so that a worker can start before the database.

    A statement of these connections may take `statement_seconds`, if a transaction sets no other limit.

    Each new connection reads the password's file, so that a running worker takes a changed password. A caller that
    waits more than `timeout` seconds for a connection gets Unavailable.
    """
    dsn(settings, role)  # Raises Unavailable now if the file is missing.
    pool: Pool = ConnectionPool(
        partial(dsn, settings, role, database=database),
        min_size=0,
        max_size=size,
        timeout=timeout,
        max_idle=60,
        reconnect_timeout=limits.DATABASE_CONNECT_SECONDS,
        open=True,
        name=role,
        connection_class=_Session,
        kwargs={
            "options": f"{SESSION} -c statement_timeout={int(statement_seconds * 1000)}ms",
            "application_name": f"cutter:{role}",
            "connect_timeout": limits.DATABASE_CONNECT_SECONDS,
            "autocommit": False,
        },
        check=check_quiet,
    )
    return pool


def check_quiet(connection: Connection) -> None:
    """Check an idle connection only if its socket has data, because a stopped server has closed its end."""
    looking = select.poll()
    looking.register(connection.fileno(), select.POLLIN)
    if looking.poll(0):
        ConnectionPool.check_connection(connection)


@contextmanager
def single(pool: Pool) -> Iterator[Connection]:
    """A connection on which each statement is a transaction of its own, in one round trip. So is a pipeline."""
    with translated(), pool.connection() as connection:
        connection.autocommit = True
        try:
            yield connection
        finally:
            if not connection.closed:
                connection.autocommit = False


def connect(settings: Settings, role: Role) -> Connection:
    """A new connection outside the pool, for example to read back the written rows."""
    with translated():
        return _Session.connect(
            dsn(settings, role),
            options=SESSION,
            application_name=f"cutter:{role}",
            connect_timeout=limits.DATABASE_CONNECT_SECONDS,
            autocommit=True,
        )


@contextmanager
def session(settings: Settings, role: Role) -> Iterator[Connection]:
    """One connection as that role for a block. Errors of psycopg become cutter's errors (`storage.faults`)."""
    with translated(), connect(settings, role) as connection:
        yield connection


def check_direct(settings: Settings, role: Role) -> None:
    """Raise Unavailable if a pooler is between cutter and PostgreSQL, even one that hides the server's processes."""
    with session(settings, role) as connection:
        connection.execute("select set_config('cutter.direct', 'yes', false)")
        with connection.transaction():
            same = answer(
                connection,
                "select current_setting('cutter.direct', true) = 'yes' and pg_backend_pid() = %s",
                (connection.info.backend_pid,),
            )
        if not same:
            raise pooled()
