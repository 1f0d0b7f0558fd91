"""Pure: finds the work that a resume of a batch would start, and the failed documents that need a signature first.

If a batch has nothing left to do, a resume must write nothing. So cutter asks this module before it opens a workflow.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from cutter import limits
from cutter.batch import batch_step
from cutter.batch.state import ENDS
from cutter.batch.view import BatchView, ItemRecord

TERMINATED = "stopped_terminated"
"""The state of a run that no workflow drove any more."""

ASKED_AGAIN = ("busy", "blocked", "voided")
"""Decisions that a resume takes back, because their reason may no longer exist."""


@dataclass(frozen=True, slots=True, kw_only=True)
class UnsignedFailure:
    """A failed document with its failed run. `sign` is the command that makes the document run again."""

    document_id: str
    run_id: str
    state: str
    sign: str


def moves(view: BatchView) -> bool:
    """True if a resume would change anything: start or adopt an item, lift a halt, or change the batch's state."""
    # A run that has not stopped can continue without people after its workflow is open.
    opened = any(item.run_id and not item.ended and not item.stopped for item in view.items)
    if view.batch.state not in ENDS or opened or interrupted(view):
        return True
    asked = asked_again(view)
    orders = batch_step.decide(asked, window=limits.BATCH_WINDOW)
    halted = orders.halt.kind if orders.halt else None
    if orders.starts or halted != view.batch.halted:
        return True
    summary = batch_step.summarise(view, attended=view.attended)
    return bool(summary.state.value != view.batch.state)


def interrupted(view: BatchView) -> list[ItemRecord]:
    """The items whose workflow was terminated or lost with Temporal's data. They need no decision, so a resume of the
    batch resumes each of them.
    """
    return [item for item in view.items if item.state == TERMINATED and not item.ended and not item.latched]


def unsigned_failures(view: BatchView) -> list[UnsignedFailure]:
    """The items whose run failed and that nobody has included again, each with the command that includes it."""
    batch_id = view.batch.batch_id
    return [
        UnsignedFailure(
            document_id=item.document_id,
            run_id=item.run_id or "",
            state=item.state or "",
            sign=include_command(batch_id, item.document_id),
        )
        for item in view.items
        if item.failed and not item.included
    ]


def include_command(batch_id: str, document_id: str) -> str:
    """The command that an approver types so that a failed document runs again in its batch."""
    return f"cutter approve --batch {batch_id} --decision include_failed --only {document_id} --reason TEXT"


def asked_again(view: BatchView) -> BatchView:
    """The view that a resume would produce: without the halt, and without decisions whose reason may no longer exist.

    A document that another run holds up stays busy until that run has ended.
    """
    batch = replace(view.batch, halted=None, halted_reason=None)
    items = tuple(
        replace(item, decided=None, reason=None)
        if item.decided in ASKED_AGAIN and not item.kept_out and not item.open_run
        else item
        for item in view.items
    )
    return replace(view, batch=batch, items=items, age_seconds=0.0)
