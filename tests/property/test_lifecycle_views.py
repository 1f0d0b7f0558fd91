"""Every change that may be recorded of a run, walked exhaustively: each view moves as its seed allows, or stays.

The walk starts at a registered run and follows everything that the database may record next, with every outcome of an
attempt and every move that the document run's own lifecycle allows, until no new facts appear.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import pairwise

import pytest
from hypothesis import given

from cutter.batch.item import Item, Outcome, Stage
from cutter.batch.state import workstream_state
from cutter.catalogue import GATES, PLANNED, SKIPPED, State
from cutter.domain.next_step import AWAITING
from cutter.domain.run_state import WorkstreamState
from cutter.lifecycle.declarations import DOCUMENT_RUN, FAILED, REQUEST, RUN, STEP, STOPPED, TASK, VOIDED, Lifecycle
from cutter.lifecycle.views import (
    Activity,
    Began,
    Change,
    Finished,
    Moved,
    RequestStatus,
    RunFacts,
    RunStatus,
    StepStatus,
    TaskState,
    Tried,
    after,
    request_status,
    run_status,
    step_status,
    steps_of,
    task_state,
)
from tests.property.test_batch_properties import any_items, unhurried

OUTCOMES = ("failed", "unavailable_at_last", "lane_busy", "approval_refused", "drift", "stopped", "over_cap", "ended")
CONCRETE = {
    FAILED: ("failed_mark", "failed_rejected", "failed_policy"),
    STOPPED: ("stopped_stop", "stopped_drift_row_count", "stopped_expired", "stopped_unavailable_database"),
    VOIDED: ("voided_cancelled",),
}
ENACTED = GATES.index(next(gate for gate in GATES if gate.to_state is State.LIFECYCLE_ENACTED)) + 1


def moves(facts: RunFacts, *, dryrun: bool) -> Iterator[Change]:
    """The moves but for a gate's own that the document run's lifecycle allows from here, where their guards hold."""
    reached = GATES[facts.passed - 1].to_state.value if facts.passed else State.PENDING.value
    for target in DOCUMENT_RUN.allowed[DOCUMENT_RUN.declared(facts.state) or ""]:
        holds = {
            FAILED: facts.passed < len(steps_of(facts, dryrun=dryrun)),
            VOIDED: facts.passed < ENACTED,
            STOPPED: True,
            reached: facts.stopped,
        }.get(target, target in AWAITING)
        if holds:
            yield from (Moved(to=concrete_state) for concrete_state in CONCRETE.get(target, (target,)))


def changes(facts: RunFacts, *, dryrun: bool) -> Iterator[tuple[Change, ...]]:
    """What may be recorded next; what one transaction records stands together."""
    if facts.outcome is None:
        yield from ((move,) for move in moves(facts, dryrun=dryrun))
    if facts.waits_for_people and dryrun:
        yield (Finished(outcome="rehearsed"),)
    if (facts.passed, facts.state, facts.activity) == (1, State.PENDING, Activity.NONE):
        yield Finished(outcome="skipped"), Moved(to=SKIPPED)
    gate = facts.gate
    if gate is None:
        return
    yield (Began(gate=gate.name, attempt=facts.attempt + 1),)
    yield (Began(gate=GATES[-1].name, attempt=1),)
    for outcome in ("unavailable", *OUTCOMES):
        yield (Tried(gate=gate.name, attempt=facts.attempt, outcome=outcome, again=outcome == "unavailable"),)
    yield (Tried(gate=gate.name, attempt=facts.attempt - 1, outcome="passed"),)
    passed = Tried(gate=gate.name, attempt=facts.attempt, outcome="passed")
    if (
        facts.activity is Activity.RUNNING
        and facts.state == gate.from_state
        and not (dryrun and facts.passed >= len(PLANNED))
    ):
        yield passed, Moved(to=gate.to_state.value)
    if facts.activity is Activity.RUNNING and facts.passed == 0:
        yield (replace(passed, outcome="skipped"),)
    if facts.activity is Activity.RUNNING and facts.passed == len(PLANNED) and dryrun:
        yield (replace(passed, outcome="rehearsed"),)


def bounded(facts: RunFacts) -> RunFacts:
    """The same facts with counters that do not grow: no view looks at how large they are."""
    return replace(facts, attempt=min(facts.attempt, 1), retries=0, request=1)


def walk(*, dryrun: bool) -> list[tuple[RunFacts, Change, RunFacts]]:
    """Every reachable (facts, change, facts), each pair of facts and change once."""
    reached, steps, waiting = {RunFacts()}, [], deque([RunFacts()])
    while waiting:
        facts = waiting.popleft()
        for together in changes(facts, dryrun=dryrun):
            then = facts
            for change in together:
                before, then = then, after(then, change)
                steps.append((before, change, then))
            if bounded(then) not in reached:
                reached.add(bounded(then))
                waiting.append(bounded(then))
    return steps


WALKS = {dryrun: walk(dryrun=dryrun) for dryrun in (False, True)}
both = pytest.mark.parametrize("dryrun", [False, True])

THROUGH = {
    "request": {
        ("queued", "executing", "awaiting_user_confirmation"),
        ("awaiting_tool", "executing", "awaiting_user_confirmation"),
        ("awaiting_user_confirmation", "executing", "completed"),
    },
    "run": {
        ("queued", "running", "waiting_approval"),
        ("queued", "running", "failed_retryable"),
        ("queued", "running", "failed_terminal"),
        ("waiting_approval", "running", "failed_retryable"),
        ("waiting_approval", "running", "succeeded"),
        ("failed_retryable", "running", "failed_terminal"),
    },
    "step": {
        ("ready", "running", "waiting_approval"),
        ("ready", "running", "failed_terminal"),
        ("running", "waiting_approval", "ready"),
        ("waiting_approval", "ready", "running"),
        ("waiting_approval", "ready", "running", "succeeded"),
        ("failed_retryable", "ready", "running"),
        ("failed_retryable", "ready", "running", "waiting_approval"),
        ("failed_retryable", "ready", "running", "failed_terminal"),
    },
    "task": {
        ("queued", "running", "failed"),
        ("running", "validating", "completed"),
        ("retrying", "queued", "running"),
        ("retrying", "queued", "running", "failed"),
        ("retrying", "queued", "cancelled"),
    },
}
"""Views that pass through a state at once: the one recorded change says of both."""


def ways(dryrun: bool, lifecycle: Lifecycle) -> set[tuple[str, ...]]:
    """(from, ..., to) of every change that moves a view; fails where there is no legal way."""
    paths = set()
    for before, change, then in WALKS[dryrun]:
        for start, end in seen(lifecycle, before, then):
            if start == end:
                continue
            path = lifecycle.path(start, end)
            assert path, f"{lifecycle.why_not(start, end)}: {change} of {before}"
            paths.add((start, *path))
    return paths


def seen(lifecycle: Lifecycle, before: RunFacts, then: RunFacts) -> Iterator[tuple[str, str]]:
    """The view's state before and after."""
    if lifecycle is REQUEST:
        again = then.request > before.request
        yield (REQUEST.initial if again else request_status(before).value), request_status(then).value
    elif lifecycle is RUN:
        yield run_status(before).value, run_status(then).value
    elif lifecycle is TASK:
        yield task_state(before).value, task_state(then).value
    else:
        for gate in {before.gate, then.gate} - {None}:
            yield step_status(before, gate).value, step_status(then, gate).value


@both
def test_the_walk_reaches_every_state_and_takes_every_transition(dryrun: bool) -> None:
    taken = {
        (DOCUMENT_RUN.declared(before.state), DOCUMENT_RUN.declared(change.to))
        for before, change, _ in WALKS[dryrun]
        if isinstance(change, Moved)
    }
    assert dryrun or taken == set(DOCUMENT_RUN.edges)
    assert {facts.activity for facts, _, _ in WALKS[dryrun]} == set(Activity)
    assert {facts.outcome for _, _, facts in WALKS[dryrun]} == {None, "skipped", *(["rehearsed"] if dryrun else [])}


@both
@pytest.mark.parametrize("lifecycle", [REQUEST, RUN, STEP, TASK], ids=lambda lifecycle: lifecycle.name)
def test_each_view_moves_along_what_its_seed_allows_or_stays(lifecycle: Lifecycle, dryrun: bool) -> None:
    """Seeds 002 "State Contract", 002 "Transition Boundaries"."""
    assert {way for way in ways(dryrun, lifecycle) if len(way) > 2} <= THROUGH[lifecycle.name]


def test_no_view_is_said_to_pass_through_what_it_never_passes() -> None:
    for lifecycle in (REQUEST, RUN, STEP, TASK):
        taken = ways(False, lifecycle) | ways(True, lifecycle)
        assert THROUGH[lifecycle.name] == {way for way in taken if len(way) > 2}


NEVER = {
    REQUEST: {(state, state) for state in REQUEST.states} | {("received", "failed"), ("received", "cancelled")},
    RUN: set(),
    STEP: set(),
    TASK: {("pending", "queued"), ("pending", "cancelled")},
}
"""Nothing is recorded of what stays as it is, nor of what a run was before it was registered: then it is queued."""


@pytest.mark.parametrize("lifecycle", NEVER, ids=lambda lifecycle: lifecycle.name)
def test_every_arrow_of_a_seed_is_taken_by_some_run(lifecycle: Lifecycle) -> None:
    """Seeds 002 "Deterministic Transition Matrix", 003 §2.1, 003 §2.2, 004 "Task Lifecycle" Transitions."""
    taken = {step for dryrun in (False, True) for way in ways(dryrun, lifecycle) for step in pairwise(way)}
    assert set(lifecycle.edges) - taken == NEVER[lifecycle]


@both
def test_each_view_has_every_state_of_its_seed_but_where_it_begins(dryrun: bool) -> None:
    facts = [then for _, _, then in WALKS[dryrun]]
    assert {request_status(fact) for fact in facts} == set(RequestStatus) - {RequestStatus.RECEIVED}
    assert {run_status(fact) for fact in facts} | {RunStatus.QUEUED} == set(RunStatus)
    assert {task_state(fact) for fact in facts} | {TaskState.QUEUED} == set(TaskState) - (
        {TaskState.PENDING, TaskState.VALIDATING} if dryrun else {TaskState.PENDING}
    )
    assert {step_status(fact, fact.gate) for fact in facts if fact.gate} | {StepStatus.SUCCEEDED} == set(StepStatus)


@both
def test_a_run_has_succeeded_if_and_only_if_every_step_has(dryrun: bool) -> None:
    """Seed 003 §2.2."""
    for _, _, facts in WALKS[dryrun]:
        steps = [step_status(facts, gate) for gate in steps_of(facts, dryrun=dryrun)]
        if run_status(facts) is RunStatus.SUCCEEDED:
            assert set(steps) == {StepStatus.SUCCEEDED}, facts
        elif facts.over:
            assert set(steps) != {StepStatus.SUCCEEDED}, facts


@both
def test_a_gate_that_has_passed_waits_for_nobody(dryrun: bool) -> None:
    passed = [
        then
        for before, change, then in WALKS[dryrun]
        if isinstance(change, Tried) and change.outcome == "passed" and then.passed > before.passed
    ]
    assert passed
    assert {request_status(facts) for facts in passed} == {RequestStatus.EXECUTING}
    assert {run_status(facts) for facts in passed} == {RunStatus.RUNNING}


def test_a_stopped_run_is_a_running_task_and_says_that_it_is_stopped() -> None:
    stopped = [facts for _, _, facts in WALKS[False] if facts.stopped]
    assert stopped
    assert {task_state(facts) for facts in stopped} == {TaskState.RUNNING, TaskState.VALIDATING}


def test_a_resume_after_the_retries_ran_out_is_a_new_request_and_any_other_resume_is_not() -> None:
    """Seed 002 "Retry and Failure Budget Policy"."""
    resumed = [(before, then) for before, _, then in WALKS[False] if before.stopped and then.state in tuple(State)]
    assert {before.exhausted for before, _ in resumed} == {True, False}
    for before, then in resumed:
        assert then.request - before.request == before.exhausted
        assert not then.exhausted


TASKS = {
    Stage.PENDING: TaskState.QUEUED,
    Outcome.ENACTED: TaskState.COMPLETED,
    Outcome.REHEARSED: TaskState.COMPLETED,
    Outcome.SKIPPED: TaskState.COMPLETED,
    Outcome.FAILED: TaskState.FAILED,
    Outcome.STOPPED: TaskState.FAILED,
    Outcome.VOIDED: TaskState.CANCELLED,
    Outcome.BUSY: TaskState.CANCELLED,
    Outcome.BLOCKED: TaskState.CANCELLED,
}
"""What an item of a batch is as a task of its workstream; every other stage runs, and so does an item that a person
holds. Any other stopped one counts as failed: it runs only as a task of its own, and nothing of the batch goes on with
it."""


def derived_state(tasks: Sequence[tuple[TaskState, bool]]) -> WorkstreamState:
    """The seed's function, of the state of each task and whether the task is critical."""
    states = [state for state, _ in tasks]
    if TaskState.RUNNING in states:
        return WorkstreamState.EXECUTING
    if all(state is TaskState.COMPLETED for state in states):
        return WorkstreamState.VALIDATING
    if (TaskState.FAILED, True) in tasks:
        return WorkstreamState.FAILED
    if all(state in (TaskState.PENDING, TaskState.QUEUED) for state in states):
        return WorkstreamState.READY
    return WorkstreamState.EXECUTING


@given(any_items())
@unhurried
def test_a_batch_is_the_workstream_that_its_tasks_make_it(items: list[Item]) -> None:
    """Seeds 004 "Workstream Lifecycle" State Derivation from Tasks, 004 "Workstream Lifecycle" Invariants."""
    tasks = [
        (TaskState.RUNNING if item.held_at else TASKS.get(item.outcome or item.stage, TaskState.RUNNING), item.critical)
        for item in items
    ]
    state, derived = workstream_state(items), derived_state(tasks)
    if not items:
        assert state is WorkstreamState.PLANNED
    elif derived is not WorkstreamState.READY and state is not WorkstreamState.FAILED:
        # A batch that has begun is never ready again, and ends as failed with any document that is no law.
        assert state is derived or state is WorkstreamState.CANCELLED
    if derived in (WorkstreamState.FAILED, WorkstreamState.VALIDATING) and items:
        assert state is derived
