"""The second version of a law through all fourteen states on the real parts."""

from __future__ import annotations

from typing import Any

import pytest

from cutter.approvals import schema
from cutter.catalogue import GATES
from cutter.kb.store import Store
from tests.integration.living_law.texts import FIRST, SECOND
from tests.support.stack import Run, Stack

DOCUMENT = "ICX-LIVING"


def law_in_force(stack: Stack) -> dict[str, str]:
    """Address to text of every unit in force."""
    rows: dict[str, str] = stack.database.value(
        "select jsonb_object_agg(u.canonical_address, v.body) from public.information_unit u"
        " join public.unit_version v on v.id = u.version_anchor_ref where u.lifecycle_status = 'enacted'"
    )
    return rows


async def enacted_first(stack: Stack) -> Run:
    """The run that enacted the first version."""
    stack.register(DOCUMENT, FIRST.encode())
    run = await stack.start(DOCUMENT)
    assert (await run.through()).state == "closeout_reported"
    return run


@pytest.mark.promise
async def test_a_second_version_replaces_the_first_through_both_sovereign_gates(stack: Stack) -> None:
    async with stack.workers():
        first = await enacted_first(stack)
        before = law_in_force(stack)
        stack.register(DOCUMENT, SECOND.encode())
        run = await stack.start(DOCUMENT)
        await run.approve("SG_cut_authz")
        await run.until_requested("SG_lifecycle_authz")
        assert law_in_force(stack) == before
        await run.approve("SG_lifecycle_authz")
        result = await run.result()
        assert (result.state, result.outcome) == ("closeout_reported", "success")
        sidecar: Any = await run.sidecar()
        assert [receipt["gate"] for receipt in sidecar["receipts"]] == [gate.name for gate in GATES]
        after = law_in_force(stack)
        assert set(after) == {f"{DOCUMENT}/{name}" for name in (
            "PART-ONE", "PART-ONE/KEPT", "PART-ONE/NEW", "PART-ONE/REVISED", "PART-TWO", "PART-TWO/MOVED",
        )}  # fmt: skip
        assert after[f"{DOCUMENT}/PART-ONE/KEPT"] == before[f"{DOCUMENT}/PART-ONE/KEPT"]
        chain = "select jsonb_agg(jsonb_build_array(run_id, base_run_id) order by n) from public.enactment"
        assert stack.database.value(chain) == [[first.run_id, None], [run.run_id, first.run_id]]
        texts = [
            Store(stack.settings.kb).get(document["kb_id"])
            for document in sidecar["documents"]
            if document["kind"] == "request"
        ]
        assert len(texts) == 2
        assert all(b"3 kept, 1 revised, 2 created, 2 repealed" in text for text in texts)


async def test_a_dry_run_of_a_revision_leaves_the_law_in_force(stack: Stack) -> None:
    async with stack.workers():
        await enacted_first(stack)
        rows = "select count(*) from public.unit_version"
        before, versions = law_in_force(stack), stack.database.value(rows)
        stack.register(DOCUMENT, SECOND.encode())
        run = await stack.start(DOCUMENT, mode="dryrun")
        assert (await run.result()).outcome == "rehearsed"
        assert (law_in_force(stack), stack.database.value(rows)) == (before, versions)


async def test_a_signed_void_of_a_revision_withdraws_its_drafts_only(stack: Stack) -> None:
    async with stack.workers():
        await enacted_first(stack)
        before = law_in_force(stack)
        stack.register(DOCUMENT, SECOND.encode())
        run = await stack.start(DOCUMENT)
        await run.approve("SG_cut_authz")
        await run.until_requested("SG_lifecycle_authz")
        await run.handle.signal("void", await run.order(schema.VOID, reason="wrong source"))
        assert (await run.result()).state.startswith("voided_")
        assert law_in_force(stack) == before
        left = "select count(*) from public.unit_version where lifecycle_status = 'draft' and withdrawn_at is null"
        assert stack.database.value(left) == 0
