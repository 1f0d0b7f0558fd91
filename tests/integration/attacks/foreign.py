"""IO: what someone with nothing but Temporal can do: schedule any activity, with any arguments, on any queue."""

from __future__ import annotations

import uuid
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta
from typing import Any

from temporalio import workflow
from temporalio.client import Client, WorkflowFailureError
from temporalio.common import RetryPolicy
from temporalio.exceptions import ActivityError, ApplicationError
from temporalio.worker import UnsandboxedWorkflowRunner, Worker

QUEUE = "mallory"


@workflow.defn(name="Foreign")
class Foreign:
    @workflow.run
    async def run(self, order: dict[str, Any]) -> Any:
        return await workflow.execute_activity(
            order["name"],
            args=order["args"],
            task_queue=order["queue"],
            start_to_close_timeout=timedelta(seconds=30),
            retry_policy=RetryPolicy(maximum_attempts=1),
        )


@asynccontextmanager
async def foreign_worker(client: Client) -> AsyncIterator[None]:
    async with Worker(client, task_queue=QUEUE, workflows=[Foreign], workflow_runner=UnsandboxedWorkflowRunner()):
        yield


async def schedule(client: Client, queue: str, name: str, *args: Any) -> Any:
    """The activity's answer, or `failed: <type>: <message>`."""
    try:
        return await client.execute_workflow(
            "Foreign", {"queue": f"cutter-{queue}", "name": name, "args": list(args)},
            id=f"foreign/{uuid.uuid4()}", task_queue=QUEUE,
        )  # fmt: skip
    except WorkflowFailureError as problem:
        cause = problem.cause
        if isinstance(cause, ActivityError):
            cause = cause.cause
        assert isinstance(cause, ApplicationError), cause
        return f"failed: {cause.type}: {cause.message}"
