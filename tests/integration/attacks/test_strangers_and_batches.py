"""Who may write to Temporal can delay a batch: no message, forged answer or chosen argument wedges it or writes."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest
import uuid_utils
from temporalio.api.common.v1 import Payload
from temporalio.client import WorkflowUpdateFailedError
from temporalio.common import RawValue

from cutter.approvals import schema
from cutter.types import Json
from temporal import batches
from tests.integration.attacks.foreign import foreign_worker, schedule
from tests.support import batch as support
from tests.support.batch import CUT, Batch
from tests.support.stack import Stack
from tests.support.temporal import until

UNITS = "select count(*) from public.information_unit"
CHAINS = "select count(*) from cutter_governance.audit_event where chain = %s"
BROKEN = RawValue(Payload(metadata={"encoding": b"json/plain"}, data=b"\xff{"))
UNKNOWN_ENCODING = RawValue(Payload(metadata={"encoding": b"binary/none-such"}, data=b"x"))
HUGE = "y" * 1_000_000

ARGUMENTS: tuple[list[Any], ...] = (
    [], [None], [7], ["a", "b"], [{}], [{"folder": 7}], [{"folder": "x" * 5000}], [{"folder": "../../etc"}],
    [{"folder": "knowledge/dev/\x00"}], [{"folder": "knowledge/dev/x", "more": 1}], [[["deep"]] * 500], [HUGE],
    [{"folder": "knowledge/dev/none", "listing_sha256": 7}], [BROKEN], [UNKNOWN_ENCODING], [BROKEN, BROKEN],
)  # fmt: skip
STOPS: tuple[list[Any], ...] = (
    [{"reason": "for\x00ever"}], [{"reason": HUGE}], [{"reason": {"deep": [1]}}], [BROKEN], [], ["a", "b"],
)  # fmt: skip


def start(document_id: str = "ICX-B-1", run_id: str = "") -> Json:
    return {"document_id": document_id, "run_id": run_id or f"ictr-20261121T090000Z-{uuid_utils.uuid7()}"}


def step(**more: Any) -> Json:
    return {"state": "batch_planning", "seen": "", **more}


def stop(document_id: str) -> Json:
    return {"document_id": document_id, "kind": "stop", "reason": "r"}


FORGED: tuple[tuple[str, Any], ...] = (
    ("text", "forged"),
    ("nothing", None),
    ("a long state", step(state="s" * 5000)),
    ("a long gate", step(gate="g" * 5000)),
    ("a stop of nobody", step(stops=[stop("ICX-NOBODY")])),
    ("a count beyond all numbers", step(totals={"settled": 10**30})),
    ("a count below nothing", step(totals={"settled": -1})),
    ("a long note", step(note=HUGE)),
    ("a start with a long id", step(starts=[start("X" * 2000)])),
    ("a start of an unknown run", step(starts=[start("ICX-UNKNOWN")])),
    ("a start with no run", step(starts=[start(run_id="../x")])),
    ("too many starts", step(starts=[start(f"ICX-N-{number}") for number in range(2500)])),
    ("a stop with a long id", step(stops=[stop("Y" * 2000)])),
)
"""Those that are a batch's answer in form stand between, since the batch waits a minute after a few that are not."""


@pytest.fixture
async def waiting(stack: Stack) -> AsyncIterator[Batch]:
    """A healthy batch of two at its first sovereign gate, all workers up, and a stranger's worker beside them."""
    async with stack.workers(), foreign_worker(stack.client):
        batch = await support.start(stack, 2)
        await batch.until_state("batch_awaiting_cut_authz_set")
        yield batch


async def still_well(batch: Batch) -> None:
    """It waits where it waited, and goes through."""
    assert (await batch.view())["batch"]["state"] == "batch_awaiting_cut_authz_set"
    assert batch.stack.database.value(UNITS) == 0
    assert (await batch.through()).totals == {"enacted": 2, "settled": 2}


async def test_messages_with_any_arguments_are_answered_or_left_aside(waiting: Batch) -> None:
    handle = waiting.handle
    for arguments in ARGUMENTS:
        answer = await handle.execute_update("submit_approval_set", args=arguments)
        assert answer["status"] == "refused", (str(arguments)[:80], answer)
        for name in ("unknown", "no\x00such", "submit_approval_set", "n" * 900, "go_on"):
            await handle.signal(name, args=arguments)
    for name in ("resume", "submit_approval", "z" * 900):
        with pytest.raises(WorkflowUpdateFailedError):
            await handle.execute_update(name, args=[])
    assert (await handle.query("status", args=["a", {"b": 1}], result_type=dict))["batch_id"] == waiting.batch_id
    await still_well(waiting)


async def test_a_stop_with_any_argument_is_a_stop_and_the_batch_goes_on_after_it(waiting: Batch) -> None:
    for arguments in STOPS:
        await waiting.handle.signal("stop", args=arguments)
    for number in range(60):
        await waiting.handle.signal("stop", number)
    result = await asyncio.wait_for(waiting.result(), 90)
    assert (result.state, result.reason) == ("batch_failed_partial", "for\ufffdever")
    stack = waiting.stack
    batches.halt(stack.settings, waiting.batch_id, None, "it was nobody of ours")
    for item in (await waiting.view())["items"]:
        run = stack.run_of(item["run_id"], item["document_id"])
        await run.until_shown("stopped_stop")
        assert (await run.resume(await run.order(schema.RESUME)))["status"] == "accepted"
    waiting.handle = await batches.start(stack.client, waiting.batch_id, "olga")
    await waiting.until_state("batch_awaiting_cut_authz_set")
    await still_well(waiting)


async def test_forged_answers_of_the_steering_make_no_command_that_wedges_the_batch(waiting: Batch) -> None:
    for name, forged in FORGED:
        await waiting.complete("steer_batch", forged)

        async def asked_again() -> bool:
            described = (await waiting.handle.describe()).raw_description
            task = described.pending_workflow_task
            return task.attempt <= 1 and any(
                pending_activity.activity_type.name == "steer_batch"
                for pending_activity in described.pending_activities
            )

        await until(asked_again, seconds=30, what=f"the batch asks again after {name}")
    view = await waiting.view()
    assert {item["state"] for item in view["items"]} == {"awaiting_cut_authorization"}
    assert view["batch"]["halted"] is None
    runs = "select count(*) from cutter_governance.run where document_id like 'ICX-B-%'"
    assert waiting.stack.database.value(runs) == 2
    await still_well(waiting)


async def test_a_batch_that_is_told_it_is_over_is_started_again_where_it_was(waiting: Batch) -> None:
    lie = {"state": "batch_closeout", "seen": "x", "over": True, "totals": {"enacted": 2, "settled": 2}}
    await waiting.complete("steer_batch", lie)
    assert (await waiting.result()).state == "batch_closeout"
    assert (await waiting.view())["batch"]["ended_at"] is None
    waiting.handle = await batches.start(waiting.stack.client, waiting.batch_id, "olga")
    await still_well(waiting)


async def test_our_activities_with_a_strangers_arguments_write_nothing_that_may_not_be(waiting: Batch) -> None:
    stack, unknown = waiting.stack, str(uuid_utils.uuid7())
    run_id = (await waiting.view())["items"][0]["run_id"]
    others = await other_set(stack)
    names = (unknown, "", "\x00", "../../x", "x" * 5000, run_id, "global", f"{waiting.batch_id}-dryrun")
    for name in names:
        chain = name.replace("\x00", "\ufffd")
        audited = stack.database.value(CHAINS, (chain,))
        for activity, more in (
            ("begin_batch", {}),
            ("steer_batch", {"seen": "\x00", "adopt": True}),
            ("halt_batch", {"kind": "cancel", "reason": "r\x00" * 5000}),
            ("halt_batch", {"kind": None, "reason": ""}),
            ("judge_set", {"folder": others}),
        ):
            answer = await schedule(stack.client, "batch", activity, {"batch_id": name, **more})
            assert "Unexpected" not in str(answer), (activity, name[:50], answer)
            assert stack.database.value(CHAINS, (chain,)) == audited, (activity, name[:50])
    for activity in ("begin_batch", "steer_batch", "halt_batch", "judge_set"):
        for arguments in ({}, {"batch_id": 7}, {"batch_id": None, "folder": 1, "kind": "hard_cap"}):
            assert str(await schedule(stack.client, "batch", activity, arguments)).startswith("failed: ")
    for folder in ("../../etc", "", "/", "knowledge/dev/\x00", "x" * 5000, "knowledge/dev/none"):
        order = {"batch_id": waiting.batch_id, "folder": folder}
        answer = await schedule(stack.client, "batch", "judge_set", order)
        assert "Unexpected" not in str(answer), (folder[:50], answer)
        assert "failed" in answer or answer["status"] == "refused", (folder[:50], answer)
    answer = await schedule(stack.client, "batch", "judge_set", {"batch_id": waiting.batch_id, "folder": others})
    assert [(entry["accepted"], entry["code"]) for entry in answer["entries"]] == [(False, "not_waiting")]
    assert stack.database.value("select count(*) from cutter_governance.batch") == 2
    await still_well(waiting)


async def other_set(stack: Stack) -> str:
    """A set that was signed for another batch's document."""
    stack.register("ICX-OTHER", support.law(7))
    other = await support.start(stack, [{"document_id": "ICX-OTHER"}])
    await other.until_state("batch_awaiting_cut_authz_set")
    folder = await other.sign(CUT)
    await other.handle.signal("cancel")
    await other.result()
    return folder


async def test_a_batch_that_a_stranger_steers_loses_no_document(stack: Stack, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("cutter.limits.STEER_UNHEARD_SECONDS", 3)
    monkeypatch.setattr("cutter.limits.STEER_POLL_SECONDS", 1)
    items = support.small_laws(stack, 4)
    batch_id = await asyncio.to_thread(support.register, stack, items)
    async with stack.workers(), foreign_worker(stack.client):
        # The first step goes to the stranger: the runs are registered, and only the stranger is told.
        stolen = await schedule(stack.client, "batch", "steer_batch", {"batch_id": batch_id})
        assert len(stolen["starts"]) == 4
        batch = Batch(stack=stack, batch_id=batch_id, handle=await batches.start(stack.client, batch_id, "olga"))
        for _ in range(3):
            await schedule(stack.client, "batch", "steer_batch", {"batch_id": batch_id, "seen": "x"})
        assert (await batch.through()).totals == {"enacted": 4, "settled": 4}
        reports = "select count(*) from cutter_governance.outbox where kind = 'batch_report'"
        for _ in range(3):
            await schedule(stack.client, "batch", "steer_batch", {"batch_id": batch_id, "seen": "x"})
        assert stack.database.value(reports) == 1
