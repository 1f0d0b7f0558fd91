"""The declared lifecycles are the seeds': states, transitions, terminal states; what was added is listed, whole."""

from __future__ import annotations

import pytest

from cutter.catalogue import seed_state
from cutter.errors import IllegalTransition
from cutter.lifecycle.declarations import (
    APPROVAL,
    BATCH,
    BY_EVENT_TYPE,
    DOCUMENT_RUN,
    LIFECYCLES,
    REQUEST,
    RUN,
    STEP,
    TASK,
    WORKER,
    WORKSTREAM,
    Lifecycle,
)
from docs.trace import as_the_seed

every = pytest.mark.parametrize("lifecycle", LIFECYCLES, ids=lambda lifecycle: lifecycle.name)


def edges(text: str) -> set[tuple[str, str]]:
    """`a → b c` lines as (a, b), (a, c)."""
    pairs = set()
    for line in text.strip().splitlines():
        source, _, targets = line.partition("→")
        pairs |= {(source.strip(), target) for target in targets.split()}
    return pairs


SEEDS = {
    REQUEST: """
        received → received queued failed cancelled
        queued → queued executing failed cancelled
        executing → executing awaiting_tool awaiting_user_confirmation completed failed cancelled
        awaiting_tool → awaiting_tool executing failed cancelled
        awaiting_user_confirmation → awaiting_user_confirmation executing failed cancelled
        completed → completed
        failed → failed
        cancelled → cancelled""",
    RUN: """
        queued → running canceled
        running → waiting_approval succeeded failed_retryable failed_terminal canceled
        waiting_approval → running failed_terminal""",
    STEP: """
        ready → running canceled
        running → succeeded waiting_approval failed_retryable failed_terminal canceled
        waiting_approval → ready failed_terminal""",
    APPROVAL: "requested → approved rejected expired canceled",
    TASK: """
        pending → queued
        queued → running
        running → validating retrying failed cancelled
        retrying → queued
        validating → completed failed""",
    WORKSTREAM: """
        planned → ready cancelled
        ready → executing cancelled
        executing → validating failed cancelled
        validating → completed failed""",
    WORKER: """
        initializing → idle
        idle → busy shutdown
        busy → idle unresponsive shutdown
        unresponsive → idle shutdown""",
    DOCUMENT_RUN: """
        pending → source_pinned
        source_pinned → marked
        marked → cutplan_ok
        cutplan_ok → pre_write_backup_taken
        pre_write_backup_taken → grants_probed
        grants_probed → awaiting_cut_authorization
        awaiting_cut_authorization → cut_leg_a_committed
        cut_leg_a_committed → structural_verified
        structural_verified → leg_b_recorded
        leg_b_recorded → write_verified
        write_verified → awaiting_lifecycle_authorization
        awaiting_lifecycle_authorization → lifecycle_enacted
        lifecycle_enacted → closeout_reported""",
    BATCH: """
        batch_planning → batch_awaiting_cut_authz_set
        batch_awaiting_cut_authz_set → batch_writing
        batch_writing → batch_awaiting_lifecycle_authz_set
        batch_awaiting_lifecycle_authz_set → batch_enacting
        batch_enacting → batch_closeout""",
}
WAY = [source.strip() for source, _, _ in (line.partition("→") for line in SEEDS[DOCUMENT_RUN].strip().splitlines())]
MOVING = ["batch_planning", "batch_awaiting_cut_authz_set", "batch_writing", "batch_awaiting_lifecycle_authz_set",
          "batch_enacting"]  # fmt: skip
OPEN = ["batch_pending", *MOVING]
ENDS = ["batch_closeout", "batch_failed_partial", "batch_voided"]

ANY_STATE = {
    DOCUMENT_RUN: {
        (state, end) for state in [*WAY, "stopped_<reason>"] for end in ("failed_<gate>", "stopped_<reason>")
    },
    BATCH: {(state, "batch_failed_partial") for state in OPEN},
}
"""The seeds' `<any-state> + invariant_violation`, `<any-state> + sovereign_stop` and `any_doc_terminal_fail`."""

EXTENSIONS = {
    DOCUMENT_RUN: {
        *(("stopped_<reason>", state) for state in WAY if not state.startswith("awaiting_")),
        *((state, "voided_<reason>") for state in [*WAY, "stopped_<reason>"] if state != "lifecycle_enacted"),
        ("failed_<gate>", "voided_<reason>"),
        ("pending", "skipped"),
    },
    BATCH: {
        *(("batch_pending", state) for state in [*MOVING, "batch_closeout", "batch_voided"]),
        *(
            (state, other)
            for state in MOVING
            for other in [*MOVING, "batch_closeout", "batch_voided"]
            if state != other
        ),
        *((end, other) for end in ENDS[1:] for other in [*MOVING, *ENDS] if end != other),
    }
    - edges(SEEDS[BATCH]),
    REQUEST: set(),
    RUN: {("failed_retryable", "running"), ("waiting_approval", "canceled"), ("failed_retryable", "canceled")},
    STEP: {("failed_retryable", "ready"), ("waiting_approval", "canceled"), ("failed_retryable", "canceled")},
    APPROVAL: set(),
    TASK: {("pending", "cancelled"), ("queued", "cancelled")},
    WORKSTREAM: set(),
    WORKER: {("initializing", "shutdown"), ("idle", "unresponsive")},
}
"""Every transition that the declared lifecycles have and the seeds' diagrams lack."""


@every
def test_the_transitions_are_the_seeds_and_the_listed_extensions_and_no_others(lifecycle: Lifecycle) -> None:
    """Seeds 000 §2, 002 "Deterministic Transition Matrix"."""
    seeds = edges(SEEDS[lifecycle]) | ANY_STATE.get(lifecycle, set())
    extensions = as_the_seed((before, after) for before, after, _ in lifecycle.extensions)
    assert set(extensions) == EXTENSIONS[lifecycle]
    assert set(as_the_seed(lifecycle.edges)) == seeds | EXTENSIONS[lifecycle]
    assert not seeds & EXTENSIONS[lifecycle]


def words(text: str) -> tuple[str, ...]:
    return tuple(text.split())


STATES = {
    DOCUMENT_RUN: (words("pending source_pinned marked cutplan_ok pre_write_backup_taken grants_probed "
                         "awaiting_cut_authorization cut_leg_a_committed structural_verified leg_b_recorded "
                         "write_verified awaiting_lifecycle_authorization lifecycle_enacted closeout_reported "
                         "failed_<gate> stopped_<reason> voided_<reason>"),
                   {"closeout_reported", "failed_<gate>", "voided_<reason>"}),
    BATCH: (words("batch_pending batch_planning batch_awaiting_cut_authz_set batch_writing "
                  "batch_awaiting_lifecycle_authz_set batch_enacting batch_closeout batch_failed_partial batch_voided"),
            {"batch_closeout", "batch_failed_partial", "batch_voided"}),
    REQUEST: (words("received queued executing awaiting_tool awaiting_user_confirmation completed failed cancelled"),
              {"completed", "failed", "cancelled"}),
    RUN: (words("queued running waiting_approval succeeded failed_retryable failed_terminal canceled"),
          {"succeeded", "failed_terminal", "canceled"}),
    STEP: (words("ready running succeeded waiting_approval failed_retryable failed_terminal canceled"),
           {"succeeded", "failed_terminal", "canceled"}),
    APPROVAL: (words("requested approved rejected expired canceled"), {"approved", "rejected", "expired", "canceled"}),
    TASK: (words("pending queued running validating completed failed retrying cancelled"),
           {"completed", "failed", "cancelled"}),
    WORKSTREAM: (words("planned ready executing validating completed failed cancelled"),
                 {"completed", "failed", "cancelled"}),
    WORKER: (words("initializing idle busy unresponsive shutdown"), {"shutdown"}),
}  # fmt: skip
"""The seeds' states, and which of them they call terminal; of seed 003, those that no arrow leaves but a retry's."""

OURS = {DOCUMENT_RUN: {"skipped"}}
"""States that no seed has, each of them terminal."""


@pytest.mark.parametrize("lifecycle", STATES, ids=lambda lifecycle: lifecycle.name)
def test_the_states_are_the_seeds_and_so_are_those_that_end(lifecycle: Lifecycle) -> None:
    """Seeds 000 §1, 001 §3, 002 "State Contract", 003 §1.3, 003 §2.1, 003 §2.2, 004 "Task Lifecycle" States,
    004 "Workstream Lifecycle" States, 004 "Worker State Machine" States.
    """
    states, ends = STATES[lifecycle]
    ours = OURS.get(lifecycle, set())
    assert (lifecycle.initial, set(map(seed_state, lifecycle.states))) == (states[0], set(states) | ours)
    assert set(lifecycle.terminal) == ends | ours


@pytest.mark.parametrize(
    ("lifecycle", "before", "after"),
    [
        pytest.param(lifecycle, before, after, id=f"{lifecycle.name}: {before} -> {after}")
        for lifecycle in STATES
        for before, after in sorted(edges(SEEDS[lifecycle]) | ANY_STATE.get(lifecycle, set()))
    ],
)
def test_an_arrow_of_a_seed_is_a_transition(lifecycle: Lifecycle, before: str, after: str) -> None:
    """Seeds 000 §2, 001 §3, 002 "Deterministic Transition Matrix", 003 §1.3, 003 §2.1, 003 §2.2,
    004 "Task Lifecycle" Transitions, 004 "Workstream Lifecycle" Transitions, 004 "Worker State Machine" Transitions.
    """
    (rule,) = {
        id(rule): rule for edge, rule in lifecycle.edges.items() if (before, after) in as_the_seed([edge])
    }.values()
    assert rule.trigger
    assert not rule.extension


def test_a_request_pauses_in_two_states_and_goes_there_from_work_alone() -> None:
    """Seed 002 "Transition Boundaries"."""
    pauses = {"awaiting_tool", "awaiting_user_confirmation"}
    assert set(REQUEST.allowed["executing"]) - {"executing"} - set(REQUEST.terminal) == pauses
    for pause in pauses:
        assert {before for before, after in REQUEST.edges if after == pause} == {pause, "executing"}
        assert set(REQUEST.allowed[pause]) - {pause} - set(REQUEST.terminal) == {"executing"}


def test_a_request_is_queued_before_it_executes() -> None:
    """Seeds 002 "Transition Boundaries", 002 "Queue and Cancellation Controls"."""
    assert set(REQUEST.allowed["received"]) - {"received"} - set(REQUEST.terminal) == {"queued"}
    assert set(REQUEST.allowed["queued"]) - {"queued"} - set(REQUEST.terminal) == {"executing"}


@every
def test_each_extension_has_its_reason(lifecycle: Lifecycle) -> None:
    assert all(len(reason) > 20 for _, _, reason in lifecycle.extensions)


LEFT = {(DOCUMENT_RUN, "failed_<gate>"), (BATCH, "batch_failed_partial"), (BATCH, "batch_voided")}
"""The terminal states that an extension leaves; all others are left by nothing."""


@every
def test_terminal_states_are_immutable_but_for_what_is_listed(lifecycle: Lifecycle) -> None:
    """Seeds 000 §1, 002 "Transition Boundaries", 004 "Task Lifecycle" Invariants."""
    assert lifecycle.terminal
    for state in lifecycle.terminal:
        left = set(lifecycle.allowed[state]) - {state}
        assert bool(left) == ((lifecycle, state) in LEFT), (state, left)
    for state in set(lifecycle.states) - set(lifecycle.terminal):
        assert set(lifecycle.allowed[state]) - {state}


@every
def test_every_state_is_reached_from_the_first(lifecycle: Lifecycle) -> None:
    assert all(lifecycle.path(lifecycle.initial, state) for state in lifecycle.states[1:])


@every
def test_every_move_is_allowed_or_refused_with_one_error(lifecycle: Lifecycle) -> None:
    """Seed 002 "Transition Boundaries"."""
    for state in lifecycle.states:
        for other in lifecycle.states:
            if (state, other) in lifecycle.edges:
                assert lifecycle.check(state, other) is lifecycle.edges[state, other]
                continue
            with pytest.raises(IllegalTransition) as caught:
                lifecycle.check(state, other)
            message = str(caught.value)
            assert f"{state} → {other}" in message
            assert all(target in message for target in lifecycle.allowed[state])
            assert "terminal" in message or lifecycle.allowed[state]


def test_the_error_names_from_and_to_and_what_is_allowed() -> None:
    """Seed 002 "Transition Boundaries"."""
    with pytest.raises(IllegalTransition) as caught:
        TASK.check("running", "completed")
    assert str(caught.value) == (
        "task: running → completed is not allowed; allowed from running: validating, failed, retrying, cancelled"
    )
    with pytest.raises(IllegalTransition) as caught:
        TASK.check("completed", "running")
    assert str(caught.value) == (
        "task: completed → running is not allowed; completed is terminal, nothing is allowed from it"
    )
    with pytest.raises(IllegalTransition, match="there is no state 'asleep'; its states are pending, queued, "):
        TASK.check("asleep", "running")


def test_a_family_is_its_head_with_a_reason_behind_it() -> None:
    assert DOCUMENT_RUN.declared("failed_mark") == "failed_<gate>"
    assert DOCUMENT_RUN.declared("stopped_unavailable_worker_exec") == "stopped_<reason>"
    for state in ("failed_", "failed_Mark", "failed_mark ", "failed", "voided_x; drop", ""):
        assert DOCUMENT_RUN.declared(state) is None
    assert TASK.declared("failed_mark") is None
    assert DOCUMENT_RUN.check("stopped_stop", "voided_cancelled").trigger == "void"
    with pytest.raises(IllegalTransition, match="lifecycle_enacted → voided_x is not allowed"):
        DOCUMENT_RUN.check("lifecycle_enacted", "voided_x")


def test_only_seed_002_lists_transitions_to_the_same_state_and_000_stops_that_follow_stops() -> None:
    selves = {
        (lifecycle.name, before) for lifecycle in LIFECYCLES for before, after in lifecycle.edges if before == after
    }
    assert selves == {*(("request", state) for state in REQUEST.states), ("document_run", "stopped_<reason>")}


def test_a_way_ends_at_the_first_terminal_state() -> None:
    assert TASK.path("running", "completed") == ("validating", "completed")
    assert TASK.path("completed", "running") == ()
    assert TASK.path("running", "running") == ()
    assert BATCH.path("batch_pending", "batch_closeout") == ("batch_closeout",)


def test_seed_004_names_its_three_events() -> None:
    """Seed 004 "Event Schema"."""
    names = {"task_state_transition", "workstream_state_transition", "worker_state_transition"}
    assert names < set(BY_EVENT_TYPE)
    assert len(BY_EVENT_TYPE) == len(LIFECYCLES) == 9


def test_retries_warn_failures_are_errors_and_a_critical_task_s_failure_is_critical() -> None:
    """Seeds 004 "Task Lifecycle" Transition Details, 004 "Workstream Lifecycle" Transition Details."""
    assert TASK.check("running", "retrying").severity == "warning"
    assert {TASK.check(state, "failed").severity for state in ("running", "validating")} == {"error"}
    assert WORKSTREAM.check("executing", "failed").severity == "critical"
    assert WORKER.check("busy", "unresponsive").severity == "error"
    assert DOCUMENT_RUN.check("pending", "failed_source_pin").severity == "error"
