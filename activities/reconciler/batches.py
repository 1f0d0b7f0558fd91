"""IO: `cutter reconcile` for batches: puts their waiting documents, and names batches without a workflow.

It starts nothing. The command that it prints with a batch continues the batch.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import Any

from psycopg import Connection
from temporalio.client import Client

from activities.batch.advance import publish_batch
from activities.reconciler.report import BatchWaits, Drained, LostBatch, PutOfBatch
from activities.worker.dependencies import Deps
from cutter.batch import batch_step
from cutter.catalogue import Role
from cutter.settings import Settings
from cutter.storage import batch_views
from cutter.storage.outbox import WAITING_OF_BATCHES, WaitingDocument
from cutter.storage.pools import session
from cutter.storage.records import records
from temporal import names
from temporal.executions import ours


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenBatch:
    """A batch that has not ended."""

    batch_id: str
    state: str
    age_seconds: float


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


async def without_workflow(settings: Settings, client: Client, grace_seconds: float) -> list[LostBatch]:
    """Batches that have something left to do and no open workflow, or a paused one, each with its command."""
    lost = []
    for batch in await asyncio.to_thread(_with_work, settings, grace_seconds):
        workflow = await ours(client, names.batch_workflow_id(batch.batch_id))
        if workflow is None or workflow.hold is not None:
            resume = f"cutter orchestrate resume-batch --batch-id {batch.batch_id}"
            command = workflow.hold.command if workflow is not None and workflow.hold is not None else resume
            lost.append(LostBatch(batch_id=batch.batch_id, state=batch.state, next=command))
    return lost


def _with_work(settings: Settings, grace_seconds: float) -> list[OpenBatch]:
    """The batches that have something left to do, except those that were registered a moment ago."""
    with session(settings, Role.READ) as connection:
        return [
            batch
            for batch in NOT_ENDED.all(connection)
            if batch.state != "batch_pending" or batch.age_seconds >= grace_seconds
            if _has_work(connection, batch.batch_id)
        ]


def _has_work(connection: Connection[Any], batch_id: str) -> bool:
    """False for an overnight batch whose documents all wait in human review, because its workflow has ended as
    planned.
    """
    view = batch_views.view(connection, batch_id)
    return not batch_step.summarise(view, attended=view.attended).over
