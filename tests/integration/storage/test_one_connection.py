"""An activity takes no second connection of its pool while it holds one, so eight of them never wait for each other."""

from __future__ import annotations

from dataclasses import replace

import pytest

from activities.run.course import void_run
from activities.worker.dependencies import ROLES_OF
from cutter.approvals import schema
from cutter.catalogue import GATES, Role, State, WorkerRole
from cutter.messages import VoidInput
from cutter.storage.pools import SCRATCH, open_pool
from tests.support import runs

SECONDS = 2
"""Wait for a connection of the pool. Nobody else has one here."""


@pytest.fixture
def narrow(deployment: runs.Deployment) -> runs.Deployment:
    """A deployment whose workers have one connection for each database role."""
    for role, deps in deployment.deps.items():
        for pool in deps.pools.values():
            pool.close()
        pools = {name: open_pool(deps.settings, name, size=1, timeout=SECONDS) for name in ROLES_OF[role]}
        if SCRATCH in deps.pools:
            pools[SCRATCH] = open_pool(deps.settings, Role.BACKUP, database=SCRATCH, size=1, timeout=SECONDS)
        deployment.deps[role] = replace(deps, pools=pools)
    return deployment


def test_a_run_passes_every_gate_with_one_connection_for_each_role(narrow: runs.Deployment) -> None:
    driven = runs.drive(narrow, runs.law(3))
    assert list(driven.outcomes) == [gate.name for gate in GATES]
    assert driven.state == State.CLOSEOUT_REPORTED


def test_a_rehearsal_passes_with_one_connection_for_each_role(narrow: runs.Deployment) -> None:
    driven = runs.drive(narrow, runs.law(3), until="IG_grant_probe", mode="dryrun")
    assert narrow.gate("IG_cut_leg_a_execute", driven.run_id).status == "rehearsed"


def test_a_run_is_voided_with_one_connection_for_each_role(narrow: runs.Deployment) -> None:
    driven = runs.drive(narrow, runs.law(3), until="IG_write_verify")
    kb_id, _ = narrow.sign_order(driven.run_id, schema.VOID)
    verdict = narrow.judge(driven.run_id, "SG_lifecycle_authz", kb_id)
    assert verdict.accepted, verdict
    voided = void_run(narrow.deps[WorkerRole.EXEC], VoidInput(run_id=driven.run_id, kb_id=kb_id))
    assert voided.code == "voided", voided
