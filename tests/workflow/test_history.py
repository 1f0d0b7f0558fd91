"""How much a run leaves in Temporal: little, the same for any size of law, and none of its text."""

from __future__ import annotations

import pytest

from cutter.catalogue import GATES
from tests.support.stack import Stack

EVENTS_MAX = 140
BYTES_MAX = 32 * 1024
SPREAD = 0.05


def law(units: int) -> bytes:
    """A law of so many units, with a word that nothing else holds."""
    articles = (f"## Article {n}. Sesame title {n}\n\nSesame text {n}.\n\n" for n in range(1, units))
    return ("# Act\n\n" + "".join(articles)).encode()


@pytest.mark.promise
async def test_a_history_is_small_the_same_for_any_size_and_holds_no_text(
    stack: Stack, capsys: pytest.CaptureFixture[str]
) -> None:
    sizes = {}
    async with stack.workers():
        for units in (3, 60, 1_000):
            document = f"ICX-SIZE-{units}"
            stack.register(document, law(units))
            run = await stack.start(document)
            result = await run.through()
            assert (result.state, result.facts["candidate_count"]) == ("closeout_reported", str(units))
            described = await run.handle.describe()
            size = int(described.raw_description.workflow_execution_info.history_size_bytes)
            sizes[units] = (described.history_length, size)
            assert "esame" not in (await run.history()).to_json()
    with capsys.disabled():
        print(f"\nhistory (events, bytes) by units: {sizes}")
    assert all(events <= EVENTS_MAX and size <= BYTES_MAX for events, size in sizes.values()), sizes
    smallest, largest = min(size for _, size in sizes.values()), max(size for _, size in sizes.values())
    assert largest - smallest <= SPREAD * smallest
    assert len({events for events, _ in sizes.values()}) == 1


async def test_the_databases_catalogue_is_the_codes(stack: Stack) -> None:
    rows = stack.database.value(
        "select json_agg(json_build_array(ordinal, gate, to_state, role, sovereign, effect) order by ordinal)"
        " from cutter_governance.gate_catalogue"
    )
    ours = [
        [gate.number, gate.name, gate.to_state.value, gate.role.value, gate.sovereign, gate.effect.value]
        for gate in GATES
    ]
    assert rows == ours
