"""What becomes of a batch when a document fails, when people stop it, when it runs too long, and how it goes on."""

from __future__ import annotations

import asyncio
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from temporalio.client import WorkflowExecutionStatus

from activities.batch import advance as batch_steer
from cutter import limits
from cutter.approvals import schema
from cutter.batch import documents
from cutter.storage.batches import Options
from temporal import batches
from temporal.names import batch_workflow_id
from tests.support import batch as support
from tests.support.batch import CUT, LIFECYCLE, Batch
from tests.support.signatures import sign_answer
from tests.support.stack import Run, Stack

POISON = b"A text that has no heading at all.\n"
ENACTED = "select count(*) from public.information_unit where lifecycle_status = 'enacted'"


def three(stack: Stack, **fields: object) -> list[support.Json]:
    """A poisoned document, one that depends on it, and a good one."""
    stack.register("ICX-P-1", POISON)
    stack.register("ICX-P-2", support.law(2))
    stack.register("ICX-P-3", support.law(3))
    return [
        {"document_id": "ICX-P-1", **fields},
        {"document_id": "ICX-P-2", "depends_on": ["ICX-P-1"]},
        {"document_id": "ICX-P-3"},
    ]


async def outcomes(batch: Batch) -> dict[str, str]:
    return batch.outcomes(await batch.view())


async def stopped(batch: Batch, document_id: str) -> Run:
    """Stop one document of a batch as a person does; its run."""
    run = batch.stack.run_of((await batch.until_stage(document_id, "at_sg1"))["run_id"], document_id)
    await run.handle.signal("stop", {"reason": "let me look"})
    await run.until_shown("stopped_stop")
    await batch.until_stage(document_id, "stopped")
    return run


def poison_in(folder: Path) -> str:
    """The poisoned text as a file of one's own."""
    path = folder / "poison.md"
    path.write_bytes(POISON)
    return str(path)


def _typed(entry: str, section: str, **words: str) -> subprocess.CompletedProcess[str]:
    """What a section says to type, typed: its words in capitals are the person's to replace."""
    command = entry.partition(f"## {section}\n\n```\n")[2].partition("\n")[0]
    program, *rest = [words.get(word, word) for word in shlex.split(command)]
    assert program == "cutter"
    return subprocess.run([sys.executable, "-m", "starter.cli", *rest], capture_output=True, text=True, check=False)


async def test_a_failed_document_is_set_aside_and_only_what_depends_on_it_is_held_back(
    stack: Stack, tmp_path: Path
) -> None:
    """Seeds 001 §6, 001 §10."""
    async with stack.workers():
        batch = await support.start(stack, three(stack), Options(policy="quarantine"))
        result = await batch.through()
        assert result.state == "batch_failed_partial"
        assert await outcomes(batch) == {"ICX-P-1": "failed", "ICX-P-2": "blocked", "ICX-P-3": "enacted"}
        items = {item["document_id"]: item for item in (await batch.view())["items"]}
        assert items["ICX-P-1"]["queue"] == "quarantine_queue"
        assert items["ICX-P-2"]["reason"] == "it depends on ICX-P-1, which is not enacted"
        poisoned = items["ICX-P-1"]
        entry = support.kb_text(stack, poisoned["queue_kb_id"])
        for text in (
            "run_id: ictr-", "document_id: ICX-P-1", "state_at_failure: failed_mark", "failed_gate: IG_mark",
            "## drift_evidence", "## sidecar_snapshot_truncated", "recommended_disposition: amend",
            "## invariant_diff\n\n```diff\n--- expected\n+++ observed\n@@ text_can_be_marked @@\n-",
            f"## remedy\n\nFirst: correct the text, or choose another profile or options for it. Then:\n\n```\n"
            f"cutter source add FILE --document-id ICX-P-1 --profile PROFILE\n"
            f"cutter approve --batch {batch.batch_id} --decision include_failed --only ICX-P-1 --reason TEXT\n```",
        ):  # fmt: skip
            assert text in entry, (text, entry)
        reproduced = _typed(entry, "reproduction_command", FILE=poison_in(tmp_path))
        assert (reproduced.returncode, "refused" in reproduced.stderr) == (4, True), reproduced
        about = "select count(*) from cutter_governance.outbox where body like '# ICX-P-1 · %failed_mark%'"
        assert "/STOP-quarantine-" in poisoned["queue_kb_id"]
        assert stack.database.value(about) == 1, "each quarantined document costs the knowledge base one document"


async def test_quarantine_writes_of_itself_about_a_document_whose_run_does_not(
    stack: Stack, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its workflow may be gone before its last word; the batch's report waits no longer than for any other answer.
    Seed 001 §6.
    """
    monkeypatch.setattr(limits, "STEER_UNHEARD_SECONDS", 2)
    monkeypatch.setattr(limits, "STEER_POLL_SECONDS", 1)
    monkeypatch.setattr(batch_steer, "_stop_document", lambda *_: None)
    async with stack.workers():
        batch = await support.start(stack, three(stack)[:1], Options(policy="quarantine"))
        await batch.result()
        (poisoned,) = (await batch.view())["items"]
        assert poisoned["queue_kb_id"].startswith(f"{documents.folder(batch.batch_id)}/quarantine_queue/")


async def test_under_quarantine_only_the_documents_that_wait_for_a_sovereign_wait(stack: Stack) -> None:
    """Seed 001 §6 on_sovereign_stop: the batch awaits the gate, the failed one is aside, the signed ones go on."""
    stack.register("ICX-P-4", support.law(4))
    items = [item for item in three(stack) if "depends_on" not in item] + [{"document_id": "ICX-P-4"}]
    async with stack.workers():
        batch = await support.start(stack, items, Options(policy="quarantine"))
        await batch.until_state("batch_awaiting_cut_authz_set")
        await batch.hand_over(await batch.sign(CUT, leave_out=["ICX-P-4"]))
        await batch.until_stage("ICX-P-3", "at_sg2")
        await batch.hand_over(await batch.sign(LIFECYCLE))
        await batch.until_stage("ICX-P-3", "enacted")
        view = await batch.until_state("batch_awaiting_cut_authz_set")
        assert batch.outcomes(view) == {"ICX-P-1": "failed", "ICX-P-3": "enacted", "ICX-P-4": "at_sg1"}
        assert [item["queue"] for item in view["items"]] == ["quarantine_queue", None, None]
        assert (await batch.summary()).partial
        await batch.hand_over(await batch.sign(CUT))
        assert (await batch.through_lifecycle()).totals["enacted"] == 2


@pytest.mark.thorough
async def test_a_stop_by_a_person_fails_no_strict_batch(stack: Stack) -> None:
    """Seed 001 §6 on_sovereign_stop: only the stopped document waits, with what depends on it. Its resume leads to the
    end.
    """
    stack.register("ICX-B-3", support.law(3))
    items = [*support.small_laws(stack, 2), {"document_id": "ICX-B-3", "depends_on": ["ICX-B-2"]}]
    async with stack.workers():
        batch = await support.start(stack, items, Options(policy="strict"))
        await batch.until_state("batch_awaiting_cut_authz_set")
        run = await stopped(batch, "ICX-B-2")
        await batch.hand_over(await batch.sign(CUT))
        await batch.until_stage("ICX-B-1", "at_sg2")
        await batch.hand_over(await batch.sign(LIFECYCLE))
        await batch.until_stage("ICX-B-1", "enacted")
        view = await batch.until_state("batch_awaiting_cut_authz_set")
        assert batch.outcomes(view) == {"ICX-B-1": "enacted", "ICX-B-2": "stopped", "ICX-B-3": "pending"}
        assert (view["batch"]["halted"], [item["queue"] for item in view["items"]]) == (None, [None] * 3)
        assert (await batch.status())["next_command"] == "cutter approve ICX-B-2 --decision resume --reason TEXT"
        await run.resume(await run.order(schema.RESUME))
        for name in ("ICX-B-2", "ICX-B-3"):
            await batch.until_stage(name, "at_sg1")
            await batch.hand_over(await batch.sign(CUT))
            await batch.until_stage(name, "at_sg2")
            await batch.hand_over(await batch.sign(LIFECYCLE))
        assert (await batch.result()).totals == {"enacted": 3, "settled": 3}


async def test_a_stop_by_a_person_is_not_quarantined_and_its_resume_wakes_the_night(stack: Stack) -> None:
    """Seed 001 §6 on_sovereign_stop."""
    async with stack.workers():
        batch = await support.start(stack, 2, Options.overnight())
        assert (await batch.result()).state == "batch_awaiting_cut_authz_set"
        run = await stopped(batch, "ICX-B-2")
        await batch.hand_over_late(await batch.sign(CUT))
        await batch.until_stage("ICX-B-1", "at_sg2")
        await batch.hand_over_late(await batch.sign(LIFECYCLE))
        await batch.until_stage("ICX-B-1", "enacted")
        await batch.until_state("batch_awaiting_cut_authz_set")
        batch = await support.again(batch)
        result = await batch.result()
        assert result.state == "batch_awaiting_cut_authz_set"
        held = (await batch.view())["items"][1]
        assert (held["queue"], held["queue_state"], held["queue_code"]) == (
            "human_review_queue", "stopped_stop", "stopped_stop",
        )  # fmt: skip
        resume = "cutter approve ICX-B-2 --decision resume --reason TEXT"
        assert resume in support.kb_text(stack, held["queue_kb_id"])
        assert support.kb_text(stack, result.report).endswith(f"Next:\n\n```\n{resume}\n```\n")
        await run.resume(await run.order(schema.RESUME))
        await batch.until_stage("ICX-B-2", "at_sg1")
        await batch.hand_over_late(await batch.sign(CUT))
        await batch.until_stage("ICX-B-2", "at_sg2")
        await batch.hand_over_late(await batch.sign(LIFECYCLE))
        view = await batch.until_state("batch_closeout")
        assert [item["queue"] for item in view["items"]] == [None] * 2


async def test_strict_stops_all_others_and_starts_nothing_more(stack: Stack) -> None:
    """Seed 001 §6."""
    async with stack.workers():
        batch = await support.start(stack, three(stack), Options(policy="strict", lanes=1))
        result = await batch.result()
        assert result.state == "batch_failed_partial"
        assert await outcomes(batch) == {"ICX-P-1": "failed", "ICX-P-2": "voided", "ICX-P-3": "voided"}
        assert "--stop-on-first-failure: ICX-P-1 failed" in result.reason
        assert (await batch.view())["items"][0]["queue"] == "error_queue"


async def test_a_critical_document_stops_the_rest_under_every_policy(stack: Stack) -> None:
    """Seeds 004 "Workstream Lifecycle" Transition Details, 004 "Workstream Lifecycle" Invariants."""
    async with stack.workers():
        batch = await support.start(stack, three(stack, critical="true"), Options(policy="quarantine", lanes=1))
        assert (await batch.result()).reason == "ICX-P-1 is critical and failed"
        assert (await outcomes(batch))["ICX-P-3"] == "voided"


async def test_a_document_of_another_open_batch_is_refused_alone(stack: Stack) -> None:
    async with stack.workers():
        first = await support.start(stack, support.small_laws(stack, 2))
        await first.until_state("batch_awaiting_cut_authz_set")
        stack.register("ICX-B-9", support.law(9))
        second = await support.start(stack, [{"document_id": "ICX-B-1"}, {"document_id": "ICX-B-9"}])
        view = await second.until_state("batch_awaiting_cut_authz_set")
        assert second.outcomes(view) == {"ICX-B-1": "busy", "ICX-B-9": "at_sg1"}
        assert view["items"][0]["reason"].startswith("STOP_RUN_BUSY: its run ictr-")
        assert (await first.through()).totals == {"enacted": 2, "settled": 2}
        assert (await second.through()).state == "batch_failed_partial"
        batches.halt(stack.settings, second.batch_id, None, "free now")
        again = await batches.start(stack.client, second.batch_id, "olga")
        assert (await again.result()).totals == {"enacted": 1, "settled": 2, "skipped": 1}


@pytest.mark.thorough
async def test_a_stopped_batch_stops_its_documents_and_says_how_to_go_on(stack: Stack) -> None:
    """Seeds 001 §6, 002 "Execution Command Boundary"."""
    async with stack.workers():
        batch = await support.start(stack, 2)
        await batch.until_state("batch_awaiting_cut_authz_set")
        await batch.handle.signal("stop", {"reason": "let me look"})
        result = await batch.result()
        assert (result.state, result.reason) == ("batch_failed_partial", "let me look")
        assert set((await outcomes(batch)).values()) == {"stopped"}
        assert f"cutter orchestrate resume-batch --batch-id {batch.batch_id}" in (await batch.status())["next_command"]


async def test_a_cancelled_batch_that_has_written_nothing_is_voided(stack: Stack) -> None:
    """Seed 002 "Queue and Cancellation Controls"."""
    async with stack.workers():
        batch = await support.start(stack, support.small_laws(stack, 3), Options(lanes=1))
        await batch.until_state("batch_awaiting_cut_authz_set")
        await batch.handle.cancel()
        result = await batch.result()
        assert result.state == "batch_voided"
        assert set((await outcomes(batch)).values()) == {"voided"}
        assert stack.database.value("select count(*) from public.information_unit") == 0


async def test_a_cancel_reaches_what_had_stopped_before_also_when_the_batch_was_over(stack: Stack) -> None:
    """Each of its documents had stopped, so nobody steers it any more."""
    async with stack.workers():
        batch = await support.start(stack, support.small_laws(stack, 2), Options.overnight())
        assert (await batch.result()).state == "batch_awaiting_cut_authz_set"
        handles = [(await stopped(batch, f"ICX-B-{number}")).handle for number in (1, 2)]
        batch = await support.again(batch)
        assert (await batch.result()).totals["human_review_queue"] == 2
        await asyncio.to_thread(batches.stop, stack.settings, batch.batch_id, "cancel", "not this year")
        await stack.client.get_workflow_handle(batch_workflow_id(batch.batch_id)).result()
        view = await batch.view()
        assert view["batch"]["state"] == "batch_voided"
        assert [(item["state"], item["queue"]) for item in view["items"]] == [("voided_cancelled", None)] * 2
        for handle in handles:
            await handle.result()


@pytest.mark.thorough
async def test_over_the_hard_cap_what_runs_is_stopped_and_what_waits_for_people_waits_on(stack: Stack) -> None:
    """Seed 001 §7."""
    async with stack.workers():
        batch = await support.start(stack, support.small_laws(stack, 2), Options(hard_cap_minutes=0.1))
        result = await batch.result()
        assert result.reason.startswith("STOP_OVER_BATCH_HARDCAP")
        assert result.state == "batch_failed_partial"
        assert support.kb_text(stack, result.report).count("STOP_OVER_BATCH_HARDCAP") == 1


async def test_unsigned_documents_stay_paused_and_the_batch_is_partial_until_they_are_signed(stack: Stack) -> None:
    """Seed 001 §4."""
    async with stack.workers():
        batch = await support.start(stack, 3)
        await batch.until_state("batch_awaiting_cut_authz_set")
        answer = await batch.hand_over(await batch.sign(CUT, leave_out=["ICX-B-2"]))
        assert answer["missing"] == ["ICX-B-2"]
        view = await batch.until_state("batch_awaiting_lifecycle_authz_set")
        assert (await batch.summary()).partial
        assert batch.outcomes(view)["ICX-B-2"] == "at_sg1"
        await batch.hand_over(await batch.sign(CUT))
        await batch.hand_over(await batch.sign(LIFECYCLE))
        assert (await batch.through_lifecycle()).state == "batch_closeout"


async def test_a_set_with_wrong_documents_names_each_and_takes_the_right_ones(stack: Stack) -> None:
    """Seeds 001 §1, 001 §4."""
    async with stack.workers():
        batch = await support.start(stack, 2)
        await batch.until_state("batch_awaiting_cut_authz_set")
        folder = await batch.sign(CUT, leave_out=["ICX-B-2"])
        await batch.sign(CUT, leave_out=["ICX-B-1"], who=stack.kit.mallory, into=folder)
        answer = await batch.hand_over(folder)
        assert answer["accepted"] == ["ICX-B-1"]
        (refused,) = answer["refused"]
        assert (refused["document_id"], refused["code"]) == ("ICX-B-2", "signer_not_allowed")
        assert (await batch.hand_over(folder, listing="0" * 64))["code"] == "set_changed"
        assert (await batch.hand_over("knowledge/dev/nothing"))["code"] == "set_empty"
        assert (await batch.hand_over("../secrets"))["code"] == "malformed"


@pytest.mark.thorough
async def test_a_failed_document_is_taken_in_again_by_a_signature_of_its_own_and_so_is_what_needs_it(
    stack: Stack,
) -> None:
    """Seed 001 §10."""
    needs_it = {"document_id": "ICX-B-3", "depends_on": ["ICX-B-1"]}
    stack.register("ICX-B-3", support.law(3))
    async with stack.workers():
        batch = await support.start(stack, [*support.small_laws(stack, 2), needs_it])
        view = await batch.until_state("batch_awaiting_cut_authz_set")
        first = view["items"][0]
        asked = (stack.settings, stack.kit.alice, first["run_id"], first["request_kb_id"])
        name = sign_answer(*asked, decision=schema.REJECT, text="not yet")
        await stack.run_of(view["items"][0]["run_id"], "ICX-B-1").handle.signal("submit_approval", name)
        await batch.hand_over(await batch.sign(CUT, leave_out=["ICX-B-1"]))
        await batch.until_state("batch_awaiting_lifecycle_authz_set")
        assert await outcomes(batch) == {"ICX-B-1": "failed", "ICX-B-2": "at_sg2", "ICX-B-3": "blocked"}
        order = await batch.order(schema.INCLUDE_FAILED, view["items"][0]["run_id"], "ICX-B-1")
        assert (await batch.hand_over(order))["accepted"] == ["ICX-B-1"]
        again = await batch.until_stage("ICX-B-1", "at_sg1")
        assert again["run_id"] != view["items"][0]["run_id"]
        assert again["queue"] is None
        await batch.hand_over(await batch.sign(CUT))
        await batch.until_stage("ICX-B-1", "at_sg2")
        await batch.hand_over(await batch.sign(LIFECYCLE))
        await batch.until_stage("ICX-B-3", "at_sg1")
        await batch.hand_over(await batch.sign(CUT))
        await batch.until_stage("ICX-B-3", "at_sg2")
        await batch.hand_over(await batch.sign(LIFECYCLE))
        assert (await batch.result()).totals == {"enacted": 3, "settled": 3}


async def test_a_batch_whose_workflow_was_terminated_adopts_its_documents_when_it_is_started_again(
    stack: Stack,
) -> None:
    async with stack.workers():
        batch = await support.start(stack, 2)
        await batch.until_state("batch_awaiting_cut_authz_set")
        await batch.handle.terminate("by a test")
        before = [item["run_id"] for item in (await batch.view())["items"]]
        batch.handle = await batches.start(stack.client, batch.batch_id, "olga")
        assert (await batch.through()).totals == {"enacted": 2, "settled": 2}
        assert [item["run_id"] for item in (await batch.view())["items"]] == before
        assert stack.database.value(ENACTED) == 6


async def test_a_document_whose_workflow_was_terminated_goes_on_while_its_batch_does(
    stack: Stack, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, seconds in (("SILENT", 2), ("UNHEARD", 2), ("POLL", 1)):
        monkeypatch.setattr(limits, f"STEER_{name}_SECONDS", seconds)
    async with stack.workers():
        batch = await support.start(stack, 1)
        await batch.until_state("batch_awaiting_cut_authz_set")
        stack.take_write_lane()
        await batch.hand_over(await batch.sign(CUT))
        (item,) = (await batch.view())["items"]
        run = stack.run_of(item["run_id"], item["document_id"])
        await run.until_attempted("IG_cut_leg_a_execute", "lane_busy")
        await run.handle.terminate("by a stranger")
        stack.let_go()
        (after,) = (await batch.until_state("batch_awaiting_lifecycle_authz_set", seconds=120))["items"]
        assert (after["run_id"], after["state"]) == (run.run_id, "awaiting_lifecycle_authorization")
        described = await stack.client.get_workflow_handle(run.handle.id).describe()
        assert described.status is WorkflowExecutionStatus.RUNNING, "in another execution: the first was terminated"
        assert stack.database.value("select count(*) from public.information_unit") == 3, "written once"
