"""Laws that change, fail to change and are killed while they change, compared with a simple model after each step."""

from __future__ import annotations

import pytest

from tests.campaigns import p32_changing_laws as p32
from tests.support.stack import Stack

SEED, STEPS = 292, 5
"""A first cut, a repeal, a text and a correction that SG_2 rejects, and a correction; two stops, three kills."""


@pytest.mark.parametrize("changed", [p32.QUICK], indirect=True)
async def test_the_law_in_force_is_always_that_of_a_simple_model(stack: Stack) -> None:
    rows, blind = await p32.play(stack, number=0, steps=STEPS, seed=SEED, documents=1)
    assert p32.summary(rows, blind).accepted, rows
    assert [(row["kind"], row["state"]) for row in rows] == [
        ("text", "closeout_reported"), ("repeal", "closeout_reported"), ("text", "voided_rejected"),
        ("correction", "voided_rejected"), ("correction", "closeout_reported"),
    ]  # fmt: skip
    assert rows[-1]["kills"] == 3
