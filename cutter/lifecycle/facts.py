"""Pure: the facts about a run at one moment that the views of seeds 002 to 004 need.

There is one authoritative state and several views. The facts change with each recorded change: a move of the run, the
beginning or the end of an attempt, an end without a write. Every view is a function of the facts
(`cutter.lifecycle.views`).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum

from cutter.catalogue import GATES, REHEARSED, Gate, State
from cutter.domain.next_step import AWAITING
from cutter.domain.run_state import RunState

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
    """The facts after a recorded change.

    An attempt of a gate that is not next, or during a stop, changes nothing. Everyone who can write to Temporal can ask
    for any gate at any time.
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
