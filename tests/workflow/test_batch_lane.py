"""Two batches at once: leg A one at a time, enactment one at a time, by the database's own times."""

from __future__ import annotations

import asyncio

import pytest

from cutter.storage.batches import Options
from tests.support import batch as support
from tests.support.batch import CUT, LIFECYCLE, OVERLAPS
from tests.support.stack import Stack

DOCUMENTS = 5
UNITS = 40
"""A document's; so that each transaction lasts long enough for others to meet it."""

MET = """
select count(*) from cutter_governance.gate_attempt one join cutter_governance.gate_attempt other
    on one.gate = other.gate and one.run_id < other.run_id
where one.gate = %s and one.started_at < other.finished_at and other.started_at < one.finished_at
"""
LEG_A, ENACT = "IG_cut_leg_a_execute", "IG_lifecycle_enact_execute"


@pytest.mark.parametrize("changed", [{"lane_wait_seconds": 0.05}], indirect=True)
@pytest.mark.thorough
async def test_two_batches_write_and_enact_one_document_at_a_time(stack: Stack) -> None:
    """Seed 001 §5."""
    names = [f"ICX-L-{number}" for number in range(2 * DOCUMENTS)]
    for number, name in enumerate(names):
        stack.register(name, support.law(number, UNITS))
    async with stack.workers():
        both = [
            await support.start(stack, [{"document_id": name} for name in half], Options(lanes=DOCUMENTS))
            for half in (names[:DOCUMENTS], names[DOCUMENTS:])
        ]
        for gate, state in ((CUT, "batch_awaiting_cut_authz_set"), (LIFECYCLE, "batch_awaiting_lifecycle_authz_set")):
            await asyncio.gather(*(batch.until_state(state) for batch in both))
            sets = [await batch.sign(gate) for batch in both]
            await asyncio.gather(
                *(batch.hand_over(approval_set) for batch, approval_set in zip(both, sets, strict=True))
            )
        results = await asyncio.gather(*(batch.result() for batch in both))
    assert [result.totals for result in results] == [{"enacted": DOCUMENTS, "settled": DOCUMENTS}] * 2
    assert stack.database.value(OVERLAPS, (LEG_A,)) == 0
    assert stack.database.value(OVERLAPS, (ENACT,)) == 0
    assert stack.database.value(MET, (LEG_A,)) > 0, "nobody ever met another in the lane: nothing was shown"
    assert stack.database.value(MET, (ENACT,)) > 0, "nobody ever waited for another's enactment"
    # The control: gates without a lane do overlap, so that the question can be answered with yes.
    assert sum(stack.database.value(OVERLAPS, (gate,)) for gate in ("IG_mark", "IG_cutplan", "IG_backup")) > 0
