"""A request and a gate cost a handful of round trips to PostgreSQL, counted on the wire, whatever they show."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from activities.run.approval_requests import open_request
from benchmarks.wire import Counted, relay
from cutter.catalogue import BY_NAME, Role, Sovereign, WorkerRole
from cutter.messages import OpenedRequest, RequestInput
from cutter.storage.pools import single
from tests.support import runs
from tests.support.database import Behind, TestCluster


class Wired(Behind):
    """A database whose clients come through a relay that reads what is said, so nothing is encrypted."""

    @property
    def address(self) -> str:
        return f"{super().address}?sslmode=disable&gssencmode=disable"


TRIPS_MAX = 4
"""A transaction begins, the request is opened with what it shows, bound and committed, and recorded as put."""


@pytest.fixture
def wired(cluster: TestCluster, keys: runs.Keys) -> Iterator[tuple[runs.Deployment, Counted]]:
    """A deployment whose workers come through a relay that counts."""
    with (
        relay(cluster.cluster.port) as (port, counted),
        cluster.database() as database,
        runs.deployment(Wired(server=cluster, name=database.name, port=port), keys) as made,
    ):
        yield made, counted


def counted_request(made: runs.Deployment, counted: Counted, run_id: str, gate: Sovereign) -> tuple[int, OpenedRequest]:
    deps = made.deps[WorkerRole.CUTTER]
    with single(deps.pool(Role.READ)) as connection:  # a connection is there: making one is not counted
        connection.execute("select 1")
    before = counted.round_trips
    view = open_request(deps, RequestInput(run_id=run_id, gate=gate.value))
    return counted.round_trips - before, view


@pytest.mark.parametrize(
    ("gate", "until"), [(Sovereign.CUT, "IG_grant_probe"), (Sovereign.LIFECYCLE, "IG_write_verify")]
)
def test_a_request_is_opened_and_found_again_in_few_round_trips(
    wired: tuple[runs.Deployment, Counted], gate: Sovereign, until: str
) -> None:
    made, counted = wired
    run_id = runs.drive(made, runs.law(8), until=until).run_id
    opened, view = counted_request(made, counted, run_id, gate)
    trips, again = counted_request(made, counted, run_id, gate)
    assert (view.status, view.approvers_needed, view.accepted) == ("requested", 1, {})
    assert again == view
    assert opened <= TRIPS_MAX
    assert trips <= TRIPS_MAX


def test_an_approval_that_was_judged_before_is_told_when_the_request_is_found_again(
    wired: tuple[runs.Deployment, Counted],
) -> None:
    made, counted = wired
    run_id = runs.drive(made, runs.law(3), until="IG_grant_probe").run_id
    kb_id, verdict = made.approve(run_id, Sovereign.CUT)
    assert verdict.accepted, verdict
    _, view = counted_request(made, counted, run_id, Sovereign.CUT)
    assert view.accepted == {verdict.approver: kb_id}


GATE_TRIPS = {
    "IG_source_pin": 5,
    "IG_mark": 5,
    "IG_cutplan": 7,
    "IG_grant_probe": 5,
    "IG_structural_verify": 5,
    "IG_closeout": 9,
}
"""The gates that only read. A gate registers its attempt, begins and opens its transaction, seals it, and records its
report as put. The cutplan also reads on a connection of its own, and the closeout reads and records what it stores."""


@pytest.mark.parametrize("gate", GATE_TRIPS)
@pytest.mark.promise
def test_a_gate_that_reads_makes_few_round_trips(wired: tuple[runs.Deployment, Counted], gate: str) -> None:
    made, counted = wired
    before = [entry.name for entry in runs.GATES[: BY_NAME[gate].number - 1]]
    document = made.register(runs.law(8))
    run_id = runs.drive(made, document_id=document, until=before[-1]).run_id if before else made.begin(document)
    warm(made, gate)
    begun = counted.round_trips
    assert made.gate(gate, run_id).status == "passed"
    assert counted.round_trips - begun == GATE_TRIPS[gate]


def warm(made: runs.Deployment, gate: str) -> None:
    """Let the pool of the gate's role have a connection, because making one is not counted."""
    with single(made.of(BY_NAME[gate]).pool(BY_NAME[gate].role)) as connection:
        connection.execute("select 1")
