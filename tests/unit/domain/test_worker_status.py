"""What `cutter workers` makes of heartbeats and pollers."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from cutter.domain.worker_status import Heartbeat, identity, worker_report

QUEUES = ("q-a", "q-b")
NOW = datetime(2026, 1, 1, tzinfo=UTC)


def row(name: str, *queues: str, state: str = "idle", silent: bool = False, used: int = 0) -> Heartbeat:
    return Heartbeat(
        worker_id=name, role="exec", state=state, build_id="b1", silent=silent, age_seconds=7,
        queues=[{"queue": queue, "slots": 8, "used": used} for queue in queues],
        started_at=NOW, seen_at=NOW, beat_seconds=10,
    )  # fmt: skip


def test_all_queues_served_is_well() -> None:
    summary = worker_report(
        [row("one", *QUEUES, used=3), row("two", "q-b", state="busy")], {"q-a": ["one"], "q-b": ["one"]}, QUEUES
    )
    assert (summary.unserved, summary.unresponsive, summary.next) == ((), (), None)
    assert summary.as_json()["queues"] == [{"queue": "q-a", "workers": 1}, {"queue": "q-b", "workers": 2}]
    first, second = summary.workers
    assert (first.used, first.slots) == (6, 16)
    assert [its.polls for its in first.queues] == [True, True]
    assert [its.polls for its in second.queues] == [False], "it beats and does not poll"


@pytest.mark.parametrize("state", ["initializing", "unresponsive", "shutdown"])
def test_a_queue_whose_workers_are_not_live_is_unserved(state: str) -> None:
    summary = worker_report([row("one", "q-a"), row("two", "q-b", state=state)], None, QUEUES)
    assert summary.unserved == ("q-b",)
    assert summary.next == "cutter up"


def test_an_unresponsive_worker_is_told_also_where_others_serve() -> None:
    summary = worker_report([row("one", *QUEUES), row("two", "q-b", state="unresponsive")], None, QUEUES)
    assert (summary.unserved, summary.unresponsive, summary.next) == ((), ("two",), None)


def test_one_that_fell_silent_while_it_started_is_unresponsive() -> None:
    summary = worker_report([row("one", *QUEUES, state="initializing", silent=True)], None, QUEUES)
    assert summary.unresponsive == ("one",)
    summary = worker_report([row("one", *QUEUES, state="initializing")], None, QUEUES)
    assert summary.unresponsive == ()


def test_whoever_polls_and_never_registered_is_shown_and_serves_nothing() -> None:
    summary = worker_report([row("one", "q-a")], {"q-a": ["one", "stranger"], "q-b": ["stranger"]}, QUEUES)
    stranger = summary.workers[1]
    assert (stranger.worker_id, stranger.state) == ("stranger", "unregistered")
    assert [its.queue for its in stranger.queues] == ["q-a", "q-b"]
    assert summary.unserved == ("q-b",)


def test_one_that_came_back_under_another_id_is_known_to_its_queue() -> None:
    assert identity("exec-1.2") == "exec-1"
    summary = worker_report(
        [row("exec-1", "q-a", state="shutdown"), row("exec-1.1", *QUEUES)], {"q-a": ["exec-1"]}, QUEUES
    )
    assert [worker.worker_id for worker in summary.workers] == ["exec-1", "exec-1.1"]
    assert [its.polls for its in summary.workers[1].queues] == [True, False]
    assert [its.polls for its in summary.workers[0].queues] == [None]
    assert summary.workers[0].used == 0


def test_each_build_that_has_runs_needs_its_own_workers() -> None:
    rows = [row("new", *QUEUES), replace(row("old", "q-a"), build_id="b0")]
    builds = {"b1": "current", "b0": "draining", "b9": "drained"}
    summary = worker_report(rows, None, QUEUES, builds)
    assert summary.unserved == ("q-b of build b0",)
    assert summary.next is None
    assert summary.builds == builds
    assert worker_report(rows, None, QUEUES, {**builds, "b0": "drained"}).unserved == ()


def test_a_further_field_of_a_heartbeat_is_shown_to_programs_only() -> None:
    claim = [{"queue": "q-a", "slots": 8, "used": 1, "blocked": ["the reason"]}]
    heartbeat = replace(row("one"), queues=claim)
    (worker,) = worker_report([heartbeat], {"q-a": ["one"]}, QUEUES).as_json()["workers"]
    assert worker["queues"] == [{**claim[0], "polls": True}]
