"""`cutter workers` beside real workers: what they do, who fell silent, what is recorded of it."""

from __future__ import annotations

import asyncio
import json
import platform
from typing import Any

import psutil
import pytest

from cutter import limits
from cutter.catalogue import WorkerRole
from cutter.lifecycle import events
from cutter.lifecycle.declarations import WORKER
from cutter.settings import Settings
from starter.commands import workers
from tests.acceptance.cli.conftest import NOBODY, Cutter
from tests.support.stack import Stack
from tests.support.temporal import until
from worker import build_deps, serving

BEATING = {"worker_beat_seconds": 1}


async def transitions(cutter: Cutter) -> list[str]:
    """The transitions of all workers, as lines of a transitions.jsonl."""
    lines = (await cutter("transitions", "export")).out.splitlines()
    return [line for line in lines if json.loads(line)["event_type"] == "worker_state_transition"]


def states(stack: Stack) -> dict[str, str]:
    processes = ours(workers.look(stack.settings).as_json())
    return {worker["role"]: worker["state"] for worker in processes if worker["state"] != "shutdown"}


def ours(view: dict[str, Any]) -> list[dict[str, Any]]:
    """Without the workers of tests before, whom the server still knows as pollers for some minutes."""
    return [worker for worker in view["workers"] if worker["state"] != "unregistered"]


async def is_now(stack: Stack, role: str, state: str) -> bool:
    return (await asyncio.to_thread(states, stack)).get(role) == state


async def test_workers_are_idle_or_busy_by_what_really_runs_and_leave_when_they_are_told(
    stack: Stack, cutter: Cutter
) -> None:
    """Seeds 003 §1.1, 004 "Worker State Machine" Transition Details."""
    async with stack.workers(**BEATING):
        # A gate that takes less than a beat is not seen, so the first one waits here until it was.
        stack.take("lock table cutter_governance.gate_attempt in share mode")
        run = await stack.start()

        async def one_is_busy() -> bool:
            return "busy" in (await asyncio.to_thread(states, stack)).values()

        await until(one_is_busy, seconds=60)
        stack.let_go()
        await run.until_requested("SG_cut_authz")

        async def all_idle() -> bool:
            return set((await asyncio.to_thread(states, stack)).values()) == {"idle"}

        await until(all_idle, seconds=60)
        answer = await cutter("workers", "--json")
        assert answer.code == 0
        view = answer.json
        processes = ours(view)
        assert [worker["role"] for worker in processes] == ["cutter", "exec", "verify"]
        assert {worker["build_id"] for worker in processes} == {(await run.sidecar())["run"]["workflow_version_id"]}
        assert all(its["polls"] for worker in processes for its in worker["queues"])
        assert (processes[0]["used"], processes[0]["slots"]) == (0, 40)
        leases = {attempt["lease_owner"] for attempt in (await run.sidecar())["attempts"]}
        assert leases == {processes[0]["worker_id"]}, "attempts name the worker that made them"
    gone = await cutter("workers", "--json")
    assert gone.code == 5
    assert gone.json["unserved"] == list(workers.QUEUES)
    assert ours(gone.json) == []
    assert len(ours((await cutter("workers", "--all", "--json")).json)) == 3
    lines = await transitions(cutter)
    follow(lines)
    assert sum(json.loads(line)["to_state"] == "busy" for line in lines) >= 1
    assert sum(json.loads(line)["to_state"] == "shutdown" for line in lines) == 3


async def test_a_worker_that_falls_silent_is_recorded_once_and_may_come_back(
    stack: Stack, cutter: Cutter, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Seed 004 "Worker State Machine" Transition Details."""
    async with stack.workers(WorkerRole.CUTTER, WorkerRole.EXEC, **BEATING):
        deps = build_deps(stack.deps(WorkerRole.VERIFY, **BEATING).settings, WorkerRole.VERIFY)
        async with serving(stack.client, deps) as presence:
            await until(lambda: is_now(stack, "verify", "idle"), seconds=60)
            original = presence._say
            monkeypatch.setattr(presence, "_say", lambda _state: None)

            await until(lambda: is_now(stack, "verify", "unresponsive"), seconds=60)
            answer = await cutter("workers")
            assert answer.code == 5
            assert "cutter-verify has no worker" in answer.out
            assert "next: cutter up" in answer.out
            assert (await cutter("reconcile", "--json")).code == 0
            monkeypatch.setattr(presence, "_say", original)
            await until(lambda: is_now(stack, "verify", "idle"), seconds=60)
        for pool in deps.pools.values():
            pool.close()
    lines = await transitions(cutter)
    moved = [json.loads(line)["to_state"] for line in lines if "verify" in json.loads(line)["entity_id"]]
    assert moved == ["idle", "unresponsive", "idle", "shutdown"]
    follow(lines)


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="only glibc keeps such pages")
async def test_a_worker_gives_unused_memory_back_while_it_serves(stack: Stack, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "GIVE_BACK_SECONDS", 0.2)
    async with stack.workers():
        kept = [bytes(2_000) for _ in range(40_000)]
        process = psutil.Process()
        full = process.memory_info().rss
        # Of its own, glibc gives nothing back between the texts that are still in use.
        kept = kept[::100]

        async def gave_back() -> bool:
            return process.memory_info().rss < full - 40_000_000

        await until(gave_back, seconds=30)
        assert len(kept) == 400


async def test_a_build_that_cannot_serve_says_that_it_leaves(stack: Stack) -> None:
    deps = stack.deps(WorkerRole.VERIFY)
    with pytest.raises(TypeError):
        async with serving(stack.client, deps, no_such_option=True):
            pass
    for pool in deps.pools.values():
        pool.close()
    heartbeats = stack.database.value("select array_agg(role || ' ' || state) from cutter_governance.worker_heartbeat")
    assert heartbeats == ["verify shutdown"]


async def test_without_temporal_the_heartbeats_are_shown_and_it_is_said(stack: Stack, cutter: Cutter) -> None:
    async with stack.workers(WorkerRole.VERIFY):
        answer = await cutter("workers", "--json", CUTTER_TEMPORAL_ADDRESS=NOBODY)
    assert answer.code == 5
    assert [worker["role"] for worker in ours(answer.json)] == ["verify"]
    assert "does not answer" in answer.err


def follow(lines: list[str]) -> None:
    """Each line is an event of seed 004's schema, and each worker's moves follow each other legally."""
    at: dict[str, str] = {}
    before = ""
    for line in lines:
        event = events.read(line.encode())
        assert event.event_type == WORKER.event_type
        rule = WORKER.check(event.from_state, event.to_state)
        assert (rule.trigger, rule.severity) == (event.trigger, event.severity)
        assert at.get(event.entity_id, WORKER.initial) == event.from_state
        at[event.entity_id] = event.to_state
        assert before <= event.timestamp
        before = event.timestamp


def test_the_interval_is_a_setting_of_at_most_a_minute() -> None:
    assert Settings().worker_beat_seconds == 10
    with pytest.raises(ValueError, match="less than or equal to 60"):
        Settings(worker_beat_seconds=61)
