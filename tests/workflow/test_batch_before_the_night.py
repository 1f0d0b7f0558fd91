"""Approvals that are signed in the afternoon, after a rehearsal of the queue, and used in the night."""

from __future__ import annotations

import asyncio

import pytest
import uuid_utils

from cutter import limits
from cutter.approvals import schema
from cutter.approvals.policy import Tier
from cutter.batch import documents
from cutter.evidence import offline
from cutter.kb.store import Store
from cutter.kb.write_once import put
from cutter.storage.batches import Options
from starter.commands import evidence
from temporal import batches
from tests.support import batch as support
from tests.support.batch import CUT, LIFECYCLE
from tests.support.stack import Stack
from tests.support.temporal import turns

ENACTED = "select count(*) from public.information_unit where lifecycle_status = 'enacted'"
SIGNERS = """
select coalesce(array_agg(c.approver order by c.slot), '{}') from cutter_governance.approval_consumption c
where c.document_id = %s and c.gate = 'SG_lifecycle_authz'
"""

CLOSED = "select coalesce(array_agg(run_id), '{}') from cutter_governance.run where state = 'closeout_reported'"


def proves_itself(stack: Stack, runs: int) -> None:
    """So many runs are closed, and each one's evidence verifies offline, whatever its approvals were bound to."""
    closed = stack.database.value(CLOSED)
    assert len(closed) == runs
    for run_id in closed:
        made, sealed, _ = evidence.exported(stack.settings, run_id)
        checked = evidence.checks(made.data, head=made.head, sha256=made.sha256)
        assert sealed
        assert not evidence.failed(checked), checked
        holds_the_batch(made.data)


def holds_the_batch(data: bytes) -> None:
    """What was signed for a batch is no approval of the same run in another one."""
    bundle = offline.Bundle(data)
    members = {name: body for name, body in bundle.members.items() if name != offline.MANIFEST}
    members["run.json"] = offline.canonical(bundle.run | {"batch_id": str(uuid_utils.uuid7())}).encode() + b"\n"
    reason = {what: why for what, _, why in offline.check(offline.sealed(members))}["approvals"]
    before = any(b"\nbinding: tuple\n" in body for name, body in members.items() if name.startswith("signed/"))
    assert ("batch_id that was signed for SG_" in reason) == before, reason


def copied(stack: Stack, name: str) -> None:
    """The same approval once more beside itself, which is judged no second time."""
    store = Store(stack.settings.kb)
    for ending in ("", ".asc"):
        put(store, f"{name.removesuffix('.md')}.copy.md{ending}", store.get(f"{name}{ending}"))


async def test_what_was_signed_before_is_consumed_once_and_what_was_not_waits_for_review(stack: Stack) -> None:
    """Seeds 001 §7, 001 §11."""
    batch_id = str(uuid_utils.uuid7())
    items = support.small_laws(stack, 3)
    async with stack.workers():
        rehearsal = await support.start(stack, items, Options(mode="dryrun"), batch_id)
        assert (await rehearsal.result()).totals == {"rehearsed": 3, "settled": 3}
        assert stack.database.value("select count(*) from public.information_unit") == 0
        signed = await rehearsal.sign_before(leave_out=["ICX-B-3"])
        assert (signed["signed"], len(signed["pre_batched"])) == (2, 4)
        assert signed["next"] == "cutter orchestrate batch --queue QUEUE --overnight"
        night = await support.start(stack, items, Options.overnight(), batch_id)
        result = await night.result()
        assert result.totals == {"at_sg1": 1, "enacted": 2, "human_review_queue": 1, "settled": 2}
        assert result.state == "batch_awaiting_cut_authz_set"
        assert stack.database.value(ENACTED) == 6
        assert stack.database.value("select count(*) from cutter_governance.approval_consumption") == 4
        (queued,) = (item for item in (await night.view())["items"] if item["queue"])
        entry = support.kb_text(stack, queued["queue_kb_id"])
        assert queued["document_id"] == "ICX-B-3"
        assert "STOP_NEEDS_LATE_APPROVAL" in entry
        assert f"cutter orchestrate resume --run-id {queued['run_id']} --approval-kb-id " in entry
        late = await night.hand_over_late(await night.sign(CUT))
        assert late["accepted"] == ["ICX-B-3"]
        await night.until_state("batch_awaiting_lifecycle_authz_set")
        await night.hand_over_late(await night.sign(LIFECYCLE))
        await night.until_state("batch_closeout")
        assert stack.database.value(ENACTED) == 9
        proves_itself(stack, 3)
        of_the_night, late_one = [await turns(stack.client, f"document/ICX-B-{number}") for number in (1, 3)]
        assert of_the_night["start"] == late_one["start"] == (4, "default", 1)
        assert of_the_night["IG_cut_leg_a_execute"] == late_one["IG_mark"] == (0, "", 0), "as the run itself"
        assert late_one["IG_cut_leg_a_execute"] == late_one["IG_closeout"] == (2, "default", 1)


@pytest.mark.parametrize("changed", [{"enact_tier": Tier.HIGH}], indirect=True)
async def test_what_was_consumed_by_a_run_that_was_voided_since_is_refused_once_and_waits_for_review(
    stack: Stack,
) -> None:
    batch_id = str(uuid_utils.uuid7())
    items = support.small_laws(stack, 1)
    async with stack.workers():
        rehearsal = await support.start(stack, items, Options(mode="dryrun"), batch_id)
        await rehearsal.result()
        await rehearsal.sign_before()
        night = await support.start(stack, items, Options.overnight(), batch_id)
        assert (await night.result()).totals == {"at_sg2": 1, "human_review_queue": 1}
        run = stack.run_of((await night.view())["items"][0]["run_id"], "ICX-B-1")
        await run.resume(await run.order(schema.VOID))
        await run.result()
        batches.again(stack.settings, batch_id)
        night = await support.again(night)
        result = await asyncio.wait_for(night.result(), 90)
        assert result.totals == {"at_sg1": 1, "human_review_queue": 1}
        again = stack.run_of((await night.view())["items"][0]["run_id"], "ICX-B-1")
        status = await again.until_requested(CUT)
        assert [refusal.split(":")[0] for refusal in status["refusals"]] == ["approval_consumed_before"]
        assert not any(attempt["gate"] == "IG_cut_leg_a_execute" for attempt in (await again.sidecar())["attempts"])


@pytest.mark.parametrize("changed", [{"enact_tier": Tier.HIGH}], indirect=True)
async def test_an_enactment_that_two_must_sign_waits_in_human_review_until_both_have(
    stack: Stack, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Seed 001 §11."""
    monkeypatch.setattr(limits, "STEER_UNHEARD_SECONDS", 2)
    batch_id = str(uuid_utils.uuid7())
    items = support.small_laws(stack, 2)
    async with stack.workers():
        rehearsal = await support.start(stack, items, Options(mode="dryrun"), batch_id)
        await rehearsal.result()
        await rehearsal.sign_before()
        await rehearsal.sign_before(leave_out=["ICX-B-2"], who=stack.kit.bob)
        copied(stack, documents.pre_batched(batch_id, LIFECYCLE, "ICX-B-2"))
        night = await support.start(stack, items, Options.overnight(), batch_id)
        result = await asyncio.wait_for(night.result(), 120)
        assert result.totals == {"at_sg2": 1, "enacted": 1, "human_review_queue": 1, "settled": 1}
        assert sorted(stack.database.value(SIGNERS, ("ICX-B-1",))) == ["alice", "bob"]
        (queued,) = (item for item in (await night.view())["items"] if item["queue"])
        assert (queued["document_id"], queued["queue_code"]) == ("ICX-B-2", "STOP_NEEDS_LATE_APPROVAL")
        assert "1 signed it, and the policy asks for 2" in support.kb_text(stack, queued["queue_kb_id"])
        answer = await night.hand_over_late(await night.sign(LIFECYCLE, who=stack.kit.bob))
        assert answer["accepted"] == ["ICX-B-2"]
        await night.until_state("batch_closeout")
        assert sorted(stack.database.value(SIGNERS, ("ICX-B-2",))) == ["alice", "bob"]
        assert stack.database.value(ENACTED) == 6
        proves_itself(stack, 2)
