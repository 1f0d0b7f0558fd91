"""P19, small: every form of hostile file once; its judge."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.campaigns import p19_hostile_queues as p19
from tests.cases.queue_cases import KINDS


def test_p19_no_hostile_queue_is_taken_and_every_good_one_is(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "p19.jsonl"
    summary = p19.run(trials=len(KINDS) * max(map(len, KINDS.values())), seed=1, out=out)
    with capsys.disabled():
        print("", *summary.lines(), sep="\n")
    assert summary.accepted, list(summary.lines())
    assert summary.counts["good: taken"] == summary.n


def test_p19_fails_by_one_that_is_taken_slow_or_large_and_by_a_control_that_nothing_fools() -> None:
    row = {"arm": "product", "trial": 0, "kind": "tags", "form": "x", "said": p19.REFUSED, "seconds": 0.1, "mib": 1}
    control = [{**row, "arm": "plain", "said": p19.TAKEN, "kind": kind} for kind in KINDS]
    good = {**row, "arm": "good", "said": p19.TAKEN}
    assert p19.summary([row, good, *control]).accepted
    for wrong in ({"said": p19.TAKEN}, {"said": p19.OVER}, {"said": "ended with 9"}, {"seconds": 1.01}, {"mib": 101}):
        assert not p19.summary([row, {**row, **wrong}, good, *control]).accepted
    assert not p19.summary([row, {**good, "said": p19.REFUSED}, *control]).accepted
    assert not p19.summary([row, good, *control[1:]]).accepted


def test_p19_a_reader_that_takes_too_much_is_ended(tmp_path: Path) -> None:
    def forever(_: Path) -> str:
        while True:
            pass

    assert p19.measured(forever, tmp_path)["said"] == p19.OVER
    assert p19.measured(lambda _: "x" * (1 << 30), tmp_path)["said"] == p19.OVER
    assert p19.measured(lambda _: str(1 // 0), tmp_path)["said"] not in (p19.TAKEN, p19.REFUSED, p19.OVER)
