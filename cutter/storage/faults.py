"""IO: what psycopg raises, as our errors: the one place where SQLSTATEs and constraint names are known.

A lost connection, a lock or a serialisation failure is `Unavailable` (the gate is tried again), a statement or
transaction over its time is `OverCap`; a refusal of the database's own checks is `DatabaseRefused` with its code;
anything else is our bug and passes through.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import psycopg
from psycopg_pool import PoolClosed, PoolTimeout

from cutter.errors import Conflict, CutterError, OverCap, Refused, Unavailable

RETRYABLE_STATES = frozenset({"40001", "40P01", "55P03", "57P01", "57P02", "57P03", "25P03", "53300"})
"""Serialisation, deadlock, lock not available, shutdown, idle in a transaction, too many connections."""

OVER_CAP_STATES = frozenset({"57014", "25P04"})
"""Statement or transaction timed out: both lie just below a gate's cap."""

AWAY_STATES = ("08", "57P")
"""The server is not there, is going or is coming: somebody must bring it back. (The others pass by themselves.)"""

REMEDY = ": type `cutter up` or see `cutter doctor`"

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
}

OTHER_PAYLOAD = "CU011"
"""A side effect was recorded under this key with other fields; the line names the key and both hashes."""

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
    """PostgreSQL's own checks said no; an auditor should look at why the worker tried. `code` names the check."""


@contextmanager
def translated() -> Iterator[None]:
    """Raise our errors instead of psycopg's."""
    try:
        yield
    except psycopg.Error as problem:
        raise translate(problem) from None
    except (PoolTimeout, PoolClosed):
        raise Unavailable(
            "the database does not answer: type `cutter up` or see `cutter doctor`", what="database"
        ) from None


def translate(problem: psycopg.Error) -> CutterError | psycopg.Error:
    """Our error for psycopg's; an unknown one is given back as it is. Only the server's first line is kept, no data."""
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
    if isinstance(problem, psycopg.errors.InsufficientPrivilege):
        return DatabaseRefused(line, code="privilege")
    if (
        state.startswith("08")
        or state in RETRYABLE_STATES
        # libpq's own, at whichever call it noticed; as a result it is of no class in particular
        or (not state and (isinstance(problem, psycopg.OperationalError) or type(problem) is psycopg.DatabaseError))
    ):
        away = not state or state.startswith(AWAY_STATES)
        return Unavailable(f"database: {line}{REMEDY if away else ''}", what="database")
    if state in OVER_CAP_STATES:
        return OverCap(f"database: {line}")
    if state in ("53100", "53200"):
        return Unavailable(f"database: {line}", what="database_resources")
    return problem
