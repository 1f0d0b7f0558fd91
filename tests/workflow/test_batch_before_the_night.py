"""Approvals that are signed in the afternoon, after a rehearsal of the queue, and used in the night."""

from __future__ import annotations

import uuid_utils

from cutter.batch.registry import Options
from tests.support import batch as support
from tests.support.batch import CUT, LIFECYCLE
from tests.support.stack import Stack

ENACTED = "select count(*) from public.information_unit where lifecycle_status = 'enacted'"
CONSUMED = "select count(*), count(distinct approval_sha256) from cutter_governance.approval_consumption"


async def test_what_was_signed_before_is_consumed_once_and_what_was_not_waits_for_review(stack: Stack) -> None:
    batch_id = str(uuid_utils.uuid7())
    items = support.small_laws(stack, 3)
    async with stack.workers():
        rehearsal = await support.start(stack, items, Options(mode="dryrun"), batch_id)
        assert (await rehearsal.handle.result()).totals == {"rehearsed": 3, "settled": 3}
        assert stack.database.value("select count(*) from public.information_unit") == 0
        signed = await rehearsal.sign_before(leave_out=["ICX-B-3"])
        assert (signed["signed"], len(signed["pre_batched"])) == (2, 4)
        night = await support.start(stack, items, Options.overnight(), batch_id)
        result = await night.handle.result()
        assert result.totals == {"at_sg1": 1, "enacted": 2, "human_review_queue": 1, "settled": 2}
        assert result.state == "batch_awaiting_cut_authz_set"
        assert stack.database.value(ENACTED) == 6
        assert stack.database.value("select count(*) from cutter_governance.approval_consumption") == 4
        (queued,) = (one for one in (await night.view())["items"] if one["queue"])
        entry = support.kb_text(stack, queued["queue_kb_id"])
        assert queued["document_id"] == "ICX-B-3"
        assert "STOP_NEEDS_LATE_APPROVAL" in entry
        assert f"cutter orchestrate resume --run-id {queued['run_id']} --approval-kb-id " in entry
        late = await night.hand_over(await night.sign(CUT))
        assert late["accepted"] == ["ICX-B-3"]
        await night.until_state("batch_awaiting_lifecycle_authz_set")
        await night.hand_over(await night.sign(LIFECYCLE))
        await night.until_state("batch_closeout")
        assert stack.database.value(ENACTED) == 9
