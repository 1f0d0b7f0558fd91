"""Laws that hold for every simulation of a deployment, whatever a document costs."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks.scale_calibration import deployment, one_host
from benchmarks.scale_simulation import Costs, Deployment, Load, Step, simulate

MS = st.integers(0, 60).map(float)
"""Milliseconds of one part of a step."""
SLACK = 1e-6
"""For sums of decimal fractions."""


@st.composite
def costs(draw: st.DrawFn) -> Costs:
    """A document with a step of each worker, both lanes and a shared backup."""

    def step(name: str, worker: str = "cutter", **more: object) -> Step:
        made = Step(name=name, worker=worker, python=draw(MS), programs=draw(MS), postgres=draw(MS), rest=draw(MS))
        return replace(made, **more)

    inside = draw(st.sampled_from([0.25, 0.5, 0.9]))
    return Costs(
        plan=(step("mark", inside=inside), step("IG_backup")),
        write=(step("leg_a", "exec", inside=inside, lane="write"), step("verify", "verify", inside=inside)),
        enact=(step("enactment", "exec", inside=inside, lane="enact"),),
        new_backup=step("new backup"), turn_python=draw(MS), turn_temporal=draw(MS), turn_rest=draw(MS),
        engine=draw(MS), background=draw(MS), look=draw(MS), judge=step("judge_set"),
    )  # fmt: skip


@st.composite
def loads(draw: st.DrawFn) -> Load:
    """A few documents in a few batches, signed before or by people."""
    return Load(
        documents=draw(st.integers(0, 24)), batches=draw(st.integers(1, 3)), lanes=draw(st.integers(1, 8)),
        people=draw(st.integers(0, 3)), reading=draw(MS),
    )  # fmt: skip


def held(cost: Costs, lane: str) -> float:
    """The milliseconds for which a document that never waits holds a lane."""
    return sum(step.service * step.inside for step in cost.steps if step.lane == lane)


@given(cost=costs(), load=loads(), hosts=st.sampled_from([1, 4, 7]), cores=st.integers(1, 3))
@settings(max_examples=30, deadline=None)
def test_every_document_that_begins_is_settled(cost: Costs, load: Load, hosts: int, cores: int) -> None:
    result = simulate(cost, deployment(cost, hosts, cores), load)
    assert result.started == result.settled == load.documents


@given(cost=costs(), load=loads(), hosts=st.sampled_from([1, 4, 7]))
@settings(max_examples=30, deadline=None)
def test_nothing_is_faster_than_the_resource_that_serves_one_at_a_time(cost: Costs, load: Load, hosts: int) -> None:
    result = simulate(cost, deployment(cost, hosts, 2), load)
    for lane in ("write", "enact"):
        assert result.elapsed + SLACK >= load.documents * held(cost, lane)
    if load.people:
        assert result.elapsed + SLACK >= 2 * load.documents * load.reading / load.people


@given(cost=costs(), load=loads(), cores=st.integers(1, 4))
@settings(max_examples=30, deadline=None)
def test_a_host_computes_no_more_than_its_cores_can(cost: Costs, load: Load, cores: int) -> None:
    result = simulate(cost, one_host(cores), load)
    needed = sum(step.python + step.programs + step.postgres for step in cost.steps)
    assert result.elapsed * cores + SLACK >= load.documents * needed
    assert all(-SLACK <= used <= 1 + SLACK for used in result.utilisation.values())


@given(cost=costs(), documents=st.integers(20, 60), fewer=st.integers(4, 9), more=st.integers(1, 8))
@settings(max_examples=25, deadline=None)
def test_more_hosts_are_not_slower(cost: Costs, documents: int, fewer: int, more: int) -> None:
    # Runs that find the write lane busy sleep for some seconds, so a faster start can meet a later end.
    without = replace(cost, write=tuple(replace(step, lane="") for step in cost.write))
    load = Load(documents=documents, lanes=16)
    few, many = (simulate(without, deployment(without, hosts, 2), load) for hosts in (fewer, fewer + more))
    assert many.elapsed <= few.elapsed * 1.1 + 1000


@pytest.mark.parametrize("lane", ["write", "enact"])
def test_a_lane_that_is_the_bottleneck_halves_the_throughput_if_it_takes_twice_the_time(lane: str) -> None:
    def result(ms: float) -> tuple[float, str]:
        step = Step(name="lane", worker="exec", rest=ms, inside=1.0, lane=lane)  # type: ignore[arg-type]
        own = {"write": (step,), "enact": ()} if lane == "write" else {"write": (), "enact": (step,)}
        cost = Costs(plan=(Step(name="plan", python=1.0),), new_backup=Step(name="new backup"), **own)
        simulated = simulate(cost, Deployment(), Load(documents=400, lanes=64))
        return simulated.per_minute, simulated.bottleneck

    (once, first), (twice, second) = result(200.0), result(400.0)
    assert first == second == f"{lane} lane"
    assert once / twice == pytest.approx(2, rel=0.05)
    assert once <= 60_000 / 200 + SLACK


def test_people_who_need_longest_are_the_bottleneck() -> None:
    cost = Costs(plan=(Step(name="plan", python=5.0),), write=(), enact=(), new_backup=Step(name="new backup"))
    result = simulate(cost, Deployment(), Load(documents=50, lanes=16, people=2, reading=5000.0))
    assert result.bottleneck == "people"
    assert 2 * 50 * 5000 / 2 <= result.elapsed < 1.2 * 2 * 50 * 5000 / 2


@pytest.mark.parametrize("cores", [1, 2, 4])
def test_processors_that_are_the_bottleneck_serve_as_much_as_their_cores_can(cores: int) -> None:
    cost = Costs(plan=(Step(name="plan", postgres=200.0),), write=(), enact=(), new_backup=Step(name="new backup"))
    result = simulate(cost, Deployment(cores=1, postgres_cores=cores), Load(documents=400, lanes=32))
    assert result.bottleneck == "processor of everything"
    assert 400 * 200 / cores <= result.elapsed < 1.2 * 400 * 200 / cores


def test_after_the_window_no_document_begins() -> None:
    cost = Costs(plan=(Step(name="plan", rest=1000.0),), write=(), enact=(), new_backup=Step(name="new backup"))
    result = simulate(cost, Deployment(), Load(documents=1000, lanes=2, window=60_000.0))
    assert 0 < result.started < 150
    assert result.settled == result.started


def test_the_documents_of_a_batch_share_one_backup() -> None:
    cost = Costs(
        plan=(Step(name="IG_backup", rest=1.0),), write=(), enact=(), new_backup=Step(name="new backup", rest=60_000.0)
    )  # fmt: skip
    assert simulate(cost, Deployment(), Load(documents=20, lanes=4)).elapsed < 2 * 60_000
