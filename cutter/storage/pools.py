"""IO: one pool of direct connections for each role (spec 04 "Connections"), and cutter's errors for psycopg's.

Advisory locks and session settings do not survive a pooler, so a connection must be direct. `check_direct` asks for the
backend's pid twice, in two transactions.

Only this module knows SQLSTATEs and constraint names. A lost connection, a lock or a serialisation failure becomes
`Unavailable`, and the gate is tried again. A statement or a transaction that takes too long becomes `OverCap`. A
refusal by a check of the database becomes `DatabaseRefused` with its code. Every other error is our bug and passes
unchanged.
"""

from __future__ import annotations

import select
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from functools import partial

import psycopg
from psycopg_pool import ConnectionPool, PoolClosed, PoolTimeout

from cutter import limits
from cutter.catalogue import Role
from cutter.errors import Conflict, CutterError, OverCap, Refused, Unavailable
from cutter.settings import Settings, dsn
from cutter.storage.records import Connection, Rows, answer, values

RETRYABLE_STATES = frozenset({"40001", "40P01", "55P03", "57P01", "57P02", "57P03", "25P03", "53300"})
"""Serialisation failure, deadlock, lock not available, shutdown, idle in a transaction, too many connections."""

OVER_CAP_STATES = frozenset({"57014", "25P04"})
"""Timeout of a statement or a transaction. Both limits are just below the gate's cap."""

AWAY_STATES = ("08", "57P")
"""The server is unavailable, stops or starts, and a person may have to start it. The other states end by themselves."""

UP = "cutter up"
REMEDY = f": type `{UP}` or see `cutter doctor`"

READ_ONLY = "the server accepts no writes: it is a standby, or somebody set default_transaction_read_only"
WRITABLE = "make room on its disk and end the setting, or point CUTTER_DATABASE_URL at the primary server"

CROWDED = ("too many clients", "too many connections", "remaining connection slots")
"""What PostgreSQL says to a new client if all connections, or all those of its role, are taken."""
FEWER = "end sessions that nobody needs, or raise max_connections"

POOLED = "a pooler such as PgBouncer is in front of the database, and session settings and locks do not hold there"
DIRECT = "point CUTTER_DATABASE_URL at the server itself"

_OF_POOLERS = ("unsupported startup parameter", "pooling mode")
"""What PgBouncer says to a client that sets options, and to a transaction block in the mode `statement`."""

CHECK_CODES = {
    "CU001": "gateway_blocked",
    "CU002": "enacted_immutable",
    "CU003": "birth_gate",
    "CU004": "anchors_disagree",
    "CU005": "append_only",
    "CU006": "wrong_caller",
    "CU007": "no_gate_open",
    "CU008": "wrong_signer",
    "CU009": "receipt_not_sealed",
    "CU010": "rows_not_approved",
    "CU021": "malformed",
    "CU022": "predecessor_not_sealed",
    "CU023": "policy_changed",
}

OTHER_PAYLOAD = "CU011"
"""A side effect is already recorded under this key with other fields. The message names the key and both hashes."""

CONSTRAINT_CODES = {
    "run_active_docprefix": "docprefix_busy",
    "run_active_document": "document_busy",
    "run_success_once": "already_enacted",
    "cut_change_set_idempotency_key_key": "leg_b_recorded_before",
    "cut_change_set_run_id_key": "leg_b_recorded_before",
    "verify_result_change_set_id_key": "verified_before",
    "information_unit_address_key": "address_exists",
}


class DatabaseRefused(Refused):
    """A check in PostgreSQL refused. An auditor should find out why the worker tried this. `code` names the check."""


@contextmanager
def translated() -> Iterator[None]:
    """Raise cutter's errors instead of psycopg's."""
    try:
        yield
    except psycopg.Error as problem:
        raise translate(problem) from None
    except (PoolTimeout, PoolClosed):
        raise Unavailable(f"the database does not answer{REMEDY}", what="database").leads_to(UP) from None


@contextmanager
def writing() -> Iterator[None]:
    """Raise cutter's error if the server is unavailable or read-only. Other errors of the superuser are our bugs."""
    try:
        yield
    except (psycopg.OperationalError, psycopg.errors.ReadOnlySqlTransaction) as problem:
        raise translate(problem) from None


def pooled() -> Unavailable:
    """The error if a pooler is between cutter and PostgreSQL."""
    return Unavailable(f"{POOLED}: {DIRECT}", what="database")


def translate(problem: psycopg.Error) -> CutterError | psycopg.Error:
    """cutter's error for psycopg's, with the first line of the message, without data. An unknown error stays."""
    state = problem.sqlstate or ""
    line = (problem.diag.message_primary or str(problem)).strip().split("\n")[0][:300]
    if state in CHECK_CODES:
        return DatabaseRefused(line, code=CHECK_CODES[state])
    if state == OTHER_PAYLOAD:
        return Conflict(line)
    constraint = problem.diag.constraint_name or ""
    if constraint in CONSTRAINT_CODES:
        return DatabaseRefused(f"{constraint}: {CONSTRAINT_CODES[constraint]}", code=CONSTRAINT_CODES[constraint])
    if isinstance(problem, psycopg.errors.IntegrityError):
        return DatabaseRefused(f"constraint {constraint or state} refused a row", code="constraint")
    if isinstance(problem, psycopg.errors.ReadOnlySqlTransaction):
        return Unavailable(f"database: {READ_ONLY} ({line}): {WRITABLE}", what="database")
    if isinstance(problem, psycopg.errors.InsufficientPrivilege):
        return DatabaseRefused(line, code="privilege")
    if (
        state.startswith("08")
        or state in RETRYABLE_STATES
        # An error of libpq itself. libpq can notice it at any call, so it has no special class.
        or (not state and (isinstance(problem, psycopg.OperationalError) or type(problem) is psycopg.DatabaseError))
    ):
        if any(words in line for words in _OF_POOLERS):
            return pooled()
        if any(words in str(problem) for words in CROWDED):
            return Unavailable(f"database: {line}: {FEWER}", what="database")
        away = not state or state.startswith(AWAY_STATES)
        return Unavailable(f"database: {line}{REMEDY if away else ''}", what="database").leads_to(UP if away else None)
    if state in OVER_CAP_STATES:
        return OverCap(f"database: {line}")
    if state in ("53100", "53200"):
        return Unavailable(f"database: {line}", what="database_resources")
    return problem


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
    """One connection as that role for a block. Errors of psycopg become cutter's errors."""
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
