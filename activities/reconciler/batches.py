"""IO: `cutter reconcile` for batches: puts their waiting documents, and finds batches without a workflow.

The first part is the result of a reconciliation, for runs too.

If a document changed after its batch had ended or paused, the batch looks again. Any other batch without a workflow
is only named, with the command that continues it, because somebody may have terminated it on purpose.
"""

from __future__ import annotations

import asyncio
from contextlib import suppress
from dataclasses import dataclass, replace
from enum import StrEnum

from temporalio.client import Client

from activities.batch.advance import publish_batch
from activities.worker.dependencies import Deps
from cutter import limits
from cutter.batch import batch_step
from cutter.batch.state import ENDS
from cutter.catalogue import Role
from cutter.errors import Refused
from cutter.settings import Settings
from cutter.storage import batch_views
from cutter.storage.pools import session
from cutter.storage.records import records
from cutter.storage.run_evidence import WAITING_OF_BATCHES, WaitingDocument
from temporal import batches, names
from temporal.executions import ours


class Kind(StrEnum):
    """The action that the reconciler took for a run."""

    MARKED = "marked"
    WITHOUT_WORKFLOW = "without_workflow"
    TOLD = "told"
    DIFFERS = "differs"
    HELD = "held"
    LEFT_ALONE = "left_alone"


@dataclass(frozen=True, slots=True, kw_only=True)
class ExaminedRun:
    """A run after the examination: its state, and `next`, the command that continues it."""

    run_id: str
    document_id: str
    state: str
    next: str


@dataclass(frozen=True, slots=True, kw_only=True)
class MarkedRun(ExaminedRun):
    """A run that was stopped because no workflow drives it. `was` is its state before. `report` names a document."""

    was: str
    report: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ToldRun(ExaminedRun):
    """A run whose workflow got a message about a stop, or did not get it. `stop` is the kind, and `note` says more."""

    stop: str | None
    note: str


@dataclass(frozen=True, slots=True, kw_only=True)
class DifferingRun(ExaminedRun):
    """A run of which Temporal shows a state that PostgreSQL has not recorded."""

    temporal: str


@dataclass(frozen=True, slots=True, kw_only=True)
class HeldRun(ExaminedRun):
    """A run that cannot continue, because somebody paused it in Temporal. `next` takes this back."""

    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class LostBatch:
    """A batch that has something left to do and no running workflow. `next` continues it, or shows how it continues."""

    batch_id: str
    state: str
    next: str


@dataclass(frozen=True, slots=True, kw_only=True)
class PutOfRun:
    run_id: str
    kb_id: str
    sha256: str


@dataclass(frozen=True, slots=True, kw_only=True)
class PutOfBatch:
    batch_id: str
    kb_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RunWaits:
    """A run whose documents still wait, with the code and the reason."""

    run_id: str
    code: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchWaits:
    """A batch with a document that still waits, with the code and the reason."""

    batch_id: str
    code: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Drained:
    """The documents that were put, and those that still wait. Documents about batches come first."""

    put: tuple[PutOfRun | PutOfBatch, ...] = ()
    waiting: tuple[RunWaits | BatchWaits, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenBatch:
    """A batch that may have something left to do. `unseen` says that it ended or paused before its last change."""

    batch_id: str
    state: str
    age_seconds: float
    unseen: bool


NOT_ENDED = records("batches_not_ended", OpenBatch)


def drain(deps: Deps) -> Drained:
    """Put every document about a batch that waits in the outbox."""
    before = _waiting(deps.settings)
    for batch_id in dict.fromkeys(document.batch_id for document in before):
        publish_batch(deps, batch_id)
    after = set(_waiting(deps.settings))
    return Drained(
        put=tuple(
            PutOfBatch(batch_id=document.batch_id, kb_id=document.kb_id)
            for document in before
            if document not in after
        ),
        waiting=tuple(
            BatchWaits(
                batch_id=document.batch_id, code="kb_waiting",
                reason=f"the knowledge base does not take {document.kb_id}",
            )
            for document in before
            if document in after
        ),
    )  # fmt: skip


def _waiting(settings: Settings) -> list[WaitingDocument]:
    with session(settings, Role.READ) as connection:
        return WAITING_OF_BATCHES.all(connection)


async def without_workflow(
    settings: Settings, client: Client, grace_seconds: float
) -> tuple[list[LostBatch], list[LostBatch]]:
    """The batches with something left to do and no running workflow: those that look again now, and the others."""
    woken, lost = [], []
    for batch in await asyncio.to_thread(_with_work, settings, grace_seconds):
        workflow = await ours(client, names.batch_workflow_id(batch.batch_id))
        if workflow is not None and workflow.hold is None:
            continue
        resume = f"cutter orchestrate resume-batch --batch-id {batch.batch_id}"
        command = workflow.hold.command if workflow is not None and workflow.hold is not None else resume
        row = LostBatch(batch_id=batch.batch_id, state=batch.state, next=command)
        if workflow is None and batch.unseen:
            with suppress(Refused):  # A foreign workflow has the batch's id.
                await batches.start(client, batch.batch_id, "the reconciler", adopt=False)
                woken.append(replace(row, next=f"cutter status {batch.batch_id}"))
                continue
        lost.append(row)
    return woken, lost


def _with_work(settings: Settings, grace_seconds: float) -> list[OpenBatch]:
    """The batches that have something left to do, except those that were registered a moment ago."""
    with_work = []
    with session(settings, Role.READ) as connection:
        for batch in NOT_ENDED.all(connection):
            if batch.state == "batch_pending" and batch.age_seconds < grace_seconds:
                continue
            view = batch_views.view(connection, batch.batch_id)
            enters = batch_step.decide(view, window=limits.BATCH_WINDOW).enters
            # A paused batch whose document has changed must enter it into its queue again.
            paused = batch.unseen and batch.state not in ENDS
            # If all documents of an overnight batch wait in human review, its workflow has ended as planned.
            if paused or enters or not batch_step.summarise(view, attended=view.attended).over:
                with_work.append(batch)
    return with_work
