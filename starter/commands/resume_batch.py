"""IO: `cutter orchestrate resume-batch` and `resume --batch-id`: continues a batch, or hands over a set of
approvals.
"""

from __future__ import annotations

import asyncio
from typing import Annotated, Any

from cutter.batch import resume_plan
from cutter.batch.view import BatchView
from cutter.settings import Settings, load
from cutter.storage import runs as run_rows
from starter.approver import orders
from starter.commands.options import BATCH_ID, WATCH, ApprovalSet, Wait
from starter.console.terminal import AsJson
from starter.operator.batch_outcome import go_on, hand_over, outcome
from temporal import batches, runs
from temporal.client import connect


def resume_batch(
    batch_id: Annotated[str, BATCH_ID],
    approval_set: ApprovalSet = None,
    wait: Wait = False,
    watch: Annotated[bool | None, WATCH] = None,
    as_json: AsJson = False,
) -> None:
    """Continue a batch: hand over approvals of a signing session, or start its workflow again.

    Example: cutter orchestrate resume-batch --batch-id 0199… --approval-set SG1-approvals/
    """
    settings = load()
    view = batches.view(settings, batch_id)
    answer: dict[str, Any] = {"batch_id": batch_id}
    if approval_set is not None and (resume_plan.moves(view) or any(item.failed for item in view.items)):
        folder, listing = batches.upload_set(settings, batch_id, approval_set)
        answer |= {"folder": folder, **hand_over(settings, view, folder, listing).as_json()}
    else:
        again = asyncio.run(_resumed(settings, view))
        answer |= {**({"resumed": again} if again else {}), **go_on(settings, view)}
    outcome(settings, answer, wait=wait, watch=watch, as_json=as_json)


async def _resumed(settings: Settings, view: BatchView) -> list[str]:
    """Resume each document whose workflow was terminated or lost, and return their ids."""
    lost = resume_plan.interrupted(view)
    if not lost:
        return []
    client = await connect(settings)
    for item in lost:
        run = run_rows.sidecar(settings, item.run_id or "").run
        await orders.ensure_open(settings, client, run)
        await runs.resume(client, run.document_id, None)
    return [item.document_id for item in lost]
