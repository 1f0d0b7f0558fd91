"""The policy on the real engine: a denial ends the run with its rule and line, an approval that it asks for is waited
for, and a batch sets aside what was denied."""

from __future__ import annotations

from functools import partial

from activities.reconciler.batches import Drained
from activities.reconciler.runs import drain
from cutter.approvals import schema
from cutter.storage import runs as run_rows
from cutter.storage.batches import Options
from starter.commands.reconcile import reading_deps
from tests.support import batch as support
from tests.support.policies import never_installed, put_in_force
from tests.support.runs import in_force
from tests.support.stack import Run, Stack
from tests.support.temporal import until

CUT, LIFECYCLE = "SG_cut_authz", "SG_lifecycle_authz"
LEG_A = "IG_cut_leg_a_execute"
UNITS = "select count(*) from public.information_unit"


async def shown(run: Run, word: str) -> bool:
    return any(word in refusal for refusal in (await run.status())["refusals"])


def stop_report(run: Run, sidecar: support.Json) -> str:
    return support.kb_text(
        run.stack, next(document["kb_id"] for document in sidecar["documents"] if document["kind"] == "stop_route")
    )


async def test_a_denied_write_ends_the_run_and_another_policy_lets_its_successor_write(stack: Stack) -> None:
    in_force(stack.settings, "operation: create_units, verdict: deny")
    async with stack.workers():
        run = await stack.start()
        result = await run.result()
        assert result.state == "failed_policy"
        rule = "policy.yaml line 3: rule r0 says deny to database create_units at IG_cut_leg_a_execute"
        assert rule in result.reason
        assert stack.database.value(UNITS) == 0
        assert stack.database.value("select count(*) from cutter_governance.approval_consumption") == 0
        sidecar = await run.sidecar()
        assert sidecar["requests"] == [], "nobody is asked to sign for it"
        report = stop_report(run, sidecar)
        assert rule in report
        assert f"cutter run {run.document_id} --amends {run.run_id}" in report
        put_in_force(stack.settings)
        again = await stack.start(amends=run.run_id)
        assert (await again.through()).state == "closeout_reported"


async def test_without_a_policy_the_run_ends_with_the_command_that_installs_one_and_its_report_waits(
    stack: Stack,
) -> None:
    never_installed(stack.database)
    async with stack.workers():
        run = await stack.start()
        result = await run.result()
        assert result.state == "failed_policy"
        assert "type `cutter policy install`" in result.reason
        waiting = [document for document in (await run.sidecar())["documents"] if document["sha256"] is None]
        assert [document["kind"] for document in waiting] == ["stop_route"]
    with reading_deps(stack.settings) as deps:
        assert drain(deps) == Drained()
        put_in_force(stack.settings)
        assert [document.kb_id for document in drain(deps).put] == [waiting[0]["kb_id"]]


async def test_a_backup_that_two_people_must_allow_is_waited_for(stack: Stack) -> None:
    in_force(stack.settings, "connector: backup, verdict: needs_approval(high)")
    async with stack.workers():
        run = await stack.start()
        await run.until_shown("stopped_policy_backup")
        sidecar = await run.until_state("stopped_policy_backup")
        assert "line 3: rule r0 says needs_approval(high) to backup take" in stop_report(run, sidecar)
        for who, status in ((stack.kit.alice, "more_needed"), (stack.kit.alice, "refused")):
            answer = await run.resume(await run.order(schema.RESUME, f"as {status}", who=who))
            assert answer["status"] == "accepted"
            await until(partial(shown, run, status), what=status)
            assert await run.state() == "stopped_policy_backup"
        await run.resume(await run.order(schema.RESUME, "as agreed", who=stack.kit.bob))
        assert (await run.through()).state == "closeout_reported"


async def test_a_rule_that_comes_while_people_decide_asks_for_the_second_one(stack: Stack) -> None:
    async with stack.workers():
        run = await stack.start()
        await run.until_requested(CUT)
        assert (await run.handle.query("request", result_type=dict))["approvers_needed"] == 1
        in_force(stack.settings, f"gate: {LEG_A}, connector: database, verdict: needs_approval(high)")
        await run.handle.signal("submit_approval", await run.sign())
        await run.until_attempted(LEG_A, "approval_refused")
        assert stack.database.value(UNITS) == 0
        await run.approve(CUT, stack.kit.bob)
        await run.approve(LIFECYCLE)
        assert (await run.result()).state == "closeout_reported"
        approvers = run_rows.sidecar(stack.settings, run.run_id).consumptions
        assert {approver.approver for approver in approvers if approver.gate == CUT} == {"alice", "bob"}


async def test_a_batch_sets_aside_what_was_denied_and_goes_on_with_the_rest(stack: Stack) -> None:
    for document in ("ICX-P-1", "ICX-P-2"):
        stack.register(document, support.law(2 if document.endswith("2") else 1))
    in_force(stack.settings, "document: ICX-P-1, connector: backup, verdict: deny")
    async with stack.workers():
        items = [{"document_id": "ICX-P-1"}, {"document_id": "ICX-P-2"}]
        batch = await support.start(stack, items, Options(policy="quarantine"))
        assert (await batch.through()).state == "batch_failed_partial"
        view = await batch.view()
        assert batch.outcomes(view) == {"ICX-P-1": "failed", "ICX-P-2": "enacted"}
        entry = support.kb_text(stack, view["items"][0]["queue_kb_id"])
        for line in (
            "state_at_failure: failed_policy", "failed_gate: IG_backup", "recommended_disposition: void",
            "policy.yaml line 3: rule r0 says deny to backup take",
        ):  # fmt: skip
            assert line in entry, entry
