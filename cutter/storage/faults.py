"""IO: translates psycopg's errors into cutter's errors. Only this module knows SQLSTATEs and constraint names.

A lost connection, a lock or a serialisation failure becomes `Unavailable`, and the gate is tried again. A statement or
a transaction that takes too long becomes `OverCap`. A refusal by a check of the database becomes `DatabaseRefused` with
its code. Every other error is our bug and passes unchanged.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import psycopg
from psycopg_pool import PoolClosed, PoolTimeout

from cutter.errors import Conflict, CutterError, OverCap, Refused, Unavailable

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
