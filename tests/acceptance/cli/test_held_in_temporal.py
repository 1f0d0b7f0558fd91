"""A run or batch that somebody paused in Temporal: each command names the pause and the command that takes it back."""

from __future__ import annotations

import asyncio
import shlex
import subprocess

import pytest
from google.protobuf.field_mask_pb2 import FieldMask
from temporalio.api.activity.v1 import ActivityOptions
from temporalio.api.common.v1 import WorkflowExecution
from temporalio.api.taskqueue.v1 import TaskQueue
from temporalio.api.workflowservice.v1 import (
    DescribeWorkflowExecutionRequest,
    PauseActivityRequest,
    UpdateActivityOptionsRequest,
)

from cutter.catalogue import WorkerRole
from tests.acceptance.cli.conftest import Cutter
from tests.support import batch as support
from tests.support.processes import temporal_program
from tests.support.stack import DOCUMENT, Stack
from tests.support.temporal import until

CUT = "SG_cut_authz"


async def waiting_activity(stack: Stack, workflow_id: str) -> str:
    """The id of the one activity that waits for its worker."""

    async def look() -> list[str]:
        request = DescribeWorkflowExecutionRequest(
            namespace=stack.client.namespace, execution=WorkflowExecution(workflow_id=workflow_id)
        )
        described = await stack.client.workflow_service.describe_workflow_execution(request)
        return [activity.activity_id for activity in described.pending_activities]

    return (await until(look, what=f"an activity of {workflow_id} waits"))[0]


async def typed(command: str) -> None:
    """Type a printed command of Temporal's own program."""
    words = shlex.split(command)
    await asyncio.to_thread(
        subprocess.run, [temporal_program(), *words[1:]], check=True, capture_output=True, timeout=60
    )


@pytest.mark.parametrize("how", ["paused", "moved"])
async def test_a_held_activity_is_named_by_each_command_and_the_printed_command_lets_it_go_on(
    stack: Stack, cutter: Cutter, how: str
) -> None:
    async with stack.workers(WorkerRole.CUTTER, WorkerRole.VERIFY):
        run = await stack.start()
        await run.until_requested(CUT)
        assert (await cutter.signed("approve", run.run_id)).code == 0
        activity = await waiting_activity(stack, f"document/{DOCUMENT}")
        execution = WorkflowExecution(workflow_id=f"document/{DOCUMENT}")
        if how == "paused":
            await stack.client.workflow_service.pause_activity(
                PauseActivityRequest(namespace=stack.client.namespace, execution=execution, id=activity)
            )
        else:
            await stack.client.workflow_service.update_activity_options(
                UpdateActivityOptionsRequest(
                    namespace=stack.client.namespace, execution=execution, id=activity,
                    activity_options=ActivityOptions(task_queue=TaskQueue(name="nobody")),
                    update_mask=FieldMask(paths=["task_queue.name"]),
                )
            )  # fmt: skip
        verb = {"paused": "activity unpause", "moved": "activity update-options"}[how]
        status = (await cutter("status", run.run_id, "--json")).json
        assert verb in status["next"], status
        assert f"document/{DOCUMENT} in Temporal" in status["needs"] or "task queue that no worker" in status["needs"]
        listed = (await cutter("status", "--json")).json["runs"]
        assert [row["next"] for row in listed] == [status["next"]]
        held = (await cutter("reconcile", "--json")).json["held"]
        assert [(row["run_id"], row["next"]) for row in held] == [(run.run_id, status["next"])]
        checks = (await cutter("doctor", "--host", "operator", "--json")).json["checks"]
        assert [check["remedy"] for check in checks if check["name"] == "runs"] == [status["next"]]
        refused = await cutter("orchestrate", "resume", "--run-id", run.run_id)
        assert (refused.code, verb in refused.err) == (4, True), refused
        twice = await cutter.signed("approve", run.run_id)
        assert (twice.code, "has all its signatures" in twice.err) == (4, True), twice
    async with stack.workers():
        await typed(status["next"])
        await run.until_requested("SG_lifecycle_authz")


async def test_a_stop_of_a_paused_run_is_no_circle(stack: Stack, cutter: Cutter) -> None:
    async with stack.workers(WorkerRole.CUTTER, WorkerRole.VERIFY):
        run = await stack.start()
        await run.until_requested(CUT)
        assert (await cutter.signed("approve", run.run_id)).code == 0
        activity = await waiting_activity(stack, f"document/{DOCUMENT}")
        await stack.client.workflow_service.pause_activity(
            PauseActivityRequest(
                namespace=stack.client.namespace, id=activity,
                execution=WorkflowExecution(workflow_id=f"document/{DOCUMENT}"),
            )
        )  # fmt: skip
        stopped = (await cutter("stop", run.run_id, "--reason", "wrong", "--json")).json
        commands = [stopped["next"], (await cutter("status", run.run_id, "--json")).json["next"]]
        commands += [row["next"] for row in (await cutter("reconcile", "--json")).json["held"]]
        assert len(commands) == 3
        assert {"activity unpause" in command for command in commands} == {True}
    async with stack.workers():
        await typed(commands[0])
        await run.until_state("stopped_stop")


async def test_a_batch_whose_documents_were_terminated_goes_on_with_one_command(stack: Stack, cutter: Cutter) -> None:
    async with stack.workers():
        batch = await support.start(stack, 3)
        await batch.until_state("batch_awaiting_cut_authz_set")
        for item in (await batch.seen()).items:
            await stack.client.get_workflow_handle(f"document/{item.document_id}").terminate("by query")
        await batch.handle.terminate("by query")
        report = (await cutter("reconcile", "--json")).json
        assert len(report["marked"]) == 3
        resumed = (await cutter("orchestrate", "resume-batch", "--batch-id", batch.batch_id, "--json")).json
        assert len(resumed["resumed"]) == 3
        await batch.until_state("batch_awaiting_cut_authz_set")
        assert {item.state for item in (await batch.seen()).items} == {"awaiting_cut_authorization"}
