"""P3, small: one run whose worker dies in each of its steps; its judge."""

from __future__ import annotations

import pytest

from tests.campaigns import p03_crash_points as p03
from tests.support import runs
from tests.support.database import Database, TestCluster
from tests.support.proxy import CommitProxy


def test_p03_a_run_survives_a_crash_in_each_of_its_steps(
    cluster: TestCluster, database: Database, keys: runs.Keys, capsys: pytest.CaptureFixture[str]
) -> None:
    with CommitProxy(cluster.cluster.port) as proxy:
        rows = p03.play(database, keys, proxy, seed=1, numbers=[1])
    summary = p03.summary(rows, control=1, control_n=1)
    with capsys.disabled():
        print("", *summary.lines(), sep="\n")
    assert summary.accepted, list(summary.lines())
    assert summary.n >= len(p03.GATES)


def test_a_seed_meets_each_point_of_each_step_once() -> None:
    assert sum(len(step.points) for step in p03.STEPS) == 85
    for step in p03.STEPS:
        met = [p03.point_of(step, seed=7, number=number) for number in range(p03.RUNS_A_SEED)]
        assert sorted(point.when for point in met if point) == sorted(point.when for point in step.points)


def test_a_crash_that_did_not_happen_or_lost_something_fails_p03() -> None:
    good = {"seed": 1, "run": 0, "step": "IG_mark", "when": "before COMMIT", "problems": []}
    assert p03.summary([good], control=1, control_n=2).accepted
    assert not p03.summary([good, {**good, "problems": ["no crash: exit 0"]}], control=1, control_n=2).accepted
    assert not p03.summary([good], control=0, control_n=2).accepted


def test_what_stands_is_what_the_finished_steps_have_written() -> None:
    assert p03.wanted([])["runs"] == 0
    whole = p03.wanted(p03.STEPS)
    assert (whole["sealed"], whole["consumed"], whole["enacted"], whole["requests"]) == (11, 2, p03.UNITS, 2)
    assert whole["state"] == "closeout_reported"
