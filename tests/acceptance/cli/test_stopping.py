"""Stop, cancel, void, resume and acknowledge by command: what was written, who was told, and the way on."""

from __future__ import annotations

import asyncio

from activities.run.approval_requests import judge_approval
from activities.run.course import void_run
from cutter.approvals import schema
from cutter.catalogue import WorkerRole
from cutter.messages import JudgeInput, VoidInput
from tests.acceptance.cli.conftest import NOBODY, Cutter
from tests.support.stack import DOCUMENT, Stack

CUT, LIFECYCLE = "SG_cut_authz", "SG_lifecycle_authz"
DRAFTS = "select count(*) from public.information_unit where deleted_at is null"


async def test_a_stopped_run_goes_on_by_a_signed_resume(stack: Stack, cutter: Cutter) -> None:
    """Seed 000 §1."""
    async with stack.workers():
        run = await stack.start()
        await run.until_requested(CUT)
        answer = await cutter("stop", DOCUMENT, "--reason", "let me look", "--json")
        assert (answer.code, answer.json["wrote"], answer.json["workflow_told"]) == (0, False, True)
        await run.until_shown("stopped_stop")
        entry = (await cutter("inbox", "--json")).json["waiting"][0]
        assert entry["needs"] == "signed resume"
        assert entry["command"] == answer.json["next"] == f"cutter approve {DOCUMENT} --decision resume --reason TEXT"
        for decision in (("approve", DOCUMENT), ("reject", DOCUMENT, "--reason", "x")):
            refused = await cutter.signed(*decision)
            assert (refused.code, refused.json["code"]) == (4, "run_is_stopped")
            assert refused.json["next"] == answer.json["next"]
        assert not list((stack.settings.state / "kb").rglob("SG1-*approval*.asc")), "nothing was signed"
        resumed = await cutter.signed("approve", DOCUMENT, "--decision", "resume", "--reason", "it is right")
        assert (resumed.code, resumed.json["status"]) == (0, "accepted")
        await run.until_requested(CUT)
        assert (await run.through()).state == "closeout_reported"


async def test_without_temporal_the_latch_alone_is_set_and_reconcile_delivers_it(stack: Stack, cutter: Cutter) -> None:
    async with stack.workers():
        run = await stack.start()
        await run.until_requested(CUT)
        answer = await cutter("stop", DOCUMENT, "--reason", "now", "--json", CUTTER_TEMPORAL_ADDRESS=NOBODY)
        assert (answer.code, answer.json["workflow_told"], answer.json["next"]) == (0, False, "cutter reconcile")
        assert "latch alone" in answer.json["note"]
        assert (await run.sidecar())["latch"]["stopped"]
        delivered = await cutter("reconcile", "--json")
        assert [entry["run_id"] for entry in delivered.json["told"]] == [run.run_id]
        await run.until_state("stopped_stop")


async def test_a_second_run_is_refused_with_the_name_of_the_open_one_also_when_its_workflow_is_gone(
    stack: Stack, cutter: Cutter
) -> None:
    """Seed 000 §7."""
    async with stack.workers():
        run = await stack.start()
        await run.until_requested(CUT)
        answer = await cutter("run", DOCUMENT)
        assert (answer.code, f"has the open run {run.run_id}: see `cutter status {run.run_id}`" in answer.err) == (
            4,
            True,
        )
        await run.handle.terminate()
        answer = await cutter("run", DOCUMENT)
        assert answer.code == 4
        assert f"has the open run {run.run_id} (awaiting_cut_authorization)" in answer.err
        assert f"`cutter orchestrate resume --run-id {run.run_id}` continues it" in answer.err
        again = await cutter("orchestrate", "resume", "--run-id", run.run_id, "--json")
        assert (again.code, again.json["answer"]["code"]) == (0, "started_again")


async def test_a_cancel_ends_a_run_that_has_written_nothing(stack: Stack, cutter: Cutter) -> None:
    async with stack.workers():
        run = await stack.start()
        await run.until_requested(CUT)
        answer = await cutter("cancel", DOCUMENT, "--reason", "by mistake", "--json")
        assert (answer.code, answer.json["next"]) == (0, f"cutter run {DOCUMENT}")
        assert (await run.result()).state == "voided_cancelled"
        again = await cutter("cancel", DOCUMENT, "--reason", "by mistake")
        assert again.code == 4
        assert "is over as voided_cancelled" in again.err


async def test_a_cancel_of_a_run_that_wrote_says_so_and_names_void_which_withdraws(
    stack: Stack, cutter: Cutter
) -> None:
    async with stack.workers():
        run = await stack.start()
        await run.approve(CUT)
        await run.until_requested(LIFECYCLE)
        answer = await cutter("cancel", DOCUMENT, "--reason", "wrong text", "--json")
        assert (answer.json["wrote"], answer.json["next"]) == (True, f"cutter void {DOCUMENT} --reason TEXT")
        await run.until_state("stopped_cancel")
        assert stack.database.value(DRAFTS) > 0
        void = await cutter.signed("void", DOCUMENT, "--reason", "Wrong text!")
        assert (void.code, void.json["state"]) == (0, "voided_wrong_text")
        assert stack.database.value(DRAFTS) == 0
        assert (await run.result()).state == "voided_wrong_text"


async def test_an_open_run_learns_that_it_was_voided_and_a_second_void_is_no_error(
    stack: Stack, cutter: Cutter
) -> None:
    async with stack.workers():
        run = await stack.start()
        await run.until_requested(CUT)
        assert (await cutter.signed("void", DOCUMENT, "--reason", "wrong source")).json[
            "state"
        ] == "voided_wrong_source"
        assert (await run.result()).state == "voided_wrong_source"
        again = await cutter.signed("void", run.run_id, "--reason", "wrong source")
        assert (again.code, again.json["status"]) == (0, "duplicate")


async def test_a_second_void_tells_the_workflow_that_missed_the_first(stack: Stack, cutter: Cutter) -> None:
    async with stack.workers() as held:
        run = await stack.start()
        await run.until_requested(CUT)
        order = await run.order(schema.VOID, reason="wrong source")
        await asyncio.to_thread(
            judge_approval, held[WorkerRole.CUTTER], JudgeInput(run_id=run.run_id, gate=CUT, kb_id=order)
        )
        await asyncio.to_thread(void_run, held[WorkerRole.EXEC], VoidInput(run_id=run.run_id, kb_id=order))
        again = await cutter.signed("void", run.run_id, "--reason", "wrong source")
        assert (again.code, again.json["status"]) == (0, "duplicate")
        assert (await asyncio.wait_for(run.result(), 60)).state == "voided_wrong_source"


async def test_a_rejected_run_is_voided_and_the_document_may_be_run_again(stack: Stack, cutter: Cutter) -> None:
    async with stack.workers():
        run = await stack.start()
        await run.until_requested(CUT)
        rejected = await cutter.signed("reject", DOCUMENT, "--reason", "article 4 is missing")
        assert (rejected.code, (await run.result()).state) == (0, "failed_rejected")
        assert (await cutter.signed("void", DOCUMENT, "--reason", "again")).json["status"] == "voided"
        started = await cutter("run", DOCUMENT, "--wait", "--json")
        assert (started.code, started.json["state"]) == (3, "awaiting_cut_authorization")


async def test_enacted_law_is_never_voided(stack: Stack, cutter: Cutter) -> None:
    async with stack.workers():
        run = await stack.start()
        await run.through()
        answer = await cutter.signed("void", DOCUMENT, "--reason", "no")
        assert answer.code == 4
        assert "never voided" in answer.err


async def test_a_stranger_may_stop_but_not_void(stack: Stack, cutter: Cutter) -> None:
    async with stack.workers():
        run = await stack.start()
        await run.until_requested(CUT)
        answer = await cutter.signed("void", DOCUMENT, "--reason", "no", who="mallory")
        assert answer.code == 4
        assert (await run.state()) == "awaiting_cut_authorization"


async def test_drift_is_shown_and_acknowledged_only_when_the_person_says_yes(stack: Stack, cutter: Cutter) -> None:
    async with stack.workers():
        run = await stack.start()
        await run.until_requested(CUT)
        stack.database.run("alter function public.fn_content_hash(text) set work_mem = '8MB'")
        await run.handle.signal("submit_approval", await run.sign())
        await run.until_shown("stopped_drift_functions")
        refused = await cutter.signed(
            "approve", DOCUMENT, "--decision", "acknowledge_drift", "--reason", "known", typed="n\n"
        )
        assert refused.code == 4
        assert "nothing was signed" in refused.err
        # What is shown and signed is what differs now, not when the run stopped.
        stack.database.run("alter function public.fn_content_hash(text) set work_mem = '9MB'")
        home = str(stack.kit.alice.home)
        shown = await cutter(
            "approve",
            DOCUMENT,
            "--decision",
            "acknowledge_drift",
            "--reason",
            "known",
            "--approver",
            "alice",
            "--gpg-home",
            home,
            typed="n\n",
        )
        assert "fn_content_hash" in shown.err
        assert "work_mem=9MB" in shown.err
        answer = await cutter.signed(
            "approve", DOCUMENT, "--decision", "acknowledge_drift", "--reason", "the owner raised it"
        )
        assert (answer.code, answer.json["status"]) == (0, "accepted")
        # The approval that met the drift still stands: nobody signs it twice.
        await run.approve(LIFECYCLE)
        assert (await run.result()).state == "closeout_reported"


MISTAKES = (
    (("stop", DOCUMENT, "--reason", " "), 2, "--reason"),
    (("stop", "ICX-NOPE-1", "--reason", "x"), 1, "cutter law show"),
    (("void", "ICX-NOPE-1", "--reason", "x"), 1, "cutter law show"),
    (("approve", DOCUMENT, "--decision", "void"), 2, "cutter void RUN"),
    (("approve", DOCUMENT, "--decision", "resume", "--reason", "x"), 4, f"cutter approve {DOCUMENT}"),
    (("approve", DOCUMENT, "--decision", "acknowledge_drift", "--reason", "x"), 4, "not stopped by drift"),
)


async def test_what_cannot_be_done_is_one_sentence_that_says_what_to_do(stack: Stack, cutter: Cutter) -> None:
    async with stack.workers():
        run = await stack.start()
        await run.until_requested(CUT)
        for arguments, code, word in MISTAKES:
            answer = await cutter(*arguments)
            assert (answer.code, answer.out, word in answer.err) == (code, "", True), (arguments, answer)
            assert len(answer.err.strip().splitlines()) == 1
        assert await run.state() == "awaiting_cut_authorization"
