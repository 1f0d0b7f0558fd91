"""IO: `cutter reconcile` for batches: puts their waiting documents, and names batches without a workflow.

It starts nothing: the command that is printed with a batch continues it.
"""

from __future__ import annotations

import asyncio
from typing import Any

from psycopg import Connection
from temporalio.client import Client

from activities.batch.advance import publish_batch
from activities.worker.dependencies import Deps
from cutter.batch import steering
from cutter.catalogue import Role
from cutter.settings import Settings
from cutter.storage import batches as registry
from cutter.storage.pools import session
from cutter.storage.queries import query
from temporal import names
from temporal.executions import is_ours

View = dict[str, Any]


def drain(deps: Deps) -> tuple[list[View], list[View]]:
    """Put every document of a batch that waits in the outbox: (those that were put, those that still wait)."""
    before = _waiting(deps.settings)
    for batch_id in dict.fromkeys(batch_id for batch_id, _ in before):
        publish_batch(deps, batch_id)
    after = set(_waiting(deps.settings))
    put = [{"batch_id": batch_id, "kb_id": kb_id} for batch_id, kb_id in before if (batch_id, kb_id) not in after]
    still = [
        {"batch_id": batch_id, "code": "kb_waiting", "reason": f"the knowledge base does not take {kb_id}"}
        for batch_id, kb_id in before
        if (batch_id, kb_id) in after
    ]
    return put, still


def _waiting(settings: Settings) -> list[tuple[str, str]]:
    with session(settings, Role.READ) as connection:
        rows = connection.execute(query("waiting_batch_documents")).fetchall()
    return [(str(batch_id), str(kb_id)) for batch_id, kb_id in rows]


async def without_workflow(settings: Settings, client: Client, grace_seconds: float) -> list[View]:
    """Batches that have something left to do and no open workflow, each with its command."""
    found = []
    for batch_id, state in await asyncio.to_thread(_with_work, settings, grace_seconds):
        if not await is_ours(client, names.batch_workflow_id(batch_id)):
            command = f"cutter orchestrate resume-batch --batch-id {batch_id}"
            found.append({"batch_id": batch_id, "state": state, "next": command})
    return found


def _with_work(settings: Settings, grace_seconds: float) -> list[tuple[str, str]]:
    """(batch_id, state) of those that have something left to do; what was registered a moment ago is not named."""
    with session(settings, Role.READ) as connection:
        rows = connection.execute(query("batches_not_ended")).fetchall()
        return [
            (str(batch_id), str(state))
            for batch_id, state, age_seconds in rows
            if state != "batch_pending" or float(age_seconds) >= grace_seconds  # type: ignore[arg-type]
            if _has_work(connection, str(batch_id))
        ]


def _has_work(connection: Connection[Any], batch_id: str) -> bool:
    """False for a night's batch whose documents all wait in human review: its workflow has ended as it should."""
    seen = registry.view(connection, batch_id)
    return not steering.summarise(seen, attended=not seen["batch"]["unattended"]).over
