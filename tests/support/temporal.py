"""IO: a real Temporal server a test process, found and started as the product does it; its data lies in memory."""

from __future__ import annotations

import asyncio
import os
import shutil
import tempfile
from collections.abc import Awaitable, Callable, Collection, Iterator
from contextlib import contextmanager
from pathlib import Path
from time import monotonic
from typing import Any, TypeVar

from temporalio.api.common.v1 import WorkflowExecution
from temporalio.api.workflowservice.v1 import DeleteWorkflowExecutionRequest
from temporalio.client import Client
from temporalio.service import RPCError

from cutter.settings import Settings
from cutter.stack import temporal
from starter.commands.reconcile import ensure_attributes
from tests.support.pace import patient, pause

T = TypeVar("T")


@contextmanager
def server() -> Iterator[str]:
    """Address of a server with our search attributes; stopped at the end. One a test process: tests need no names of
    their own in it, since each ends its workflows."""
    state = Path(tempfile.mkdtemp(prefix="tt", dir=_memory()))
    settings = Settings(state_dir=state)
    try:
        resolution = temporal.resolve()
        address = resolution.address or temporal.ensure_server(settings, resolution).address
        assert address is not None
        ensure_attributes(Settings(state_dir=state, temporal_address=address))
        yield address
    finally:
        temporal.stop_server(state)
        shutil.rmtree(state, ignore_errors=True)


def _memory() -> str | None:
    return "/dev/shm" if os.access("/dev/shm", os.W_OK) else None


async def until(condition: Callable[[], Awaitable[T]], *, seconds: float = 90, what: str = "") -> T:
    """The condition's first true answer; AssertionError with the last one when the time is over."""
    end = monotonic() + patient(seconds)
    while True:
        began = monotonic()
        answer = await condition()
        if answer:
            return answer
        assert monotonic() < end, f"not within {seconds} s: {what or condition} (last: {answer!r})"
        await asyncio.sleep(pause(monotonic() - began))


async def seen_when(
    look: Callable[[], Awaitable[T]], holds: Callable[[T], Any], *, seconds: float,
    otherwise: Callable[[T], Awaitable[str]],
) -> T:  # fmt: skip
    """What `look` sees as soon as it `holds`. After `seconds`, an AssertionError with what `otherwise` says."""
    answers: list[T] = []

    async def there() -> Any:
        answers[:] = [await look()]
        return holds(answers[0])

    try:
        await until(there, seconds=seconds)
    except AssertionError:
        raise AssertionError(f"within {seconds} s: {await otherwise(answers[0])}") from None
    return answers[0]


async def end_all(client: Client, known: Collection[str]) -> None:
    """Terminate what a test left open, so that the next one's workers find no tasks of it.

    `known` are ids of workflows that the test may just have started: the list of the server comes a moment later.
    """
    listed = {execution.id async for execution in client.list_workflows("ExecutionStatus='Running'")}
    for workflow_id in listed | set(known):
        try:
            await client.get_workflow_handle(workflow_id).terminate("the test is over")
        except RPCError:
            continue


async def delete(client: Client, workflow_id: str) -> None:
    """Delete a workflow's data from the server, as its retention does, and wait until it is gone."""
    await client.workflow_service.delete_workflow_execution(
        DeleteWorkflowExecutionRequest(
            namespace=client.namespace, workflow_execution=WorkflowExecution(workflow_id=workflow_id)
        )
    )

    async def gone() -> bool:
        try:
            await client.get_workflow_handle(workflow_id).describe()
        except RPCError:
            return True
        return False

    await until(gone, what=f"{workflow_id} is gone")


async def turns(client: Client, workflow_id: str) -> dict[str, tuple[int, str, float]]:
    """(Urgency, tenant, weight) of a workflow's newest execution, by "start", and of its activities by their names."""
    priorities = {}
    for event in (await client.get_workflow_handle(workflow_id).fetch_history()).events:
        if event.HasField("workflow_execution_started_event_attributes"):
            name, priority = "start", event.workflow_execution_started_event_attributes.priority
        elif event.HasField("activity_task_scheduled_event_attributes"):
            scheduled = event.activity_task_scheduled_event_attributes
            name, priority = scheduled.activity_type.name, scheduled.priority
        else:
            continue
        priorities[name] = (priority.priority_key, priority.fairness_key, priority.fairness_weight)
    return priorities
