"""Pure: the declared lifecycles: document run (000), batch (001), request (002), run, step and approval (003), task,
workstream and worker (004). Edges that a seed's text needs and its diagram lacks are extensions, each with its reason.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from cutter.catalogue import GATES, SKIPPED, State
from cutter.domain.batch_states import BatchState, WorkstreamState
from cutter.lifecycle.machine import Lifecycle, Rule
from cutter.lifecycle.states import ApprovalStatus, RequestStatus, RunStatus, StepStatus, TaskState, WorkerState

FAILED, STOPPED, VOIDED = "failed_<gate>", "stopped_<reason>", "voided_<reason>"
"""The three families of states of the document run."""


def _names(states: Iterable[str]) -> tuple[str, ...]:
    return tuple(str(state) for state in states)


def _one(source: str, target: str, trigger: str, **more: Any) -> Rule:
    return Rule(sources=(str(source),), targets=(str(target),), trigger=trigger, **more)


# --- document run: seed 000 -------------------------------------------------------------------------------------------


def _way() -> Iterable[Rule]:
    """The one forward transition of each state, from the table of gates."""
    for gate in GATES:
        if gate.sovereign is not None:
            yield _one(GATES[gate.number - 2].to_state, gate.from_state, gate.sovereign.value, guard="not a rehearsal")
        guard = "an unconsumed approval of exactly this write" if gate.sovereign else "every invariant of the gate"
        yield _one(gate.from_state, gate.to_state, gate.name, guard=guard)


_OPEN = tuple(state.value for state in State if state is not State.CLOSEOUT_REPORTED)
_UNENACTED = tuple(state for state in _OPEN if state != State.LIFECYCLE_ENACTED)
_CAUSES = frozenset(
    {"stop", *(gate.name for gate in GATES), *(gate.sovereign.value for gate in GATES if gate.sovereign)}
)
"""The causes of a stop or a failure in our own events: the gate, the request, or a recorded stop."""
_REACHED = (State.PENDING.value, *(gate.to_state.value for gate in GATES[:-1]))

DOCUMENT_RUN = Lifecycle(
    name="document_run",
    seed="000 §1, §2",
    states=(*_names(State), FAILED, STOPPED, VOIDED, SKIPPED),
    terminal=(State.CLOSEOUT_REPORTED.value, FAILED, VOIDED, SKIPPED),
    rules=(
        *_way(),
        Rule(sources=(State.PENDING.value,), targets=(SKIPPED,), trigger="already_enacted",
             guard="another run has enacted this version",
             extension="a run that has nothing to do (001 §9) ends in a state of its own"),
        Rule(sources=(*_OPEN, STOPPED), targets=(FAILED,), trigger="invariant_violation", severity="error",
             words=_CAUSES, whence="any open state"),
        Rule(sources=(*_OPEN, STOPPED), targets=(STOPPED,), trigger="sovereign_stop, drift_detected or a cap",
             words=_CAUSES | {"sovereign_stop", "drift_detected", "cap"}, severity="warning", selves=True,
             whence="any open state"),
        Rule(sources=(STOPPED,), targets=_REACHED, trigger="resume", whither="the state last reached",
             guard="a signed statement, where the stop asks for one",
             extension="a stopped run is resumable (§1, §7) and continues from the state of its last sealed gate"),
        Rule(sources=(*_UNENACTED, STOPPED), targets=(VOIDED,), trigger="void", severity="warning",
             words=frozenset({"stop"}), guard="a signed void, or a cancel of a run that has written nothing",
             whence="any state before enactment",
             extension="§1 has voided states and §2 no way into one"),
        Rule(sources=(FAILED,), targets=(VOIDED,), trigger="void", severity="warning", guard="a signed void",
             extension="terminal failure: the operator must void or amend (§7); the one exit from a terminal state"),
    ),
)  # fmt: skip

# --- batch: seed 001 --------------------------------------------------------------------------------------------------

_B = BatchState
_MOVING = (_B.PLANNING, _B.AWAITING_CUT, _B.WRITING, _B.AWAITING_LIFECYCLE, _B.ENACTING)
_SUMMARY = "the state is what the earliest of the batch's documents does, and each document moves on its own"
_RESUMED = "a batch is resumed (§9) and its state is again what its documents do"

BATCH = Lifecycle(
    name="batch",
    seed="001 §3",
    states=_names(BatchState),
    terminal=_names((_B.CLOSEOUT, _B.FAILED_PARTIAL, _B.VOIDED)),
    rules=(
        _one(_B.PLANNING, _B.AWAITING_CUT, "items", guard="all documents reached SG_1"),
        _one(_B.AWAITING_CUT, _B.WRITING, "items", guard="SG_1 set received"),
        _one(_B.WRITING, _B.AWAITING_LIFECYCLE, "items", guard="all documents through phase 9"),
        _one(_B.AWAITING_LIFECYCLE, _B.ENACTING, "items", guard="SG_2 set received"),
        _one(_B.ENACTING, _B.CLOSEOUT, "items", guard="all documents through phase 10"),
        Rule(sources=_names((_B.PENDING, *_MOVING)), targets=_names((_B.FAILED_PARTIAL,)), trigger="items",
             guard="nothing runs, and a document is not enacted", severity="error", whence="any open state"),
        Rule(sources=_names((_B.PENDING,)), targets=_names((*_MOVING, _B.CLOSEOUT)), trigger="items",
             whither="any state", extension="§3 has batch_pending and no way out of it; " + _SUMMARY),
        Rule(sources=_names(_MOVING), targets=_names((*_MOVING, _B.CLOSEOUT)), trigger="items",
             whence="any moving state", whither="any other", extension=_SUMMARY),
        Rule(sources=_names((_B.PENDING, *_MOVING)), targets=_names((_B.VOIDED,)), trigger="items", severity="warning",
             guard="every document voided", whence="any open state",
             extension="§3 has batch_voided and no way into it"),
        Rule(sources=_names((_B.FAILED_PARTIAL, _B.VOIDED)),
             targets=_names((*_MOVING, _B.CLOSEOUT, _B.FAILED_PARTIAL, _B.VOIDED)), trigger="items",
             guard="a person's resume", whither="any state but batch_pending", extension=_RESUMED),
    ),
)  # fmt: skip

# --- request: seed 002 ------------------------------------------------------------------------------------------------

_Q = RequestStatus
_MATRIX = (
    (_Q.RECEIVED, (_Q.RECEIVED, _Q.QUEUED, _Q.FAILED, _Q.CANCELLED)),
    (_Q.QUEUED, (_Q.QUEUED, _Q.EXECUTING, _Q.FAILED, _Q.CANCELLED)),
    (_Q.EXECUTING, (_Q.EXECUTING, _Q.AWAITING_TOOL, _Q.AWAITING_USER_CONFIRMATION, _Q.COMPLETED, _Q.FAILED,
                    _Q.CANCELLED)),
    (_Q.AWAITING_TOOL, (_Q.AWAITING_TOOL, _Q.EXECUTING, _Q.FAILED, _Q.CANCELLED)),
    (_Q.AWAITING_USER_CONFIRMATION, (_Q.AWAITING_USER_CONFIRMATION, _Q.EXECUTING, _Q.FAILED, _Q.CANCELLED)),
    (_Q.COMPLETED, (_Q.COMPLETED,)),
    (_Q.FAILED, (_Q.FAILED,)),
    (_Q.CANCELLED, (_Q.CANCELLED,)),
)  # fmt: skip
_REQUEST_TRIGGERS = {
    _Q.QUEUED: ("accepted", "info"),
    _Q.EXECUTING: ("dequeued", "info"),
    _Q.AWAITING_TOOL: ("retry_allowed", "warning"),
    _Q.AWAITING_USER_CONFIRMATION: ("person_needed", "info"),
    _Q.COMPLETED: ("completed", "info"),
    _Q.FAILED: ("failed", "error"),
    _Q.CANCELLED: ("cancelled", "warning"),
    _Q.RECEIVED: ("received", "info"),
}
"""Our own triggers, because the seed's matrix names none."""

REQUEST = Lifecycle(
    name="request",
    seed='002 "Deterministic Transition Matrix"',
    states=_names(RequestStatus),
    terminal=_names((_Q.COMPLETED, _Q.FAILED, _Q.CANCELLED)),
    rules=tuple(
        Rule(sources=(str(before),), targets=(str(after),), trigger=_REQUEST_TRIGGERS[after][0], selves=True,
             severity=_REQUEST_TRIGGERS[after][1])
        for before, targets in _MATRIX
        for after in targets
    ),
)  # fmt: skip

# --- run, step, approval: seed 003 ------------------------------------------------------------------------------------

_R = RunStatus
RUN = Lifecycle(
    name="run",
    seed="003 §2.1",
    states=_names(RunStatus),
    terminal=_names((_R.SUCCEEDED, _R.FAILED_TERMINAL, _R.CANCELED)),
    rules=(
        _one(_R.QUEUED, _R.RUNNING, "scheduled"),
        _one(_R.RUNNING, _R.WAITING_APPROVAL, "approval_required"),
        _one(_R.WAITING_APPROVAL, _R.RUNNING, "approved"),
        _one(_R.WAITING_APPROVAL, _R.FAILED_TERMINAL, "rejected", severity="error"),
        _one(_R.RUNNING, _R.SUCCEEDED, "all_steps_succeeded", guard="every step succeeded"),
        _one(_R.RUNNING, _R.FAILED_RETRYABLE, "transient_failure", severity="warning"),
        _one(_R.RUNNING, _R.FAILED_TERMINAL, "terminal_failure", severity="error"),
        _one(_R.QUEUED, _R.CANCELED, "canceled", severity="warning"),
        _one(_R.RUNNING, _R.CANCELED, "canceled", severity="warning"),
        _one(_R.FAILED_RETRYABLE, _R.RUNNING, "resumed",
             extension="§6: what failed retryably is retried; here when a person resumes the run"),
        _one(_R.WAITING_APPROVAL, _R.CANCELED, "canceled", severity="warning",
             extension="§1.3: an approval may be canceled, and with it the run that waits for it"),
        _one(_R.FAILED_RETRYABLE, _R.CANCELED, "canceled", severity="warning",
             extension="a run that nobody retries is given up"),
    ),
)  # fmt: skip

_P = StepStatus
STEP = Lifecycle(
    name="step",
    seed="003 §2.2",
    states=_names(StepStatus),
    terminal=_names((_P.SUCCEEDED, _P.FAILED_TERMINAL, _P.CANCELED)),
    rules=(
        _one(_P.READY, _P.RUNNING, "leased"),
        _one(_P.RUNNING, _P.SUCCEEDED, "succeeded"),
        _one(_P.RUNNING, _P.WAITING_APPROVAL, "governance_gate"),
        _one(_P.WAITING_APPROVAL, _P.READY, "approval_granted"),
        _one(_P.WAITING_APPROVAL, _P.FAILED_TERMINAL, "rejected", severity="error"),
        _one(_P.RUNNING, _P.FAILED_RETRYABLE, "transient_error", severity="warning"),
        _one(_P.RUNNING, _P.FAILED_TERMINAL, "terminal_error", severity="error"),
        _one(_P.READY, _P.CANCELED, "canceled", severity="warning"),
        _one(_P.RUNNING, _P.CANCELED, "canceled", severity="warning"),
        _one(_P.FAILED_RETRYABLE, _P.READY, "retry_scheduled",
             extension="§3.1: at-least-once: what failed retryably is scheduled again"),
        _one(_P.WAITING_APPROVAL, _P.CANCELED, "canceled", severity="warning",
             extension="§1.3: an approval may be canceled, and with it the step that waits for it"),
        _one(_P.FAILED_RETRYABLE, _P.CANCELED, "canceled", severity="warning",
             extension="a step that nobody retries is given up with its run"),
    ),
)  # fmt: skip

_A = ApprovalStatus
APPROVAL = Lifecycle(
    name="approval",
    seed="003 §1.3",
    states=_names(ApprovalStatus),
    terminal=_names((_A.APPROVED, _A.REJECTED, _A.EXPIRED, _A.CANCELED)),
    rules=(
        _one(_A.REQUESTED, _A.APPROVED, "approved", guard="enough signed approvals, consumed by the write"),
        _one(_A.REQUESTED, _A.REJECTED, "rejected", severity="warning"),
        _one(_A.REQUESTED, _A.EXPIRED, "expired", severity="warning"),
        _one(_A.REQUESTED, _A.CANCELED, "canceled", severity="warning"),
    ),
)

# --- task, workstream, worker: seed 004 -------------------------------------------------------------------------------

_T = TaskState
TASK = Lifecycle(
    name="task",
    seed='004 "Task Lifecycle"',
    states=_names(TaskState),
    terminal=_names((_T.COMPLETED, _T.FAILED, _T.CANCELLED)),
    rules=(
        _one(_T.PENDING, _T.QUEUED, "scheduler_assigned", guard="dependencies satisfied"),
        _one(_T.QUEUED, _T.RUNNING, "worker_started", guard="a worker with the required capabilities"),
        _one(_T.RUNNING, _T.VALIDATING, "execution_completed", guard="exit_code == 0"),
        _one(_T.RUNNING, _T.RETRYING, "execution_failed", guard="retry_count < max_retries", severity="warning",
             demanded=True),
        _one(_T.RUNNING, _T.FAILED, "execution_failed", guard="retry_count >= max_retries", severity="error",
             demanded=True),
        _one(_T.RUNNING, _T.CANCELLED, "user_cancelled", severity="warning"),
        _one(_T.RETRYING, _T.QUEUED, "retry_delay_elapsed"),
        _one(_T.VALIDATING, _T.COMPLETED, "validation_passed", guard="every post_execution rule"),
        _one(_T.VALIDATING, _T.FAILED, "validation_failed", guard="any post_execution rule fails", severity="error",
             demanded=True),
        Rule(sources=_names((_T.PENDING, _T.QUEUED)), targets=_names((_T.CANCELLED,)), trigger="user_cancelled",
             severity="warning", extension="cancelled by a user before a worker has begun (002: prevented)"),
    ),
)  # fmt: skip

TASKS_FAILED = "tasks_failed"
"""Our own trigger: a workstream failed without a critical failure, because nothing runs and a task did not complete.
The seed's derivation leaves such a workstream in `executing` without end.
"""

_W = WorkstreamState
WORKSTREAM = Lifecycle(
    name="workstream",
    seed='004 "Workstream Lifecycle"',
    states=_names(WorkstreamState),
    terminal=_names((_W.COMPLETED, _W.FAILED, _W.CANCELLED)),
    rules=(
        _one(_W.PLANNED, _W.READY, "all_tasks_created", guard="task count matches the specification"),
        _one(_W.READY, _W.EXECUTING, "first_task_started", guard="at least one task runs"),
        _one(_W.EXECUTING, _W.VALIDATING, "all_tasks_completed", guard="every task completed"),
        _one(_W.EXECUTING, _W.FAILED, "critical_task_failed", guard="a critical task failed", severity="critical",
             demanded=True, words=frozenset({TASKS_FAILED})),
        _one(_W.VALIDATING, _W.COMPLETED, "validation_passed"),
        _one(_W.VALIDATING, _W.FAILED, "validation_failed", severity="error"),
        Rule(sources=_names((_W.PLANNED, _W.READY, _W.EXECUTING)), targets=_names((_W.CANCELLED,)),
             trigger="user_cancelled", severity="warning"),
    ),
)  # fmt: skip

_K = WorkerState
WORKER = Lifecycle(
    name="worker",
    seed='004 "Worker State Machine"',
    states=_names(WorkerState),
    terminal=_names((_K.SHUTDOWN,)),
    rules=(
        _one(_K.INITIALIZING, _K.IDLE, "registration_complete", guard="capabilities registered"),
        _one(_K.IDLE, _K.BUSY, "task_assigned", guard="the worker has the capabilities"),
        _one(_K.BUSY, _K.IDLE, "task_completed"),
        _one(_K.BUSY, _K.UNRESPONSIVE, "health_check_timeout", guard="N health checks missed", severity="error",
             demanded=True),
        _one(_K.UNRESPONSIVE, _K.IDLE, "health_check_recovered"),
        _one(_K.UNRESPONSIVE, _K.SHUTDOWN, "max_timeout_exceeded", severity="error"),
        _one(_K.IDLE, _K.SHUTDOWN, "shutdown_requested"),
        _one(_K.BUSY, _K.SHUTDOWN, "shutdown_requested", guard="after its tasks are complete"),
        _one(_K.INITIALIZING, _K.SHUTDOWN, "shutdown_requested",
             extension="a worker may get SIGTERM, or fall silent, before it has begun"),
        _one(_K.IDLE, _K.UNRESPONSIVE, "health_check_timeout", guard="N health checks missed", severity="error",
             extension='"Health Monitoring": an idle worker sends heartbeats too, so it can miss them'),
    ),
)  # fmt: skip

LIFECYCLES = (DOCUMENT_RUN, BATCH, REQUEST, RUN, STEP, APPROVAL, TASK, WORKSTREAM, WORKER)
BY_NAME = {lifecycle.name: lifecycle for lifecycle in LIFECYCLES}
BY_EVENT_TYPE = {lifecycle.event_type: lifecycle for lifecycle in LIFECYCLES}
