"""The reconciler on a Temporal schedule: made, changed and removed by command, and doing what the command does."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from cutter.messages import Reconciled
from temporal import names
from tests.acceptance.cli.conftest import NOBODY, Cutter
from tests.support import batch as batches
from tests.support.stack import Stack
from tests.support.temporal import until


async def look(stack: Stack) -> Reconciled:
    """What the schedule finds when its time has come."""
    schedule = stack.client.get_schedule_handle(names.RECONCILE_SCHEDULE)
    before = (await schedule.describe()).info.num_actions
    await schedule.trigger()

    async def started() -> Any:
        info = (await schedule.describe()).info
        return info.recent_actions[-1].action if info.num_actions > before else None

    action = await until(started, what="the schedule's action")
    handle = stack.client.get_workflow_handle(
        action.workflow_id, run_id=action.first_execution_run_id, result_type=Reconciled
    )
    report: Reconciled = await handle.result()
    return report


async def test_the_schedule_marks_tells_and_puts_as_the_command_does(stack: Stack, cutter: Cutter) -> None:
    """Spec 01: `cutter reconcile`, also on a Temporal schedule."""
    stack.register("ICX-TEST-2", b"# Act\n\n## Article 1. Scope\n\nOne.\n")
    assert (await cutter("reconcile", "--every", "10")).code == 0
    try:
        async with stack.workers():
            lost, waiting = await stack.start(), await stack.start("ICX-TEST-2")
            batch = await batches.start(stack, 1)
            await batch.until_state("batch_awaiting_cut_authz_set")
            for run in (lost, waiting):
                await run.until_requested("SG_cut_authz")
            kb_id = next(
                document["kb_id"]
                for document in (await lost.sidecar())["documents"]
                if document["subject"] == "IG_mark"
            )
            (stack.settings.state / "kb" / kb_id).unlink()
            stack.database.run("update cutter_governance.outbox set done_at = null where kb_id = %s", (kb_id,))
            await lost.handle.terminate("somebody did")
            await batch.handle.terminate("somebody did")
            report = await look(stack)
            assert (report.marked, report.told, report.batches_without_workflow) == (
                (lost.run_id,),
                (),
                (batch.batch_id,),
            )
            assert report.left_alone == 2, "the other run, and the batch's own"
            assert (report.documents_put, report.documents_waiting) == (1, 0)
            assert await lost.state() == "stopped_terminated"
            assert await waiting.state() == "awaiting_cut_authorization"
            await cutter("stop", waiting.run_id, "--reason", "unheard", CUTTER_TEMPORAL_ADDRESS=NOBODY)
            assert (await look(stack)).told == (waiting.run_id,)
            await waiting.until_shown("stopped_stop")
    finally:
        await cutter("reconcile", "--every", "0")


async def test_the_schedule_is_one_is_changed_and_removed_by_command(stack: Stack, cutter: Cutter) -> None:
    schedule = stack.client.get_schedule_handle(names.RECONCILE_SCHEDULE)
    for minutes in (10, 5):
        made = await cutter("reconcile", "--every", str(minutes), "--json")
        assert (made.code, made.json["every_minutes"]) == (0, minutes)
        assert [interval.every for interval in (await schedule.describe()).schedule.spec.intervals] == [
            timedelta(minutes=minutes)
        ]
    assert (await cutter(*made.json["next"].split()[1:], "--json")).json["status"] == "removed"
    assert (await cutter("reconcile", "--every", "0", "--json")).json["status"] == "there was none"
    assert (await cutter("reconcile", "--every", "5", CUTTER_TEMPORAL_ADDRESS=NOBODY)).code == 5
