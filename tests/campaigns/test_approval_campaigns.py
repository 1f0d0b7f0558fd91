"""The campaigns on approvals, small: their judges and their control arms work. The long ones print a larger n."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest

from tests.campaigns import p08_mutated_approvals as p08
from tests.campaigns import p10_signature_bit_flips as p10
from tests.cases.approval_mutations import KINDS
from tests.cases.trials import Dice, Summary


def test_p08_no_mutant_is_accepted_and_every_good_one_is(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "p08.jsonl"
    summary = p08.run(trials=180, seed=1, out=out)
    with capsys.disabled():
        print("", *summary.lines(), sep="\n")
    assert summary.accepted, list(summary.lines())
    rows = [json.loads(line) for line in out.read_text().splitlines()]
    assert Counter(row["kind"] for row in rows) == {**dict.fromkeys(KINDS, 20), "good": 18}
    assert summary.counts["good: accepted"] == 18


def test_p10_what_verifies_after_a_flip_is_the_same_approval(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "p10.jsonl"
    summary = p10.run(signatures=2, seed=1, every=8, out=out)
    with capsys.disabled():
        print("", *summary.lines(), sep="\n")
    assert summary.accepted, list(summary.lines())
    assert summary.counts["still accepted, as the same approval"] > 2
    assert len(out.read_text().splitlines()) == summary.n


def row(**changes: object) -> dict[str, object]:
    return {"kind": "byte", "accepted": False, "code": "x", "control": True, **changes}


def test_one_accepted_mutant_fails_the_campaign() -> None:
    good = [row(kind="good", accepted=True)]
    assert p08.summary([row(), row()], good).accepted
    assert not p08.summary([row(), row(accepted=True)], good).accepted
    assert not p08.summary([row(), row(code="could_not_verify")], good).accepted
    assert not p08.summary([row()], [row(kind="good")]).accepted
    assert not p08.summary([row(control=False)], good).accepted


def test_one_flip_with_another_identity_fails_the_campaign() -> None:
    def flip(**changes: object) -> dict[str, object]:
        return {"signature": 0, "accepted": True, "code": "accepted", "approval": "a", "original": "a", **changes}

    rows = [flip(control="1"), flip(control="2")]
    assert p10.summary(rows).accepted
    assert not p10.summary([*rows, flip(approval="b", control="3")]).accepted
    assert not p10.summary([*rows, flip(accepted=False, code="could_not_verify", control=None)]).accepted
    assert not p10.summary([flip(control="1")]).accepted


def test_dice_are_the_same_everywhere() -> None:
    first, second = Dice(1, "x", 2), Dice(1, "x", 2)
    assert [first.below(1000) for _ in range(5)] == [second.below(1000) for _ in range(5)]
    assert Dice(2, "x", 2).bytes(8) != Dice(1, "x", 2).bytes(8)


def test_the_upper_bound_after_no_failure_is_three_over_n() -> None:
    assert Summary(name="x", n=300, failures=0, control=1, control_n=1).upper_bound == 0.01
