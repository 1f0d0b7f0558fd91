"""IO: finds foreign workflows under cutter's ids. Such a workflow blocks the document or batch that its id names.

Everyone who can reach Temporal can start any workflow under any id. No worker of cutter runs a foreign workflow, so a
person must remove it. Each command that meets one names it and prints the command that terminates it.
"""

from __future__ import annotations

import asyncio
import json
import re
from contextlib import suppress
from dataclasses import dataclass
from typing import Protocol

from temporalio.api.common.v1 import WorkflowExecution
from temporalio.api.enums.v1 import WorkflowExecutionStatus
from temporalio.api.workflowservice.v1 import DescribeWorkflowExecutionRequest
from temporalio.client import Client
from temporalio.converter import decode_typed_search_attributes
from temporalio.service import RPCError, RPCStatusCode

from cutter.errors import NotFound, Refused, Unavailable
from cutter.settings import Settings
from cutter.storage import runs as run_rows
from temporal import holds, names
from temporal.client import connect, unanswered

_OURS = {
    "document/": names.DOCUMENT_RUN,
    "batch/": names.BATCH,
    "void/": names.VOID_RUN,
    "revoke/": names.REVOKE_APPROVAL,
}
_ID = re.compile(r"(document|batch|void|revoke)/[A-Za-z0-9._-]{1,200}")
_QUERY = "ExecutionStatus = 'Running' AND (WorkflowType NOT IN ({types}) OR TaskQueue != '{queue}')"


OPEN = (WorkflowExecutionStatus.WORKFLOW_EXECUTION_STATUS_RUNNING, holds.PAUSED)
"""A paused workflow is open too: the server lets no other one have its id."""


class Listed(Protocol):
    """A workflow as Temporal lists or describes it."""

    @property
    def id(self) -> str: ...
    @property
    def run_id(self) -> str: ...
    @property
    def workflow_type(self) -> str: ...
    @property
    def task_queue(self) -> str: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenWorkflow:
    """An open workflow, the state in its search attribute, and what somebody changed so that it cannot continue."""

    id: str
    run_id: str
    workflow_type: str
    task_queue: str
    shown: str
    hold: holds.Hold | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Foreign:
    """An open workflow under an id of cutter, but with another type or on another task queue."""

    workflow_id: str
    execution_id: str
    type: str
    queue: str
    command: str

    @property
    def sentence(self) -> str:
        """A sentence for people. It shows type and queue as JSON, because a stranger chose them."""
        origin = f"of type {_shown(self.type)} on the task queue {_shown(self.queue)}"
        return f"{self.workflow_id} is a workflow {origin}, which is not cutter's: remove it with `{self.command}`"


async def ours_open(client: Client, workflow_id: str) -> OpenWorkflow | None:
    """cutter's open workflow under this id, or None. Raises Refused for a foreign one, and Unavailable."""
    execution = await _open(client, workflow_id)
    stranger = _foreign(client, execution) if execution is not None else None
    if stranger is not None:
        raise Refused(stranger.sentence, code="foreign_workflow")
    return execution


async def every(client: Client) -> list[Foreign]:
    """The open foreign workflows under ids of cutter. Temporal's list may lack a very new one. Raises Unavailable."""
    query = _QUERY.format(types=", ".join(f"'{name}'" for name in _OURS.values()), queue=names.WORKFLOW_QUEUE)
    try:
        # Workflows that others started under our ids. `cutter reconcile` names so many at a time.
        listed = client.list_workflows(query, limit=100)
        strangers = [_foreign(client, execution) async for execution in listed if _ID.fullmatch(execution.id)]
    except RPCError as problem:
        raise unanswered(problem) from None
    return [stranger for stranger in strangers if stranger is not None]


def run_id_of(settings: Settings, name: str) -> str:
    """The run id for a name, as `known_runs.run_id_of` gives it.

    If a document has no run because a foreign workflow blocks it, the error names this workflow.
    """
    try:
        return run_rows.run_id_of(settings, name)
    except NotFound:
        with suppress(Unavailable):
            asyncio.run(_refuse(settings, names.document_workflow_id(name)))
        raise


async def _refuse(settings: Settings, workflow_id: str) -> None:
    await ours_open(await connect(settings), workflow_id)


async def _open(client: Client, workflow_id: str) -> OpenWorkflow | None:
    request = DescribeWorkflowExecutionRequest(
        namespace=client.namespace, execution=WorkflowExecution(workflow_id=workflow_id)
    )
    try:
        # The client's own description does not know the status of a paused workflow.
        described = await client.workflow_service.describe_workflow_execution(request, retry=True)
    except RPCError as problem:
        if problem.status is RPCStatusCode.NOT_FOUND:
            return None
        raise unanswered(problem) from None
    info = described.workflow_execution_info
    if info.status not in OPEN:
        return None
    return OpenWorkflow(
        id=info.execution.workflow_id, run_id=info.execution.run_id, workflow_type=info.type.name,
        task_queue=info.task_queue, hold=holds.of(client, described),
        shown=decode_typed_search_attributes(info.search_attributes).get(names.STATE, ""),
    )  # fmt: skip


def _foreign(client: Client, execution: Listed) -> Foreign | None:
    ours = next((name for prefix, name in _OURS.items() if execution.id.startswith(prefix)), None)
    if (execution.workflow_type, execution.task_queue) == (ours, names.WORKFLOW_QUEUE):
        return None
    return Foreign(
        workflow_id=execution.id, execution_id=execution.run_id, type=execution.workflow_type,
        queue=execution.task_queue, command=terminate(client, execution.id, execution.run_id, "not cutter's"),
    )  # fmt: skip


def terminate(client: Client, workflow_id: str, execution_id: str, reason: str) -> str:
    """The command that terminates exactly this execution."""
    words = ("--workflow-id", workflow_id, "--run-id", execution_id, "--reason", reason)
    return holds.command(client, ("workflow", "terminate"), *words)


def _shown(text: str) -> str:
    # Characters of a name that a stranger chose. They are enough to recognise it.
    return json.dumps(text[:80])
