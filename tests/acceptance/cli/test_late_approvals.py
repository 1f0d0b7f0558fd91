"""A night whose documents are signed late, each in another way, closes by itself: state, queues, report, folder."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from cutter.batch import documents
from cutter.storage.batches import Options
from temporal import names
from tests.acceptance.cli.conftest import Cutter
from tests.support import batch as support
from tests.support.batch import Batch
from tests.support.signatures import sign_answer
from tests.support.stack import Stack
from tests.support.temporal import until

Item = dict[str, Any]


async def _signed_by_hand(batch: Batch, item: Item, kb_id: str = "") -> str:
    """Sign the request with gpg and put the statement; its KB id."""
    settings, alice = batch.stack.settings, batch.stack.kit.alice
    kb_id = kb_id or item["request_kb_id"].replace("-request-", "-approval-")
    await asyncio.to_thread(sign_answer, settings, alice, item["run_id"], item["request_kb_id"], kb_id=kb_id)
    return kb_id


async def by_approve(cutter: Cutter, _: Batch, item: Item) -> None:
    assert (await cutter.signed("approve", item["document_id"])).json["status"] == "accepted"


async def by_resume(cutter: Cutter, batch: Batch, item: Item) -> None:
    kb_id = await _signed_by_hand(batch, item)
    resumed = await cutter("orchestrate", "resume", "--run-id", item["run_id"], "--approval-kb-id", kb_id)
    assert resumed.code == 0, resumed.err


async def by_signal(_: Cutter, batch: Batch, item: Item) -> None:
    handle = batch.stack.client.get_workflow_handle(names.document_workflow_id(item["document_id"]))
    await handle.signal("submit_approval", await _signed_by_hand(batch, item))


async def by_set(cutter: Cutter, batch: Batch, item: Item) -> None:
    folder = f"{documents.folder(batch.batch_id)}/by-hand-{item['gate'].lower()}"
    await _signed_by_hand(batch, item, f"{folder}/{item['document_id']}.md")
    handed = await cutter(
        "orchestrate", "resume-batch", "--batch-id", batch.batch_id, "--approval-set", folder, "--json"
    )
    assert handed.json["accepted"] == [item["document_id"]]


async def by_session(cutter: Cutter, batch: Batch, item: Item) -> None:
    held = await cutter.signed("approve", "--batch", batch.batch_id, "--only", item["document_id"])
    assert held.json["accepted"] == [item["document_id"]]


WAYS: dict[str, Callable[[Cutter, Batch, Item], Awaitable[None]]] = {
    "ICX-B-1": by_session, "ICX-B-2": by_set, "ICX-B-3": by_approve, "ICX-B-4": by_resume, "ICX-B-5": by_signal,
}  # fmt: skip


async def _rests(batch: Batch) -> bool:
    """Whether the batch's workflow has closed."""
    return (await batch.handle.describe()).close_time is not None


@pytest.mark.thorough
async def test_a_night_with_five_late_approvals_closes_by_itself(stack: Stack, cutter: Cutter) -> None:
    """Seed 001 §11, §3: state, report, folder, archive, queues and knowledge base, with no command about the batch."""
    async with stack.workers():
        night = await support.start(stack, 5, Options.overnight())
        assert (await night.result()).totals == {"at_sg1": 5, "human_review_queue": 5}
        for stage in ("at_sg1", "at_sg2"):
            for name, sign in WAYS.items():
                item = await night.until_stage(name, stage)
                await until(lambda: _rests(night), what="nobody looks at the batch")
                await sign(cutter, night, item)
        ended = await night.until_state("batch_closeout")
        assert {item["state"] for item in ended["items"]} == {"closeout_reported"}
        assert {item["queue"] for item in ended["items"]} == {None}
        archived = stack.settings.batches / "archive" / night.batch_id
        await until(lambda: _written(archived), what="the folder is archived")
        latest = await support.again(night)
        assert (await latest.result()).state == "batch_closeout"

    shown = json.loads((archived / "state.json").read_bytes())
    assert (shown["state"], {item["queue"] for item in shown["items"]}) == ("batch_closeout", {None})
    assert not list(archived.glob("human_review_queue/*"))
    assert not (stack.settings.batches / night.batch_id).exists()
    report = (archived / "batch_report.md").read_text()
    kb_id = stack.database.value(
        "select kb_id from cutter_governance.outbox where batch_id = %s and kind = 'batch_report'"
        " and done_at is not null order by id desc limit 1", (night.batch_id,),
    )  # fmt: skip
    assert support.kb_text(stack, kb_id) == report
    assert "human_review" not in report
    assert "cutter approve" not in report
    assert report.count("| enacted |") == 5
    status = (await cutter("status", night.batch_id, "--json")).json
    assert (status["state"], status["totals"]) == ("batch_closeout", {"enacted": 5, "settled": 5})
    assert status["next"] == f"cutter report {night.batch_id}"


async def test_the_reconciler_wakes_a_batch_that_an_outage_kept_from_a_change(
    stack: Stack, cutter: Cutter, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Seed 001 §11."""
    monkeypatch.setattr("worker.waking", lambda *_: lambda _: None)
    async with stack.workers():
        night = await support.start(stack, 1, Options.overnight())
        await night.result()
        await by_signal(cutter, night, await night.until_stage("ICX-B-1", "at_sg1"))
        await night.until_stage("ICX-B-1", "at_sg2")
        assert await _rests(night)
        answer = (await cutter("reconcile", "--json")).json
        assert [batch["batch_id"] for batch in answer["batches_woken"]] == [night.batch_id]
        assert answer["batches_without_workflow"] == []
        await night.until_state("batch_awaiting_lifecycle_authz_set")
        await until(lambda: _rests(night), what="the batch has looked")
        assert (await cutter("reconcile", "--json")).json["batches_woken"] == []


async def test_a_night_s_cap_does_not_count_the_time_in_which_it_rests(stack: Stack) -> None:
    async with stack.workers():
        night = await support.start(stack, 1, Options.overnight())
        await night.result()
        stack.database.run(
            "update cutter_governance.batch set began_at = began_at - interval '1 day',"
            " state_at = state_at - interval '1 day'"
        )
        run = stack.run_of(*(await _run_of(night)))
        await run.approve("SG_cut_authz", stack.kit.alice)
        await night.until_state("batch_awaiting_lifecycle_authz_set")
        view = await night.seen()
    assert view.batch.halted is None
    assert view.age_seconds < 3_600


async def _run_of(batch: Batch) -> tuple[str, str]:
    item = await batch.until_stage("ICX-B-1", "at_sg1")
    return item["run_id"], "ICX-B-1"


async def _written(folder: Any) -> bool:
    return (folder / "state.json").is_file()
