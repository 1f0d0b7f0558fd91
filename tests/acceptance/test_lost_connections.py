"""Each activity loses its connection to PostgreSQL at each of its statements in turn: it says so, and works when called
again. A connection that is lost is an outage, never a bug, a failed gate or a second write."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from time import monotonic, sleep
from typing import Any

import pytest

from activities.run.approval_requests import judge_approval, open_request, set_stop
from activities.run.course import escalate
from cutter.catalogue import GATES, Sovereign, WorkerRole
from cutter.errors import Unavailable
from cutter.messages import EscalateInput, GateOutcome, JudgeInput, RequestInput, StopInput
from tests.support import runs
from tests.support.database import Behind, TestCluster
from tests.support.proxy import CommitProxy, Cut
from tests.support.signatures import sign_answer

STATEMENTS_MAX = 200
LANE_WAIT_SECONDS = 60
CUTTER = WorkerRole.CUTTER


@pytest.fixture(scope="module")
def keys() -> Iterator[runs.Keys]:
    with runs.keyring() as made:
        yield made


@pytest.fixture
def proxied(cluster: TestCluster, keys: runs.Keys) -> Iterator[tuple[runs.Deployment, CommitProxy]]:
    """A deployment whose workers come through a proxy."""
    with CommitProxy(cluster.cluster.port) as proxy, cluster.database() as database:
        behind = Behind(server=cluster, name=database.name, port=proxy.port)
        with runs.deployment(behind, keys) as made:
            yield made, proxy


def outages(proxy: CommitProxy, call: Callable[[], Any], cut: Cut = Cut.STATEMENT) -> tuple[int, Any]:
    """Call again and again, cut at the first statement, the second, and so on; how often, and the answer at last."""
    for number in range(STATEMENTS_MAX):
        armed = proxy.arm(cut, skip=number)
        try:
            answer = call()
        except Unavailable as problem:
            # What could not be published for want of the database is missed in the knowledge base.
            if problem.what not in ("database", "kb", "run_folder"):
                raise
        else:
            if not armed.done.is_set():
                proxy.disarm()
                return number, answer
        assert armed.done.is_set()
    raise AssertionError(f"not through after {STATEMENTS_MAX} outages")


@pytest.mark.parametrize("cut", [Cut.STATEMENT, Cut.REQUEST, Cut.ANSWER], ids=str)
def test_every_gate_survives_the_loss_of_its_connection_anywhere(
    proxied: tuple[runs.Deployment, CommitProxy], cut: Cut
) -> None:
    """Seed 003 §3.1."""
    made, proxy = proxied
    document = made.register(runs.law(3))
    run_id = made.begin(document)
    for gate in GATES:
        approvals: tuple[str, ...] = ()
        if gate.sovereign is not None:
            approvals = (approved(made, proxy, run_id, gate.sovereign, cut),)
        count, outcome = outages(proxy, partial(past_the_lane, made, gate.name, run_id, approvals), cut)
        assert outcome.status == "passed", outcome
        assert count >= (1 if cut is not Cut.STATEMENT else 4), gate.name
    counted = made.database.value(
        "select (select count(*) from cutter_governance.gate_receipt where run_id = %(run)s),"
        " (select count(*) from cutter_governance.approval_consumption where run_id = %(run)s)",
        {"run": run_id},
    )
    assert counted == len(GATES)
    assert made.database.value("select count(*) from public.information_unit where lifecycle_status = 'enacted'") == 3


def past_the_lane(made: runs.Deployment, gate: str, run_id: str, approvals: tuple[str, ...]) -> GateOutcome:
    """One call of a gate; as the workflow does, it waits while a session that has just died still holds the lane."""
    ends = monotonic() + LANE_WAIT_SECONDS
    while True:
        outcome = made.gate(gate, run_id, approvals)
        if outcome.status != "lane_busy" or monotonic() > ends:
            return outcome
        sleep(0.1)


def approved(made: runs.Deployment, proxy: CommitProxy, run_id: str, gate: Sovereign, cut: Cut) -> str:
    """Request and verdict, with the same outages; the approval's KB id."""
    deps = made.deps[CUTTER]
    _, request = outages(proxy, lambda: open_request(deps, RequestInput(run_id=run_id, gate=gate.value)), cut)
    assert request.status == "requested", request
    kb_id = sign_answer(made.settings, made.keys.signing(), run_id, request.kb_id)
    judged = JudgeInput(run_id=run_id, gate=gate.value, kb_id=kb_id)
    count, verdict = outages(proxy, lambda: judge_approval(deps, judged), cut)
    assert verdict.accepted, verdict
    assert count >= 1
    return kb_id


def test_a_stop_and_its_report_survive_the_loss_of_the_connection_anywhere(
    proxied: tuple[runs.Deployment, CommitProxy],
) -> None:
    made, proxy = proxied
    run_id = runs.drive(made, runs.law(3), until="IG_mark").run_id
    deps = made.deps[CUTTER]
    stop = StopInput(run_id=run_id, kind="stop", reason="to see", by="a test")
    outages(proxy, lambda: set_stop(deps, stop))
    order = EscalateInput(run_id=run_id, state="stopped_stop", reason="to see")
    _, done = outages(proxy, lambda: escalate(deps, order))
    assert done.state == "stopped_stop"
    reports = made.database.value("select count(*) from cutter_governance.outbox where kind = 'stop_route'")
    assert reports == 1, "one stop, one report"
