"""Pure: the one command that moves a batch, or one of its documents (seed 001 §6, §9).

Every command changes what the next look says: a batch that a failed document holds is not resumed before that document
is seen to, and one that waits for another run's end is not asked again before that run has ended.
"""

from __future__ import annotations

from collections.abc import Iterator

from cutter import limits
from cutter.batch import resumption, steering
from cutter.batch.resumption import failed, include_command
from cutter.batch.state import ENDS
from cutter.domain.next_step import OF_THE_TEXT, Needs, Step, next_step
from cutter.domain.run_state import RunState
from cutter.types import Json


def next_command(view: Json, summary: steering.Summary) -> str:
    """The command that moves the batch. Of one that has ended and needs nobody: its report."""
    batch = view["batch"]
    batch_id = batch["batch_id"]
    if summary.gate and batch["mode"] == "live":
        return f"cutter approve --batch {batch_id}"
    if batch["state"] not in ENDS and not summary.over:
        return f"cutter status {batch_id} --watch"
    if batch["halted"] == "cancel":
        stopped = [one for one in view["items"] if RunState(one["state"]).stopped]
        return _first({**view, "items": stopped})
    cause = _cause(view)
    if cause is not None:
        return cause.command
    if resumption.moves(view):
        return f"cutter orchestrate resume-batch --batch-id {batch_id}"
    return _first(view)


def _first(view: Json) -> str:
    step = next(needing_people(view), None)
    return step.command if step else f"cutter report {view['batch']['batch_id']}"


def needing_people(view: Json) -> Iterator[Step]:
    """The steps of the documents that only a person's act moves: the failed ones first."""
    for one in sorted(view["items"], key=lambda item: not failed(item)):
        step = item_step(view["batch"]["batch_id"], one)
        if step is not None and step.needs is not Needs.NOTHING:
            yield step


def item_step(batch_id: str, item: Json) -> Step | None:
    """What moves one document of a batch; None for one that waits for others or for nothing."""
    if not item["run_id"]:
        return _without_run(item)
    step = next_step(
        run_id=item["run_id"], document_id=item["document_id"], state=item["state"], outcome=item["outcome"],
        latched=bool(item["latched"]), wrote=item["wrote"], enacted=item["enacted"],
    )  # fmt: skip
    return _failed(batch_id, item, step) if failed(item) and not item["enacted"] else step


def command_of(batch_id: str, item: Json) -> str:
    """The document's commands on one line; empty for one that waits for others or for nothing."""
    step = item_step(batch_id, item)
    return step.command if step else ""


def _failed(batch_id: str, item: Json, step: Step) -> Step:
    """A failed document runs again in its batch; if it has drafts, they are withdrawn first."""
    if item["included"]:
        again = f"cutter orchestrate resume-batch --batch-id {batch_id}"
        return Step(needs=Needs.NOTHING, commands=(again,))
    if item["wrote"]:
        void = f"cutter void {item['run_id']} --reason TEXT"
        queue = "cutter orchestrate batch --queue QUEUE --skip-completed --resume"
        return Step(needs=Needs.CORRECTION, commands=(void, queue), first=step.first)
    sign = include_command(batch_id, item["document_id"])
    if item["corrected"] or item["state"] not in OF_THE_TEXT:
        return Step(needs=Needs.CORRECTION, commands=(sign,), first="" if item["corrected"] else step.first)
    add = f"cutter source add FILE --document-id {item['document_id']} --profile PROFILE"
    return Step(needs=Needs.CORRECTION, commands=(add, sign), first=step.first)


def _without_run(item: Json) -> Step | None:
    document_id, before = item["document_id"], item["failed_run"]
    if item["kept_out"] and before:
        batch_id, run_id = before["batch_id"], before["run_id"]
        again = include_command(batch_id, document_id) if batch_id else f"cutter run {document_id} --amends {run_id}"
        return Step(needs=Needs.CORRECTION, commands=(again,))
    if item["decided"] == "busy" and item["open_run"]:
        return Step(needs=Needs.NOTHING, commands=(f"cutter status {item['open_run']}",))
    return None


def _cause(view: Json) -> Step | None:
    """What moves the document that would halt the batch again at once; None when nothing would."""
    halt = steering.decide(resumption.asked_anew(view), window=limits.BATCH_WINDOW).halt
    if halt is None:
        return None
    item = next(one for one in view["items"] if one["document_id"] == halt.document_id)
    return item_step(view["batch"]["batch_id"], item)
