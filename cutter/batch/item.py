"""Pure: one document of a batch, and its place in it (spec 02 "Shape").

An item has no state of its own: its stage and outcome are computed from its run's row and never stored separately.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from cutter import limits
from cutter.catalogue import GATES, Sovereign, State
from cutter.domain.run_state import RunState
from cutter.errors import ProgrammingError

DEFAULT_TENANT = "default"

REVIEW = "human_review_queue"
"""The queue of items that still lack an approval which should already exist, or that a person holds at night."""

BATCH = "batch"
"""The name under which a batch sets a stop latch."""


class Stage(StrEnum):
    """The stage of an item, from the queue file to its end."""

    PENDING = "pending"
    PLANNING = "planning"
    AT_SG1 = "at_sg1"
    WRITING = "writing"
    AT_SG2 = "at_sg2"
    ENACTING = "enacting"
    SETTLED = "settled"


NOT_UNDER_WAY = (Stage.PENDING, Stage.SETTLED)
"""The stages before the start of an item's run, and after its end."""


class Outcome(StrEnum):
    """The end of a settled item. A `busy` or `blocked` one has no run, and a `stopped` one can be resumed."""

    ENACTED = "enacted"
    REHEARSED = "rehearsed"
    SKIPPED = "skipped"
    FAILED = "failed"
    STOPPED = "stopped"
    VOIDED = "voided"
    BUSY = "busy"
    BLOCKED = "blocked"


GOOD = frozenset({Outcome.ENACTED, Outcome.REHEARSED, Outcome.SKIPPED})
"""Good outcomes: the law is enacted, by this batch or earlier. In a rehearsal, the law would be enacted."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """One document of a batch. `position` is its place in the file. `in_review` is true if it waits in human review.

    `law` says that its enactment is sealed, whatever happened to the run after that. `held_at` is set while a person
    holds the item with a stop: the stage of the sovereign gate that it passes next.
    """

    document_id: str
    position: int
    priority: int = limits.PRIORITY_DEFAULT
    depends_on: tuple[str, ...] = ()
    critical: bool = False
    tenant: str = DEFAULT_TENANT
    stage: Stage = Stage.PENDING
    outcome: Outcome | None = None
    in_review: bool = False
    law: bool = False
    held_at: Stage | None = None

    def __post_init__(self) -> None:
        if (self.stage is Stage.SETTLED) != (self.outcome is not None):
            raise ProgrammingError(f"{self.document_id}: {self.stage} with outcome {self.outcome}")

    @property
    def shown(self) -> str:
        """Its outcome, or else its stage, in one word."""
        return (self.outcome or self.stage).value

    @property
    def good(self) -> bool:
        return self.outcome in GOOD

    @property
    def failed(self) -> bool:
        """True if the item ended with a fault. An item that a person holds has no fault."""
        return self.outcome in (Outcome.FAILED, Outcome.STOPPED) and self.held_at is None

    @property
    def stands(self) -> bool:
        """True when items that depend on this one may begin, also if its run failed after the enactment."""
        return self.good or (self.law and self.stage is Stage.SETTLED)

    @property
    def started(self) -> bool:
        """True from the start of its run until the run is settled."""
        return self.stage not in NOT_UNDER_WAY


_AT = {Sovereign.CUT: (Stage.AT_SG1, Stage.WRITING), Sovereign.LIFECYCLE: (Stage.AT_SG2, Stage.ENACTING)}
"""Sovereign gate → the stage while it waits for people, and the stage of the gates from there on."""


def _stages() -> dict[str, Stage]:
    """State → stage, from the gate that leads to the state, or that waits in it for people."""
    stage = Stage.PLANNING
    stages = {State.PENDING.value: stage}
    for gate in GATES:
        if gate.sovereign is not None:
            stages[gate.from_state.value], stage = _AT[gate.sovereign]
        stages[gate.to_state.value] = stage
    return stages


_STAGE_OF = _stages()
_RUN_OUTCOMES = {"rehearsed": Outcome.REHEARSED, "skipped": Outcome.SKIPPED}


def outcome_of(state: str | None, *, outcome: str | None = None, ended: bool = False) -> Outcome | None:
    """The outcome of a settled run; None while it continues. An end in a passing state without an outcome counts as
    stopped, because nothing says that it ended well.
    """
    if state is None:
        return None
    if outcome in _RUN_OUTCOMES:
        return _RUN_OUTCOMES[outcome]
    if state == State.CLOSEOUT_REPORTED:
        return Outcome.ENACTED
    run = RunState(state)
    if run.failed:
        return Outcome.FAILED
    if run.voided:
        return Outcome.VOIDED
    return Outcome.STOPPED if run.stopped or ended else None


def stage_of(state: str | None, *, outcome: str | None = None, ended: bool = False, approved: bool = False) -> Stage:
    """The stage of a run in that state. `approved`: its sovereign gate has its approvals, so it waits for nobody.
    Raises ProgrammingError for a state that the catalogue lacks.
    """
    if state is None:
        return Stage.PENDING
    if outcome_of(state, outcome=outcome, ended=ended) is not None:
        return Stage.SETTLED
    if state not in _STAGE_OF:
        raise ProgrammingError(f"no run has the state {state}")
    stage = _STAGE_OF[state]
    if approved:
        return {Stage.AT_SG1: Stage.WRITING, Stage.AT_SG2: Stage.ENACTING}.get(stage, stage)
    return stage
