"""P6, small: one worker killed in the middle of a gate; its judge."""

from __future__ import annotations

import pytest

from tests.campaigns import p06_progress_after_kill as p06


def test_p06_a_gate_goes_on_soon_after_its_worker_was_killed(capsys: pytest.CaptureFixture[str]) -> None:
    summary = p06.run(trials=1, seed=1)
    with capsys.disabled():
        print("", *summary.lines(), sep="\n")
    assert summary.failures == 0, list(summary.lines())


def test_a_slow_twentieth_or_a_kill_that_came_late_fails_p06() -> None:
    quick = {"gate": "IG_backup", "victim": "worker-cutter", "seconds": 20.0, "lost": True, "problems": []}
    slow = {**quick, "seconds": 46.0}
    assert p06.summary([quick] * 20).accepted
    assert p06.summary([*[quick] * 39, slow]).accepted
    assert not p06.summary([*[quick] * 19, slow, slow]).accepted
    assert not p06.summary([{**quick, "lost": False}]).accepted
    assert not p06.summary([quick, {**quick, "problems": ["cutter up failed"]}]).accepted
