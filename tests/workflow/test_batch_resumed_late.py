"""A batch that goes on the next day has its whole time again; what was voided is cut again only when asked."""

from __future__ import annotations

import asyncio
import threading

import pytest

from activities.batch import advance as batch_steer
from activities.batch import approval_set as batch_set
from activities.worker.dependencies import Deps
from cutter.approvals.verify import Authentication
from cutter.messages import JudgeInput, JudgeResult
from cutter.storage.batches import Options
from starter.operator import batch_outcome
from temporal import batches
from tests.support import batch as support
from tests.support.batch import CUT, Batch
from tests.support.stack import Stack
from tests.support.temporal import until


def test_whoever_lets_a_batch_go_on_gives_it_its_whole_time_again(stack: Stack) -> None:
    batch_id = support.register(stack, support.small_laws(stack, 1))
    stack.database.run("update cutter_governance.batch set began_at = began_at - interval '10 hours'")
    assert batches.view(stack.settings, batch_id).age_seconds > 35_000
    batches.halt(stack.settings, batch_id, "stop", "a stop alone gives no time")
    assert batches.view(stack.settings, batch_id).age_seconds > 35_000
    batches.halt(stack.settings, batch_id, None, "signed the next day")
    assert batches.view(stack.settings, batch_id).age_seconds < 3_600


def test_a_persons_stop_outweighs_the_cap_and_a_cancel_all(stack: Stack) -> None:
    batch_id = support.register(stack, support.small_laws(stack, 1))
    steered = "select cutter_governance.fn_batch_halt(%s, 'hard_cap', 'the night is over')"
    assert stack.database.value(steered, (batch_id,), role="cutter_read") == "hard_cap"
    assert batches.stop(stack.settings, batch_id, "stop", "let me look") == ("stop", "")
    assert stack.database.value(steered, (batch_id,), role="cutter_read") == "stop"
    assert batches.stop(stack.settings, batch_id, "cancel", "the text is wrong") == ("cancel", "")
    halted, note = batches.stop(stack.settings, batch_id, "stop", "let me look")
    assert (halted, note) == ("cancel", "an earlier halt stays in force: the text is wrong")


@pytest.mark.parametrize("kind", ["stop", "cancel"])
def test_no_worker_lets_go_on_what_a_person_halted(stack: Stack, kind: str) -> None:
    batch_id = support.register(stack, support.small_laws(stack, 1))
    batches.halt(stack.settings, batch_id, kind, "the texts are wrong")
    lifted = "select cutter_governance.fn_batch_halt(%s, null, 'a stranger says so')"
    assert stack.database.value(lifted, (batch_id,), role="cutter_read") == "refused_operator_only"
    assert batches.view(stack.settings, batch_id).batch.halted == kind
    assert batches.halt(stack.settings, batch_id, None, "it was right") == ""


async def test_what_was_voided_is_no_longer_the_batch_s_run_once_the_queue_is_to_be_cut_again(stack: Stack) -> None:
    async with stack.workers():
        batch = await support.start(stack, 1)
        await batch.until_state("batch_awaiting_cut_authz_set")
        await batch.handle.signal("cancel", {"reason": "wrong"})
        assert (await batch.result()).state == "batch_voided"
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


@pytest.fixture
def slow_closing(monkeypatch: pytest.MonkeyPatch) -> tuple[threading.Event, threading.Event]:
    """(A batch has been seen over and its workflow closes; let it): the folder is what it still writes."""
    closes, goes = threading.Event(), threading.Event()
    follow = batch_steer.follow_batch

    def slow(deps: Deps, batch_id: str) -> None:
        closes.set()
        goes.wait(60)
        follow(deps, batch_id)

    monkeypatch.setattr(batch_steer, "follow_batch", slow)
    return closes, goes


async def resumed_while_it_closes(batch: Batch, events: tuple[threading.Event, threading.Event]) -> None:
    """Type `resume-batch` before the workflow that has seen the end is gone; it goes when the resume is in."""
    closes, goes = events
    await until(lambda: asyncio.to_thread(closes.wait, 1), what="the batch closes")
    view = await batch.seen()
    typed = asyncio.create_task(asyncio.to_thread(batch_outcome.go_on, batch.stack.settings, view))

    async def taken_back() -> bool:
        return (await batch.view())["batch"]["halted"] is None

    await until(taken_back, what="the halt is taken back")
    goes.set()
    await typed


async def test_a_resume_that_is_typed_while_the_batch_closes_goes_on_by_itself(
    stack: Stack, slow_closing: tuple[threading.Event, threading.Event]
) -> None:
    batch_id = support.register(stack, support.small_laws(stack, 2), Options(lanes=1))

    def stop(gate: str) -> None:
        if gate == "IG_mark":
            stack.hooks.clear()
            batches.halt(stack.settings, batch_id, "stop", "let me look")

    stack.hooks.append(stop)
    async with stack.workers():
        batch = Batch(stack=stack, batch_id=batch_id, handle=await batches.start(stack.client, batch_id, "olga"))
        before = (await batch.handle.describe()).run_id
        await resumed_while_it_closes(batch, slow_closing)
        await batch.until_stage("ICX-B-2", "at_sg1")
        assert (await batch.handle.describe()).run_id == before, "the same execution looks again instead of closing"


@pytest.mark.parametrize("blocked", [False, True], ids=["alone", "beside what is blocked"])
@pytest.mark.thorough
async def test_a_set_that_is_judged_after_the_last_look_at_its_batch_is_followed_to_its_end(
    stack: Stack, monkeypatch: pytest.MonkeyPatch, blocked: bool
) -> None:
    """What is blocked is asked anew by whoever hands the set over, and blocked again by the look that follows."""
    items, others = support.small_laws(stack, 1), {}
    if blocked:
        stack.register("ICX-B-2", b"A text that has no heading at all.\n")
        stack.register("ICX-B-3", support.law(3))
        items += [{"document_id": "ICX-B-2"}, {"document_id": "ICX-B-3", "depends_on": ["ICX-B-2"]}]
        others = {"failed": 1, "blocked": 1, "quarantine_queue": 1, "settled": 2}
    async with stack.workers():
        night = await support.start(stack, items, Options.overnight())
        assert (await night.result()).totals == {"at_sg1": 1, "human_review_queue": 1, **others}
        looked, follow, judge = threading.Event(), batch_steer.follow_batch, batch_set.judge_read

        def seen_over(deps: Deps, batch_id: str) -> None:
            follow(deps, batch_id)
            looked.set()

        def judged_late(deps: Deps, asked: JudgeInput, read: Authentication | None) -> JudgeResult:
            looked.wait(60)
            return judge(deps, asked, read)

        monkeypatch.setattr(batch_steer, "follow_batch", seen_over)
        monkeypatch.setattr(batch_set, "judge_read", judged_late)
        answer = await night.hand_over_late(await night.sign(CUT))
        assert (answer["accepted"], looked.is_set()) == (["ICX-B-1"], True)
        await night.until_state("batch_awaiting_lifecycle_authz_set")
