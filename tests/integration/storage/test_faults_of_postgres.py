"""What a real PostgreSQL raises: constraints exist under the names we know, and DETAIL never crosses."""

from __future__ import annotations

from contextlib import nullcontext
from typing import Any, cast

import psycopg
import pytest

from cutter import limits
from cutter.catalogue import Role
from cutter.errors import OverCap, Unavailable
from cutter.settings import Settings
from cutter.stack.processes import until
from cutter.storage import gate_transaction as tx
from cutter.storage import pools
from cutter.storage.pools import DatabaseRefused, open_pool, single, translate, translated
from tests.support.database import OWNER, Database

SECRET = "Article 9 which nobody may see"


@pytest.mark.parametrize("name", sorted(pools.CONSTRAINT_CODES))
def test_each_constraint_with_a_code_exists(database: Database, name: str) -> None:
    exists = database.value(
        "select exists (select from pg_constraint where conname = %(name)s)"
        " or exists (select from pg_indexes where indexname = %(name)s)",
        {"name": name},
    )
    assert exists, name


def test_the_detail_of_a_duplicate_key_does_not_cross(database: Database) -> None:
    database.run("create table public.t (body text constraint cut_change_set_run_id_key unique)", role=OWNER)
    database.run("insert into public.t values (%s)", (SECRET,), role=OWNER)
    connection = database.connect(OWNER)
    with pytest.raises(psycopg.errors.UniqueViolation) as caught:
        connection.execute("insert into public.t values (%s)", (SECRET,))
    assert SECRET in str(caught.value)
    problem = translate(caught.value)
    assert isinstance(problem, DatabaseRefused)
    assert problem.code == "leg_b_recorded_before"
    assert SECRET not in str(problem)


def test_the_failing_row_of_a_check_does_not_cross(database: Database) -> None:
    database.run("create table public.t (body text check (length(body) < 5))", role=OWNER)
    connection = database.connect(OWNER)
    with pytest.raises(DatabaseRefused) as caught, translated():
        connection.execute("insert into public.t values (%s)", (SECRET,))
    assert SECRET not in str(caught.value)


def test_a_row_lock_that_is_not_had_is_tried_again(database: Database) -> None:
    database.run("create table public.t (n int); insert into public.t values (1)", role=OWNER)
    holder, waiter = database.connect(OWNER), database.connect(OWNER)
    holder.execute("select * from public.t for update")
    waiter.execute("set lock_timeout = '20ms'")
    with pytest.raises(Unavailable), translated():
        waiter.execute("select * from public.t for update")


def test_a_statement_over_its_time_is_over_its_cap(database: Database) -> None:
    connection = database.connect(OWNER)
    connection.execute("set statement_timeout = '20ms'")
    with pytest.raises(OverCap), translated():
        connection.execute("select pg_sleep(60)")


def test_a_pool_replaces_connections_whose_server_side_ended_without_an_error(
    settings: Settings, database: Database
) -> None:
    """The look that costs no round trip sees what a terminated backend has left on the socket."""
    with open_pool(settings, Role.READ) as pool:
        with single(pool) as connection:
            pid = connection.info.backend_pid
        assert database.value("select pg_terminate_backend(%s, 5000)", (pid,))
        with single(pool) as connection:
            row = connection.execute("select pg_backend_pid()").fetchone()
    assert row is not None
    assert row[0] != pid


@pytest.mark.parametrize("pipelined", [False, True])
def test_a_transaction_that_a_stopped_worker_left_open_is_ended(
    settings: Settings, database: Database, monkeypatch: pytest.MonkeyPatch, *, pipelined: bool
) -> None:
    """Seed 004 "Worker State Machine" Invariants."""
    shorter = pools.SESSION.replace(f"{limits.IDLE_IN_TRANSACTION_SECONDS}s", "200ms", 1)
    monkeypatch.setattr(pools, "SESSION", shorter)
    with open_pool(settings, Role.READ) as pool, pool.connection() as connection:
        with connection.pipeline() if pipelined else nullcontext():
            connection.execute("select 1")
        pid = connection.info.backend_pid
        ended = "select not exists (select from pg_stat_activity where pid = %s)"
        assert until(lambda: bool(database.value(ended, (pid,))), seconds=30)
        with pytest.raises(Unavailable), translated():
            connection.execute("select 1")


def test_a_single_statement_is_committed_and_the_next_user_of_the_connection_is_in_a_transaction(
    settings: Settings, database: Database
) -> None:
    database.run("create table public.t (n int); grant insert, select on public.t to cutter_read", role=OWNER)
    with open_pool(settings, Role.READ, size=1) as pool:
        with single(pool) as connection:
            connection.execute("insert into public.t values (1)")
            assert database.value("select count(*) from public.t") == 1
        with pool.connection() as connection:
            assert not connection.autocommit
            connection.execute("insert into public.t values (2)")
            assert database.value("select count(*) from public.t") == 1
            connection.rollback()
    assert database.value("select count(*) from public.t") == 1


def test_the_error_of_a_wait_is_the_cause_even_if_the_server_ended_the_transaction(
    settings: Settings, database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A hung gpg-agent is named, although PostgreSQL ended the gate's transaction before gpg's own limit."""
    monkeypatch.setattr(pools, "SESSION", pools.SESSION.replace(f"{limits.IDLE_IN_TRANSACTION_SECONDS}s", "200ms", 1))
    monkeypatch.setattr(tx, "_open", lambda connection, *_: connection.execute("select pg_backend_pid()").fetchone()[0])

    def gate(pool: pools.Pool) -> None:
        with tx.gate_transaction(pool, cast(Any, None), cast(Any, None)) as pid:
            ended = "select not exists (select from pg_stat_activity where pid = %s)"
            assert until(lambda: bool(database.value(ended, (pid,))), seconds=30)
            raise Unavailable("gpg hangs", what="gpg")

    with open_pool(settings, Role.READ) as pool, pytest.raises(Unavailable, match="gpg hangs"):
        gate(pool)
