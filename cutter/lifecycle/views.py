"""Pure: shows one authoritative state in the words of seeds 002, 003 and 004 (spec 05 "Lifecycles").

Every function is total and takes only facts. A property test follows all possible records of a run. It proves that each
view either stays or makes a transition that its seed allows.
"""

from __future__ import annotations

from cutter.catalogue import GATES, REHEARSED, Gate, State
from cutter.domain.run_state import RunState
from cutter.lifecycle.facts import Activity, RunFacts
from cutter.lifecycle.states import RequestStatus, RunStatus, StepStatus, TaskState


def _completed(facts: RunFacts) -> bool:
    """True for a run that ended well: enacted, rehearsed, or already enacted before."""
    return facts.state == State.CLOSEOUT_REPORTED or facts.outcome is not None


def _voided(facts: RunFacts) -> bool:
    return RunState(facts.state).voided


def request_status(facts: RunFacts) -> RequestStatus:
    """The newest request of a run (seed 002). If its retries were used up, it has failed, even if the run continues."""
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
    """The run (seed 003 §2.1). It has succeeded if and only if every step has succeeded."""
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
    """The steps of a run: its gates.

    A rehearsal has those up to the first write. A run of an enacted version has one.
    """
    if facts.outcome == "skipped":
        return GATES[: facts.passed]
    return REHEARSED if dryrun else GATES


def step_status(facts: RunFacts, gate: Gate) -> StepStatus:
    """One step (seed 003 §2.2). The steps after the next one are `ready`, because the run has not reached them."""
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
    """The run as a task (seed 004). The task of a stopped run is running, with the flag `RunFacts.stopped`."""
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
