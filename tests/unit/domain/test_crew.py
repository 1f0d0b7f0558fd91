"""What `cutter workers` makes of heartbeats and pollers."""

from __future__ import annotations

from typing import Any

import pytest

from cutter.domain.worker_status import crew, identity

QUEUES = ("q-a", "q-b")


def row(name: str, *queues: str, state: str = "idle", silent: bool = False, used: int = 0) -> dict[str, Any]:
    return {
        "worker_id": name, "role": "exec", "state": state, "build_id": "b1", "silent": silent, "age_seconds": 7,
        "queues": [{"queue": queue, "slots": 8, "used": used} for queue in queues],
        "started_at": "2026-01-01T00:00:00Z", "seen_at": "2026-01-01T00:00:00Z",
    }  # fmt: skip


def test_all_queues_served_is_well() -> None:
    summary = crew(
        [row("one", *QUEUES, used=3), row("two", "q-b", state="busy")], {"q-a": ["one"], "q-b": ["one"]}, QUEUES
    )
    assert (summary["unserved"], summary["unresponsive"], summary["next"]) == ([], [], None)
    assert summary["queues"] == [{"queue": "q-a", "workers": 1}, {"queue": "q-b", "workers": 2}]
    first, second = summary["workers"]
    assert (first["used"], first["slots"]) == (6, 16)
    assert [its["polls"] for its in first["queues"]] == [True, True]
    assert [its["polls"] for its in second["queues"]] == [False], "it beats and does not poll"


@pytest.mark.parametrize("state", ["initializing", "unresponsive", "shutdown"])
def test_a_queue_whose_workers_are_not_live_is_unserved(state: str) -> None:
    summary = crew([row("one", "q-a"), row("two", "q-b", state=state)], None, QUEUES)
    assert summary["unserved"] == ["q-b"]
    assert summary["next"] == "cutter up"


def test_an_unresponsive_worker_is_told_also_where_others_serve() -> None:
    summary = crew([row("one", *QUEUES), row("two", "q-b", state="unresponsive")], None, QUEUES)
    assert (summary["unserved"], summary["unresponsive"], summary["next"]) == ([], ["two"], None)


def test_one_that_fell_silent_while_it_started_is_unresponsive() -> None:
    summary = crew([row("one", *QUEUES, state="initializing", silent=True)], None, QUEUES)
    assert summary["unresponsive"] == ["one"]
    summary = crew([row("one", *QUEUES, state="initializing")], None, QUEUES)
    assert summary["unresponsive"] == []


def test_whoever_polls_and_never_registered_is_shown_and_serves_nothing() -> None:
    summary = crew([row("one", "q-a")], {"q-a": ["one", "stranger"], "q-b": ["stranger"]}, QUEUES)
    stranger = summary["workers"][1]
    assert (stranger["worker_id"], stranger["state"]) == ("stranger", "unregistered")
    assert [its["queue"] for its in stranger["queues"]] == ["q-a", "q-b"]
    assert summary["unserved"] == ["q-b"]


def test_one_that_came_back_under_another_id_is_known_to_its_queue() -> None:
    assert identity("exec-1.2") == "exec-1"
    summary = crew([row("exec-1", "q-a", state="shutdown"), row("exec-1.1", *QUEUES)], {"q-a": ["exec-1"]}, QUEUES)
    assert [worker["worker_id"] for worker in summary["workers"]] == ["exec-1", "exec-1.1"]
    assert [its["polls"] for its in summary["workers"][1]["queues"]] == [True, False]
    assert [its["polls"] for its in summary["workers"][0]["queues"]] == [None]
    assert summary["workers"][0]["used"] == 0


def test_each_build_that_has_runs_needs_its_own_workers() -> None:
    rows = [row("new", *QUEUES), {**row("old", "q-a"), "build_id": "b0"}]
    builds = {"b1": "current", "b0": "draining", "b9": "drained"}
    summary = crew(rows, None, QUEUES, builds)
    assert summary["unserved"] == ["q-b of build b0"]
    assert summary["builds"] == builds
    assert crew(rows, None, QUEUES, {**builds, "b0": "drained"})["unserved"] == []
