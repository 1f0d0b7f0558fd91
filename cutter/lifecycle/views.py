"""Pure: the facts about a run at one moment, and the views of them in the words of seeds 002, 003 and 004 (spec 05
"Lifecycles").

There is one authoritative state and several views. The facts change with each recorded change: a move of the run, the
beginning or the end of an attempt, an end without a write. Every view is a total function that takes only facts. A
property test follows all possible records of a run. It proves that each view either stays or makes a transition that
its seed allows. `lifecycles.toml` has all states.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum

from cutter.catalogue import GATES, REHEARSED, Gate, State
from cutter.domain.next_step import AWAITING
from cutter.domain.run_state import RunState


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
    """The gates of a run: a rehearsal's up to the first write, one for an enacted version."""
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


class RequestStatus(StrEnum):
    """A request (seed 002 "State Contract"): one continuous attempt to move a run."""

    RECEIVED = "received"
    QUEUED = "queued"
    EXECUTING = "executing"
    AWAITING_TOOL = "awaiting_tool"
    AWAITING_USER_CONFIRMATION = "awaiting_user_confirmation"
    COMPLETED = "completed"
    FAILED = "failed"
    CANCELLED = "cancelled"


class RunStatus(StrEnum):
    """A run (seed 003 §2.1)."""

    QUEUED = "queued"
    RUNNING = "running"
    WAITING_APPROVAL = "waiting_approval"
    SUCCEEDED = "succeeded"
    FAILED_RETRYABLE = "failed_retryable"
    FAILED_TERMINAL = "failed_terminal"
    CANCELED = "canceled"


class StepStatus(StrEnum):
    """A step of a run (seed 003 §2.2)."""

    READY = "ready"
    RUNNING = "running"
    SUCCEEDED = "succeeded"
    WAITING_APPROVAL = "waiting_approval"
    FAILED_RETRYABLE = "failed_retryable"
    FAILED_TERMINAL = "failed_terminal"
    CANCELED = "canceled"


class TaskState(StrEnum):
    """A task (seed 004): one document's run."""

    PENDING = "pending"
    QUEUED = "queued"
    RUNNING = "running"
    VALIDATING = "validating"
    COMPLETED = "completed"
    FAILED = "failed"
    RETRYING = "retrying"
    CANCELLED = "cancelled"


_PASSED = frozenset({"passed", "skipped"})
_AFTER = {gate.to_state.value: gate.number for gate in GATES}


class Activity(StrEnum):
    """The activity of the next gate: none, an attempt, a wait for a dependency, or another attempt at once."""

    NONE = "none"
    RUNNING = "running"
    RETRYING = "retrying"
    BETWEEN = "between"


@dataclass(frozen=True, slots=True, kw_only=True)
class Moved:
    to: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Began:
    gate: str
    attempt: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Tried:
    """An attempt's outcome was recorded. `again` is true if the gate waits for a dependency and will be tried again."""

    gate: str
    attempt: int
    outcome: str
    again: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Finished:
    """The run ended without a write: `rehearsed` or `skipped`."""

    outcome: str


Change = Moved | Began | Tried | Finished


@dataclass(frozen=True, slots=True, kw_only=True)
class RunFacts:
    """The recorded facts of a run. `state` and `outcome` are from its row. `passed` is the number of its passed gates.

    `asked` is true if people were asked about the next gate. `request` numbers the continuous attempts to move the run.
    If a run is resumed after its retries were used up (`exhausted`), a new request begins. It is queued (`queued`)
    until a gate begins. `retries` counts from this resume.
    """

    state: str = State.PENDING.value
    outcome: str | None = None
    passed: int = 0
    activity: Activity = Activity.NONE
    attempt: int = 0
    asked: bool = False
    begun: bool = False
    validating: bool = False
    exhausted: bool = False
    failed: bool = False
    queued: bool = True
    request: int = 1
    retries: int = 0

    @property
    def gate(self) -> Gate | None:
        """The next gate. None if all gates have passed."""
        return GATES[self.passed] if self.passed < len(GATES) else None

    @property
    def stopped(self) -> bool:
        return RunState(self.state).stopped

    @property
    def over(self) -> bool:
        """True if nothing more can follow: the run has ended, with or without a write."""
        ended = self.state == State.CLOSEOUT_REPORTED or RunState(self.state).failed or RunState(self.state).voided
        return ended or self.outcome is not None

    @property
    def waits_for_people(self) -> bool:
        """True at a sovereign gate that still lacks approvals."""
        return self.state in AWAITING and self.asked and self.activity is Activity.NONE


def after(facts: RunFacts, change: Change) -> RunFacts:
    """The facts after a change. An attempt of a gate that is not next changes nothing: all who can write to Temporal
    can ask for any gate.
    """
    match change:
        case Moved():
            return _moved(facts, change.to)
        case Finished():
            passed = len(REHEARSED) if change.outcome == "rehearsed" else facts.passed
            return replace(facts, outcome=change.outcome, passed=passed, activity=Activity.NONE, begun=True,
                           queued=False)  # fmt: skip
        case Began() if _counts(facts, change.gate):
            closing = change.gate == GATES[-1].name
            return replace(facts, activity=Activity.RUNNING, attempt=change.attempt, begun=True, queued=False,
                           validating=facts.validating or closing)  # fmt: skip
        case Tried() if _counts(facts, change.gate) and (facts.activity, facts.attempt) == (
            Activity.RUNNING,
            change.attempt,
        ):
            if change.outcome in _PASSED:
                return replace(facts, passed=facts.passed + 1, activity=Activity.NONE, attempt=0, asked=False)
            if change.outcome == "approval_refused":
                return replace(facts, activity=Activity.NONE, asked=True)
            if change.outcome in ("failed", "rehearsed"):
                # The next recorded change shows the effect: the run's own move, or its end, as in a rehearsal.
                return facts
            if change.again:
                return replace(facts, activity=Activity.RETRYING, retries=facts.retries + 1)
            return replace(facts, activity=Activity.BETWEEN)
    return facts


def _counts(facts: RunFacts, gate: str) -> bool:
    held = facts.over or RunState(facts.state).halted
    return not held and facts.gate is not None and facts.gate.name == gate


def _moved(facts: RunFacts, to: str) -> RunFacts:
    facts = replace(facts, begun=True)
    if RunState(to).stopped:
        # The first stop since the last move shows if the retries were used up. A later stop changes only the state.
        exhausted = facts.exhausted if facts.stopped else RunState(to).unavailable
        activity = Activity.NONE if facts.activity is Activity.NONE else Activity.BETWEEN
        return replace(facts, state=to, exhausted=exhausted, activity=activity, queued=False)
    if RunState(to).halted:
        failed = facts.failed or RunState(to).failed
        return replace(facts, state=to, failed=failed, activity=Activity.NONE, queued=False)
    if facts.stopped:
        # The run was resumed. If its retries were used up, a new request begins.
        return replace(facts, state=to, activity=Activity.NONE, attempt=0, asked=False, exhausted=False, retries=0,
                       queued=facts.exhausted, request=facts.request + facts.exhausted)  # fmt: skip
    if to in AWAITING:
        return replace(facts, state=to, asked=True, activity=Activity.NONE, queued=False)
    passed = max(facts.passed, _AFTER.get(to, 0))
    more = passed > facts.passed
    return replace(
        facts, state=to, passed=passed, activity=Activity.NONE, attempt=0 if more else facts.attempt, queued=False,
        asked=facts.asked and not more,
    )  # fmt: skip
