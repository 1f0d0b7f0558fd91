"""A disk that was full for a while: the stack comes up at the first attempt, and no run is left without a way on."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.cases.faults import full, own_disk
from tests.support.laws import law
from tests.support.processes import Stack, stack, wait

DOCUMENTS = 4
QUICK = {
    "CUTTER_HEARTBEAT_TIMEOUT_SECONDS": "3",
    "CUTTER_RETRY_DELAYS_SECONDS": "[0.2, 0.5]",
    "CUTTER_OUTAGE_LOOK_SECONDS": "1",
}


@pytest.fixture
def standing() -> Iterator[Stack]:
    """A running stack on a small disk of its own, which needs a mount and so root."""
    with stack("fd", **QUICK) as made, own_disk(made.state) as refused:
        if refused:
            pytest.skip(refused)
        made.up()
        try:
            made.approver()
            yield made
        finally:
            made.down()


def test_after_a_full_disk_the_stack_comes_up_at_once_and_every_run_waits_or_says_how_it_goes_on(
    standing: Stack,
) -> None:
    names = [f"FULL-{number}" for number in range(DOCUMENTS)]
    for name in names:
        standing.add(name, law(3))
    with full(standing.state):
        # Nothing can be written: a start that is refused loses nothing and is typed again.
        started = {name: standing.cutter("run", name, "--json") for name in names}
    assert standing.up().returncode == 0
    for name in [name for name, done in started.items() if done.returncode != 0]:
        standing.cutter("run", name, "--json")
    for name in names:
        wait(lambda name=name: _resumed(standing, name), seconds=120, what=f"{name} waits for its approval")


def _resumed(standing: Stack, name: str) -> bool:
    """True when the document's run waits at SG_1; a stopped one is resumed by the command that its status shows."""
    status = standing.json("status", name)
    if status["state"].startswith("stopped_"):
        assert status["next"].startswith("cutter orchestrate resume"), status["next"]
        standing.cutter(*status["next"].split()[1:])
        return False
    return bool(status["state"] == "awaiting_cut_authorization")
