"""Whatever is recorded of a run, the file of its transitions is without a finding; with a line taken away it is not."""

from __future__ import annotations

import io
import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from cutter.gates.catalogue import State
from cutter.lifecycle.declared import REQUEST, RUN, STEP, TASK
from cutter.lifecycle.events import Event, lines
from cutter.lifecycle.facts import Began, Change, Finished, Moved, RunFacts, Tried, after
from cutter.lifecycle.history import run_events, run_facts
from cutter.lifecycle.validation import Finding, Validation
from cutter.lifecycle.views import request_status, run_status, step_status, task_state
from cutter.storage.transitions_file import check
from tests.property.test_batch_properties import unhurried
from tests.property.test_lifecycle_views import changes
from tests.unit.evidence.sidecars import RUN_ID, at, sidecar, transition

Json = dict[str, Any]


@st.composite
def histories(draw: st.DrawFn) -> tuple[Json, RunFacts]:
    """A sidecar of what was recorded, one change after another, and the facts that it comes to."""
    dryrun = draw(st.booleans())
    facts, told = RunFacts(), []
    for _ in range(draw(st.integers(0, 60))):
        # A gate that runs passes more often than not, so that some runs come far.
        possible = sorted(changes(facts, dryrun=dryrun), key=len, reverse=True)
        passing = [one for one in possible if len(one) > 1]
        together = draw(st.sampled_from(passing if passing and draw(st.integers(0, 3)) else possible))
        for change in together:
            facts = after(facts, change)
            told.append(change)
    answer = sidecar(facts.state, mode="dryrun" if dryrun else "live")
    return _recorded(answer, told), facts


def _recorded(answer: Json, told: list[Change]) -> Json:
    """The rows of these changes, a tenth of a second apart."""
    state, attempts = State.PENDING.value, {}
    for number, change in enumerate(told, start=1):
        when = number / 10
        match change:
            case Moved():
                answer["transitions"].append(transition(state, change.to, "x", seconds=when))
                state = change.to
            case Began():
                key = (change.gate, change.attempt)
                attempts.setdefault(key, _attempt(change, when))
            case Tried():
                row = attempts.get((change.gate, change.attempt))
                if row is not None and row["outcome"] is None:
                    row |= {"outcome": change.outcome, "finished_at": at(when)}
                    row |= {"next_eligible_at": at(when + 1) if change.again else None}
            case Finished():
                answer["run"] |= {"outcome": change.outcome, "ended_at": at(when)}
    answer["attempts"] = list(attempts.values())
    return answer


def _attempt(change: Began, when: float) -> Json:
    return {"gate": change.gate, "n": change.attempt, "started_at": at(when), "finished_at": None, "outcome": None,
            "reason": None, "lease_owner": "host:1", "next_eligible_at": None}  # fmt: skip


def findings(events: list[Event]) -> list[Finding]:
    return list(check(io.BytesIO(lines(events)), Validation()))


@given(histories())
@unhurried
def test_a_run_s_file_has_no_finding_whatever_was_recorded(history: tuple[Json, RunFacts]) -> None:
    """Seed 004 "Task Lifecycle" Invariants."""
    answer, _ = history
    events = run_events(answer)
    # Retries are counted since the last resume; a walk may retry more often than any budget allows.
    assert {one.code for one in findings(events)} <= {"retry_limit"}
    assert lines(run_events(json.loads(json.dumps(answer)))) == lines(events)


@given(histories())
@unhurried
def test_the_last_event_of_each_view_says_what_the_view_says(history: tuple[Json, RunFacts]) -> None:
    answer, _ = history
    facts = run_facts(answer)
    last = {(one.event_type, one.entity_id): one.to_state for one in run_events(answer)}
    assert last[REQUEST.event_type, f"{RUN_ID}#{facts.request}"] == request_status(facts)
    assert last.get((RUN.event_type, RUN_ID), RUN.initial) == run_status(facts)
    assert last[TASK.event_type, RUN_ID] == task_state(facts)
    if facts.gate is not None:
        step = (STEP.event_type, f"{RUN_ID}/{facts.gate.name}")
        assert last.get(step, STEP.initial) == step_status(facts, facts.gate)


@given(histories(), st.data())
@unhurried
def test_a_line_that_was_taken_away_is_missed(history: tuple[Json, RunFacts], data: st.DataObject) -> None:
    """Seed 004 "Event Schema"."""
    events = run_events(history[0])
    followed = [
        number
        for number, one in enumerate(events)
        if any((one.event_type, one.entity_id) == (other.event_type, other.entity_id) for other in events[number + 1 :])
        and any((one.event_type, one.entity_id) == (other.event_type, other.entity_id) for other in events[:number])
    ]
    if not followed:
        return
    gone = data.draw(st.sampled_from(followed))
    rest = [one for number, one in enumerate(events) if number != gone]
    found = {one.code for one in findings(rest)}
    assert found & {"single_active_state", "monotonic_progress"} or events[gone].from_state == events[gone].to_state
