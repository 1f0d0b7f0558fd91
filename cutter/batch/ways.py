"""Pure: the one command that continues a batch, or one of its documents (seed 001 §6, §9).

Each command changes the next look at the batch. If a failed document holds the batch, the command is about that
document, and not yet a resume. If the batch waits for another run, no command asks it again before that run has ended.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from cutter import limits
from cutter.batch import batch_step, resume_plan
from cutter.batch.resume_plan import include_command
from cutter.batch.state import ENDS
from cutter.batch.view import BatchView, ItemRecord
from cutter.domain.next_step import OF_THE_TEXT, Needs, Step, StepFacts, next_step
from cutter.domain.run_state import RunState


def next_command(view: BatchView, summary: batch_step.Summary) -> str:
    """The command that continues the batch. If the batch has ended and needs nobody, it is the command that shows the
    report.
    """
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
    halt = batch_step.decide(resume_plan.asked_again(view), window=limits.BATCH_WINDOW).halt
    if halt is not None:
        # This document would halt the batch again at once.
        step = item_step(batch_id, next(item for item in view.items if item.document_id == halt.document_id))
        if step is not None:
            return step.command
    if resume_plan.moves(view):
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
