"""Pure: one document of a batch, and its place in it (spec 02 "Shape").

An item is what its run is: its stage and outcome are computed from the run's row and never stored separately.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from cutter import limits
from cutter.catalogue import GATES, Sovereign, State
from cutter.errors import ProgrammingError

DEFAULT_TENANT = "default"


class Stage(StrEnum):
    """The stage of an item between its queue and its end."""

    PENDING = "pending"
    PLANNING = "planning"
    AT_SG1 = "at_sg1"
    WRITING = "writing"
    AT_SG2 = "at_sg2"
    ENACTING = "enacting"
    SETTLED = "settled"


class Outcome(StrEnum):
    """How a settled item ended. `busy` and `blocked` have no run of this batch; `stopped` may be resumed."""

    ENACTED = "enacted"
    REHEARSED = "rehearsed"
    SKIPPED = "skipped"
    FAILED = "failed"
    STOPPED = "stopped"
    VOIDED = "voided"
    BUSY = "busy"
    BLOCKED = "blocked"


GOOD = frozenset({Outcome.ENACTED, Outcome.REHEARSED, Outcome.SKIPPED})
"""Good outcomes: the law is enacted, by this batch or before it; or, in a rehearsal, it would be."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """One document of a batch. `position` is its place in the file, `in_review` that it waits in human review.

    `law`: its enactment is sealed, whatever happened to its run afterwards.
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

    def __post_init__(self) -> None:
        if (self.stage is Stage.SETTLED) != (self.outcome is not None):
            raise ProgrammingError(f"{self.document_id}: {self.stage} with outcome {self.outcome}")

    @property
    def good(self) -> bool:
        """True when it went well."""
        return self.outcome in GOOD

    @property
    def stands(self) -> bool:
        """True when dependents may begin: also if the run stopped or failed after its enactment."""
        return self.good or (self.law and self.stage is Stage.SETTLED)

    @property
    def started(self) -> bool:
        """True from its run's start until the run is settled."""
        return self.stage not in (Stage.PENDING, Stage.SETTLED)


def _stages() -> dict[str, Stage]:
    """State → stage, from the gate that leaves the state: gates 1 to 5, 6 to 9, 10 and 11."""
    stages = {}
    stage = Stage.PLANNING
    for gate in GATES:
        if gate.sovereign is Sovereign.CUT:
            stages[State.GRANTS_PROBED.value] = Stage.PLANNING
            stages[gate.from_state.value], stage = Stage.AT_SG1, Stage.WRITING
        elif gate.sovereign is Sovereign.LIFECYCLE:
            stages[State.WRITE_VERIFIED.value] = Stage.WRITING
            stages[gate.from_state.value], stage = Stage.AT_SG2, Stage.ENACTING
        else:
            stages[gate.from_state.value] = stage
    return stages


_STAGE_OF = _stages()
_ENDS = {"failed_": Outcome.FAILED, "stopped_": Outcome.STOPPED, "voided_": Outcome.VOIDED}
_RUN_OUTCOMES = {"rehearsed": Outcome.REHEARSED, "skipped": Outcome.SKIPPED}


def outcome_of(state: str | None, *, outcome: str | None = None, ended: bool = False) -> Outcome | None:
    """How a run is settled; None while it continues. `outcome` and `ended` are the run row's.

    A run that ended in a state of its way, without an outcome, counts as stopped: nobody has said that it went well.
    """
    if state is None:
        return None
    if outcome in _RUN_OUTCOMES:
        return _RUN_OUTCOMES[outcome]
    if state == State.CLOSEOUT_REPORTED:
        return Outcome.ENACTED
    for family, end in _ENDS.items():
        if state.startswith(family):
            return end
    return Outcome.STOPPED if ended else None


def stage_of(state: str | None, *, outcome: str | None = None, ended: bool = False, approved: bool = False) -> Stage:
    """The stage of a run in that state; None: there is no run. ProgrammingError for a state that the catalogue lacks.

    `approved`: the sovereign gate it is at has its approvals, so it waits for nobody.
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
