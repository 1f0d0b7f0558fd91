"""A worker that is told to leave: takes nothing more, finishes what it runs, says so; told twice it leaves at once."""

from __future__ import annotations

import asyncio
import signal
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any

import pytest

from cutter.catalogue import WorkerRole
from tests.support.relay import relay
from tests.support.stack import THREE_UNITS, Run, Stack
from tests.support.temporal import until
from tests.support.worker_process import said, worker_process
from worker import make_batch_worker, make_worker, slots_of

LEG_A, CUT = "IG_cut_leg_a_execute", "SG_cut_authz"
HOLD = "lock table public.unit_version in exclusive mode"
"""Leg A waits for it, up to the lock timeout."""

OTHER = "ICX-TEST-2"
Q_ATTEMPT = "select count(*) from cutter_governance.gate_attempt where gate = %s and finished_at is null"
Q_ATTEMPTS = "select count(*) from cutter_governance.gate_attempt where run_id = %s and gate = %s"


async def in_leg_a(stack: Stack, run: Run) -> None:
    """The run's leg A runs, and is held."""
    await run.until_requested(CUT)
    stack.take(HOLD)
    await run.approve(CUT)
    await until(lambda: asyncio.to_thread(is_busy, stack), what="the worker says that it is busy")


def is_busy(stack: Stack) -> bool:
    return "busy" in worker_moves(stack) and bool(stack.database.value(Q_ATTEMPT, (LEG_A,)))


def worker_moves(stack: Stack) -> list[Any]:
    moves: list[Any] | None = stack.database.value(
        "select array_agg(body::jsonb ->> 'to_state' order by seq) from cutter_governance.audit_event"
        " where chain = 'workers' and body::jsonb ->> 'entity_id' like 'exec-%'"
    )
    return moves or []


async def test_it_leaves_in_bounded_time_while_the_server_answers_nothing(stack: Stack) -> None:
    async with relay(stack.settings.temporal_address or "") as server:
        environment = {"CUTTER_TEMPORAL_ADDRESS": server.address}
        async with worker_process(stack, WorkerRole.EXEC, **environment) as leaving:
            await said(leaving, "worker.ready")
            server.freeze()
            leaving.send_signal(signal.SIGTERM)
            await said(leaving, "worker.shutdown_abandoned")
            assert await asyncio.wait_for(leaving.wait(), 60) == 0
    assert worker_moves(stack)[-1] == "shutdown"


async def test_it_finishes_what_it_runs_and_takes_nothing_more(stack: Stack) -> None:
    """Seed 004 "Worker State Machine" Invariants."""
    async with stack.workers(WorkerRole.CUTTER, WorkerRole.VERIFY):
        async with worker_process(stack, WorkerRole.EXEC) as leaving:
            await said(leaving, "worker.ready")
            stack.register(OTHER, THREE_UNITS)
            first, second = await stack.start(), await stack.start(OTHER)
            await second.until_requested(CUT)
            await in_leg_a(stack, first)
            leaving.send_signal(signal.SIGTERM)
            await said(leaving, "worker.draining")
            await second.approve(CUT)
            stack.let_go()
            await said(leaving, "worker.drained")
            assert await asyncio.wait_for(leaving.wait(), 60) == 0
        assert worker_moves(stack) == ["idle", "busy", "shutdown"]
        assert stack.database.value(Q_ATTEMPTS, (first.run_id, LEG_A)) == 1
        assert (await first.state()) in ("cut_leg_a_committed", "structural_verified")
        assert stack.database.value(Q_ATTEMPTS, (second.run_id, LEG_A)) == 0
        async with stack.workers(WorkerRole.EXEC):
            await first.until_requested("SG_lifecycle_authz")
            await second.until_requested("SG_lifecycle_authz")


@pytest.mark.parametrize("changed", [{"heartbeat_timeout_seconds": 2.0}], indirect=True)
async def test_told_twice_it_leaves_at_once_and_another_does_its_work(stack: Stack) -> None:
    async with stack.workers(WorkerRole.CUTTER, WorkerRole.VERIFY):
        async with worker_process(stack, WorkerRole.EXEC) as leaving:
            await said(leaving, "worker.ready")
            run = await stack.start()
            await in_leg_a(stack, run)
            leaving.send_signal(signal.SIGTERM)
            await said(leaving, "worker.draining")
            leaving.send_signal(signal.SIGTERM)
            assert await asyncio.wait_for(leaving.wait(), 60) == 4
        stack.let_go()
        assert worker_moves(stack) == ["idle", "busy"]
        async with stack.workers(WorkerRole.EXEC):
            await run.until_requested("SG_lifecycle_authz")
        assert stack.database.value(Q_ATTEMPTS, (run.run_id, LEG_A)) > 1


async def test_a_worker_takes_no_more_at_once_than_its_heartbeats_say(stack: Stack) -> None:
    """Seed 004 "Worker State Machine" Invariants."""
    said_at, taken = {}, {}
    for role in WorkerRole:
        deps = stack.deps(role)
        with ThreadPoolExecutor(max(slots_of(role).values())) as executor:
            made = [make_worker(stack.client, deps, executor)]
            if role is WorkerRole.CUTTER:
                made.append(make_batch_worker(stack.client, deps, executor))
        for pool in deps.pools.values():
            pool.close()
        taken |= {worker.task_queue: worker.config()["max_concurrent_activities"] for worker in made}
        said_at |= slots_of(role)
    assert taken == said_at


@pytest.mark.parametrize(("versioning", "by_queue"), [("off", False), ("pinned", True)])
async def test_a_worker_starts_the_activities_of_its_own_queue_itself(
    stack: Stack, versioning: str, by_queue: bool
) -> None:
    """Temporal can do so only for builds that are not pinned."""
    deps = stack.deps(WorkerRole.CUTTER)
    deps = replace(deps, settings=deps.settings.model_copy(update={"versioning": versioning}), build_id="a-build")
    with ThreadPoolExecutor(max(slots_of(WorkerRole.CUTTER).values())) as executor:
        made = make_worker(stack.client, deps, executor)
    for pool in deps.pools.values():
        pool.close()
    assert made.config()["disable_eager_activity_execution"] is by_queue
