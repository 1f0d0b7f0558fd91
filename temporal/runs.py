"""IO: starting and messaging document runs through Temporal; shared by the commands, the demo and the tests."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeVar

from pydantic import TypeAdapter
from temporalio.client import Client, WorkflowFailureError, WorkflowHandle, WorkflowUpdateFailedError
from temporalio.common import Priority, WorkflowIDConflictPolicy, WorkflowIDReusePolicy
from temporalio.exceptions import ApplicationError, WorkflowAlreadyStartedError
from temporalio.service import RPCError, RPCStatusCode

from cutter import limits
from cutter.domain.markdown import prose
from cutter.domain.task_priority import Urgency, of_priority
from cutter.errors import Conflict, NotFound, Refused
from cutter.messages import BatchResult, RunInput, RunResult
from cutter.settings import Settings
from cutter.storage.pools import OPERATOR, session
from cutter.storage.records import records
from cutter.storage.runs import open_run_of_document
from cutter.types import Json
from temporal import foreign_workflows as foreign
from temporal import names
from temporal.client import unanswered
from temporal.outcome import is_failed


@dataclass(frozen=True, slots=True, kw_only=True)
class TenantOfDocument:
    """A document's tenant, and the weight that it has now."""

    tenant: str
    weight: int


TENANT = records("tenant_of_document", TenantOfDocument)


def turn_of(settings: Settings, document_id: str, priority: int = limits.PRIORITY_DEFAULT) -> Priority:
    """The priority of a run that a person started: by default above every batch, and among persons by the tenant's
    weight; `priority` as in a queue."""
    with session(settings, OPERATOR) as connection:
        found = TENANT.first(connection, {"document_id": document_id})
    tenant = found or TenantOfDocument(tenant="", weight=1)
    return names.priority(of_priority(priority), tenant.tenant, tenant.weight)


async def start(client: Client, run: RunInput, turn: Priority | None = None) -> WorkflowHandle[Any, Any]:
    """Start the document's workflow, with its `turn_of` among others; STOP_RUN_BUSY when one is open."""
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
        await foreign.refuse(client, names.document_workflow_id(run.document_id))
        raise Refused(
            f"{run.document_id} has an open run: see `cutter status {run.document_id}`", code="STOP_RUN_BUSY"
        ) from None
    except RPCError as problem:
        raise unanswered(problem) from None


Result = TypeVar("Result", RunResult, BatchResult)


async def result_of(handle: WorkflowHandle[Any, Any], kind: type[Result]) -> Result:
    """How a run or batch ended. One that failed is Failed in Temporal too, and its failure carries the result."""
    try:
        return TypeAdapter(kind).validate_python(await handle.result(), from_attributes=True)
    except WorkflowFailureError as failure:
        cause = failure.cause
        if isinstance(cause, ApplicationError) and is_failed(cause.type) and cause.details:
            return TypeAdapter(kind).validate_python(cause.details[0])
        raise


async def require_no_open_run(client: Client, settings: Settings, document_id: str) -> None:
    """Refuse before a run is registered: a row without a workflow would hide the run that is really open."""
    if await foreign.ours_is_open(client, names.document_workflow_id(document_id)):
        run_id = open_run_of_document(settings, document_id)
        named = f"the open run {run_id}" if run_id else "an open run"
        raise Refused(f"{document_id} has {named}: see `cutter status {run_id or document_id}`", code="STOP_RUN_BUSY")


async def resume(client: Client, document_id: str, kb_id: str | None) -> Json:
    """Send the update `resume`; answers {status, code, reason}."""
    handle = client.get_workflow_handle(names.document_workflow_id(document_id))
    try:
        answer: Json = await handle.execute_update("resume", kb_id, result_type=dict)
        return answer
    except WorkflowUpdateFailedError as problem:
        raise Conflict(f"the run did not take it: {problem.cause}") from None
    except RPCError as problem:
        if problem.status is RPCStatusCode.NOT_FOUND:
            raise NotFound(f"{document_id} has no open run", code="STOP_RUN_NOT_FOUND") from None
        raise unanswered(problem) from None
