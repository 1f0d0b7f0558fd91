"""P9, small: two runs at each gate; its judge."""

from __future__ import annotations

import pytest

from tests.campaigns import p09_offered_everywhere as p09
from tests.support import runs
from tests.support.database import Database


def test_p09_each_approval_is_accepted_once_and_by_its_own(
    database: Database, keys: runs.Keys, capsys: pytest.CaptureFixture[str]
) -> None:
    summary = p09.summary(p09.one_round(database, keys, number=0, seed=1, waiting=2))
    with capsys.disabled():
        print("", *summary.lines(), sep="\n")
    assert summary.accepted, list(summary.lines())
    assert summary.n == 4 * 6 * 2 * 3 + 4 * 3 * 7


def test_another_runs_approval_or_one_that_nobody_consumed_fails_p09() -> None:
    good = {"door": "message", "own": True, "said": "accepted", "problems": []}
    last = {**good, "naive": 3, "approvals": 4, "meanwhile": 4}
    assert p09.summary([good, last]).accepted
    assert not p09.summary([{**good, "problems": ["another run's approval was accepted"]}, last]).accepted
    assert not p09.summary([good, {**last, "problems": ["not consumed"]}]).accepted
    assert not p09.summary([good, {**last, "naive": 0}]).accepted
