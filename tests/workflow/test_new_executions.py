"""A run outlives its workflow: terminated, reset or forgotten by Temporal, it goes on from its receipts."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from temporalio.api.workflowservice.v1 import ResetWorkflowExecutionRequest
from temporalio.client import WorkflowExecutionStatus, WorkflowFailureError, WorkflowHandle

from cutter.approvals import schema
from cutter.catalogue import GATES
from cutter.errors import Refused
from temporal import names, runs
from tests.support import temporal
from tests.support.stack import DOCUMENT, Stack, workflow_id

CUT, LIFECYCLE = "SG_cut_authz", "SG_lifecycle_authz"


async def test_after_a_terminate_a_new_execution_skips_the_sealed_gates(stack: Stack) -> None:
    """Seed 000 §7."""
    async with stack.workers():
        run = await stack.start()
        await run.approve(CUT)
        await run.until_requested(LIFECYCLE)
        await run.handle.terminate("from outside")
        before = (await run.sidecar())["attempts"]
        again = await stack.start(run_id=run.run_id)
        await again.approve(LIFECYCLE)
        assert (await again.result()).state == "closeout_reported"
        sidecar = await again.sidecar()
        assert len(sidecar["consumptions"]) == 2
        assert [attempt["gate"] for attempt in sidecar["attempts"][len(before) :]] == [gate.name for gate in GATES[-2:]]


async def test_a_foreign_start_beside_an_open_run_fails_at_once_and_names_it(stack: Stack) -> None:
    async with stack.workers():
        run = await stack.start()
        await run.until_requested(CUT)
        await run.handle.terminate("from outside")
        foreign: WorkflowHandle[Any, Any] = await stack.client.start_workflow(
            names.DOCUMENT_RUN, {"document_id": DOCUMENT}, id=workflow_id(), task_queue=names.WORKFLOW_QUEUE
        )
        with pytest.raises(WorkflowFailureError) as caught:
            await foreign.result()
        message = str(caught.value.cause)
        assert f"{DOCUMENT} has the open run {run.run_id} (awaiting_cut_authorization)" in message
        assert f"cutter orchestrate resume --run-id {run.run_id}" in message
        assert stack.database.value("select count(*) from cutter_governance.run") == 1
        assert (await (await stack.start(run_id=run.run_id)).through()).state == "closeout_reported"


async def test_a_new_run_waits_a_moment_for_a_run_that_has_just_ended(
    stack: Stack, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without a worker, the workflow stays open."""
    run = await stack.start()
    with pytest.raises(Refused, match=f"{DOCUMENT} has the open run {run.run_id}"):
        await runs.require_no_open_run(stack.client, stack.settings, DOCUMENT)
    stack.database.run(
        "update cutter_governance.run set state = 'failed_mark', outcome = 'failed', ended_at = clock_timestamp()"
    )
    looking = asyncio.create_task(runs.require_no_open_run(stack.client, stack.settings, DOCUMENT))
    await asyncio.sleep(0.5)
    assert not looking.done()
    await run.handle.terminate("closed")
    await looking
    assert await stack.start(run_id=run.run_id)
    monkeypatch.setattr("cutter.limits.CLOSING_SECONDS", 0)
    with pytest.raises(Refused, match=f"the last run of {DOCUMENT} is still open.*resume --document-id {DOCUMENT}`"):
        await runs.require_no_open_run(stack.client, stack.settings, DOCUMENT)


async def test_after_temporals_data_is_gone_the_run_goes_on(stack: Stack) -> None:
    async with stack.workers():
        run = await stack.start()
        await run.until_requested(CUT)
        kb_id = await run.sign()
        await run.resume(kb_id)
        await run.until_requested(LIFECYCLE)
        await run.handle.terminate()
        await temporal.delete(stack.client, workflow_id())
        again = await stack.start(run_id=run.run_id)
        await again.approve(LIFECYCLE)
        assert (await again.result()).state == "closeout_reported"


async def test_an_approval_that_was_accepted_need_not_be_sent_to_a_new_execution(stack: Stack) -> None:
    stack.take_write_lane()
    async with stack.workers():
        run = await stack.start()
        await run.approve(CUT)
        await run.until_attempted("IG_cut_leg_a_execute", "lane_busy")
        await run.handle.terminate()
        stack.let_go()
        again = await stack.start(run_id=run.run_id)
        await again.approve(LIFECYCLE)
        assert (await again.result()).state == "closeout_reported"


async def test_a_new_execution_of_a_stopped_run_waits_for_its_resume_and_says_how(stack: Stack) -> None:
    async with stack.workers():
        run = await stack.start()
        await run.until_requested(CUT)
        await run.handle.signal("stop")
        await run.until_shown("stopped_stop")
        await run.handle.terminate()
        again = await stack.start(run_id=run.run_id)
        status = await again.until_shown("stopped_stop")
        assert status["next_command"] == f"cutter approve {run.document_id} --decision resume --reason TEXT"
        await again.resume(await again.order(schema.RESUME))
        assert (await again.through()).state == "closeout_reported"


async def test_a_new_execution_of_a_run_that_is_over_ends_at_once_with_its_state(stack: Stack) -> None:
    async with stack.workers():
        run = await stack.start()
        await run.until_requested(CUT)
        await run.handle.signal("cancel")
        await run.result()
        again = await stack.start(run_id=run.run_id)
        assert (await again.result()).state == "voided_cancelled"


@pytest.mark.promise
async def test_a_reset_re_applies_signals_and_changes_nothing(stack: Stack) -> None:
    async with stack.workers():
        run = await stack.start()
        result = await run.through()
        units = "select count(*), max(updated_at) from public.information_unit"
        before = (stack.database.value(units), (await run.sidecar())["consumptions"])
        await stack.client.workflow_service.reset_workflow_execution(
            ResetWorkflowExecutionRequest(
                namespace="default",
                workflow_execution={"workflow_id": workflow_id(), "run_id": run.handle.result_run_id},
                reason="a test",
                workflow_task_finish_event_id=4,
                request_id="reset-1",
            )
        )
        handle = stack.client.get_workflow_handle(workflow_id())

        async def over() -> bool:
            return (await handle.describe()).status is WorkflowExecutionStatus.COMPLETED

        await temporal.until(over, what="the reset run is over")
        again = await handle.result()
        assert again["state"] == result.state == "closeout_reported"
        assert (stack.database.value(units), (await run.sidecar())["consumptions"]) == before


async def test_every_task_replayed_without_a_cache_gives_the_same(stack: Stack) -> None:
    async with stack.workers(cached_workflows=0):
        run = await stack.start()
        assert (await run.through()).state == "closeout_reported"
