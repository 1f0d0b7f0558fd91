"""A text with a red finding that nobody accepted becomes law by no route: every run of it ends at IG_mark."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
import uuid_utils

from cutter import sources
from cutter.approvals import schema, statement
from cutter.approvals.request import request_sha256
from cutter.domain.digests import sha256_hex
from cutter.kb.store import Store
from cutter.storage.batches import Options
from temporal import names
from tests.support import batch as support
from tests.support.batch import CUT, LIFECYCLE, Batch
from tests.support.stack import OPTIONS, Run, Stack
from tests.support.temporal import until

RED = "ICX-RED"
TEXT = b"# Act\n\n## Article 1. Scope\n\nOne.\n\nArticle 2.\n\nTwo.\n\n## Article 3. Terms\n\nThree.\n"
NAME = f"heading_absorbed:{RED}/ARTICLE-1"
ACCEPTED = {NAME: "quoted from the act of 1911"}
UNITS = "select count(*) from public.information_unit where canonical_address like 'ICX-RED/%'"
CONSUMED = "select count(*) from cutter_governance.approval_consumption where document_id = 'ICX-RED'"
REQUEST = "select kb_id from cutter_governance.approval_request where request_sha256 = %s"


def register(stack: Stack, accept: dict[str, str] | None = None) -> None:
    """Register past the command, which refuses such a text itself, as `--force` and other programs do."""
    sources.register(
        stack.settings, TEXT, document_id=RED, docprefix=RED, profile="generic-markdown",
        options=OPTIONS | ({"accept": accept} if accept else {}),
    )  # fmt: skip


def no_law(stack: Stack) -> bool:
    """True where no unit of the text is written and no approval of it was used."""
    return bool(stack.database.value(UNITS) == 0 and stack.database.value(CONSUMED) == 0)


async def refused(stack: Stack, run: Run) -> bool:
    """True where the run failed at IG_mark by the finding's name, and nothing was written."""
    sidecar = await run.sidecar()
    assert [receipt["gate"] for receipt in sidecar["receipts"]] == ["IG_source_pin"]
    assert "heading_absorbed, line 7, red 1" in sidecar["attempts"][-1]["reason"]
    return bool(sidecar["run"]["state"] == "failed_mark" and no_law(stack))


async def test_a_run_of_it_fails_at_the_gate(stack: Stack) -> None:
    register(stack)
    async with stack.workers():
        run = await stack.start(RED)
        assert (await run.result()).state == "failed_mark"
        assert await refused(stack, run)


async def test_a_run_that_temporal_alone_starts_and_feeds_with_approvals_fails_at_the_gate(stack: Stack) -> None:
    register(stack)
    other = await stack.start()
    async with stack.workers():
        of_another = await other.approve(CUT)
        await stack.client.start_workflow(
            names.DOCUMENT_RUN, {"document_id": RED}, id=names.document_workflow_id(RED),
            task_queue=names.WORKFLOW_QUEUE, start_signal="submit_approval", start_signal_args=[of_another],
        )  # fmt: skip
        result = await stack.run_of("", RED).result()
        assert result.state == "failed_mark"
        assert await refused(stack, stack.run_of(result.run_id, RED))


@pytest.mark.thorough
async def test_a_batch_sets_it_aside_and_takes_it_in_again_in_vain(stack: Stack) -> None:
    register(stack)
    async with stack.workers():
        batch = await support.start(stack, [*support.small_laws(stack, 1), {"document_id": RED}])
        view = await batch.until_state("batch_awaiting_cut_authz_set")
        assert await refused(stack, run_of(stack, view))
        order = await batch.order(schema.INCLUDE_FAILED, item(view)["run_id"], RED)
        assert (await batch.hand_over(order))["accepted"] == [RED]
        again = await until_another_run(batch, item(view)["run_id"])
        assert await refused(stack, run_of(stack, again))
        result = await batch.through()
        assert result.totals == {"enacted": 1, "failed": 1, "error_queue": 1, "settled": 2}
        assert no_law(stack)


async def test_an_approval_that_was_signed_before_the_night_is_of_no_use_once_the_acceptance_is_gone(
    stack: Stack,
) -> None:
    register(stack, ACCEPTED)
    batch_id, items = str(uuid_utils.uuid7()), [{"document_id": RED}]
    async with stack.workers():
        rehearsal = await support.start(stack, items, Options(mode="dryrun"), batch_id)
        assert (await rehearsal.result()).totals == {"rehearsed": 1, "settled": 1}
        assert (await rehearsal.sign_before())["signed"] == 1
        register(stack)
        night = await support.start(stack, items, Options.overnight(), batch_id)
        await asyncio.wait_for(night.result(), 120)
        assert await refused(stack, run_of(stack, await night.view()))


async def test_a_signed_resume_does_not_lead_past_the_gate(stack: Stack) -> None:
    register(stack)
    run = await stack.start(RED)

    def stop(gate: str) -> None:
        if gate == "IG_source_pin":
            stack.database.value(
                "select cutter_governance.fn_stop_set(%s, 'stop', 'in between', 'a test')", (run.run_id,),
                role="cutter_operator",
            )  # fmt: skip

    stack.hooks.append(stop)
    async with stack.workers():
        await run.until_shown("stopped_stop")
        register(stack, ACCEPTED)
        await run.resume(await run.order(schema.RESUME))
        assert (await run.result()).state == "failed_mark"
        assert await refused(stack, run)


async def test_the_version_whose_findings_were_accepted_becomes_law_by_statements_that_name_them(stack: Stack) -> None:
    register(stack, ACCEPTED)
    async with stack.workers():
        run = await stack.start(RED)
        signed = [await run.approve(CUT), await run.approve(LIFECYCLE)]
        assert (await run.result()).state == "closeout_reported"
        assert stack.database.value(UNITS) == 3
    for kb_id in signed:
        body = Store(stack.settings.kb).get(kb_id)
        signed_statement = statement.parse(body)
        assert isinstance(signed_statement, statement.Statement)
        assert signed_statement.accepted_findings == NAME
        assert stack.database.value(f"{CONSUMED} and approval_sha256 = %s", (sha256_hex(body),)) == 1
        asked = Store(stack.settings.kb).get(stack.database.value(REQUEST, (signed_statement.request_sha256,)))
        assert request_sha256(asked) == signed_statement.request_sha256
        assert all(part in asked.decode() for part in (NAME, ACCEPTED[NAME]))


def item(view: Any) -> Any:
    """The text's row in a batch's view."""
    return next(row for row in view["items"] if row["document_id"] == RED)


def run_of(stack: Stack, view: Any) -> Run:
    """The text's run in a batch."""
    return stack.run_of(item(view)["run_id"], RED)


async def until_another_run(batch: Batch, before: str) -> Any:
    """Wait until the batch's document failed in another run; the view then."""
    view: Any = {}

    async def failed() -> bool:
        nonlocal view
        view = await batch.view()
        return item(view)["run_id"] != before and batch.outcomes(view)[RED] == "failed"

    await until(failed, seconds=90, what="another run of the document failed")
    return view
