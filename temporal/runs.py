"""IO: starts document runs and sends them messages. The commands, the demo and the tests share these functions."""

from __future__ import annotations

import asyncio
import time
from dataclasses import asdict, dataclass
from typing import Any, TypeVar

from pydantic import TypeAdapter
from temporalio.client import Client, WorkflowFailureError, WorkflowHandle, WorkflowUpdateFailedError
from temporalio.common import Priority, WorkflowIDConflictPolicy, WorkflowIDReusePolicy
from temporalio.exceptions import ApplicationError, WorkflowAlreadyStartedError
from temporalio.service import RPCError, RPCStatusCode

from cutter import limits
from cutter.catalogue import Role
from cutter.domain.markdown import prose
from cutter.domain.task_priority import Urgency, of_priority
from cutter.errors import Conflict, NotFound, Refused
from cutter.messages import BatchResult, RunInput, RunResult
from cutter.settings import Settings
from cutter.storage.pools import session
from cutter.storage.records import records
from cutter.storage.runs import open_run_of_document
from cutter.types import Json
from temporal import executions, names
from temporal.client import unanswered
from temporal.outcome import is_failed


@dataclass(frozen=True, slots=True, kw_only=True)
class TenantOfDocument:
    """The tenant of a document, and the tenant's present weight."""

    tenant: str
    weight: int


@dataclass(frozen=True, slots=True, kw_only=True)
class OrderReply:
    """A run's reply to a signed order, to an approval, or to a resume without a signature.

    `status` is accepted, refused, duplicate or queued. `code` is a stable snake_case word, and `reason` a sentence.
    """

    status: str
    code: str
    reason: str

    def as_json(self) -> Json:
        """The fields of the reply, in the order of a command's answer."""
        return asdict(self)


TENANT = records("tenant_of_document", TenantOfDocument)


def turn_of(settings: Settings, document_id: str, priority: int = limits.PRIORITY_DEFAULT) -> Priority:
    """The priority of a run that a person starts. By default it comes before every batch.

    Among such runs, the weights of the tenants decide. `priority` has the same meaning as in a queue file.
    """
    with session(settings, Role.OPERATOR) as connection:
        row = TENANT.first(connection, {"document_id": document_id})
    tenant = row or TenantOfDocument(tenant="", weight=1)
    return names.priority(of_priority(priority), tenant.tenant, tenant.weight)


async def start(client: Client, run: RunInput, turn: Priority | None = None) -> WorkflowHandle[Any, Any]:
    """Start the document's workflow with a priority from `turn_of`. Raises STOP_RUN_BUSY if one is already open."""
    try:
        return await client.start_workflow(
            names.DOCUMENT_RUN,
            run,
            result_type=RunResult,
            id=names.document_workflow_id(run.document_id),
            task_queue=names.WORKFLOW_QUEUE,
            id_reuse_policy=WorkflowIDReusePolicy.ALLOW_DUPLICATE,
            id_conflict_policy=WorkflowIDConflictPolicy.FAIL,
            static_summary=f"{run.document_id} · {run.mode}" + (f" · batch {run.batch_id[:8]}" if run.batch_id else ""),
            static_details=f"run `{run.run_id}` started by {prose(run.starter)}",
            priority=turn or names.priority(Urgency.INTERACTIVE),
        )
    except WorkflowAlreadyStartedError:
        await executions.ours_open(client, names.document_workflow_id(run.document_id))
        raise Refused(
            f"{run.document_id} has an open run: see", then=f"cutter status {run.document_id}", code="STOP_RUN_BUSY"
        ) from None
    except RPCError as problem:
        raise unanswered(problem) from None


Result = TypeVar("Result", RunResult, BatchResult)


async def result_of(handle: WorkflowHandle[Any, Any], kind: type[Result]) -> Result:
    """The result of a run or batch. If it failed, its workflow failed too, and this failure carries the result."""
    try:
        return TypeAdapter(kind).validate_python(await handle.result(), from_attributes=True)
    except WorkflowFailureError as failure:
        cause = failure.cause
        if isinstance(cause, ApplicationError) and is_failed(cause.type) and cause.details:
            return TypeAdapter(kind).validate_python(cause.details[0])
        raise


async def require_no_open_run(client: Client, settings: Settings, document_id: str) -> None:
    """Refuse if the document has an open run. This comes before registration: a new row would hide the open run.

    The workflow of a run that has just ended gets a moment to close.
    """
    until = time.monotonic() + limits.CLOSING_SECONDS
    while await executions.ours_open(client, names.document_workflow_id(document_id)) is not None:
        run_id = open_run_of_document(settings, document_id)
        if run_id is not None:
            message = f"{document_id} has the open run {run_id}: see"
            raise Refused(message, then=f"cutter status {run_id}", code="STOP_RUN_BUSY")
        if time.monotonic() >= until:
            again = f"cutter orchestrate resume --document-id {document_id}"
            raise Refused(
                f"the workflow of the last run of {document_id} is still open: see",
                then=f"cutter status {document_id}",
                rest=f", or type `{again}`, which makes it check the run again",
                code="STOP_RUN_BUSY",
            )
        # The pause between two looks at a workflow that is about to close.
        await asyncio.sleep(0.2)


async def resume(client: Client, document_id: str, kb_id: str | None) -> OrderReply:
    """Send the update `resume`, and return the run's reply. `kb_id` names a signed approval or order, if there is one.

    Raises Conflict if the run refused the update, NotFound if the document has no open run, and Refused if somebody
    paused the run in Temporal.
    """
    execution = await executions.ours_open(client, names.document_workflow_id(document_id))
    if execution is not None and execution.hold is not None:
        raise Refused(f"the run waits, because {execution.hold.sentence}", code="held_in_temporal")
    handle = client.get_workflow_handle(names.document_workflow_id(document_id))
    try:
        reply: OrderReply = await handle.execute_update("resume", kb_id, result_type=OrderReply)
        return reply
    except WorkflowUpdateFailedError as problem:
        raise Conflict(f"the run refused the resume: {problem.cause}") from None
    except RPCError as problem:
        if problem.status is RPCStatusCode.NOT_FOUND:
            raise NotFound(f"{document_id} has no open run", code="STOP_RUN_NOT_FOUND") from None
        raise unanswered(problem) from None
