"""A batch on the real engine: lanes, sets of approvals, and what becomes of it."""

from __future__ import annotations

import pytest

from cutter.storage.batches import Options
from tests.support import batch as support
from tests.support.batch import CUT, LIFECYCLE
from tests.support.stack import Stack
from tests.support.temporal import turns


async def test_a_batch_goes_through_by_two_sessions(stack: Stack) -> None:
    """Seeds 001 §1, 001 §4."""
    stack.database.run(
        "insert into cutter_governance.tenant_cap (tenant, workflow, weight) values ('default', 'any', 3)"
    )
    async with stack.workers():
        batch = await support.start(stack, 3)
        view = await batch.until_state("batch_awaiting_cut_authz_set")
        overview = support.kb_text(stack, (await batch.status())["overview"])
        assert all(item["document_id"] in overview and item["request_kb_id"] in overview for item in view["items"])
        answer = await batch.hand_over(await batch.sign(CUT))
        assert (answer["status"], sorted(answer["accepted"]), answer["missing"]) == (
            "accepted", ["ICX-B-1", "ICX-B-2", "ICX-B-3"], [],
        )  # fmt: skip
        await batch.until_state("batch_awaiting_lifecycle_authz_set")
        await batch.hand_over(await batch.sign(LIFECYCLE))
        result = await batch.result()
        assert (result.state, result.totals) == ("batch_closeout", {"enacted": 3, "settled": 3})
        report = support.kb_text(stack, result.report)
        assert report.count("| enacted |") == 3
        priorities = await turns(stack.client, "document/ICX-B-1")
        assert priorities["start"] == (3, "default", 3)
        assert {turn for name, turn in priorities.items() if name != "start"} == {(0, "", 0)}, (
            "signed in time: as the batch"
        )
        assert (await turns(stack.client, batch.handle.id))["start"] == (3, "", 0)
        assert (
            stack.database.value("select count(*) from public.information_unit where lifecycle_status = 'enacted'") == 9
        )


async def test_a_long_batch_goes_on_in_another_execution_and_that_one_is_not_as_long_at_once(
    stack: Stack, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("cutter.limits.BATCH_STARTS", 1)
    async with stack.workers():
        batch = await support.start(stack, 3, Options(lanes=1))
        assert (await batch.through()).totals == {"enacted": 3, "settled": 3}
        executions = [execution async for execution in stack.client.list_workflows(f"WorkflowId = '{batch.handle.id}'")]
    assert len(executions) == 4, "one for each document that was started, and the last"


@pytest.mark.thorough
async def test_each_document_of_a_batch_has_its_own_backup(stack: Stack) -> None:
    """Seed 001 §8."""
    async with stack.workers():
        batch = await support.start(stack, 4)
        await batch.through()
        backups = [stack.settings.runs / item["run_id"] / "pre_write.gpg" for item in (await batch.view())["items"]]
        assert [backup.is_file() and not backup.is_symlink() for backup in backups] == [True] * 4
