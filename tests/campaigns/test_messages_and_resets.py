"""P11, P12 and P14, small: their judges and their control arms work. The long ones print a larger n."""

from __future__ import annotations

import pytest

from tests.campaigns import p11_stop_against_approve as p11
from tests.campaigns import p12_shuffled_signals as p12
from tests.campaigns import p14_reset as p14
from tests.support.stack import Stack


async def test_p11_the_stop_wins_in_both_orders(stack: Stack, capsys: pytest.CaptureFixture[str]) -> None:
    rows = await p11.play(stack, trials=7, seed=2)
    summary = p11.summary(rows)
    with capsys.disabled():
        print("", *summary.lines(), sep="\n")
    assert summary.accepted, rows
    assert {row["first"] for row in rows if not row["control"]} == {"stop", "approve"}


def test_one_unit_or_a_task_of_its_own_fails_p11() -> None:
    good = {"control": False, "first": "stop", "units": 0, "consumed": 0, "same_task": True, "problem": ""}
    control = {**good, "control": True, "units": 3, "consumed": 1}
    assert p11.summary([good, control]).accepted
    for wrong in ({"units": 1}, {"consumed": 1}, {"same_task": False}, {"problem": "hangs"}):
        assert not p11.summary([{**good, **wrong}, control]).accepted
    assert not p11.summary([good, {**control, "units": 0}]).accepted


async def test_p12_the_order_of_signals_changes_nothing(stack: Stack, capsys: pytest.CaptureFixture[str]) -> None:
    rows = await p12.play(stack, trials=4, seed=1)
    summary = p12.summary(rows)
    with capsys.disabled():
        print("", *summary.lines(), sep="\n")
    assert summary.accepted, rows
    assert summary.counts["different orders"] == 4


def test_one_other_end_fails_p12() -> None:
    end = {"state": "closeout_reported", "units": 3}
    good = {"digest": "a", "order": ["good"], "last": end}
    late = {**good, "order": ["stranger's approval"]}
    assert p12.summary([good, late]).accepted
    assert not p12.summary([good, good]).accepted
    assert not p12.summary([good, good, {**late, "digest": "b"}]).accepted
    assert not p12.summary([{**late, "last": {**end, "units": 0}}]).accepted


async def test_p14_no_reset_changes_a_row(stack: Stack, capsys: pytest.CaptureFixture[str]) -> None:
    rows = await p14.play(stack, trials=6, seed=1)
    summary = p14.summary(rows)
    with capsys.disabled():
        print("", *summary.lines(), sep="\n")
    assert summary.accepted, rows


def test_one_changed_row_fails_p14() -> None:
    good = {"event_id": 4, "gates_again": 3, "problems": []}
    assert p14.summary([good]).accepted
    assert not p14.summary([{**good, "problems": ["rows changed"]}]).accepted
    assert not p14.summary([{**good, "gates_again": 0}]).accepted
