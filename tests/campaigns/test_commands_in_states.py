"""P31, small: a state of each kind, without the two that the acceptance tests play."""

from __future__ import annotations

import pytest

from tests.cases import printed_states as states
from tests.cases.printed_batches import batch_at_the_cut
from tests.cases.printed_commands import WORKS, play
from tests.cases.printed_mistakes import mistakes
from tests.cases.printed_states import Builder
from tests.support.stack import Stack

HERE: tuple[Builder, ...] = (
    states.registered, states.stopped_after_the_write, states.cancelled_after_the_write, states.failed_at_the_marking,
    states.expired, states.rehearsed, states.revision_waiting_at_the_cut, states.terminated, mistakes,
    batch_at_the_cut,
)  # fmt: skip


@pytest.mark.parametrize("builder", HERE, ids=lambda builder: builder.__name__)
async def test_p31_every_printed_command_leads_on_in_its_state(stack: Stack, builder: Builder) -> None:
    rows = await play(stack, [builder])
    assert [row for row in rows if row["verdict"] != WORKS] == []
    assert rows, "nothing was printed"
