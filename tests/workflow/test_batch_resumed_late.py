"""A batch that goes on the next day has its whole time again; what was voided is cut again only when asked."""

from __future__ import annotations

from starter import batches
from tests.support import batch as support
from tests.support.stack import Stack


def test_whoever_lets_a_batch_go_on_gives_it_its_whole_time_again(stack: Stack) -> None:
    batch_id = support.register(stack, support.small_laws(stack, 1))
    stack.database.run("update cutter_governance.batch set began_at = began_at - interval '10 hours'")
    assert batches.view(stack.settings, batch_id)["age_seconds"] > 35_000
    batches.halt(stack.settings, batch_id, "stop", "a stop alone gives no time")
    assert batches.view(stack.settings, batch_id)["age_seconds"] > 35_000
    batches.halt(stack.settings, batch_id, None, "signed the next day")
    assert batches.view(stack.settings, batch_id)["age_seconds"] < 3_600


async def test_what_was_voided_is_no_longer_the_batch_s_run_once_the_queue_is_to_be_cut_again(stack: Stack) -> None:
    async with stack.workers():
        batch = await support.start(stack, 1)
        await batch.until_state("batch_awaiting_cut_authz_set")
        await batch.handle.signal("cancel", {"reason": "wrong"})
        assert (await batch.handle.result()).state == "batch_voided"
    before = stack.database.value("select count(*) from cutter_governance.audit_event")
    (voided,) = (await batch.view())["items"]
    assert voided["state"].startswith("voided_")
    batches.again(stack.settings, batch.batch_id)
    (pending,) = (await batch.view())["items"]
    assert (pending["run_id"], pending["state"]) == (None, None)
    after = stack.database.value("select count(*) from cutter_governance.audit_event")
    assert after == before + 1
    batches.again(stack.settings, batch.batch_id)
    assert stack.database.value("select count(*) from cutter_governance.audit_event") == after, "once is enough"
