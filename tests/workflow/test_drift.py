"""Drift between gates: found before the next write, shown with what differs, gone on from by a signed word alone."""

from __future__ import annotations

import pytest

from cutter.approvals import schema
from tests.support.stack import Stack

CUT, LIFECYCLE = "SG_cut_authz", "SG_lifecycle_authz"


@pytest.mark.parametrize(
    ("statement", "dimension", "named"),
    [
        ("alter table public.unit_version add column tampered integer", "tables", "unit_version"),
        ("alter function public.fn_iu_apply_edit_draft(uuid, text) owner to postgres", "functions", "fn_iu_apply"),
        ("alter table public.information_unit disable trigger trg_iu_birth_gate_layer1", "triggers", "birth_gate"),
        ("grant insert on public.information_unit to cutter_read", "grants", "information_unit"),
    ],
)  # fmt: skip
async def test_drift_while_people_decide_stops_before_the_write(
    stack: Stack, statement: str, dimension: str, named: str
) -> None:
    """Seeds 000 §3, 000 §8."""
    async with stack.workers():
        run = await stack.start()
        await run.until_requested(CUT)
        stack.database.run(statement)
        await run.approve(CUT)
        sidecar = await run.until_state(f"stopped_drift_{dimension}")
        report = sidecar["run"]["last_error"]["report"]
        assert any(named in line for line in report["diff"])
        assert stack.database.value("select count(*) from public.information_unit") == 0
        assert sidecar["consumptions"] == []
        status = await run.until_shown(f"stopped_drift_{dimension}")
        assert status["next_command"] == f"cutter approve {run.document_id} --decision acknowledge_drift --reason TEXT"


async def test_acknowledged_drift_is_gone_on_from_and_an_unsigned_resume_is_not_enough(stack: Stack) -> None:
    """Seeds 000 §2, 000 §8."""
    async with stack.workers():
        run = await stack.start()
        await run.until_requested(CUT)
        stack.database.run("alter table public.unit_version add column harmless integer")
        await run.approve(CUT)
        await run.until_shown("stopped_drift_tables")
        assert (await run.resume())["status"] == "refused"
        assert (await run.resume(await run.order(schema.RESUME)))["status"] == "refused"
        await run.handle.signal("acknowledge_drift", await run.order(schema.ACKNOWLEDGE_DRIFT))
        await run.approve(LIFECYCLE)
        assert (await run.result()).state == "closeout_reported"


async def test_an_acknowledgement_of_another_state_than_the_present_one_is_refused(stack: Stack) -> None:
    async with stack.workers():
        run = await stack.start()
        await run.until_requested(CUT)
        stack.database.run("alter table public.unit_version add column harmless integer")
        await run.approve(CUT)
        await run.until_shown("stopped_drift_tables")
        order = await run.order(schema.ACKNOWLEDGE_DRIFT)
        stack.database.run("alter table public.unit_version add column another integer")
        answer = await run.resume(order)
        status = await run.status()
        assert status["state"].startswith("stopped_"), (answer, status)
        assert stack.database.value("select count(*) from cutter_governance.drift_acknowledgement") == 0


async def test_drift_before_a_request_stops_with_a_report_that_can_be_acknowledged(stack: Stack) -> None:
    def tamper(gate: str) -> None:
        if gate == "IG_grant_probe":
            stack.database.run("alter table public.unit_version add column tampered integer")

    stack.hooks.append(tamper)
    async with stack.workers():
        run = await stack.start()
        sidecar = await run.until_state("stopped_drift_tables")
        assert any("unit_version" in line for line in sidecar["run"]["last_error"]["report"]["diff"])
        await run.until_shown("stopped_drift_tables")
        assert (await run.resume(await run.order(schema.ACKNOWLEDGE_DRIFT)))["status"] == "accepted"
        status = await run.until_requested(CUT)
        assert status["state"] == "awaiting_cut_authorization"


async def test_a_row_that_is_changed_past_its_triggers_is_found(stack: Stack) -> None:
    async with stack.workers():
        run = await stack.start()
        await run.approve(CUT)
        await run.until_requested(LIFECYCLE)
        stack.database.run(
            "set session_replication_role = replica; alter table public.unit_version disable trigger all;"
            " update public.unit_version set body = 'other', content_hash = encode(sha256('other'), 'hex')"
            " where id = (select min(id::text)::uuid from public.unit_version)"
        )
        await run.approve(LIFECYCLE)
        await run.until_shown("stopped_drift_triggers")
        assert stack.database.value("select count(*) from public.iu_lifecycle_log") == 0
