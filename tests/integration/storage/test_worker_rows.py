"""Workers in the database: who may beat for whom, what silence is called, and that the rows do not grow."""

from __future__ import annotations

import json
from itertools import product
from typing import Any

import psycopg
import pytest

from cutter.evidence import audit
from cutter.lifecycle.declarations import WORKER
from starter.commands.audit import exported
from tests.support.database import Database

BEAT = "select cutter_governance.fn_worker_beat(%s, 'build-1', 10, %s, %s)"
JUDGE = "select cutter_governance.fn_workers_judge()"
QUEUES = json.dumps([{"queue": "cutter-exec", "slots": 8, "used": 0}])
EXEC = "cutter_exec"


def beat(database: Database, state: str, worker: str = "exec-1", role: str = EXEC) -> str:
    return str(database.value(BEAT, (worker, QUEUES, state), role=role))


def alive(database: Database, worker: str = "exec-1", role: str = EXEC) -> None:
    beat(database, "initializing", worker, role)
    assert beat(database, "idle", worker, role) == "idle"


def silent_for(database: Database, seconds: int, worker: str = "exec-1") -> None:
    database.run(
        "update cutter_governance.worker_heartbeat set seen_at = clock_timestamp() - %s * interval '1 second'"
        " where worker_id = %s",
        (seconds, worker),
    )


def events(database: Database) -> list[dict[str, Any]]:
    rows: list[str] = database.value(
        "select coalesce(array_agg(body order by seq), '{}') from cutter_governance.audit_event where chain = 'workers'"
    )
    return [json.loads(row) for row in rows]


def moves(database: Database) -> list[tuple[str, str, str, str]]:
    return [
        (event["from_state"], event["to_state"], event["trigger"], event["severity"]) for event in events(database)
    ]  # fmt: skip


def state_of(database: Database, worker: str = "exec-1") -> str | None:
    worker_state: str | None = database.value(
        "select state from cutter_governance.worker_heartbeat where worker_id = %s", (worker,)
    )
    return worker_state


def test_a_worker_s_life_is_one_row_and_one_event_a_move(database: Database) -> None:
    """Seeds 004 "Worker State Machine" Transition Details, 004 "Event Schema"."""
    for state in ("initializing", "initializing", "idle", "idle", "busy", "busy", "idle", "shutdown"):
        assert beat(database, state) == state
    assert moves(database) == [
        ("initializing", "idle", "registration_complete", "info"),
        ("idle", "busy", "task_assigned", "info"),
        ("busy", "idle", "task_completed", "info"),
        ("idle", "shutdown", "shutdown_requested", "info"),
    ]
    assert database.value("select count(*) from cutter_governance.worker_heartbeat") == 1
    first = events(database)[0]
    assert first["entity_id"] == "exec-1"
    assert first["event_type"] == "worker_state_transition"
    assert first["metadata"] == {"role": "exec", "build_id": "build-1", "queues": json.loads(QUEUES)}


def test_one_that_ends_while_it_works_or_before_it_served_ends_legally(database: Database) -> None:
    for state in ("initializing", "busy", "shutdown"):
        beat(database, state)
    beat(database, "initializing", "exec-2")
    assert beat(database, "shutdown", "exec-2") == "shutdown"
    assert [move[:2] for move in moves(database)] == [
        ("initializing", "idle"), ("idle", "busy"), ("busy", "shutdown"),
        ("initializing", "shutdown"),
    ]  # fmt: skip


@pytest.mark.parametrize("role", ["cutter_read", "cutter_verify"])
def test_nobody_beats_for_a_worker_of_another_role(database: Database, role: str) -> None:
    alive(database)
    with pytest.raises(psycopg.Error, match=f"worker exec-1 is not one of {role}"):
        beat(database, "shutdown", role=role)
    assert state_of(database) == "idle"


@pytest.mark.parametrize("role", ["cutter_backup", "cutter_operator", "directus"])
def test_who_serves_no_queue_registers_no_worker(database: Database, role: str) -> None:
    with pytest.raises(psycopg.errors.InsufficientPrivilege):
        beat(database, "initializing", role=role)
    with pytest.raises(psycopg.Error, match="postgres serves no task queue"):
        beat(database, "initializing", role="postgres")


def test_the_role_of_a_worker_is_that_of_its_session(database: Database) -> None:
    for role, expected in (("cutter_read", "cutter"), (EXEC, "exec"), ("cutter_verify", "verify")):
        beat(database, "initializing", expected, role)
        stored_role = database.value(
            "select role from cutter_governance.worker_heartbeat where worker_id = %s", (expected,)
        )  # fmt: skip
        assert stored_role == expected


def test_silence_is_recorded_once_and_forgiven(database: Database) -> None:
    """Seed 004 "Worker State Machine" Transition Details."""
    alive(database)
    beat(database, "busy")
    silent_for(database, 29)
    database.run(JUDGE, role="cutter_operator")
    assert state_of(database) == "busy", "two heartbeats missed are not three"
    silent_for(database, 31)
    database.run(JUDGE, role="cutter_operator")
    database.run(JUDGE, role="cutter_read")
    assert state_of(database) == "unresponsive"
    assert beat(database, "busy") == "busy"
    assert moves(database)[2:] == [
        ("busy", "unresponsive", "health_check_timeout", "error"),
        ("unresponsive", "idle", "health_check_recovered", "info"),
        ("idle", "busy", "task_assigned", "info"),
    ]


def test_ten_minutes_of_silence_are_the_end_and_who_returns_is_another_worker(database: Database) -> None:
    """Seeds 004 "Worker State Machine" Transition Details, 004 "Worker State Machine" Invariants."""
    alive(database)
    silent_for(database, 601)
    database.run(JUDGE, role="cutter_operator")
    assert moves(database)[1:] == [
        ("idle", "unresponsive", "health_check_timeout", "error"),
        ("unresponsive", "shutdown", "max_timeout_exceeded", "error"),
    ]
    for state in ("initializing", "idle", "busy", "shutdown"):
        assert beat(database, state) == "shutdown", "a terminal state is immutable"
    assert len(events(database)) == 3


def test_one_that_never_came_to_serve_is_closed_after_ten_minutes(database: Database) -> None:
    beat(database, "initializing")
    silent_for(database, 599)
    database.run(JUDGE, role="cutter_operator")
    assert state_of(database) == "initializing"
    silent_for(database, 601)
    database.run(JUDGE, role="cutter_operator")
    database.run(JUDGE, role="cutter_read")
    assert moves(database) == [("initializing", "shutdown", "shutdown_requested", "info")]


def test_a_crash_loop_keeps_no_worker_out_and_its_rows_do_not_grow(database: Database) -> None:
    database.run(
        "insert into cutter_governance.worker_heartbeat"
        " (worker_id, owner, role, build_id, state, queues, beat_seconds, seen_at)"
        " select 'x' || n, owner, 'exec', 'b', 'shutdown', '[]', 10, clock_timestamp() - n * interval '1 second'"
        " from unnest(array['cutter_exec', 'cutter_read']) as owner,"
        " lateral (select n + case owner when 'cutter_read' then 10000 else 0 end from generate_series(1, 1002) n)"
        " as numbered (n)"
    )
    alive(database)
    left = database.value(
        "select array_agg(worker_id order by seen_at) from cutter_governance.worker_heartbeat"
        " where owner = 'cutter_exec' and state = 'shutdown'"
    )
    assert (len(left), left[0], left[-1]) == (1000, "x1000", "x1")
    assert state_of(database, "x11002") == "shutdown", "another owner's are not this one's to forget"


def test_one_whose_row_is_gone_is_told_to_register_again(database: Database) -> None:
    assert beat(database, "idle") == "shutdown"
    assert state_of(database) is None


def test_rows_of_a_week_ago_go_and_a_role_has_a_thousand_at_most(database: Database) -> None:
    alive(database)
    silent_for(database, 8 * 24 * 3600)
    alive(database, "exec-2")
    assert state_of(database) is None
    assert moves(database)[1][1] == "unresponsive", "it is judged before its row goes"
    database.run(
        "insert into cutter_governance.worker_heartbeat (worker_id, owner, role, build_id, queues, beat_seconds)"
        " select 'x' || n, 'cutter_exec', 'exec', 'b', '[]', 10 from generate_series(1, 999) n"
    )
    with pytest.raises(psycopg.Error, match="too many workers of cutter_exec"):
        beat(database, "initializing", "exec-3")
    alive(database, "verify-1", "cutter_verify")


def test_a_judge_passes_over_a_worker_that_is_just_beating(database: Database) -> None:
    alive(database)
    silent_for(database, 31)
    beating = database.connect(EXEC)
    beating.execute(BEAT, ("exec-1", QUEUES, "idle"))
    database.run("set lock_timeout = '2s'; " + JUDGE)
    beating.commit()
    assert state_of(database) == "idle"


def test_the_triggers_are_the_declared_ones(database: Database) -> None:
    triggers = {
        pair: database.value("select cutter_governance.fn_worker_trigger(%s, %s)", pair)
        for pair in product(WORKER.states, WORKER.states)
    }
    declared = {edge: rule.trigger for edge, rule in WORKER.edges.items()}
    assert {pair: trigger for pair, trigger in triggers.items() if trigger} == declared


def test_the_workers_chain_is_part_of_an_intact_export(database: Database, settings: Any) -> None:
    alive(database)
    beat(database, "shutdown")
    checked = audit.verify(exported(settings, None))
    assert checked.problems == ()
    assert checked.chains == 2, "the workers' and the global one that holds its head"
