"""The last catch around handlers, and a stopped run whose history grows long."""

from __future__ import annotations

import gc
import uuid
from typing import Any

import pytest
from temporalio import workflow
from temporalio.client import WorkflowExecutionStatus
from temporalio.worker import UnsandboxedWorkflowRunner, Worker

from cutter.approvals import schema
from temporal.signal_guard import MessageGuard
from tests.support.stack import Stack, workflow_id
from tests.support.temporal import until

QUEUE = "guarded"


@workflow.defn(name="Careless")
class Careless:
    """A workflow whose handlers do what ours never should."""

    def __init__(self) -> None:
        self.done = False

    @workflow.run
    async def run(self) -> str:
        await workflow.wait_condition(lambda: self.done)
        return "done"

    @workflow.signal
    def raising(self) -> None:
        raise KeyError("a bug")

    @workflow.signal
    def narrow(self, word: Any) -> None:
        self.done = word == "end"


# What the SDK leaves behind when a handler raises is not ours.
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning", "ignore::RuntimeWarning")
@pytest.mark.parametrize("guarded", [True, False])
async def test_a_raising_handler_and_a_wrong_arity_wedge_a_run_only_without_the_guard(
    stack: Stack, guarded: bool
) -> None:
    interceptors = [MessageGuard()] if guarded else []
    async with Worker(
        stack.client, task_queue=QUEUE, workflows=[Careless], interceptors=interceptors,
        workflow_runner=UnsandboxedWorkflowRunner(),
    ):  # fmt: skip
        handle: Any = await stack.client.start_workflow("Careless", id=f"careless/{uuid.uuid4()}", task_queue=QUEUE)
        await handle.signal("raising")
        await handle.signal("narrow", args=["too", "many"])
        await handle.signal("narrow", "end")

        async def settled() -> str:
            description = await handle.describe()
            if description.status is WorkflowExecutionStatus.COMPLETED:
                return "completed"
            return "wedged" if description.raw_description.pending_workflow_task.attempt > 1 else ""

        assert await until(settled) == ("completed" if guarded else "wedged")
        if not guarded:
            await handle.terminate()
    gc.collect()


async def test_a_stopped_run_whose_history_grows_long_goes_on_in_a_new_one(stack: Stack) -> None:
    """The engine suggests it after 4 MiB of history; each of these answers to a message is a part of it."""
    async with stack.workers():
        run = await stack.start()
        await run.until_requested("SG_cut_authz")
        first = (await run.handle.describe()).run_id
        await run.handle.signal("stop")
        await run.until_shown("stopped_stop")
        for _ in range(45):
            await run.handle.signal("nonsense", "x" * 100_000)
        await run.until_shown("stopped_stop")
        latest = stack.client.get_workflow_handle(workflow_id())

        async def anew() -> bool:
            return (await latest.describe()).run_id != first

        await until(anew, what="a new execution")
        await latest.query("status")
        answer = await run.resume(await run.order(schema.RESUME))
        assert answer["status"] == "accepted"
        again = stack.run_of(run.run_id)
        assert (await again.through()).state == "closeout_reported"
