"""Pure: derives the state of a batch from its items, in the terms of seed 001 and of seed 004."""

from __future__ import annotations

from collections.abc import Sequence

from cutter import limits
from cutter.batch.item import Item, Outcome, Stage
from cutter.batch.plan import free_places, startable
from cutter.domain.run_state import BatchState, WorkstreamState

ENDS = frozenset({BatchState.CLOSEOUT, BatchState.FAILED_PARTIAL, BatchState.VOIDED})
"""The states of a batch that has nothing left to do."""

_MOVING = (
    (Stage.PLANNING, BatchState.PLANNING),
    (Stage.WRITING, BatchState.WRITING),
    (Stage.ENACTING, BatchState.ENACTING),
)
_WAITING = ((Stage.AT_SG2, BatchState.AWAITING_LIFECYCLE), (Stage.AT_SG1, BatchState.AWAITING_CUT))
_PASSED_SG1 = (Stage.WRITING, Stage.AT_SG2, Stage.ENACTING)


def batch_state(
    items: Sequence[Item], *, started: bool = True, halted: bool = False, window: int = limits.BATCH_WINDOW
) -> BatchState:
    """The state of the batch: its earliest work in motion, else the gate that people must sign, else how it ended.

    `started` says that the batch's workflow runs, and `halted` that the batch begins nothing more. A document in human
    review does not hold up the others, so it decides the state only if nothing else waits, and a document that a person
    holds comes last. A pending document that can never begin holds up nothing.
    """
    if not started or not items:
        return BatchState.PENDING
    stages = {item.stage for item in items}
    idle = Stage.PLANNING not in stages and not halted
    if idle and free_places(items, lanes=1, window=window) > 0 and startable(items):
        return BatchState.PLANNING
    for stage, state in _MOVING:
        if stage in stages:
            return state
    asked, in_review = ({item.stage for item in items if item.in_review is review} for review in (False, True))
    for waiting in (asked, in_review, {item.held_at for item in items}):
        for stage, state in _WAITING:
            if stage in waiting:
                return state
    if all(item.good for item in items):
        return BatchState.CLOSEOUT
    if all(item.outcome is Outcome.VOIDED for item in items):
        return BatchState.VOIDED
    return BatchState.FAILED_PARTIAL


def is_partial(items: Sequence[Item]) -> bool:
    """True if an item waits at a sovereign gate that another item has passed (`batch_partial`)."""
    stages = {item.stage for item in items}
    enacted = Outcome.ENACTED in {item.outcome for item in items}
    behind_sg1 = enacted or not stages.isdisjoint(_PASSED_SG1)
    behind_sg2 = enacted or Stage.ENACTING in stages
    return (Stage.AT_SG1 in stages and behind_sg1) or (Stage.AT_SG2 in stages and behind_sg2)


def stops_the_rest(items: Sequence[Item], *, strict: bool) -> Item | None:
    """The first item whose failure stops all others: any failed item under `strict`, else a critical one."""
    return next((item for item in items if item.failed and (strict or item.critical)), None)


def workstream_state(
    items: Sequence[Item], *, started: bool = True, halted: bool = False, closed: bool = False
) -> WorkstreamState:
    """The batch as a workstream (seed 004 "State Derivation"). `closed`: its report is written. As in the seed, running
    documents decide first, then a critical failure.
    """
    if not items:
        return WorkstreamState.PLANNED
    if not started:
        return WorkstreamState.READY
    if any(item.started for item in items):
        return WorkstreamState.EXECUTING
    if stops_the_rest(items, strict=False):
        return WorkstreamState.FAILED
    match batch_state(items, halted=halted):
        case BatchState.CLOSEOUT:
            return WorkstreamState.COMPLETED if closed else WorkstreamState.VALIDATING
        case BatchState.FAILED_PARTIAL:
            return WorkstreamState.FAILED
        case BatchState.VOIDED:
            return WorkstreamState.CANCELLED
        case _:
            return WorkstreamState.EXECUTING
