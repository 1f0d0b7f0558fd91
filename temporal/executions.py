"""IO: finds the run of a document's open workflow. It reads the workflow's first event, so it needs no worker.

The workflow id names only the document, so an open workflow may belong to another run. Code that stops, resumes or
reconciles a run asks this module first, and then addresses exactly that execution.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from temporalio.api.enums.v1 import EventType
from temporalio.client import Client, WorkflowHandle
from temporalio.service import RPCError, RPCStatusCode

from cutter.domain.run_state import RunState
from cutter.errors import Refused
from cutter.settings import Settings
from temporal import foreign_workflows as foreign
from temporal import names
from temporal.client import connect, unanswered
from temporal.holds import Hold


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
    """What somebody changed in Temporal, so that the workflow cannot continue."""

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


async def open_execution(client: Client, document_id: str) -> Execution | None:
    """The document's open workflow, or None. Raises Unavailable, and Refused if a foreign workflow has its id."""
    workflow_id = names.document_workflow_id(document_id)
    description = await foreign.ours_open(client, workflow_id)
    if description is None:
        return None
    handle = client.get_workflow_handle(workflow_id)
    try:
        async for event in handle.fetch_history_events(page_size=1):
            if event.event_type is EventType.EVENT_TYPE_WORKFLOW_EXECUTION_STARTED:
                started = event.workflow_execution_started_event_attributes
                payloads: Any = started.input.payloads
                values = await client.data_converter.decode(payloads) if payloads else []
                run = values[0] if values else None
                return Execution(
                    workflow_id=workflow_id,
                    execution_id=started.original_execution_run_id,
                    first_execution_id=started.first_execution_run_id,
                    run_id=run.get("run_id") if isinstance(run, dict) else None,
                    shown=description.shown,
                    hold=description.hold,
                )
            break
    except RPCError as problem:
        if problem.status is not RPCStatusCode.NOT_FOUND:
            raise unanswered(problem) from None
    return None


async def open_execution_of(client: Client, run: Driven) -> Execution | None:
    """The open workflow of exactly this run, or None."""
    execution = await open_execution(client, run.document_id)
    return execution if execution is not None and execution.is_of(run.run_id, run.first_execution_id) else None


async def ours(client: Client, workflow_id: str) -> foreign.OpenWorkflow | None:
    """The open workflow of cutter under that id, or None."""
    try:
        return await foreign.ours_open(client, workflow_id)
    except Refused:
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
