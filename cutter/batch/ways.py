"""Pure: the command that continues a batch or one of its documents, and the work of a resume (seed 001 §6, §9).

Each command changes the next look at the batch. If a failed document holds the batch, the command is about that
document, and not yet a resume. If the batch waits for another run, no command asks it again before that run has ended.
If a batch has nothing left to do, a resume must write nothing.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from cutter import limits
from cutter.batch import batch_step
from cutter.batch.state import ENDS
from cutter.batch.view import BatchView, ItemRecord
from cutter.domain.next_step import OF_THE_TEXT, Needs, Step, StepFacts, next_step
from cutter.domain.run_state import RunState


def next_command(view: BatchView, summary: batch_step.Summary) -> str:
    """The command that continues the batch, or that shows its report if the batch has ended and needs nobody."""
    batch = view.batch
    batch_id = batch.batch_id
    if summary.gate and batch.mode == "live":
        return f"cutter approve --batch {batch_id}"
    held = tuple(item for item in view.items if item.held)
    if held and summary.state in batch_step.AWAITED:
        return _first(replace(view, items=held))
    if batch.state not in ENDS and not summary.over:
        return f"cutter status {batch_id} --watch"
    if batch.halted == "cancel":
        stopped = tuple(item for item in view.items if item.stopped)
        return _first(replace(view, items=stopped))
    halt = batch_step.decide(asked_again(view), window=limits.BATCH_WINDOW).halt
    if halt is not None:
        # This document would halt the batch again at once.
        step = item_step(batch_id, next(item for item in view.items if item.document_id == halt.document_id))
        if step is not None:
            return step.command
    if moves(view):
        return f"cutter orchestrate resume-batch --batch-id {batch_id}"
    return _first(view)


def _first(view: BatchView) -> str:
    step = next(needing_people(view), None)
    return step.command if step else f"cutter report {view.batch.batch_id}"


def needing_people(view: BatchView) -> Iterator[Step]:
    """The commands for the documents that wait for a person, failed documents first."""
    for item in sorted(view.items, key=lambda item: not item.failed):
        step = item_step(view.batch.batch_id, item)
        if step is not None and step.needs is not Needs.NOTHING:
            yield step


def item_step(batch_id: str, item: ItemRecord) -> Step | None:
    """The step that continues one document of a batch. None if it waits for other documents, or for nothing."""
    if item.run_id:
        return run_step(batch_id, item.step_facts, included=item.included)
    document_id, before = item.document_id, item.failed_run
    if item.kept_out and before:
        again = f"cutter run {document_id} --amends {before.run_id}"
        if before.batch_id:
            again = include_command(before.batch_id, document_id)
        return Step(needs=Needs.CORRECTION, commands=(again,))
    if item.decided == "busy" and item.open_run:
        return Step(needs=Needs.NOTHING, commands=(f"cutter status {item.open_run}",))
    return None


def run_step(batch_id: str, run: StepFacts, *, included: bool = False) -> Step:
    """The step that continues one document that has a run in the batch. `included` says that a signature includes the
    failed document again. Otherwise a failed document runs again in its batch, after a void of its drafts.
    """
    if not RunState(run.state).failed or run.enacted:
        return next_step(run)
    if included:
        again = f"cutter orchestrate resume-batch --batch-id {batch_id}"
        return Step(needs=Needs.NOTHING, commands=(again,))
    first = next_step(run).first
    if run.wrote:
        void = f"cutter void {run.run_id} --reason TEXT"
        queue = "cutter orchestrate batch --queue QUEUE --skip-completed --resume"
        return Step(needs=Needs.CORRECTION, commands=(void, queue), first=first)
    sign = include_command(batch_id, run.document_id)
    if run.corrected or run.state not in OF_THE_TEXT:
        return Step(needs=Needs.CORRECTION, commands=(sign,), first="" if run.corrected else first)
    add = f"cutter source add FILE --document-id {run.document_id} --profile PROFILE"
    return Step(needs=Needs.CORRECTION, commands=(add, sign), first=first)


def command_of(batch_id: str, item: ItemRecord) -> str:
    """The document's commands on one line. Empty if the document waits for other documents, or for nothing."""
    step = item_step(batch_id, item)
    return step.command if step else ""


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
    """The items whose workflow was terminated or lost. A resume of the batch resumes them without a decision."""
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
    """The view that a resume would produce: without the halt, and without decisions whose reason may be gone."""
    batch = replace(view.batch, halted=None, halted_reason=None)
    items = tuple(
        replace(item, decided=None, reason=None)
        if item.decided in ASKED_AGAIN and not item.kept_out and not item.open_run
        else item
        for item in view.items
    )
    return replace(view, batch=batch, items=items, age_seconds=0.0)
