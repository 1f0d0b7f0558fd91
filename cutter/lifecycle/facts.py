"""Pure: what the database says of a run at one moment, as far as the views of seeds 002 to 004 need it.

One authoritative state, several views: these facts change with each recorded change (a move of the run, an attempt that
began or ended, an end without a write), and every view is a function of them (`cutter.lifecycle.views`).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum

from cutter.catalogue import GATES, REHEARSED, Gate, State
from cutter.domain.next_step import AWAITING
from cutter.domain.run_state import RunState

_PASSED = frozenset({"passed", "skipped"})
_AFTER = {gate.to_state.value: gate.number for gate in GATES}
_HALTED = ("stopped_", "failed_", "voided_")


class Activity(StrEnum):
    """What the gate does that is next: nothing, an attempt, a wait for a dependency, or it is tried again at once."""

    NONE = "none"
    RUNNING = "running"
    RETRYING = "retrying"
    BETWEEN = "between"


@dataclass(frozen=True, slots=True, kw_only=True)
class Moved:
    """The run has another state."""

    to: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Began:
    """An attempt of a gate was registered."""

    gate: str
    attempt: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Tried:
    """An attempt's outcome was recorded. `again`: the gate waits for a dependency and will be tried again."""

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
    """A run as recorded. `state` and `outcome` are its row's; `passed` counts its gates.

    `asked`: people were asked for the next gate. `request` numbers the attempts to move the run: a resume after the
    retries ran out (`exhausted`) is a new one, queued (`queued`) until a gate begins. `retries` counts since then.
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
        """The gate that is next; None when all have passed."""
        return GATES[self.passed] if self.passed < len(GATES) else None

    @property
    def stopped(self) -> bool:
        return RunState(self.state).stopped

    @property
    def over(self) -> bool:
        """True when nothing more is expected of it: what ends a run, or its end without a write."""
        ended = self.state == State.CLOSEOUT_REPORTED or RunState(self.state).failed or RunState(self.state).voided
        return ended or self.outcome is not None

    @property
    def waits_for_people(self) -> bool:
        """True at a sovereign gate whose approvals are not there yet."""
        return self.state in AWAITING and self.asked and self.activity is Activity.NONE


def after(facts: RunFacts, change: Change) -> RunFacts:
    """The facts once a change is recorded. Attempts of a gate that is not next, or while the run is held, say nothing:
    a writer to Temporal can ask for any gate at any time.
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
            return _tried(facts, change)
    return facts


def _counts(facts: RunFacts, gate: str) -> bool:
    held = facts.over or facts.state.startswith(_HALTED)
    return not held and facts.gate is not None and facts.gate.name == gate


def _tried(facts: RunFacts, change: Tried) -> RunFacts:
    if change.outcome in _PASSED:
        return replace(facts, passed=facts.passed + 1, activity=Activity.NONE, attempt=0, asked=False)
    if change.outcome == "approval_refused":
        return replace(facts, activity=Activity.NONE, asked=True)
    if change.outcome in ("failed", "rehearsed"):
        # What follows says what became of it: the run's own move, or its end, to which a rehearsal's request belongs.
        return facts
    if change.again:
        return replace(facts, activity=Activity.RETRYING, retries=facts.retries + 1)
    return replace(facts, activity=Activity.BETWEEN)


def _moved(facts: RunFacts, to: str) -> RunFacts:
    facts = replace(facts, begun=True)
    if RunState(to).stopped:
        return _stopped(facts, to)
    if to.startswith(_HALTED):
        failed = facts.failed or RunState(to).failed
        return replace(facts, state=to, failed=failed, activity=Activity.NONE, queued=False)
    if facts.stopped:
        # Resumed. A resume of a run whose retries ran out makes a new request of it.
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


def _stopped(facts: RunFacts, to: str) -> RunFacts:
    """The first stop since the run last moved says whether its retries ran out; a later one changes only the word."""
    exhausted = facts.exhausted if facts.stopped else RunState(to).unavailable
    activity = Activity.NONE if facts.activity is Activity.NONE else Activity.BETWEEN
    return replace(facts, state=to, exhausted=exhausted, activity=activity, queued=False)
