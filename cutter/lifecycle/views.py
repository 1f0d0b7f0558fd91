"""Pure: one authoritative state in the words of seeds 002, 003 and 004 (spec 05 "Lifecycles").

Every function here is total and takes facts alone; a property test walks all that may be recorded of a run and proves
that each view moves along transitions that its seed allows, or stays.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from cutter.batch.state import WorkstreamState
from cutter.catalogue import GATES, REHEARSED, Gate, State
from cutter.domain.run_state import RunState
from cutter.lifecycle.facts import Activity, RunFacts
from cutter.lifecycle.states import RequestStatus, RunStatus, StepStatus, TaskState


def _completed(facts: RunFacts) -> bool:
    """A run that went well: law, rehearsed, or law already."""
    return facts.state == State.CLOSEOUT_REPORTED or facts.outcome is not None


def _voided(facts: RunFacts) -> bool:
    return RunState(facts.state).voided


def request_status(facts: RunFacts) -> RequestStatus:
    """The newest request of a run (seed 002). One whose retries ran out has failed, whatever becomes of the run."""
    if facts.failed or facts.exhausted:
        return RequestStatus.FAILED
    if _completed(facts):
        return RequestStatus.COMPLETED
    if _voided(facts):
        return RequestStatus.CANCELLED
    if facts.stopped or facts.waits_for_people:
        return RequestStatus.AWAITING_USER_CONFIRMATION
    if facts.activity is Activity.RETRYING:
        return RequestStatus.AWAITING_TOOL
    return RequestStatus.QUEUED if facts.queued else RequestStatus.EXECUTING


def run_status(facts: RunFacts) -> RunStatus:
    """The run (seed 003 §2.1): succeeded iff every one of its steps is."""
    if facts.failed:
        return RunStatus.FAILED_TERMINAL
    if _completed(facts):
        return RunStatus.SUCCEEDED
    if _voided(facts):
        return RunStatus.CANCELED
    if facts.exhausted:
        return RunStatus.FAILED_RETRYABLE
    if facts.stopped or facts.waits_for_people:
        return RunStatus.WAITING_APPROVAL
    return RunStatus.RUNNING if facts.begun else RunStatus.QUEUED


def steps_of(facts: RunFacts, *, dryrun: bool = False) -> tuple[Gate, ...]:
    """The steps of a run: its gates, a rehearsal's up to the first write. A run that found its law in force has one."""
    if facts.outcome == "skipped":
        return GATES[: facts.passed]
    return REHEARSED if dryrun else GATES


def step_status(facts: RunFacts, gate: Gate) -> StepStatus:
    """One step (seed 003 §2.2). Steps after the next one are ready: they have not been reached."""
    if gate.number <= facts.passed:
        return StepStatus.SUCCEEDED
    if gate.number > facts.passed + 1:
        return StepStatus.READY
    if facts.failed:
        return StepStatus.FAILED_TERMINAL
    if _voided(facts) and facts.outcome is None:
        return StepStatus.CANCELED
    match facts.activity:
        case Activity.RUNNING:
            return StepStatus.RUNNING
        case Activity.RETRYING | Activity.BETWEEN:
            return StepStatus.FAILED_RETRYABLE
    return StepStatus.WAITING_APPROVAL if facts.asked and gate.sovereign else StepStatus.READY


def task_state(facts: RunFacts) -> TaskState:
    """The run as a task (seed 004). A stopped one is running and flagged stopped (`RunFacts.stopped`)."""
    if facts.failed:
        return TaskState.FAILED
    if _completed(facts):
        return TaskState.COMPLETED
    if _voided(facts):
        return TaskState.CANCELLED
    if facts.validating:
        return TaskState.VALIDATING
    if facts.activity is Activity.RETRYING:
        return TaskState.RETRYING
    return TaskState.RUNNING if facts.begun else TaskState.QUEUED


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """A task as its workstream sees it."""

    state: TaskState
    critical: bool = False


def derive_workstream_state(tasks: Sequence[Task]) -> WorkstreamState:
    """Seed 004 "State Derivation from Tasks": what runs first, then what is complete, then a critical failure."""
    states = [task.state for task in tasks]
    if TaskState.RUNNING in states:
        return WorkstreamState.EXECUTING
    if all(state is TaskState.COMPLETED for state in states):
        return WorkstreamState.VALIDATING
    if any(task.state is TaskState.FAILED and task.critical for task in tasks):
        return WorkstreamState.FAILED
    if all(state in (TaskState.PENDING, TaskState.QUEUED) for state in states):
        return WorkstreamState.READY
    return WorkstreamState.EXECUTING
