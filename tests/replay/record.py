"""IO: records the replay corpus from real runs: `python -m tests.replay.record [NAME …]`.

Each history is a real one, with the SDK's own flags, gzipped, named by the hazard that it holds; beside it stands the
result it must have. They are recorded again when the workflow changes on purpose, and never edited.
"""

from __future__ import annotations

import asyncio
import gzip
import json
import sys
import threading
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import uuid_utils
from temporalio.client import WorkflowHandle, WorkflowHistory

from cutter.approvals import schema
from cutter.catalogue import WorkerRole
from cutter.domain.digests import sha256_hex
from cutter.kb.store import Store
from cutter.messages import VoidInput, VoidResult
from cutter.storage.batches import Options
from temporal import names
from tests.architecture import test_workflow_fingerprint
from tests.campaigns import p13_forged_results as p13
from tests.campaigns.p14_reset import reset
from tests.support import batch as batches
from tests.support.batch import Batch
from tests.support.stack import THREE_UNITS, Ground, Run, Stack, ground

HISTORIES = Path(__file__).parent / "histories"
CUT, LIFECYCLE = "SG_cut_authz", "SG_lifecycle_authz"
DOCUMENT = "ICX-REPLAY-1"

Recorded = list[tuple[str, WorkflowHistory]]
Scene = Callable[[Stack], Awaitable[Recorded]]
SCENES: dict[str, tuple[Scene, dict[str, Any]]] = {}


def scene(**settings: Any) -> Callable[[Scene], Scene]:
    """A way to come by histories, on a stack with these settings."""

    def named(made: Scene) -> Scene:
        SCENES[made.__name__] = (made, settings)
        return made

    return named


async def started(stack: Stack, **fields: Any) -> Run:
    stack.register(DOCUMENT, THREE_UNITS)
    return await stack.start(DOCUMENT, **fields)


async def one(run: Run, name: str) -> Recorded:
    await run.result()
    return [(name, await run.history())]


@scene()
async def clean(stack: Stack) -> Recorded:
    """To the end, and what is open at each state on the way."""
    async with stack.workers():
        run = await started(stack)
        await run.until_requested(CUT)
        waiting = ("awaiting_cut", await run.history())
        await run.approve(CUT)
        await run.until_requested(LIFECYCLE)
        later = ("awaiting_lifecycle", await run.history())
        await run.approve(LIFECYCLE)
        return [waiting, later, *await one(run, "clean")]


@scene()
async def every_state(stack: Stack) -> Recorded:
    """The history as it is when each gate has just been sealed."""
    run = await started(stack)
    histories: dict[str, WorkflowHistory] = {}
    loop = asyncio.get_running_loop()

    def keep(gate: str) -> None:
        histories[gate] = asyncio.run_coroutine_threadsafe(run.history(), loop).result(20)

    stack.hooks.append(keep)
    async with stack.workers():
        await run.through()
    return [(f"sealed_{gate}", history) for gate, history in histories.items()]


@scene()
async def dryrun(stack: Stack) -> Recorded:
    async with stack.workers():
        return await one(await started(stack, mode="dryrun"), "dryrun_rehearsed")


@scene()
async def skipped(stack: Stack) -> Recorded:
    async with stack.workers():
        await (await started(stack)).through()
        return await one(await started(stack), "skipped")


@scene()
async def failed(stack: Stack) -> Recorded:
    async with stack.workers():
        return await one(await started(stack, source_uri="https://elsewhere.example"), "failed_source_pin")


@scene()
async def rejected(stack: Stack) -> Recorded:
    async with stack.workers():
        run = await started(stack)
        await run.until_requested(CUT)
        await run.resume(await run.sign(schema.REJECT, text="no"))
        return await one(run, "rejected")


@scene()
async def stopped(stack: Stack) -> Recorded:
    async with stack.workers():
        run = await started(stack)
        await run.until_requested(CUT)
        await run.handle.signal("stop", {"reason": "look"})
        await run.until_shown("stopped_stop")
        still = ("stopped_stop", await run.history())
        await run.resume()
        await run.resume(await run.order(schema.RESUME))
        await run.through()
        return [still, *await one(run, "stopped_and_resumed")]


@scene()
async def cancelled(stack: Stack) -> Recorded:
    async with stack.workers():
        run = await started(stack)
        await run.until_requested(CUT)
        await run.handle.cancel()
        return await one(run, "cancelled_by_temporal")


@scene()
async def voided(stack: Stack) -> Recorded:
    async with stack.workers():
        run = await started(stack)
        await run.approve(CUT)
        await run.until_requested(LIFECYCLE)
        await run.handle.signal("cancel")
        await run.until_shown("stopped_cancel")
        order = await run.order(schema.VOID, reason="wrong source")
        void: WorkflowHandle[Any, VoidResult] = await stack.client.start_workflow(
            names.VOID_RUN, VoidInput(run_id=run.run_id, kb_id=order, document_id=DOCUMENT),
            id=names.void_workflow_id(run.run_id), task_queue=names.WORKFLOW_QUEUE, result_type=VoidResult,
        )  # fmt: skip
        await void.result()
        return [("void_workflow", await void.fetch_history()), *await one(run, "voided_after_leg_a")]


@scene()
async def revoked(stack: Stack) -> Recorded:
    """While its gate waits for the worker that writes; approved once more, it goes through."""
    async with stack.workers(WorkerRole.CUTTER, WorkerRole.VERIFY):
        run = await started(stack)
        kb_id = await run.approve(CUT)
        await run.revoke(kb_id)
        approval = sha256_hex(Store(stack.settings.kb).get(kb_id))
        short = stack.client.get_workflow_handle(names.revoke_workflow_id(approval))
        async with stack.workers(WorkerRole.EXEC):
            await run.until_attempted("IG_cut_leg_a_execute", "approval_refused")
            await run.until_requested(CUT)
            await run.handle.signal("submit_approval", await run.sign(text="on second thought"))
            await run.approve(LIFECYCLE)
            return [("revoke_workflow", await short.fetch_history()), *await one(run, "revoked_while_its_gate_waited")]


@scene()
async def messages(stack: Stack) -> Recorded:
    async with stack.workers():
        run = await started(stack)
        await run.until_requested(CUT)
        for number in range(12):
            await run.handle.signal(f"nonsense_{number}", number)
        await run.handle.signal("submit_approval", args=["a.md", "b.md"])
        await run.resume("knowledge/nothing.md")
        kb_id = await run.sign()
        await asyncio.gather(*(run.resume(kb_id) for _ in range(3)))
        await run.approve(LIFECYCLE)
        return await one(run, "broken_and_repeated_messages")


@scene()
async def flooded(stack: Stack) -> Recorded:
    async with stack.workers():
        run = await started(stack)
        await run.until_requested(CUT)
        for number in range(30):
            await run.handle.signal("submit_approval", f"{number} is no KB id")
        await run.until_shown("stopped_signal_flood")
        still = ("stopped_signal_flood", await run.history())
        await run.resume()
        await run.through()
        return [still, *await one(run, "flooded_and_resumed")]


@scene(ttl_sg1_hours=2 / 3600)
async def expired(stack: Stack) -> Recorded:
    async with stack.workers():
        run = await started(stack)
        await run.until_shown("stopped_expired")
        still = ("stopped_expired", await run.history())
        await run.resume()
        await run.until_requested(CUT)
        await run.handle.signal("cancel")
        return [still, *await one(run, "expired_and_resumed")]


@scene()
async def drifted(stack: Stack) -> Recorded:
    async with stack.workers():
        run = await started(stack)
        await run.until_requested(CUT)
        stack.database.run("alter table public.unit_version add column harmless integer")
        await run.approve(CUT)
        await run.until_shown("stopped_drift_tables")
        still = ("stopped_drift", await run.history())
        await run.handle.signal("acknowledge_drift", await run.order(schema.ACKNOWLEDGE_DRIFT))
        await run.approve(LIFECYCLE)
        return [still, *await one(run, "drift_acknowledged")]


@scene(worker_wait_minutes=1 / 60)
async def without_exec(stack: Stack) -> Recorded:
    async with stack.workers(WorkerRole.CUTTER, WorkerRole.VERIFY):
        run = await started(stack)
        await run.approve(CUT)
        await run.until_shown("stopped_unavailable_worker_exec")
        still = ("stopped_unavailable_worker", await run.history())
        async with stack.workers(WorkerRole.EXEC):
            await run.resume()
            await run.approve(LIFECYCLE)
            return [still, *await one(run, "worker_missing_and_resumed")]


@scene()
async def retried(stack: Stack) -> Recorded:
    async with stack.workers(keys_dir=stack.settings.state / "no-keys"):
        run = await started(stack)
        await run.until_attempted("IG_backup", "unavailable", times=5)
        await run.until_shown("stopped_unavailable_backup")
    still = ("stopped_unavailable_backup", await run.history())
    async with stack.workers():
        await run.resume()
        await run.through()
        return [still, *await one(run, "retried_and_resumed")]


@scene(soft_cap_seconds={"mark": 1})
async def over_cap(stack: Stack) -> Recorded:
    go_on = threading.Event()

    def linger(gate: str) -> None:
        if gate == "IG_mark":
            go_on.wait(20)

    stack.hooks.append(linger)
    async with stack.workers():
        run = await started(stack)
        await run.until_shown("stopped_soft_cap_mark")
        still = ("stopped_soft_cap", await run.history())
        go_on.set()
        await run.resume()
        await run.through()
        return [still, *await one(run, "soft_cap_and_resumed")]


@scene(hard_cap_minutes=0.0005)
async def over_hard_cap(stack: Stack) -> Recorded:
    async with stack.workers():
        run = await started(stack)
        await run.until_shown("stopped_hard_cap")
        return [("stopped_hard_cap", await run.history())]


@scene()
async def busy_lane(stack: Stack) -> Recorded:
    stack.take_write_lane()
    async with stack.workers():
        run = await started(stack)
        await run.approve(CUT)
        await run.until_attempted("IG_cut_leg_a_execute", "lane_busy", times=2)
        stack.let_go()
        await run.approve(LIFECYCLE)
        return await one(run, "write_lane_busy")


@scene()
async def robbed(stack: Stack) -> Recorded:
    stack.register(DOCUMENT, THREE_UNITS)
    histories = []
    for turn in range(len(p13.FORGERIES)):
        document = f"ICX-ROBBED-{turn}"
        stack.register(document, THREE_UNITS)
        kinds = {gate.name: p13.FORGERIES[(gate.number + turn) % len(p13.FORGERIES)] for gate in p13.GATES}
        robbery = p13.Told(stack=stack, kinds=kinds)
        await robbery.play(document)
        assert robbery.run is not None
        histories.append((f"forged_results_{turn}", await robbery.run.history()))
    return histories


@scene()
async def executed_again(stack: Stack) -> Recorded:
    async with stack.workers():
        run = await started(stack)
        await run.approve(CUT)
        await run.until_requested(LIFECYCLE)
        await run.handle.terminate()
        again = await stack.start(DOCUMENT, run_id=run.run_id)
        await again.approve(LIFECYCLE)
        histories = await one(again, "new_execution_skips_sealed_gates")
        history = await again.history()
        for number, event_id in enumerate((4, 10, 16)):
            await reset(stack, again, history.run_id, event_id)
            latest = stack.client.get_workflow_handle(again.handle.id)
            histories.append((f"reset_{number}", await latest.fetch_history()))
        return histories


# --- batches: the parents' histories


async def parent(batch: Batch) -> WorkflowHistory:
    history: WorkflowHistory = await batch.handle.fetch_history()
    return history


@scene()
async def batch_sessions(stack: Stack) -> Recorded:
    """Two signing sessions, the first with a document left out, and what is open in the states between."""
    async with stack.workers():
        batch = await batches.start(stack, 3)
        await batch.until_state("batch_awaiting_cut_authz_set")
        await batch.status()
        waiting = ("batch_awaiting_cut_set", await parent(batch))
        await batch.hand_over(await batch.sign(CUT, leave_out=["ICX-B-2"]))
        await batch.until_state("batch_awaiting_lifecycle_authz_set")
        await batch.status()
        part = ("batch_partial", await parent(batch))
        await batch.hand_over(await batch.sign(CUT))
        await batch.through_lifecycle()
        return [waiting, part, ("batch_two_sittings", await parent(batch))]


@scene()
async def batch_failed(stack: Stack) -> Recorded:
    """A document that cannot be cut, one that depends on it, and a good one."""
    async with stack.workers():
        good, dependent = batches.small_laws(stack, 2)
        stack.register("ICX-BAD", b"nothing that could be cut\n")
        items = [{"document_id": "ICX-BAD"}, {**dependent, "depends_on": ["ICX-BAD"]}, good]
        batch = await batches.start(stack, items, Options(policy="quarantine"))
        await batch.through()
        return [("batch_failed_document", await parent(batch))]


@scene()
async def batch_unattended(stack: Stack) -> Recorded:
    """A rehearsal, and a night in which one document is not covered; then it is signed late."""
    batch_id = str(uuid_utils.uuid7())
    items = batches.small_laws(stack, 2)
    async with stack.workers():
        rehearsal = await batches.start(stack, items, Options(mode="dryrun"), batch_id)
        await rehearsal.result()
        await rehearsal.sign_before(leave_out=["ICX-B-2"])
        night = await batches.start(stack, items, Options.overnight(), batch_id)
        await night.result()
        histories = [("batch_rehearsed", await parent(rehearsal)), ("batch_unattended", await parent(night))]
        await night.hand_over_late(await night.sign(CUT))
        await night.until_state("batch_awaiting_lifecycle_authz_set")
        await night.hand_over_late(await night.sign(LIFECYCLE))
        await night.until_state("batch_closeout")
        latest = stack.client.get_workflow_handle(names.batch_workflow_id(batch_id))
        await latest.result()
        return [*histories, ("batch_signed_late", await latest.fetch_history())]


@scene()
async def batch_stopped(stack: Stack) -> Recorded:
    """Stopped, with messages of no sense before; and one that Temporal itself cancelled."""
    async with stack.workers():
        batch = await batches.start(stack, 2)
        await batch.until_state("batch_awaiting_cut_authz_set")
        for number in range(5):
            await batch.handle.signal(f"nonsense_{number}", number)
        await batch.handle.execute_update("submit_approval_set", args=["a", "b"])
        await batch.handle.signal("stop", {"reason": "look"})
        await batch.result()
        stack.register("ICX-C-1", batches.law(9))
        cancelled = await batches.start(stack, [{"document_id": "ICX-C-1"}])
        await cancelled.until_state("batch_awaiting_cut_authz_set")
        await cancelled.handle.cancel()
        await cancelled.result()
        return [("batch_stopped", await parent(batch)), ("batch_cancelled", await parent(cancelled))]


@scene()
async def batch_adopted(stack: Stack) -> Recorded:
    """Terminated while it waits, started again, told a lie, and asked once more."""
    async with stack.workers():
        batch = await batches.start(stack, 2)
        await batch.until_state("batch_awaiting_cut_authz_set")
        await batch.handle.terminate()
        again = await batches.again(batch)
        await again.complete("steer_batch", "forged")
        await again.through()
        return [("batch_adopted", await parent(again))]


def expectation(history: WorkflowHistory) -> dict[str, Any]:
    """What the history ends with: its result, or `open`."""
    last = history.events[-1]
    if not last.HasField("workflow_execution_completed_event_attributes"):
        return {"events": len(history.events), "result": "open"}
    payload = last.workflow_execution_completed_event_attributes.result.payloads[0]
    result = json.loads(payload.data)
    return {"events": len(history.events), "result": result["state"], "outcome": result.get("outcome", "")}


def store(histories: Recorded) -> None:
    """Write each history and its expectation; the same history gives the same bytes."""
    HISTORIES.mkdir(exist_ok=True)
    for name, history in histories:
        with (HISTORIES / f"{name}.json.gz").open("wb") as file:
            packed = json.dumps(json.loads(history.to_json()), separators=(",", ":")).encode()
            file.write(gzip.compress(packed, mtime=0))
        expected = {"workflow_id": history.workflow_id, **expectation(history)}
        (HISTORIES / f"{name}.expected.json").write_text(json.dumps(expected, indent=1) + "\n", encoding="utf-8")
        print(f"{name}: {expected['result']}, {expected['events']} events")


def main(scenes: list[str]) -> None:
    """Record these scenes, or all."""

    async def played(under: Ground, wanted: tuple[Scene, dict[str, Any]]) -> Recorded:
        async with under.stack(**wanted[1]) as stack:
            return await wanted[0](stack)

    with ground() as under:
        for name in scenes or SCENES:
            store(asyncio.run(played(under, SCENES[name])))
    test_workflow_fingerprint.write()


if __name__ == "__main__":
    main(sys.argv[1:])
