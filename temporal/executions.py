"""IO: finds the open workflows under cutter's ids: the run that each belongs to, a foreign workflow, and what holds it.

A workflow id names only the document, so an open workflow may belong to another run. Code that stops, resumes or
reconciles a run asks this module first, and then addresses exactly that execution.

Everyone who can reach Temporal can start any workflow under any id. No worker of cutter runs such a foreign workflow,
and it blocks the document or batch that its id names. So a person must remove it, and each command that meets one
prints the command that terminates it.

Somebody can also pause a workflow or an activity, or move an activity to a task queue that no worker of cutter serves.
It then waits without end, and none of its time limits fires. cutter names such a hold with the command that takes it
back, and never takes it back by itself.
"""

from __future__ import annotations

import asyncio
import json
import re
import shlex
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Protocol

from temporalio.api.common.v1 import WorkflowExecution
from temporalio.api.enums.v1 import EventType, WorkflowExecutionStatus
from temporalio.api.workflowservice.v1 import DescribeWorkflowExecutionRequest, DescribeWorkflowExecutionResponse
from temporalio.client import Client, WorkflowHandle
from temporalio.converter import decode_typed_search_attributes
from temporalio.service import RPCError, RPCStatusCode

from cutter.domain.run_state import RunState
from cutter.errors import NotFound, Refused, Unavailable
from cutter.settings import Settings
from cutter.stack import temporal as local_temporal
from cutter.storage import runs as run_rows
from temporal import names
from temporal.client import connect, unanswered

_OURS = {
    "document/": names.DOCUMENT_RUN,
    "batch/": names.BATCH,
    "void/": names.VOID_RUN,
    "revoke/": names.REVOKE_APPROVAL,
}
_ID = re.compile(r"(document|batch|void|revoke)/[A-Za-z0-9._-]{1,200}")
_QUERY = "ExecutionStatus = 'Running' AND (WorkflowType NOT IN ({types}) OR TaskQueue != '{queue}')"
_QUEUES = {*names.TASK_QUEUES.values(), names.BATCH_QUEUE}

PAUSED = WorkflowExecutionStatus.WORKFLOW_EXECUTION_STATUS_PAUSED
OPEN = (WorkflowExecutionStatus.WORKFLOW_EXECUTION_STATUS_RUNNING, PAUSED)
"""A paused workflow is open too: the server lets no other one have its id."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Hold:
    """A change in Temporal that keeps a workflow from its next step. `command` takes it back."""

    reason: str
    command: str

    @property
    def sentence(self) -> str:
        """The reason and the command, for people."""
        return f"{self.reason}: type `{self.command}`"


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenWorkflow:
    """An open workflow of cutter: the state in its search attribute, which may be empty, and its hold."""

    shown: str
    hold: Hold | None


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
        # So many characters of a name are enough to recognise it.
        kind, queue = json.dumps(self.type[:80]), json.dumps(self.queue[:80])
        origin = f"of type {kind} on the task queue {queue}"
        return f"{self.workflow_id} is a workflow {origin}, which is not cutter's: remove it with `{self.command}`"


@dataclass(frozen=True, slots=True, kw_only=True)
class Execution:
    """An open workflow of a document, with its run id and its first execution.

    The run id is None if the workflow was started without one and made its own.
    """

    workflow_id: str
    execution_id: str
    first_execution_id: str
    run_id: str | None
    shown: str = ""
    """The state in the workflow's search attribute. Empty before the workflow has set it."""
    hold: Hold | None = None

    @property
    def in_outage(self) -> bool:
        """The workflow waits for a dependency. PostgreSQL may not have recorded this state."""
        return RunState(self.shown).unavailable

    def is_of(self, run_id: str, first_execution_id: str | None) -> bool:
        """True if this is the workflow of that run."""
        return self.run_id == run_id or (self.run_id is None and self.first_execution_id == first_execution_id)

    def handle(self, client: Client) -> WorkflowHandle[Any, Any]:
        """A handle of exactly this execution, not of a later one of the same document."""
        return client.get_workflow_handle(self.workflow_id, run_id=self.execution_id)


class Driven(Protocol):
    """A run that a workflow may drive."""

    @property
    def run_id(self) -> str: ...
    @property
    def document_id(self) -> str: ...
    @property
    def first_execution_id(self) -> str | None: ...


async def ours_open(client: Client, workflow_id: str) -> OpenWorkflow | None:
    """cutter's open workflow under this id, or None. Raises Refused for a foreign one, and Unavailable."""
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
    stranger = _foreign(client, info.execution.workflow_id, info.execution.run_id, info.type.name, info.task_queue)
    if stranger is not None:
        raise Refused(stranger.sentence, code="foreign_workflow")
    attributes = decode_typed_search_attributes(info.search_attributes)
    return OpenWorkflow(shown=attributes.get(names.STATE, ""), hold=_hold(client, described))


async def ours(client: Client, workflow_id: str) -> OpenWorkflow | None:
    """The open workflow of cutter under that id, or None."""
    try:
        return await ours_open(client, workflow_id)
    except Refused:
        return None


async def foreign(client: Client) -> list[Foreign]:
    """The open foreign workflows under ids of cutter. Temporal's list may lack a very new one. Raises Unavailable."""
    query = _QUERY.format(types=", ".join(f"'{name}'" for name in _OURS.values()), queue=names.WORKFLOW_QUEUE)
    try:
        # Workflows that others started under our ids. `cutter reconcile` names so many at a time.
        strangers = [
            _foreign(client, listed.id, listed.run_id, listed.workflow_type, listed.task_queue)
            async for listed in client.list_workflows(query, limit=100)
            if _ID.fullmatch(listed.id)
        ]
    except RPCError as problem:
        raise unanswered(problem) from None
    return [stranger for stranger in strangers if stranger is not None]


def run_id_of(settings: Settings, name: str) -> str:
    """The run id for a name, as `runs.run_id_of` of the storage gives it.

    If a document has no run because a foreign workflow blocks it, the error names this workflow.
    """

    async def refuse() -> None:
        await ours_open(await connect(settings), names.document_workflow_id(name))

    try:
        return run_rows.run_id_of(settings, name)
    except NotFound:
        with suppress(Unavailable):
            asyncio.run(refuse())
        raise


async def open_execution_of(client: Client, run: Driven) -> Execution | None:
    """The open workflow of exactly this run, or None. Raises Unavailable, and Refused if a foreign workflow has its id.

    It reads the workflow's first event, so it needs no worker.
    """
    workflow_id = names.document_workflow_id(run.document_id)
    workflow = await ours_open(client, workflow_id)
    if workflow is None:
        return None
    try:
        async for event in client.get_workflow_handle(workflow_id).fetch_history_events(page_size=1):
            if event.event_type is not EventType.EVENT_TYPE_WORKFLOW_EXECUTION_STARTED:
                break
            started = event.workflow_execution_started_event_attributes
            payloads: Any = started.input.payloads
            values = await client.data_converter.decode(payloads) if payloads else []
            first = values[0] if values else None
            execution = Execution(
                workflow_id=workflow_id,
                execution_id=started.original_execution_run_id,
                first_execution_id=started.first_execution_run_id,
                run_id=first.get("run_id") if isinstance(first, dict) else None,
                shown=workflow.shown,
                hold=workflow.hold,
            )
            return execution if execution.is_of(run.run_id, run.first_execution_id) else None
    except RPCError as problem:
        if problem.status is not RPCStatusCode.NOT_FOUND:
            raise unanswered(problem) from None
    return None


async def holds(settings: Settings, document_ids: Sequence[str]) -> dict[str, tuple[str, str]]:
    """For each document whose open workflow somebody paused in Temporal: the reason, and the command that takes this
    back. Raises Unavailable.
    """
    client = await connect(settings)
    workflows = {each: await ours(client, names.document_workflow_id(each)) for each in document_ids}
    return {
        document_id: (workflow.hold.reason, workflow.hold.command)
        for document_id, workflow in workflows.items()
        if workflow is not None and workflow.hold is not None
    }


async def tell(client: Client, run: Driven, kind: str, reason: str) -> tuple[bool, str, Hold | None]:
    """Send the signal to the open workflow of exactly this run.

    Return (whether it was sent, the reason if not, what keeps the workflow from reading it).
    """
    try:
        execution = await open_execution_of(client, run)
    except Refused as problem:
        return False, f"the latch alone is set: {problem}", None
    if execution is None:
        return False, "the run has no open workflow: the latch alone is set", None
    try:
        await execution.handle(client).signal(kind, {"reason": reason})
    except RPCError as problem:
        if problem.status is RPCStatusCode.NOT_FOUND:
            return False, "the workflow closed meanwhile: the latch alone is set", None
        raise unanswered(problem) from None
    return True, execution.hold.sentence if execution.hold else "", execution.hold


def _foreign(client: Client, workflow_id: str, execution_id: str, kind: str, queue: str) -> Foreign | None:
    ours = next((name for prefix, name in _OURS.items() if workflow_id.startswith(prefix)), None)
    if (kind, queue) == (ours, names.WORKFLOW_QUEUE):
        return None
    words = ("--workflow-id", workflow_id, "--run-id", execution_id, "--reason", "not cutter's")
    return Foreign(
        workflow_id=workflow_id, execution_id=execution_id, type=kind, queue=queue,
        command=_command(client, ("workflow", "terminate"), *words),
    )  # fmt: skip


def _hold(client: Client, description: DescribeWorkflowExecutionResponse) -> Hold | None:
    """The hold of a workflow, or None."""
    info = description.workflow_execution_info
    workflow_id = info.execution.workflow_id
    if info.status == PAUSED:
        words = ("workflow", "unpause"), "--workflow-id", workflow_id
        return Hold(reason=f"somebody paused {workflow_id} in Temporal", command=_command(client, *words))
    for activity in description.pending_activities:
        name, ids = activity.activity_type.name, ("--activity-id", activity.activity_id, "--workflow-id", workflow_id)
        if activity.paused:
            reason = f"somebody paused the activity {name} of {workflow_id} in Temporal"
            return Hold(reason=reason, command=_command(client, ("activity", "unpause"), *ids))
        queue = activity.activity_options.task_queue.name
        if queue and queue not in _QUEUES:
            reason = f"somebody moved the activity {name} of {workflow_id} to a task queue that no worker serves"
            restore = _command(client, ("activity", "update-options"), *ids, "--restore-original-options")
            return Hold(reason=reason, command=restore)
    return None


def _command(client: Client, verb: tuple[str, str], *words: str) -> str:
    """A command of Temporal's own program, for the server and the namespace of this client."""
    server = ("--address", client.service_client.config.target_host, "--namespace", client.namespace)
    return shlex.join([local_temporal.command(), *verb, *server, *words])
