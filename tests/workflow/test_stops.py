"""Stop, cancel, void: anyone may stop, nothing that was stopped is written, and each stop has a way forward."""

from __future__ import annotations

import asyncio

import pytest
from temporalio.api.enums.v1 import EventType

from activities.run.approval_requests import judge_approval
from activities.run.course import void_run
from cutter.approvals import schema
from cutter.catalogue import WorkerRole
from cutter.messages import JudgeInput, VoidInput, VoidResult
from temporal import names
from tests.support.stack import DOCUMENT, Run, Stack

UNITS = "select count(*) from public.information_unit where deleted_at is null"
CUT, LIFECYCLE = "SG_cut_authz", "SG_lifecycle_authz"


async def test_a_stop_while_waiting_needs_a_signed_resume_and_then_goes_on(stack: Stack) -> None:
    """Seed 000 §2."""
    async with stack.workers():
        run = await stack.start()
        await run.until_requested(CUT)
        await run.handle.signal("stop", {"reason": "let me look"})
        sidecar = await run.until_state("stopped_stop")
        status = await run.until_shown("stopped_stop")
        assert status["next_command"] == f"cutter approve {run.document_id} --decision resume --reason TEXT"
        assert status["next_command"] in await run.details()
        assert sidecar["latch"]["reason"] == "let me look"
        assert await run.resume() == {
            "status": "refused", "code": "refused",
            "reason": f"the stop needs a signed resume: `cutter status {run.run_id}` names the command",
        }  # fmt: skip
        assert (await run.state()) == "stopped_stop"
        answer = await run.resume(await run.order(schema.RESUME))
        assert (answer["status"], answer["code"]) == ("accepted", "accepted")
        assert (await run.through()).state == "closeout_reported"
        report = next(
            document["kb_id"] for document in (await run.sidecar())["documents"] if document["kind"] == "stop_route"
        )
        assert "stop" in report


async def test_a_resume_signed_by_a_stranger_is_refused(stack: Stack) -> None:
    async with stack.workers():
        run = await stack.start()
        await run.until_requested(CUT)
        await run.handle.signal("stop")
        await run.until_shown("stopped_stop")
        answer = await run.resume(await run.order(schema.RESUME, who=stack.kit.mallory))
        assert answer["status"] == "refused"
        assert (await run.state()) == "stopped_stop"


@pytest.mark.parametrize("first", ["stop", "submit_approval"])
async def test_stop_wins_over_an_approval_of_the_same_workflow_task_in_both_orders(stack: Stack, first: str) -> None:
    async with stack.workers():
        run = await stack.start()
        await run.until_requested(CUT)
    kb_id = await run.sign()
    messages = [("submit_approval", kb_id), ("stop", {"reason": "no"})]
    for name, argument in messages if first == "submit_approval" else reversed(messages):
        await run.handle.signal(name, argument)
    async with stack.workers():
        await run.until_state("stopped_stop")
        assert stack.database.value(UNITS) == 0
        assert (await run.sidecar())["consumptions"] == []
        # The approval waits; after the signed resume it counts, since it is for exactly this request.
        await run.until_shown("stopped_stop")
        await run.resume(await run.order(schema.RESUME))
        await run.approve(LIFECYCLE)
        assert (await run.result()).state == "closeout_reported"


async def test_a_cancel_before_anything_is_written_ends_the_run(stack: Stack) -> None:
    """Seed 002 "Queue and Cancellation Controls"."""
    async with stack.workers():
        run = await stack.start()
        await run.until_requested(CUT)
        await run.handle.signal("cancel", {"reason": "wrong text"})
        result = await run.result()
        assert (result.state, result.reason) == ("voided_cancelled", "wrong text")
        assert (await run.sidecar())["requests"][0]["status"] == "canceled"
        assert (await (await stack.start()).through()).state == "closeout_reported"


async def test_temporals_own_cancel_is_a_cancel(stack: Stack) -> None:
    async with stack.workers():
        run = await stack.start()
        await run.until_requested(CUT)
        await run.handle.cancel()
        result = await run.result()
        assert result.state == "voided_cancelled"


@pytest.mark.promise
async def test_a_cancel_after_leg_a_stops_and_a_signed_void_withdraws_the_drafts(stack: Stack) -> None:
    """Seed 002 "Queue and Cancellation Controls"."""
    async with stack.workers():
        run = await stack.start()
        await run.approve(CUT)
        await run.until_requested(LIFECYCLE)
        written = stack.database.value(UNITS)
        await run.handle.cancel()
        await run.until_state("stopped_cancel")
        assert stack.database.value(UNITS) == written > 20
        await run.until_shown("stopped_cancel")
        await run.handle.signal("void", await run.order(schema.VOID, reason="wrong source"))
        result = await run.result()
        assert result.state == "voided_wrong_source"
        assert stack.database.value(UNITS) == 0
        assert (await (await stack.start()).through()).state == "closeout_reported"


async def test_a_void_while_a_gate_waits_ends_the_run(stack: Stack) -> None:
    async with stack.workers():
        run = await stack.start()
        await run.until_requested(CUT)
        answer = await run.resume(await run.order(schema.VOID, reason="not needed"))
        assert answer["status"] == "accepted"
        assert (await run.result()).state == "voided_not_needed"


async def voided(run: Run, order: str) -> VoidResult:
    """What the short workflow answers that voids a run by this order."""
    return await run.stack.client.execute_workflow(
        names.VOID_RUN,
        VoidInput(run_id=run.run_id, kb_id=order, document_id=DOCUMENT),
        id=names.void_workflow_id(run.run_id),
        task_queue=names.WORKFLOW_QUEUE,
        result_type=VoidResult,
    )


async def test_the_void_workflow_ends_an_open_run_and_tells_its_workflow(stack: Stack) -> None:
    async with stack.workers():
        run = await stack.start()
        await run.approve(CUT)
        await run.until_requested(LIFECYCLE)
        order = await run.order(schema.VOID, reason="superseded")
        done = await voided(run, order)
        assert (done.state, done.code) == ("voided_superseded", "voided")
        assert stack.database.value(UNITS) == 0
        assert (await run.result()).state == "voided_superseded"


async def test_a_void_whose_first_answer_was_lost_still_tells_the_open_run(stack: Stack) -> None:
    async with stack.workers() as held:
        run = await stack.start()
        await run.until_requested(CUT)
        order = await run.order(schema.VOID, reason="superseded")
        judged = JudgeInput(run_id=run.run_id, gate=CUT, kb_id=order)
        assert (await asyncio.to_thread(judge_approval, held[WorkerRole.CUTTER], judged)).accepted
        lost = await asyncio.to_thread(
            void_run, held[WorkerRole.EXEC], VoidInput(run_id=run.run_id, kb_id=order, document_id=DOCUMENT)
        )
        assert (lost.state, lost.code) == ("voided_superseded", "voided")
        done = await voided(run, order)
        assert (done.state, done.code) == ("voided_superseded", "voided_before")
        assert (await asyncio.wait_for(run.result(), 60)).state == "voided_superseded"


async def test_law_that_is_enacted_is_never_voided(stack: Stack) -> None:
    """Seed 000 §3."""
    async with stack.workers():
        run = await stack.start()
        await run.through()
        order = await run.order(schema.VOID, reason="too late")
        done = await voided(run, order)
        assert done.code == "enacted_law_is_never_voided"
        assert stack.database.value(UNITS) > 20


async def test_a_stop_during_a_gate_takes_effect_before_the_next_one(stack: Stack) -> None:
    """Seed 001 §6."""
    run = await stack.start()

    def stop(gate: str) -> None:
        if gate == "IG_mark":
            stack.database.value(
                "select cutter_governance.fn_stop_set(%s, 'stop', 'in between', 'a test')", (run.run_id,),
                role="cutter_operator",
            )  # fmt: skip

    stack.hooks.append(stop)
    async with stack.workers():
        sidecar = await run.until_state("stopped_stop")
        assert [receipt["gate"] for receipt in sidecar["receipts"]] == ["IG_source_pin", "IG_mark"]
        await run.until_shown("stopped_stop")
        await run.resume(await run.order(schema.RESUME))
        await run.until_requested(CUT)


async def test_a_cancel_that_only_the_latch_knows_ends_a_run_that_has_written_nothing(stack: Stack) -> None:
    run = await stack.start()
    stack.database.value(
        "select cutter_governance.fn_stop_set(%s, 'cancel', 'by the database', 'a test')", (run.run_id,),
        role="cutter_operator",
    )  # fmt: skip
    async with stack.workers():
        assert (await run.result()).state == "voided_cancelled"


@pytest.mark.parametrize("changed", [{"lane_wait_seconds": 60}], indirect=True)
async def test_a_stop_cuts_a_backoff_short(stack: Stack) -> None:
    stack.take_write_lane()
    async with stack.workers():
        run = await stack.start()
        await run.approve(CUT)
        await run.until_attempted("IG_cut_leg_a_execute", "lane_busy")
        await run.handle.signal("stop", "enough")
        sidecar = await run.until_state("stopped_stop")
        assert [attempt["outcome"] for attempt in sidecar["attempts"] if attempt["gate"] == "IG_cut_leg_a_execute"] == [
            "lane_busy"
        ]
        assert not any(event.event_type == EventType.EVENT_TYPE_TIMER_FIRED for event in (await run.history()).events)
    stack.let_go()
