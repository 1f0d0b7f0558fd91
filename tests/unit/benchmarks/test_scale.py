"""The figures of docs/concepts/scale.md: what is read from histories, calibrated, derived and written."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from temporalio.api.enums.v1 import EventType
from temporalio.api.history.v1 import HistoryEvent

from benchmarks import scale, scale_calibration, scale_page
from benchmarks.scale_simulation import WORKER_ROLES

BEGAN = datetime(2026, 1, 1, tzinfo=UTC)


def event(number: int, kind: str, ms: int, *, name: str = "", scheduled: int = 0) -> HistoryEvent:
    made = HistoryEvent(event_id=number, event_type=EventType.Value(f"EVENT_TYPE_{kind}"))
    made.event_time.FromDatetime((BEGAN + timedelta(milliseconds=ms)).replace(tzinfo=None))
    if name:
        made.activity_task_scheduled_event_attributes.activity_type.name = name
    if kind == "ACTIVITY_TASK_STARTED":
        made.activity_task_started_event_attributes.scheduled_event_id = scheduled
    if kind == "ACTIVITY_TASK_COMPLETED":
        made.activity_task_completed_event_attributes.scheduled_event_id = scheduled
    return made


def activity(first: int, ms: int, name: str) -> list[HistoryEvent]:
    """An activity that waits for 2 ms and takes 30."""
    return [
        event(first, "ACTIVITY_TASK_SCHEDULED", ms, name=name),
        event(first + 1, "ACTIVITY_TASK_STARTED", ms + 2, scheduled=first),
        event(first + 2, "ACTIVITY_TASK_COMPLETED", ms + 32, scheduled=first),
    ]


def test_a_history_gives_each_step_with_its_wait_its_time_and_the_turn_before_it() -> None:
    events = [
        event(1, "WORKFLOW_EXECUTION_STARTED", 0), *activity(2, 10, "begin_run"), *activity(5, 50, "IG_mark"),
        event(8, "WORKFLOW_EXECUTION_SIGNALED", 500), *activity(9, 600, "judge_approval"),
    ]  # fmt: skip
    history = scale.read_history(events)
    assert [(step.name, step.queue, step.service, step.turn) for step in history.steps] == [
        ("begin_run", 2, 30, 10), ("IG_mark", 2, 30, 8), ("judge_approval", 2, 30, None),
    ]  # fmt: skip
    assert len(history.signals) == 1
    assert history.events == len(events)


@pytest.fixture(scope="module")
def measured() -> list[scale_page.Json]:
    return scale_page.read("scale.jsonl")


def test_the_calibrated_document_uses_the_processors_as_measured(measured: list[scale_page.Json]) -> None:
    record = scale_page.of_kind(measured, "costs")[0]
    costs, spent = scale_calibration.costs_of(record), record["batch"]["cpu_ms"]
    demands = scale_calibration.demands(costs)
    backup = next(step for step in record["steps"] if step["name"] == "IG_backup")
    fresh = {"cutter": backup["python_ms"], "postgres": backup["postgres_ms"]}
    for part in (*WORKER_ROLES, "temporal", "postgres"):
        total = spent[part] + spent.get(f"{part} programs", 0) - fresh.get(part, 0) / record["batch"]["documents"]
        idle = record["idle_cores"][part] * 1000 * 60 / record["batch"]["per_minute"]
        assert demands[part] == pytest.approx(total, abs=2 * idle + 1)


def test_the_calibrated_steps_are_those_of_a_run(measured: list[scale_page.Json]) -> None:
    costs = scale_calibration.costs_of(scale_page.of_kind(measured, "costs")[0])
    lanes = {step.lane: step.name for step in costs.steps if step.lane}
    assert lanes == {"write": "IG_cut_leg_a_execute", "enact": "IG_lifecycle_enact_execute"}
    assert costs.plan[-1].name == costs.write[-1].name == "open_request"
    assert all(min(step.python, step.programs, step.postgres, step.rest) >= 0 for step in costs.steps)


@pytest.mark.parametrize(("hosts", "cores"), [(1, 2), (4, 2), (4, 8), (16, 2)])
def test_every_host_has_a_use(measured: list[scale_page.Json], hosts: int, cores: int) -> None:
    costs = scale_calibration.costs_of(scale_page.of_kind(measured, "costs")[0])
    place = scale_calibration.deployment(costs, hosts, cores)
    assert place.hosts == tuple(range(hosts))
    assert hosts == 1 or not {*place.exec} & {*place.cutter}


def test_the_role_with_the_smallest_share_for_its_need_decides_max_connections() -> None:
    held = scale_page.connections({"temporal": 1, "cutter": 2, "exec": 1, "verify": 1}, batches=10)
    assert held == {"cutter_read": 20, "cutter_backup": 56, "cutter_exec": 13, "cutter_verify": 5}
    assert scale_page.max_connections(held) == 300  # 56 are a fifth of 280


def test_the_bytes_of_a_document_lie_on_the_line_through_both_sizes() -> None:
    disk = [{"units": 60, "bytes": {"tables": 700}}, {"units": 10, "bytes": {"tables": 200}}]
    assert scale_page.bytes_of_a_document(disk, 1000) == {"tables": 10_100}


def test_the_page_is_written_from_the_results() -> None:
    assert scale_page.PAGE.read_text(encoding="utf-8") == scale_page.page()
