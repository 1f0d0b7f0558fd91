"""Batches whose items revise, correct and repeal enacted laws, signed in one session or before the night."""

from __future__ import annotations

import pytest
import uuid_utils

from cutter import sources
from cutter.batch import documents
from cutter.evidence import offline
from cutter.kb.store import Store
from cutter.storage.batches import Options
from cutter.types import Json
from starter.commands import evidence
from tests.support import batch as support
from tests.support.batch import CUT, LIFECYCLE, Batch, law
from tests.support.stack import OPTIONS, Stack

REVISED, CORRECTED, REPEALED, FIRST = (f"ICX-B-{number}" for number in range(1, 5))
KINDS = """
select jsonb_object_agg(source_document_ref, kinds) from (
    select source_document_ref, jsonb_agg(operation_kind order by n) as kinds
    from public.enactment group by 1) as chains
"""
IN_FORCE = """
select coalesce(jsonb_object_agg(address, body), '{}') from api.unit_in_force() where document = %s
"""
RUNS = "select array_agg(run_id) from cutter_governance.run where state = 'closeout_reported'"


async def enacted_batch(stack: Stack, count: int) -> list[Json]:
    """That many enacted laws; the items of a queue of them."""
    batch = await support.start(stack, count)
    assert (await batch.through()).totals == {"enacted": count, "settled": count}
    return [{"document_id": f"ICX-B-{number}"} for number in range(1, count + 1)]


def change_each_way(stack: Stack) -> None:
    """A new text of one law, an erratum of the second, the end of the third."""
    stack.register(REVISED, law(1, 3).replace(b"Text 1, 1", b"A new text"))
    sources.register(
        stack.settings, law(2).replace(b"Text 2, 1", b"Text two"), document_id=CORRECTED, docprefix=CORRECTED,
        profile="generic-markdown", options=OPTIONS, correction="a number is written as a word",
    )  # fmt: skip
    sources.repeal(stack.settings, REPEALED, effective=None, reason="no longer needed")


def in_force(stack: Stack, document_id: str) -> dict[str, str]:
    """Address to body of today's law."""
    units: dict[str, str] = stack.database.value(IN_FORCE, (document_id,))
    return units


def is_changed_each_way(stack: Stack) -> bool:
    """Each of the three laws is in force as `change_each_way` asked."""
    revised, corrected = in_force(stack, REVISED), in_force(stack, CORRECTED)
    return (
        len(revised) == 4
        and any("A new text" in body for body in revised.values())
        and len(corrected) == 3
        and any("Text two" in body for body in corrected.values())
        and in_force(stack, REPEALED) == {}
    )


def every_bundle_verifies(stack: Stack) -> None:
    for run_id in stack.database.value(RUNS):
        made, sealed, _ = evidence.exported(stack.settings, run_id)
        assert sealed
        assert [line for line in offline.check(made.data) if line[1] == offline.FAILED] == []


async def test_a_batch_revises_corrects_and_repeals_in_one_session_for_each_gate(stack: Stack) -> None:
    async with stack.workers():
        await enacted_batch(stack, 3)
        change_each_way(stack)
        stack.register(FIRST, law(4))
        before = [in_force(stack, name) for name in (REVISED, CORRECTED, REPEALED)]
        items = [{"document_id": name} for name in (REVISED, CORRECTED, REPEALED, FIRST)]
        batch = await support.start(stack, items, Options(skip_completed=True))
        await batch.until_state("batch_awaiting_cut_authz_set")
        assert len((await batch.hand_over(await batch.sign(CUT)))["accepted"]) == 4
        await batch.until_state("batch_awaiting_lifecycle_authz_set")
        assert [in_force(stack, name) for name in (REVISED, CORRECTED, REPEALED)] == before
        assert len((await batch.hand_over(await batch.sign(LIFECYCLE)))["accepted"]) == 4
        assert (await batch.result()).totals == {"enacted": 4, "settled": 4}
        assert is_changed_each_way(stack)
        assert stack.database.value(KINDS) == {
            REVISED: ["first_cut", "revision"], CORRECTED: ["first_cut", "correction"],
            REPEALED: ["first_cut", "repeal"], FIRST: ["first_cut"],
        }  # fmt: skip
        every_bundle_verifies(stack)


async def rehearsed(stack: Stack, items: list[Json]) -> tuple[str, Batch]:
    """A rehearsal of the queue, and both gates of each document signed for the night."""
    batch_id = str(uuid_utils.uuid7())
    rehearsal = await support.start(stack, items, Options(mode="dryrun"), batch_id)
    assert (await rehearsal.result()).totals == {"rehearsed": len(items), "settled": len(items)}
    signed = await rehearsal.sign_before()
    assert signed["signed"] == len(items), signed
    return batch_id, rehearsal


async def test_revisions_that_were_signed_in_the_afternoon_are_enacted_in_the_night(stack: Stack) -> None:
    async with stack.workers():
        items = await enacted_batch(stack, 3)
        change_each_way(stack)
        batch_id, _ = await rehearsed(stack, items)
        night = await support.start(stack, items, Options.overnight(), batch_id)
        assert (await night.result()).totals == {"enacted": 3, "settled": 3}
        assert is_changed_each_way(stack)
        every_bundle_verifies(stack)


@pytest.mark.thorough
async def test_an_approval_for_an_earlier_base_enacts_nothing_in_the_night(stack: Stack) -> None:
    """Another version was enacted in the evening. The text of the afternoon is registered again."""
    wanted = law(1).replace(b"Text 1, 1", b"The text of the afternoon")
    async with stack.workers():
        items = await enacted_batch(stack, 1)
        stack.register(REVISED, wanted)
        batch_id, _ = await rehearsed(stack, items)
        stack.register(REVISED, law(1).replace(b"Text 1, 1", b"The text of the evening"))
        assert (await (await stack.start(REVISED)).through()).state == "closeout_reported"
        stack.register(REVISED, wanted)
        night = await support.start(stack, items, Options.overnight(), batch_id)
        assert (await night.result()).totals == {"at_sg1": 1, "human_review_queue": 1}
        assert any("of the evening" in body for body in in_force(stack, REVISED).values())
        run = stack.run_of((await night.view())["items"][0]["run_id"], REVISED)
        assert not any(attempt["gate"] == "IG_cut_leg_a_execute" for attempt in (await run.sidecar())["attempts"])
        stored = Store(stack.settings.kb).exists(documents.pre_batched(batch_id, CUT, REVISED))
        assert stored, "the approval was offered"
        assert [refusal.split(":")[0] for refusal in (await run.until_requested(CUT))["refusals"]] != []


async def test_a_failed_run_before_the_law_was_enacted_keeps_no_revision_out(stack: Stack) -> None:
    async with stack.workers():
        stack.register(REVISED, b"no heading at all\n")
        assert (await (await stack.start(REVISED)).result()).state == "failed_mark"
        stack.register(REVISED, law(1))
        assert (await (await stack.start(REVISED)).through()).state == "closeout_reported"
        stack.register(REVISED, law(1, 3))
        batch = await support.start(stack, [{"document_id": REVISED}], Options(skip_completed=True))
        assert (await batch.through()).totals == {"enacted": 1, "settled": 1}
        assert len(in_force(stack, REVISED)) == 4
