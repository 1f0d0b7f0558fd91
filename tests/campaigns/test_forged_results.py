"""P13, small: one run robbed at each of its gates, every gate scheduled by a stranger, eight thefts with a password."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from tests.campaigns import p13_forged_results as p13
from tests.support import stack as support
from tests.support import temporal
from tests.support.database import Database
from tests.support.stack import Stack


@pytest.fixture
def ground() -> Iterator[tuple[str, support.Kit]]:
    with temporal.server() as address, support.kit() as kit:
        yield address, kit


@pytest.fixture
async def stack(database: Database, state: Path, ground: tuple[str, support.Kit]) -> AsyncIterator[Stack]:
    async with support.stack(database, state, *ground) as made:
        yield made


async def test_p13_no_forgery_writes_a_row_or_wedges_a_run(stack: Stack, capsys: pytest.CaptureFixture[str]) -> None:
    rows = await p13.play(stack, trials=11, seed=1)
    summary = p13.summary(rows)
    with capsys.disabled():
        print("", *summary.lines(), sep="\n")
    assert summary.accepted, [row for row in rows if row["problems"]]
    assert (summary.n, summary.control) == (30, 11)
    assert {row["gate"] for row in rows if row["arm"] == "told"} == {gate.name for gate in p13.GATES}


def test_one_row_or_one_run_that_did_not_end_fails_the_campaign() -> None:
    good = {"arm": "told", "gate": "IG_mark", "kind": "passed", "taken": True, "problems": []}
    assert p13.summary([good, good]).accepted
    assert not p13.summary([good, {**good, "problems": ["1 rows"]}]).accepted
    assert not p13.summary([{**good, "taken": False}]).accepted
