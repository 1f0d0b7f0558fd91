"""A file of transitions is held to schema, legality, invariants and time; each finding with its line."""

from __future__ import annotations

import io
import json
import subprocess
import sys
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from cutter import limits
from cutter.catalogue import GATES
from cutter.lifecycle.declarations import BY_EVENT_TYPE, BY_NAME, LIFECYCLES, Lifecycle
from cutter.lifecycle.events import FIELDS
from cutter.lifecycle.invariants import Known
from cutter.lifecycle.validation import Validation
from cutter.projections.transitions_file import Spilling, check, lines, told
from cutter.types import Json
from starter.cli import app
from tests.support.hostile import STRINGS, leaks

SCRIPT = Path(__file__).parents[3] / "scripts" / "validate" / "validate_state_transitions.py"


def event(entity: str, before: str, after: str, second: float = 0, *, kind: str = "task", **metadata: Any) -> Json:
    """One event, so many seconds after nine, with the trigger and severity of its rule; `over` replaces fields."""
    over = metadata.pop("over", {})
    rule = BY_NAME[kind].rule(before, after)
    return {
        "timestamp": f"2026-11-21T09:{int(second) // 60:02d}:{second % 60:06.3f}Z",
        "event_type": f"{kind}_state_transition", "severity": rule.severity if rule else "info", "entity_id": entity,
        "from_state": before, "to_state": after, "trigger": rule.trigger if rule else "because", "metadata": metadata,
        **over,
    }  # fmt: skip


def way(entity: str, *states: str, start: float = 0, kind: str = "task", **metadata: Any) -> list[Json]:
    """Events along these states, a second apart."""
    return [
        event(entity, before, after, start + n, kind=kind, **metadata)
        for n, (before, after) in enumerate(pairwise(states))
    ]


DONE = ("pending", "queued", "running", "validating", "completed")


def raw(entries: tuple[Json | str | bytes, ...]) -> bytes:
    """A file of these events or raw lines."""
    data = [
        entry if isinstance(entry, bytes) else (entry if isinstance(entry, str) else json.dumps(entry)).encode()
        for entry in entries
    ]
    return b"".join(line + b"\n" for line in data)


def found_in(*entries: Json | str | bytes) -> list[tuple[int, str]]:
    """(line, what is wrong) of a file."""
    return [(finding.line, finding.code) for finding in check(io.BytesIO(raw(entries)), Validation())]


def found(*entries: Json | str | bytes) -> list[tuple[int, str]]:
    """The same of lines that continue a log: each entity stands, since line 0, where its first event begins."""
    known, begun = Known(), set()
    for entry in entries:
        if not isinstance(entry, dict) or entry.get("event_type") not in BY_EVENT_TYPE:
            continue
        lifecycle, entity, before = BY_EVENT_TYPE[entry["event_type"]], entry.get("entity_id"), entry.get("from_state")
        if (lifecycle.name, entity) not in begun and isinstance(before, str) and before != lifecycle.initial:
            known.keep(lifecycle, str(entity), {"state": before, "line": 0})
        begun.add((lifecycle.name, entity))
    return [(finding.line, finding.code) for finding in check(io.BytesIO(raw(entries)), Validation(known=known))]


# --- good files -------------------------------------------------------------------------------------------------------


def test_a_task_a_workstream_and_a_worker_of_another_program_pass() -> None:
    stream = [("planned", "ready"), ("ready", "executing"), ("executing", "validating"), ("validating", "completed")]
    events = [
        event("worker-1", "initializing", "idle", 0, kind="worker", max_concurrent_tasks=1),
        event("ws-1", *stream[0], 1, kind="workstream"),
        event("t-1", "pending", "queued", 2, workstream_id="ws-1", created_at="2026-11-21T09:00:00Z"),
        event("ws-1", *stream[1], 3, kind="workstream"),
        event("t-1", "queued", "running", 3, worker_id="worker-1", started_at="2026-11-21T09:00:03Z"),
        event("worker-1", "idle", "busy", 3, kind="worker", task_count=1),
        event("t-1", "running", "retrying", 4, worker_id="worker-1", retry_count=1, max_retries=2),
        event("worker-1", "busy", "idle", 4, kind="worker", task_count=0),
        *way("t-1", "retrying", "queued", "running", "validating", "completed", start=5, retry_count=1, max_retries=2),
        event("t-2", "pending", "queued", 10, dependencies=["t-1"], workstream_id="ws-1"),
        *way("t-2", "queued", "running", "validating", "completed", start=11),
        event("ws-1", *stream[2], 14, kind="workstream"),
        event("ws-1", *stream[3], 15, kind="workstream"),
        event("worker-1", "idle", "shutdown", 16, kind="worker", held_resources=[]),
    ]
    assert found(*events) == []


def test_every_lifecycle_s_events_are_taken() -> None:
    events = [
        event("run-1", "pending", "source_pinned", kind="document_run"),
        event("run-1", "source_pinned", "failed_mark", 1, kind="document_run"),
        event("run-1", "failed_mark", "voided_by_hand", 2, kind="document_run"),
        *way("b", "batch_pending", "batch_planning", "batch_failed_partial", "batch_planning", kind="batch", start=3),
        *way("r", "received", "queued", "queued", "executing", "completed", "completed", kind="request", start=6),
        *way("run-1", "queued", "running", "waiting_approval", "running", "canceled", kind="run", start=11),
        *way("s", "ready", "running", "waiting_approval", "ready", "running", "succeeded", kind="step", start=15),
        event("a", "requested", "approved", 21, kind="approval"),
    ]
    assert found(*events) == []


def test_a_file_needs_no_last_line_feed() -> None:
    data = json.dumps(event("t", "pending", "queued")).encode()
    assert list(check(io.BytesIO(data), Validation())) == []


# --- schema -----------------------------------------------------------------------------------------------------------

GOOD = event("t", "pending", "queued")


@pytest.mark.parametrize("name", FIELDS)
def test_each_field_is_needed_and_no_other_is_allowed(name: str) -> None:
    """Seed 004 "Event Schema"."""
    assert found({key: value for key, value in GOOD.items() if key != name}) == [(1, "schema")]
    assert found({**GOOD, f"{name}2": "x"}) == [(1, "schema")]
    assert found({**GOOD, name: None}) == [(1, "schema")]


@pytest.mark.parametrize(
    "line",
    [
        "",
        "[]",
        "1",
        '"text"',
        "{",
        '{"a": 1, "a": 1}',
        json.dumps(GOOD)[:-1] + ', "severity": "info"}',
        json.dumps({**GOOD, "metadata": {"x": float("nan")}}),
        json.dumps({**GOOD, "severity": "fatal"}),
        json.dumps({**GOOD, "event_type": "project_state_transition"}),
        json.dumps({**GOOD, "metadata": [1]}),
        json.dumps({**GOOD, "entity_id": ""}),
        json.dumps({**GOOD, "timestamp": "2026-11-21 09:00:00Z"}),
        json.dumps({**GOOD, "timestamp": "2026-11-21T09:00:00"}),
        json.dumps({**GOOD, "timestamp": "2026-13-21T09:00:00Z"}),
        json.dumps({**GOOD, "timestamp": 1}),
        "[" * 100_000,
        b"\xff\xfe",
        b"{" + b" " * limits.EVENT_BYTES_MAX + b"}",
    ],
)
def test_what_is_no_event_is_one_finding_and_the_next_line_is_read(line: str | bytes) -> None:
    """Seed 004 "Event Schema"."""
    assert found(line, GOOD) == [(1, "schema")]


def test_a_line_without_an_end_takes_no_memory() -> None:
    class Endless(io.RawIOBase):
        """So many reads without a line feed."""

        left = 1000

        def readable(self) -> bool:
            return True

        def readinto(self, into: Any) -> int:
            self.left -= 1
            size = len(into) if self.left > 0 else 0
            into[:size] = b"x" * size
            return size

    longest = max(len(line) for line in lines(io.BufferedReader(Endless())))
    assert longest == limits.EVENT_BYTES_MAX + 2


# --- legality, state, time --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("events", "expected"),
    [
        ([event("t", "running", "completed")], [(1, "transition")]),
        ([event("t", "asleep", "running")], [(1, "transition")]),
        ([event("t", "completed", "running")], [(1, "monotonic_progress")]),
        (way("t", *DONE, "running"), [(5, "monotonic_progress")]),
        ([*way("t", *DONE), event("t", "pending", "queued", 9)], [(5, "monotonic_progress")]),
        ([event("t", "pending", "queued"), event("t", "pending", "queued")], [(2, "single_active_state")]),
        ([event("t", "pending", "queued"), event("t", "running", "validating")], [(2, "single_active_state")]),
        ([event("t", "pending", "queued", 5), event("u", "pending", "queued", 4)], [(2, "monotonic_timestamps")]),
        ([event("t", "running", "failed", over={"trigger": "user_cancelled"})], [(1, "trigger")]),
        ([event("t", "running", "failed", over={"trigger": "our own word"})], [(1, "trigger")]),
        ([event("t", "pending", "queued", over={"trigger": "validation_passed"})], [(1, "trigger")]),
        ([event("t", "running", "failed", over={"severity": "info"})], [(1, "severity")]),
        ([event("t", "running", "failed", over={"severity": "critical"})], [(1, "severity")]),
        ([event("t", "running", "retrying", over={"severity": "info"})], [(1, "severity")]),
        ([event("t", "validating", "failed", over={"severity": "warning"})], [(1, "severity")]),
        ([event("s", "executing", "failed", kind="workstream", over={"severity": "error"})], [(1, "severity")]),
        ([event("s", "executing", "failed", kind="workstream", over={"trigger": "tasks_failed"})], []),
        ([event("w", "busy", "unresponsive", kind="worker", over={"severity": "info"})], [(1, "severity")]),
        ([event("t", "running", "cancelled", over={"severity": "info"})], []),
        ([event("d", "source_pinned", "failed_mark", kind="document_run", over={"trigger": "IG_mark"})], []),
        ([event("r", "completed", "completed", kind="request")], []),
        ([event("r", "completed", "executing", kind="request")], [(1, "monotonic_progress")]),
        ([event("d", "lifecycle_enacted", "voided_x", kind="document_run")], [(1, "transition")]),
    ],
)
def test_what_is_not_legal_is_found_on_its_line(events: list[Json], expected: list[tuple[int, str]]) -> None:
    """Seeds 004 "Workstream Lifecycle" Transition Details, 004 "Task Lifecycle" Invariants, 004 "Validation"."""
    assert found(*events) == expected


@pytest.mark.parametrize(
    ("lifecycle", "before", "after"), [(lifecycle, *edge) for lifecycle in LIFECYCLES for edge in lifecycle.edges],
    ids=lambda part: getattr(part, "name", part),
)  # fmt: skip
def test_a_trigger_of_another_transition_is_found_wherever_the_lifecycle_has_one(
    lifecycle: Lifecycle, before: str, after: str
) -> None:
    """Seed 004 "Validation": all transitions are valid per the definition, the trigger with them."""
    source, target = (state.replace("<gate>", "x").replace("<reason>", "x") for state in (before, after))
    rule = lifecycle.edges[before, after]
    for word in lifecycle.words:
        entry = event("e", source, target, kind=lifecycle.name, over={"trigger": word})
        expected = [] if word in {rule.trigger, *rule.words} else [(1, "trigger")]
        assert [line for line in found(entry) if line[1] == "trigger"] == expected, word


@pytest.mark.parametrize("lifecycle", LIFECYCLES, ids=lambda lifecycle: lifecycle.name)
def test_a_file_in_which_an_entity_begins_in_the_middle_is_not_valid(lifecycle: Lifecycle) -> None:
    """Seed 004 "Validation"."""
    for before, after in lifecycle.edges:
        source, target = (state.replace("<gate>", "x").replace("<reason>", "x") for state in (before, after))
        codes = [code for _, code in found_in(event("e", source, target, kind=lifecycle.name))]
        assert ("first_transition" in codes) == (before != lifecycle.initial)


RUN = [
    event("r#1", "received", "queued", 0, kind="request", run_id="r"),
    *way("r#1", "queued", "executing", "completed", kind="request", start=1, run_id="r"),
    *way("r", "pending", "queued", "running", "validating", "completed", start=3, run_id="r"),
    *way("r/1", "ready", "running", "succeeded", kind="step", start=7, run_id="r"),
    *way("r", "queued", "running", "succeeded", kind="run", start=9, run_id="r", steps=1, steps_succeeded=1),
]


def test_a_run_s_file_that_is_whole_is_valid() -> None:
    assert found_in(*RUN) == []


@pytest.mark.parametrize("last", ["request", "task", "step", "run"])
def test_a_last_line_that_is_missing_is_found_where_the_file_says_that_the_run_has_ended(last: str) -> None:
    """Seed 004 "Validation"."""
    kind = f"{last}_state_transition"
    start = event("r", "pending", "source_pinned", 11, kind="document_run")
    events = [*RUN, start, event("r", "source_pinned", "failed_mark", 20, kind="document_run")]
    assert found_in(*events) == []
    number = max(n for n, entry in enumerate(events) if entry["event_type"] == kind)
    lacking = [*events[:number], *events[number + 1 :]]
    assert "last_transition" in [code for _, code in found_in(*lacking)]


def test_a_run_that_passed_every_gate_ends_its_document_run_and_a_rehearsal_does_not() -> None:
    start = event("r", "pending", "source_pinned", 11, kind="document_run")
    assert found_in(*RUN, start) == []
    every = [
        {**entry, "metadata": {**entry["metadata"], "steps": len(GATES), "steps_succeeded": len(GATES)}}
        for entry in RUN
    ]
    assert found_in(*every, start) == [(len(every) + 1, "last_transition")]


def test_a_batch_that_ended_ends_its_workstream() -> None:
    opened = event("b#1", "planned", "ready", 0, kind="workstream", batch_id="b")
    moves = way("b", "batch_pending", "batch_planning", "batch_voided", kind="batch", start=1)
    assert found_in(opened, *moves) == [(1, "last_transition")]
    assert found_in(opened, *moves, event("b#1", "ready", "cancelled", 9, kind="workstream", batch_id="b")) == []


def test_entities_of_two_lifecycles_may_have_one_name() -> None:
    assert found(event("x", "pending", "queued"), event("x", "queued", "running", kind="run")) == []


def test_times_of_other_zones_are_compared_as_moments() -> None:
    later = event("t", "pending", "queued", over={"timestamp": "2026-11-21T11:00:01+02:00"})
    assert found(event("u", "pending", "queued"), later) == []
    assert found(later, event("u", "pending", "queued")) == [(2, "monotonic_timestamps")]


def test_one_wrong_line_is_one_finding_and_not_all_that_follow() -> None:
    assert found(*way("t", "pending", "queued", "validating", "completed")) == [(2, "transition")]


def test_the_finding_says_what_stood_there_and_since_which_line() -> None:
    data = "\n".join(json.dumps(entry) for entry in (*way("t", *DONE), event("t", "running", "failed", 9))).encode()
    (finding,) = check(io.BytesIO(data), Validation())
    assert finding.text == "task t is completed since line 4, not running"
    assert (finding.line, finding.entity) == (5, "t")


# --- invariants: each with a file that keeps it and one that breaks it -----------------------------------------------

T = "2026-11-21T09:00:"


@pytest.mark.parametrize(
    ("code", "good", "bad"),
    [
        ("worker_assignment", [event("t", "queued", "running", worker_id="w")],
         [event("t", "pending", "queued", worker_id="w")]),
        ("worker_assignment", [event("t", "queued", "running", worker_id="w"),
                               event("t", "running", "validating", worker_id="w")],
         [event("t", "queued", "running", worker_id="w"), event("t", "running", "validating", worker_id="v")]),
        ("worker_assignment", [*way("w", "initializing", "idle", kind="worker"),
                               event("t", "queued", "running", 9, worker_id="w")],
         [*way("w", "initializing", "idle", "shutdown", kind="worker"),
          event("t", "queued", "running", 9, worker_id="w")]),
        ("retry_limit", [event("t", "running", "retrying", retry_count=2, max_retries=2)],
         [event("t", "running", "retrying", retry_count=3, max_retries=2)]),
        ("retry_limit", [event("t", "running", "retrying", retry_count=1, max_retries=1)],
         [*way("t", "running", "retrying", "queued", "running", retry_count=1, max_retries=1),
          event("t", "running", "retrying", 9, retry_count=1, max_retries=1)]),
        ("retry_limit", [event("t", "running", "failed", retry_count=2, max_retries=2)],
         [event("t", "running", "failed", retry_count=1, max_retries=2)]),
        ("retry_limit", [event("t", "running", "failed", retry_count=1, max_retries=2, retryable=False)],
         [event("t", "running", "failed", retry_count=-1, max_retries=2)]),
        ("timestamp_ordering", [event("t", *DONE[-2:], created_at=T + "01Z", started_at=T + "01Z")],
         [event("t", *DONE[-2:], created_at=T + "02Z", started_at=T + "01Z")]),
        ("timestamp_ordering", [event("t", *DONE[-2:], started_at=T + "01Z", completed_at=T + "02Z")],
         [event("t", "queued", "running", started_at=T + "03Z"), event("t", "running", "validating"),
          event("t", *DONE[-2:], completed_at=T + "02Z")]),
        ("timestamp_ordering", [event("t", *DONE[-2:])], [event("t", *DONE[-2:], completed_at="yesterday")]),
        ("dependency_satisfaction", [*way("a", *DONE), event("t", "pending", "queued", 9, dependencies=["a"])],
         [*way("a", *DONE[:3]), event("t", "pending", "queued", 9, dependencies=["a"])]),
        ("dependency_satisfaction", [event("t", "pending", "queued", depends_on=[])],
         [event("t", "pending", "queued", depends_on=["never heard of"])]),
        ("task_state_consistency",
         [*way("t", *DONE, workstream_id="s"), event("s", "executing", "validating", 9, kind="workstream")],
         [*way("t", *DONE[:4], workstream_id="s"), event("s", "executing", "validating", 9, kind="workstream")]),
        ("completion_requirement",
         [*way("t", *DONE, workstream_id="s"), event("s", "validating", "completed", 9, kind="workstream")],
         [*way("t", *DONE, workstream_id="s"), *way("u", "queued", "cancelled", workstream_id="s", start=6),
          event("s", "validating", "completed", 9, kind="workstream")]),
        ("completion_requirement",
         [*way("t", "running", "cancelled", workstream_id="s"),
          *way("u", *DONE, workstream_id="s", replaces="t", start=2),
          event("s", "validating", "completed", 9, kind="workstream")],
         [*way("t", "running", "cancelled", workstream_id="s"), *way("u", *DONE, workstream_id="s", start=2),
          event("s", "validating", "completed", 9, kind="workstream")]),
        ("failure_propagation",
         [*way("t", "validating", "failed", workstream_id="s", critical=True),
          event("s", "executing", "failed", 9, kind="workstream")],
         [*way("t", "validating", "failed", workstream_id="s", critical=True),
          event("s", "validating", "completed", 9, kind="workstream")]),
        ("archive_preservation", [event("s", "executing", "failed", kind="workstream", archived=True)],
         [event("s", "executing", "failed", kind="workstream", archived=False)]),
        ("capacity_limit", [event("w", "idle", "busy", kind="worker", task_count=2, max_concurrent_tasks=2)],
         [event("w", "idle", "busy", kind="worker", task_count=3, max_concurrent_tasks=2)]),
        ("capacity_limit", [event("w", "busy", "idle", kind="worker", task_count=0)],
         [event("w", "busy", "idle", kind="worker", task_count=1)]),
        ("capacity_limit",
         [event("w", "initializing", "idle", kind="worker", max_concurrent_tasks=1),
          *way("t", "queued", "running", "validating", worker_id="w", start=1),
          event("u", "queued", "running", 5, worker_id="w")],
         [event("w", "initializing", "idle", kind="worker", max_concurrent_tasks=1),
          event("t", "queued", "running", 1, worker_id="w"), event("u", "queued", "running", 5, worker_id="w")]),
        ("health_monitoring",
         [event("w", "busy", "unresponsive", 5, kind="worker"),
          event("w", "unresponsive", "shutdown", 20, kind="worker", heartbeat_at=T + "04Z")],
         [event("w", "busy", "unresponsive", 5, kind="worker"),
          event("w", "unresponsive", "shutdown", 20, kind="worker", heartbeat_at=T + "12Z")]),
        ("graceful_shutdown", [event("w", "busy", "shutdown", kind="worker", task_count=0)],
         [event("w", "busy", "shutdown", kind="worker", task_count=1)]),
        ("graceful_shutdown",
         [*way("t", "queued", "running", "validating", worker_id="w"),
          event("w", "busy", "shutdown", 9, kind="worker")],
         [event("t", "queued", "running", worker_id="w"), event("w", "busy", "shutdown", 9, kind="worker")]),
        ("resource_cleanup", [event("w", "unresponsive", "shutdown", kind="worker", held_resources=[])],
         [event("w", "unresponsive", "shutdown", kind="worker", held_resources=["lock"])]),
        ("succeeded_iff_every_step",
         [*way("s1", "ready", "running", "succeeded", kind="step", run_id="r"),
          event("r", "running", "succeeded", 9, kind="run", steps=1)],
         [*way("s1", "ready", "running", kind="step", run_id="r"),
          event("r", "running", "succeeded", 9, kind="run")]),
        ("succeeded_iff_every_step", [event("r", "running", "succeeded", kind="run", steps=2, steps_succeeded=2)],
         [event("r", "running", "succeeded", kind="run", steps=2, steps_succeeded=1)]),
        ("succeeded_iff_every_step", [event("r", "running", "canceled", kind="run", steps=2, steps_succeeded=1)],
         [event("r", "running", "canceled", kind="run", steps=2, steps_succeeded=2)]),
    ],
)  # fmt: skip
def test_each_invariant_is_kept_and_broken(code: str, good: list[Json], bad: list[Json]) -> None:
    """Seeds 003 §2.2, 004 "Task Lifecycle" Transition Details, 004 "Task Lifecycle" Invariants,
    004 "Workstream Lifecycle" Invariants, 004 "Worker State Machine" Invariants, 004 "Validation".
    """
    assert found(*good) == []
    # A step that did not succeed in a run that did lacks its end too.
    assert [finding for finding in found(*bad) if finding[1] != "last_transition"] == [(len(bad), code)]


RUNS = {
    "no_skipped_gate": [
        ("pending", "stopped_stop", "lifecycle_enacted"),
        ("write_verified", "stopped_stop", "pending"),
        ("lifecycle_enacted", "stopped_stop", "stopped_drift_row_count", "pending"),
        ("grants_probed", "awaiting_cut_authorization", "stopped_expired", "cut_leg_a_committed"),
        ("stopped_stop", "marked", "stopped_stop", "cutplan_ok"),
    ],
    "enacted_law_is_never_voided": [
        ("lifecycle_enacted", "stopped_stop", "voided_x"),
        ("lifecycle_enacted", "stopped_stop", "stopped_hard_cap", "voided_x"),
        ("lifecycle_enacted", "failed_closeout", "voided_x"),
    ],
}


@pytest.mark.parametrize(("code", "states"), [(code, states) for code, ways in RUNS.items() for states in ways])
def test_a_stop_leads_a_run_past_no_gate_and_no_law_back(code: str, states: tuple[str, ...]) -> None:
    """Seed 000 §2: each state has one way forward, a stopped run too."""
    assert found(*way("d", *states, kind="document_run")) == [(len(states) - 1, code)]


@pytest.mark.parametrize(
    "states",
    [
        ("lifecycle_enacted", "stopped_stop", "stopped_drift_row_count", "lifecycle_enacted", "closeout_reported"),
        ("grants_probed", "awaiting_cut_authorization", "stopped_expired", "grants_probed", "failed_policy"),
        ("awaiting_lifecycle_authorization", "stopped_stop", "write_verified", "stopped_stop", "voided_x"),
        ("stopped_stop", "lifecycle_enacted", "closeout_reported"),
    ],
)
def test_a_stopped_run_goes_on_from_what_its_last_sealed_gate_reached(states: tuple[str, ...]) -> None:
    assert found(*way("d", *states, kind="document_run")) == []


def test_a_worker_that_comes_back_has_sent_a_heartbeat() -> None:
    back = event("w", "unresponsive", "idle", 20, kind="worker", heartbeat_at=T + "19Z")
    assert found(event("w", "busy", "unresponsive", 5, kind="worker"), back) == []


# --- memory, commands -------------------------------------------------------------------------------------------------


def test_what_does_not_fit_in_memory_is_remembered_all_the_same() -> None:
    events = [*(event(f"t{n}", "pending", "queued", run_id=f"r{n}") for n in range(50))]
    events += [event("t0", "running", "validating", 1), event("r7", "queued", "canceled", 2, kind="run")]
    data = b"".join(json.dumps(entry).encode() + b"\n" for entry in events)
    known = Spilling(most=10)
    wrong = [(finding.line, finding.code) for finding in check(io.BytesIO(data), Validation(known=known))]
    assert wrong == [(51, "single_active_state"), (8, "last_transition")]
    assert len(known._near) <= 10


@pytest.fixture
def files(tmp_path: Path) -> dict[str, Path]:
    made = {name: tmp_path / f"{name}.jsonl" for name in ("good", "bad", "empty")}
    made["good"].write_text("".join(json.dumps(entry) + "\n" for entry in way("t", *DONE)))
    made["bad"].write_text(json.dumps(event("t", "pending", "completed")) + "\n{\n")
    made["empty"].write_text("")
    return made


def test_the_command_says_each_finding_with_its_line(files: dict[str, Path]) -> None:
    good = CliRunner().invoke(app(), ["verify", str(files["good"])])
    assert (good.exit_code, good.stdout) == (0, f"{files['good']}: valid, 4 lines, 4 events, 0 findings\n")
    bad = CliRunner().invoke(app(), ["verify", str(files["bad"])])
    assert bad.exit_code == 1
    assert [line.partition(": ")[0] for line in bad.stdout.splitlines()] == ["line 1", "line 2", str(files["bad"])]
    machine = json.loads(CliRunner().invoke(app(), ["verify", str(files["bad"]), "--json"]).stdout)
    assert (machine["valid"], machine["lines"], machine["events"], machine["findings"]) == (False, 2, 1, 2)
    assert [(finding["line"], finding["code"]) for finding in machine["listed"]] == [(1, "transition"), (2, "schema")]


def test_the_script_needs_nothing_but_python_and_reads_a_file_or_its_standard_input(files: dict[str, Path]) -> None:
    """Seed 004 "Validation"."""

    def run(*asked: str, given: bytes = b"") -> tuple[int, str]:
        done = subprocess.run([sys.executable, "-I", "-S", str(SCRIPT), *asked], input=given, capture_output=True,
                              check=False)  # fmt: skip
        return done.returncode, (done.stdout + done.stderr).decode()

    assert run(str(files["good"])) == (0, f"{files['good']}: valid, 4 lines, 4 events, 0 findings\n")
    assert run("-", given=files["good"].read_bytes())[0] == 0
    code, output = run("-", "--json", given=files["bad"].read_bytes())
    assert (code, json.loads(output)["findings"]) == (1, 2)
    assert run(str(files["empty"]))[0] == run("nowhere.jsonl")[0] == 2
    assert "name a transitions.jsonl" in run("nowhere.jsonl")[1]


@pytest.mark.parametrize("text", STRINGS.values(), ids=STRINGS)
def test_what_a_file_of_others_says_is_told_as_letters_on_its_own_line(tmp_path: Path, text: str) -> None:
    file = tmp_path / "transitions.jsonl"
    lines = [event(text, "running", text), event(text, text, "running", 1), {text: text}]
    file.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    for more in ([], ["--json"]):
        sentences: list[str] = []
        assert not told(str(file), sentences.append, as_json=bool(more))
        assert all(leaks(sentence) == [] for sentence in sentences)
        assert more or not any("\n" in sentence for sentence in sentences)
