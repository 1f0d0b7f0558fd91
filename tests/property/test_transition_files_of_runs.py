"""Whatever is recorded of a run, the file of its transitions is without a finding; with a line taken away it is not."""

from __future__ import annotations

import io
import json
from datetime import datetime

from hypothesis import given
from hypothesis import strategies as st

from cutter.catalogue import State
from cutter.domain.run_record import RunSidecar
from cutter.lifecycle.declarations import DOCUMENT_RUN, REQUEST, RUN, STEP, TASK
from cutter.lifecycle.events import Event, lines, moment
from cutter.lifecycle.history import run_events, run_facts
from cutter.lifecycle.validation import Finding, Validation
from cutter.lifecycle.views import (
    Began,
    Change,
    Finished,
    Moved,
    RunFacts,
    Tried,
    after,
    request_status,
    run_status,
    step_status,
    task_state,
)
from cutter.projections.transitions_file import check
from cutter.types import Json
from tests.property.test_batch_properties import unhurried
from tests.property.test_lifecycle_views import changes
from tests.unit.evidence.sidecars import RUN_ID, at, sidecar, transition


@st.composite
def histories(draw: st.DrawFn) -> tuple[Json, RunFacts]:
    """A sidecar of what was recorded, one change after another, and the facts that it comes to."""
    dryrun = draw(st.booleans())
    facts, steps = RunFacts(), []
    for _ in range(draw(st.integers(0, 60))):
        # A gate that runs passes more often than not, so that some runs come far.
        possible = sorted(changes(facts, dryrun=dryrun), key=len, reverse=True)
        passing = [group for group in possible if len(group) > 1]
        together = draw(st.sampled_from(passing if passing and draw(st.integers(0, 3)) else possible))
        for change in together:
            facts = after(facts, change)
            steps.append(change)
    answer = sidecar(facts.state, mode="dryrun" if dryrun else "live")
    return _recorded(answer, steps), facts


def _recorded(answer: Json, steps: list[Change]) -> Json:
    """The rows of these changes, a tenth of a second apart."""
    state, attempts = State.PENDING.value, {}
    for number, change in enumerate(steps, start=1):
        when = number / 10
        match change:
            case Moved():
                answer["transitions"].append(transition(state, change.to, _cause(state, change.to), seconds=when))
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


def _cause(before: str, after: str) -> str:
    rule = DOCUMENT_RUN.rule(before, after)
    return rule.trigger if rule else "x"


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
    events = run_events(RunSidecar.of(answer))
    # Retries are counted since the last resume; a walk may retry more often than any budget allows.
    assert {finding.code for finding in findings(events)} <= {"retry_limit"}
    assert lines(run_events(RunSidecar.of(json.loads(json.dumps(answer))))) == lines(events)


@given(histories())
@unhurried
def test_the_last_event_of_each_view_says_what_the_view_says(history: tuple[Json, RunFacts]) -> None:
    answer, _ = history
    facts = run_facts(RunSidecar.of(answer))
    last = {
        (run_event.event_type, run_event.entity_id): run_event.to_state
        for run_event in run_events(RunSidecar.of(answer))
    }
    assert last[REQUEST.event_type, f"{RUN_ID}#{facts.request}"] == request_status(facts)
    assert last.get((RUN.event_type, RUN_ID), RUN.initial) == run_status(facts)
    assert last[TASK.event_type, RUN_ID] == task_state(facts)
    if facts.gate is not None:
        step = (STEP.event_type, f"{RUN_ID}/{facts.gate.name}")
        assert last.get(step, STEP.initial) == step_status(facts, facts.gate)


@given(histories(), st.data())
@unhurried
def test_a_line_that_was_taken_away_is_missed(history: tuple[Json, RunFacts], data: st.DataObject) -> None:
    """Seed 004 "Event Schema". The last line of an entity is missed once its run has ended, another one always."""
    events = run_events(RunSidecar.of(history[0]))
    names = [(event.event_type, event.entity_id) for event in events]
    over = RUN.is_terminal(
        next((event.to_state for event in reversed(events) if event.event_type == RUN.event_type), "")
    )
    numbers = []
    for number, (line, name) in enumerate(zip(events, names, strict=True)):
        owned = line.event_type in {lifecycle.event_type for lifecycle in (REQUEST, STEP, TASK)}
        last_of_ended = over and owned and name in names[:number]
        if line.from_state != line.to_state and (name in names[number + 1 :] or last_of_ended):
            numbers.append(number)
    if not numbers:
        return
    gone = data.draw(st.sampled_from(numbers))
    rest = [event for number, event in enumerate(events) if number != gone]
    codes = {finding.code for finding in findings(rest)}
    assert codes & {"first_transition", "single_active_state", "monotonic_progress", "last_transition"}


@given(histories(), st.data())
@unhurried
def test_the_end_of_a_run_that_is_missing_is_missed(history: tuple[Json, RunFacts], data: st.DataObject) -> None:
    """Of the run and its document run each says that the other one has ended."""
    events = run_events(RunSidecar.of(history[0]))
    last = {event.event_type: number for number, event in enumerate(events)}
    document, run = last.get(DOCUMENT_RUN.event_type), last.get(RUN.event_type)
    if document is None or run is None or not DOCUMENT_RUN.is_terminal(events[document].to_state):
        return
    gone = data.draw(st.sampled_from([document, run]))
    alone = [event.event_type for event in events].count(events[gone].event_type) == 1
    if alone or DOCUMENT_RUN.is_terminal(events[gone].from_state):
        # A void after a failure: without it the file is that of the failed run.
        return
    rest = [event for number, event in enumerate(events) if number != gone]
    assert findings(rest), events[gone]


@given(histories())
@unhurried
def test_every_event_of_a_view_but_a_step_s_first_says_how_long_its_entity_was_there(
    history: tuple[Json, RunFacts],
) -> None:
    """Seeds 004 "Workstream Lifecycle" Transition Details, 004 "Event Schema": metadata.duration_seconds."""
    since = {(event_type, RUN_ID): datetime.fromisoformat(at(0)) for event_type in (RUN.event_type, TASK.event_type)}
    since[REQUEST.event_type, f"{RUN_ID}#1"] = datetime.fromisoformat(at(0))
    for event in run_events(RunSidecar.of(history[0])):
        key = (event.event_type, event.entity_id)
        if event.event_type == DOCUMENT_RUN.event_type:
            assert "duration_seconds" not in event.metadata
        elif key in since:
            assert event.metadata["duration_seconds"] == round((moment(event) - since[key]).total_seconds(), 3)
        since[key] = moment(event)
