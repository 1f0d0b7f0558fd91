"""A law through all fourteen states on the real parts, and the runs that write nothing."""

from __future__ import annotations

import unicodedata

import pytest
from psycopg.types.json import Jsonb
from temporalio.client import WorkflowFailureError

from cutter import marking
from cutter.approvals import schema
from cutter.approvals.policy import Tier
from cutter.catalogue import GATES, PLANNED
from cutter.kb.store import Store
from cutter.messages import RunInput, RunResult
from temporal import names, runs
from tests.support.stack import DOCUMENT, THREE_UNITS, Stack

UNITS = "select count(*) from public.information_unit where deleted_at is null"
ENACTED = UNITS + " and lifecycle_status = 'enacted'"


async def test_a_live_run_reaches_closeout_through_both_sovereign_gates(stack: Stack) -> None:
    """Seed 000 §2."""
    async with stack.workers():
        run = await stack.start()
        result = await run.through()
        assert (result.state, result.outcome) == ("closeout_reported", "success")
        sidecar = await run.sidecar()
        assert [receipt["gate"] for receipt in sidecar["receipts"]] == [gate.name for gate in GATES]
        assert {consumption["gate"] for consumption in sidecar["consumptions"]} == {
            "SG_cut_authz",
            "SG_lifecycle_authz",
        }
        assert stack.database.value(ENACTED) == int(result.facts["candidate_count"]) > 20
        assert all(Store(stack.settings.kb).exists(document["kb_id"]) for document in sidecar["documents"])
        status = await run.status()
        assert (status["state"], status["awaits"]) == ("closeout_reported", None)
        assert status["next_command"].startswith(f"cutter report {run.run_id}")


async def test_what_people_see_while_a_gate_waits(stack: Stack) -> None:
    async with stack.workers():
        run = await stack.start()
        status = await run.until_requested("SG_cut_authz")
        assert status["next_command"] == f"cutter approve {run.document_id}"
        request = await run.handle.query("request", result_type=dict)
        assert (request["gate"], request["approvers_needed"]) == ("SG_cut_authz", 1)
        details = await run.details()
        for needed in (
            f"cutter approve {run.document_id}",
            f"document/{DOCUMENT}",
            request["challenge"],
            f"✓ {PLANNED[-1].number} {PLANNED[-1].name}",
        ):
            assert needed in details
        attributes = (await run.handle.describe()).typed_search_attributes
        assert attributes[names.STATE] == "awaiting_cut_authorization"
        assert attributes[names.GATE] == "SG_cut_authz"
        assert attributes[names.CANDIDATES] > 20


async def test_a_dry_run_rehearses_leaves_request_documents_and_writes_nothing(stack: Stack) -> None:
    async with stack.workers():
        run = await stack.start(mode="dryrun")
        result = await run.result()
        assert (result.state, result.outcome) == ("awaiting_cut_authorization", "rehearsed")
        sidecar = await run.sidecar()
        assert [receipt["gate"] for receipt in sidecar["receipts"]] == [gate.name for gate in PLANNED]
        assert [attempt["outcome"] for attempt in sidecar["attempts"]][-1] == "rehearsed"
        (request,) = (document["kb_id"] for document in sidecar["documents"] if document["kind"] == "request")
        assert b"writer_digest" in Store(stack.settings.kb).get(request)
        assert stack.database.value("select count(*) from public.information_unit") == 0


async def test_a_version_that_is_law_already_is_skipped(stack: Stack) -> None:
    """Seed 000 §1."""
    stack.register("ICX-SMALL", THREE_UNITS)
    async with stack.workers():
        await (await stack.start("ICX-SMALL")).through()
        again = await stack.start("ICX-SMALL")
        result = await again.result()
        assert result.outcome == "skipped"
        assert stack.database.value(ENACTED) == 3


async def test_an_unknown_document_fails_at_the_first_gate_with_what_to_type(stack: Stack) -> None:
    async with stack.workers():
        handle = await runs.start(stack.client, RunInput(document_id="ICX-NOWHERE"))
        result = await runs.result_of(handle, RunResult)
        assert result.state == "failed_source_pin"
        assert "STOP_DOCUMENT_UNKNOWN" in result.reason


async def test_a_text_that_is_not_nfc_is_refused_at_the_first_gate(stack: Stack) -> None:
    # The command refuses such a text, so it comes in as another program's would: through the database's function.
    _register_past_the_command(stack, unicodedata.normalize("NFD", "# Luật\n\n## Điều 1. Phạm vi\n\nMột.\n").encode())
    async with stack.workers():
        run = await stack.start("ICX-NFD")
        result = await run.result()
        assert result.state == "failed_source_pin"
        assert "--normalise nfc" in result.reason


def _register_past_the_command(stack: Stack, data: bytes) -> None:
    profile, body = marking.load_profile("generic-markdown"), marking.profile_bytes("generic-markdown")
    version = {"profile_id": profile.id, "profile_sha256": profile.sha256, "profile_body": body.decode(), "options": {}}
    stack.database.run(
        "select cutter_governance.fn_source_register(%s, %s, %s, 'a test')",
        (Jsonb({"document_id": "ICX-NFD", "docprefix": "ICX-NFD"}), data, Jsonb(version)),
        role="cutter_operator",
    )


async def test_another_source_uri_than_the_registered_one_is_refused(stack: Stack) -> None:
    async with stack.workers():
        run = await stack.start(source_uri="https://elsewhere.example/law.md")
        result = await run.result()
        assert result.state == "failed_source_pin"
        advice = (await run.status())["next_command"]
        assert advice.startswith(f"cutter source add FILE --document-id {DOCUMENT}")
        assert advice.endswith(f"cutter run {DOCUMENT} --amends {run.run_id}")


async def test_a_rejection_ends_the_run_and_an_amended_one_goes_through(stack: Stack) -> None:
    """Seed 003 §6.1."""
    async with stack.workers():
        run = await stack.start()
        await run.until_requested("SG_cut_authz")
        answer = await run.resume(await run.sign(schema.REJECT, text="article 4 is missing"))
        assert answer["status"] == "accepted"
        result = await run.result()
        assert result.state == "failed_rejected"
        assert stack.database.value("select count(*) from public.information_unit") == 0
        amended = await stack.start(amends=run.run_id)
        assert (await amended.through()).state == "closeout_reported"
        assert (await amended.sidecar())["run"]["amends"] == run.run_id


@pytest.mark.parametrize("changed", [{"tier": Tier.HIGH}], indirect=True)
async def test_a_threshold_of_two_needs_two_people(stack: Stack) -> None:
    async with stack.workers():
        run = await stack.start()
        await run.until_requested("SG_cut_authz")
        assert (await run.resume(await run.sign(who=stack.kit.alice)))["status"] == "accepted"
        assert (await run.resume(await run.sign(who=stack.kit.alice, text="again")))["status"] == "accepted"
        status = await run.status()
        assert (status["awaits"], set(status["accepted"])) == ("SG_cut_authz", {"alice"})
        assert (await run.resume(await run.sign(who=stack.kit.bob)))["status"] == "accepted"
        await run.until_requested("SG_lifecycle_authz")
        assert {consumption["approver"] for consumption in (await run.sidecar())["consumptions"]} == {"alice", "bob"}


async def test_a_start_with_a_broken_input_fails_with_the_field_and_an_example(stack: Stack) -> None:
    async with stack.workers():
        for number, broken in enumerate(({}, {"document_id": 7}, "x", None)):
            handle = await stack.client.start_workflow(
                names.DOCUMENT_RUN, broken, id=f"broken/{number}", task_queue=names.WORKFLOW_QUEUE
            )
            with pytest.raises(WorkflowFailureError) as caught:
                await handle.result()
            assert "ICX-LAW-2026-001" in str(caught.value.cause)


async def test_a_start_without_a_run_id_mints_one_and_keeps_it_over_a_reset_of_its_first_task(stack: Stack) -> None:
    async with stack.workers():
        handle = await runs.start(stack.client, RunInput(document_id=DOCUMENT, mode="dryrun"))
        result = await runs.result_of(handle, RunResult)
        assert result.outcome == "rehearsed"
        assert stack.database.value("select count(*) from cutter_governance.run") == 1
        assert stack.database.value("select run_id from cutter_governance.run") == result.run_id
