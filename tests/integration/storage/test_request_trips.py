"""A request costs a handful of round trips to PostgreSQL, counted on the wire, whatever it shows."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from activities.run.approval_requests import open_request
from benchmarks.wire import Counted, relay
from cutter.catalogue import Role, Sovereign, WorkerRole
from cutter.messages import RequestInput, RequestView
from cutter.storage.pools import single
from tests.campaigns.p02_lost_acknowledgement import Behind
from tests.support import runs
from tests.support.database import TestCluster


class Wired(Behind):
    """A database whose clients come through a relay that reads what is said, so nothing is encrypted."""

    @property
    def address(self) -> str:
        return f"{super().address}?sslmode=disable&gssencmode=disable"


TRIPS_MAX = 5
"""Opened with what it shows, bound and committed, recorded as put: four. One to spare, for a pool that reconnects."""


@pytest.fixture
def wired(cluster: TestCluster, keys: runs.Keys) -> Iterator[tuple[runs.Deployment, Counted]]:
    """A deployment whose workers come through a relay that counts."""
    with (
        relay(cluster.cluster.port) as (port, counted),
        cluster.database() as database,
        runs.deployment(Wired(server=cluster, name=database.name, port=port), keys) as made,
    ):
        yield made, counted


def counted_request(made: runs.Deployment, counted: Counted, run_id: str, gate: Sovereign) -> tuple[int, RequestView]:
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
    found, again = counted_request(made, counted, run_id, gate)
    assert (view.status, view.approvers_needed, view.accepted) == ("requested", 1, {})
    assert again == view
    assert opened <= TRIPS_MAX
    assert found <= TRIPS_MAX


def test_an_approval_that_was_judged_before_is_told_when_the_request_is_found_again(
    wired: tuple[runs.Deployment, Counted],
) -> None:
    made, counted = wired
    run_id = runs.drive(made, runs.law(3), until="IG_grant_probe").run_id
    kb_id, verdict = made.approve(run_id, Sovereign.CUT)
    assert verdict.accepted, verdict
    _, view = counted_request(made, counted, run_id, Sovereign.CUT)
    assert view.accepted == {verdict.approver: kb_id}
