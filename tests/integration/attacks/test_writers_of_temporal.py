"""Who may write to Temporal, and holds nothing else, can stop, delay and waste: nothing fails or is written by it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import pytest
from temporalio.client import WorkflowFailureError

from cutter.errors import NotFound
from cutter.messages import RunInput, VoidInput
from cutter.storage import runs as run_rows
from cutter.types import Json
from tests.integration.attacks.foreign import foreign_worker, schedule
from tests.support.stack import THREE_UNITS, Run, Stack
from tests.support.temporal import until

CUT, LIFECYCLE = "SG_cut_authz", "SG_lifecycle_authz"


NOTHING: tuple[tuple[str, str, Json], ...] = (
    *(("cutter", "escalate", {"state": state, "reason": "r"}) for state in (
        "failed_cut_leg_a", "voided_x", "voided_cancelled", "closeout_reported", "lifecycle_enacted", "pending",
        "stopped_drift_functions", "stopped_" + "y" * 5000, "stopped_; drop", "")),
    ("cutter", "end_request", {"gate": CUT, "status": "expired"}),
    ("cutter", "end_request", {"gate": CUT, "status": "rejected", "approval_sha256": "0" * 64}),
    ("cutter", "end_request", {"gate": CUT, "status": "approved"}),
    ("cutter", "finish_run", {"outcome": "rehearsed"}),
    ("cutter", "finish_run", {"outcome": "skipped"}),
    ("cutter", "resume_run", {"statement_sha256": "0" * 64}),
    ("cutter", "judge_approval", {"gate": "SG_\x00", "kb_id": "a\x00.md"}),
    ("cutter", "judge_approval", {"gate": "SG_other", "kb_id": "x" * 5000}),
    ("cutter", "open_request", {"gate": LIFECYCLE}),
    ("cutter", "open_request", {"gate": "SG_other"}),
    ("cutter", "record_refusal", {"gate": CUT, "message": "m\x00" * 5000, "code": "c" * 5000, "reason": "r" * 5000}),
    ("cutter", "set_stop", {"kind": "other", "reason": "r", "by": "b"}),
    ("cutter", "begin_run", {"run": {"document_id": "ICX-TEST-1", "mode": "dryrun"}, "first_execution_id": "x"}),
    ("cutter", "IG_source_pin", {"source_uri": "https://elsewhere.example/law"}),
    ("cutter", "IG_structural_verify", {}),
    ("cutter", "IG_closeout", {}),
    ("exec", "IG_cut_leg_a_execute", {}),
    ("exec", "IG_cut_leg_a_execute", {"approval_kb_ids": ["../../a.md", "a.md", "/etc/passwd"]}),
    ("exec", "IG_leg_b_record", {}),
    ("exec", "IG_lifecycle_enact_execute", {"approval_kb_ids": ["a.md"]}),
    ("exec", "void_run", {"kb_id": "a.md"}),
    ("verify", "IG_write_verify", {}),
)  # fmt: skip
"""Activities that do nothing to a run that waits at SG_1; each is given the run's own id."""


@pytest.fixture
async def waiting(stack: Stack) -> AsyncIterator[Run]:
    """A healthy run at its first sovereign gate, with all workers up and a stranger's own beside them."""
    async with stack.workers(), foreign_worker(stack.client):
        run = await stack.start()
        await run.until_requested(CUT)
        yield run


async def asked(run: Run, queue: str, name: str, order: Json) -> Any:
    if name == "begin_run":
        order = {**order, "run": {**order["run"], "run_id": run.run_id}}
    return await schedule(run.stack.client, queue, name, {**order, "run_id": run.run_id})


async def test_no_activity_that_a_stranger_schedules_moves_a_healthy_run(waiting: Run) -> None:
    for queue, name, order in NOTHING:
        answer = await asked(waiting, queue, name, order)
        assert await waiting.state() == "awaiting_cut_authorization", (name, order, answer)
        assert "Unexpected" not in str(answer), (name, order, answer)
    assert waiting.stack.database.value("select count(*) from public.information_unit") == 0
    assert (await waiting.through()).state == "closeout_reported"


async def test_a_message_with_a_nul_is_a_message_like_any_other(waiting: Run) -> None:
    await waiting.handle.signal("no\x00such")
    refused = "select count(*) from cutter_governance.message_refusal"

    async def recorded() -> bool:
        return bool(waiting.stack.database.value(refused) == 1)

    await until(recorded, what="the refusal is recorded")
    await waiting.handle.signal("stop", {"reason": "for\x00ever"})
    sidecar = await waiting.until_state("stopped_stop")
    assert sidecar["latch"]["reason"] == "for\ufffdever"
    await waiting.until_shown("stopped_stop")
    assert (await waiting.resume(await waiting.order("resume", stopped_state="stopped_stop")))["status"] == "accepted"
    assert (await waiting.through()).state == "closeout_reported"


async def test_backups_cannot_be_taken_for_nothing(waiting: Run) -> None:
    taken = "select count(*) from cutter_governance.action_receipt where connector = 'backup'"
    store = waiting.stack.settings.state / "artifacts"
    before = waiting.stack.database.value(taken), len(list(store.rglob("*.gpg")))
    again = await asked(waiting, "cutter", "refresh_backup", {})
    assert (again["status"], again["code"]) == ("passed", "")
    stranger = await schedule(waiting.stack.client, "cutter", "refresh_backup", {"run_id": "nobody"})
    assert (stranger["status"], stranger["code"]) == ("ended", "unknown_run")
    waiting.stack.register("ICX-TEST-2", THREE_UNITS)
    early = run_rows.register_run(waiting.stack.settings, "ICX-TEST-2", "live")
    unready = await schedule(waiting.stack.client, "cutter", "IG_backup", {"run_id": early})
    assert (unready["status"], unready["code"]) == ("out_of_order", "predecessor_not_sealed")
    assert (waiting.stack.database.value(taken), len(list(store.rglob("*.gpg")))) == before


async def test_a_second_workflow_of_the_same_run_writes_nothing_twice(waiting: Run) -> None:
    client = waiting.stack.client
    same = RunInput(document_id=waiting.document_id, run_id=waiting.run_id)
    twin = await client.start_workflow("DocumentRun", same, id="elsewhere/1", task_queue="cutter-cutter")
    dry = RunInput(document_id=waiting.document_id, run_id=waiting.run_id, mode="dryrun")
    trick = await client.start_workflow("DocumentRun", dry, id="elsewhere/2", task_queue="cutter-cutter")
    other = RunInput(document_id="ICX-OTHER-1", run_id=waiting.run_id)
    thief = await client.start_workflow("DocumentRun", other, id="elsewhere/3", task_queue="cutter-cutter")
    for handle in (twin, trick, thief):
        with pytest.raises(WorkflowFailureError):
            await handle.result()
    for state in ("awaiting_cut_authorization", "awaiting_lifecycle_authorization"):
        await waiting.until_state(state, seconds=90)
        kb_id = await until(lambda: signed(waiting), what="the request is in the knowledge base")
        await waiting.handle.signal("submit_approval", kb_id)
    sidecar = await waiting.until_state("closeout_reported", seconds=90)
    assert len(sidecar["consumptions"]) == 2
    assert waiting.stack.database.value("select count(*) = 27 from public.information_unit")


async def signed(run: Run) -> str:
    """KB id of an approval of the open request; empty while its document is not there yet."""
    try:
        return await run.sign()
    except NotFound:
        return ""


async def test_a_forged_void_voids_nothing(waiting: Run) -> None:
    approval = await waiting.sign()
    for kb_id in (
        approval,
        "nothing/here.md",
        "../../etc/passwd.md",
        (await waiting.sidecar())["requests"][0]["kb_id"],
    ):
        order = VoidInput(run_id=waiting.run_id, kb_id=kb_id, document_id=waiting.document_id)
        done = await waiting.stack.client.execute_workflow(
            "VoidRun", order, id=f"void/{waiting.run_id}", task_queue="cutter-cutter", result_type=dict
        )
        assert done["state"] == "", done
    assert await waiting.state() == "awaiting_cut_authorization"
