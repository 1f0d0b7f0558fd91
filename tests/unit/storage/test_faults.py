"""Every SQLSTATE and constraint that we know becomes the declared error; nothing of a row crosses."""

from __future__ import annotations

import re
from pathlib import Path

import psycopg
import pytest
from psycopg_pool import PoolClosed, PoolTimeout

from cutter.errors import Conflict, OverCap, ProgrammingError, Unavailable
from cutter.storage import pools
from cutter.storage.pools import DatabaseRefused, translate, translated

SQL = Path(pools.__file__).parent / "sql"


def raised(state: str, message: str = "as the server says it") -> psycopg.Error:
    """psycopg's error of a SQLSTATE; those of our own functions have no class of their own."""
    try:
        kind = psycopg.errors.lookup(state)
    except KeyError:
        kind = type("Ours", (psycopg.errors.DatabaseError,), {"sqlstate": state})
    return kind(message)


@pytest.mark.parametrize("state", sorted(pools.RETRYABLE_STATES))
def test_what_passes_by_itself_or_comes_back_is_unavailable(state: str) -> None:
    """Seed 003 §6.1."""
    problem = translate(raised(state))
    assert isinstance(problem, Unavailable)
    assert problem.what == "database"


@pytest.mark.parametrize(
    "problem",
    [
        psycopg.OperationalError("connection failed: FATAL:  unsupported startup parameter: options"),
        psycopg.OperationalError("connection failed: FATAL:  unsupported startup parameter in options: lock_timeout"),
        raised("08P01", "transaction blocks not allowed in statement pooling mode"),
    ],
)
def test_a_refusal_by_a_pooler_names_the_pooler_and_what_to_change(problem: psycopg.Error) -> None:
    assert str(translate(problem)) == f"{pools.POOLED}: {pools.DIRECT}"


@pytest.mark.parametrize("state", ["08000", "08003", "08006", "08001"])
def test_a_lost_connection_is_unavailable(state: str) -> None:
    assert isinstance(translate(raised(state)), Unavailable)


@pytest.mark.parametrize("kind", [psycopg.OperationalError, psycopg.DatabaseError])
def test_an_error_of_the_connection_itself_is_a_lost_connection(kind: type[psycopg.Error]) -> None:
    assert isinstance(translate(kind("server closed the connection unexpectedly\ninvalid socket")), Unavailable)


@pytest.mark.parametrize("state", sorted(pools.OVER_CAP_STATES))
def test_a_statement_or_transaction_over_its_time_is_over_its_cap(state: str) -> None:
    assert isinstance(translate(raised(state)), OverCap)


@pytest.mark.parametrize("state", ["53100", "53200"])
def test_a_full_disk_or_memory_is_named_apart(state: str) -> None:
    problem = translate(raised(state))
    assert isinstance(problem, Unavailable)
    assert problem.what == "database_resources"


@pytest.mark.parametrize(("state", "code"), sorted(pools.CHECK_CODES.items()))
def test_each_check_of_ours_has_its_code(state: str, code: str) -> None:
    problem = translate(raised(state, "first line\nsecond line"))
    assert isinstance(problem, DatabaseRefused)
    assert (problem.code, str(problem)) == (code, "first line")


def test_the_checks_of_the_database_are_the_ones_that_have_codes() -> None:
    used = {
        state
        for file in SQL.rglob("*.sql")
        for state in re.findall(r"errcode = '(CU\d+)'", file.read_text(encoding="utf-8"))
    }
    assert used == {*pools.CHECK_CODES, pools.OTHER_PAYLOAD}


def test_another_payload_under_a_key_is_a_conflict_that_names_both() -> None:
    problem = translate(raised(pools.OTHER_PAYLOAD, "kb:put:a was done with fields of sha256 1, now 2 is asked for"))
    assert isinstance(problem, Conflict)
    assert str(problem) == "kb:put:a was done with fields of sha256 1, now 2 is asked for"


@pytest.mark.parametrize("state", ["23502", "23503", "23505", "23514", "23P01"])
def test_a_constraint_without_a_code_of_its_own_refuses_without_the_row(state: str) -> None:
    message = 'null value in column "body" of relation "x" violates: SECRET LAW TEXT'
    problem = translate(raised(state, message))
    assert isinstance(problem, DatabaseRefused)
    assert problem.code == "constraint"
    assert "SECRET" not in str(problem)


def test_a_missing_privilege_is_refused() -> None:
    problem = translate(raised("42501", "permission denied for table information_unit"))
    assert isinstance(problem, DatabaseRefused)
    assert problem.code == "privilege"


@pytest.mark.parametrize("state", ["22P02", "42601", "42P01", "P0001", "XX000"])
def test_anything_else_is_our_bug_and_passes_as_it_is(state: str) -> None:
    problem = raised(state)
    assert translate(problem) is problem
    with pytest.raises(type(problem)), translated():
        raise problem


@pytest.mark.parametrize("problem", [PoolTimeout("no connection"), PoolClosed("closed")])
def test_a_pool_without_a_connection_says_what_to_type(problem: Exception) -> None:
    with pytest.raises(Unavailable, match="cutter up"), translated():
        raise problem


def test_our_own_errors_pass_through() -> None:
    with pytest.raises(ProgrammingError, match="ours"), translated():
        raise ProgrammingError("ours")


def test_nothing_is_chained_to_a_translated_error() -> None:
    """A chained psycopg error would carry DETAIL, which holds rows, into every log of a traceback."""
    with pytest.raises(DatabaseRefused) as caught, translated():
        raise raised("23505", "SECRET")
    assert caught.value.__cause__ is None
    assert caught.value.__suppress_context__
