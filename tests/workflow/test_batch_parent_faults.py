"""The parent terminated, reset, or without its worker, in each state of a batch: it goes on, and nothing is doubled."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field, replace
from typing import Any

import pytest
from temporalio.api.common.v1 import WorkflowExecution
from temporalio.api.enums.v1 import EventType
from temporalio.api.workflowservice.v1 import ResetWorkflowExecutionRequest
from temporalio.client import WorkflowExecutionStatus

from activities.batch import advance as batch_steer
from cutter import limits
from cutter.batch import batch_step
from cutter.catalogue import GATES, WorkerRole
from cutter.messages import BatchResult, BatchStep, SteerInput
from cutter.storage import pools
from cutter.storage.batches import Options
from temporal import batches, names, runs
from tests.support import batch as support
from tests.support.batch import CUT, LIFECYCLE, Batch
from tests.support.stack import Stack
from tests.support.temporal import until
from tests.unit.batch import views

POISON = b"A text that has no heading at all.\n"

COUNTS = """
select jsonb_build_object(
    'units', (select count(*) from public.information_unit),
    'enacted', (select count(*) from public.information_unit where lifecycle_status = 'enacted'),
    'addresses', (select count(distinct canonical_address) from public.information_unit),
    'runs', (select count(*) from cutter_governance.run),
    'receipts', (select count(*) from cutter_governance.gate_receipt where sealed_at is not null),
    'consumed', (select count(*) from cutter_governance.approval_consumption),
    'queued', (select count(*) from cutter_governance.batch_queue),
    'reports', (select count(*) from cutter_governance.outbox where kind = 'batch_report'),
    'summaries', (select count(*) from cutter_governance.outbox where kind = 'queue_summary'),
    'unpublished', (select count(*) from cutter_governance.outbox where done_at is null))
"""

Fault = Callable[["Story"], Awaitable[None]]


@dataclass(slots=True)
class Story:
    """A batch, and the workers that a fault may take away."""

    stack: Stack
    batch: Batch
    exits: AsyncExitStack = field(default_factory=AsyncExitStack)

    async def workers_come(self, *roles: WorkerRole) -> None:
        await self.exits.enter_async_context(self.stack.workers(*roles))

    async def workers_go(self) -> None:
        await self.exits.aclose()

    async def again(self) -> None:
        """Start the batch as the command does: an open one is found."""
        self.batch.handle = await batches.start(self.stack.client, self.batch.batch_id, "olga")

    async def over(self, state: str) -> BatchResult:
        """The workflow's result, once it is over in that state."""
        result: BatchResult = await asyncio.wait_for(self.batch.result(), 90)
        assert result.state == state
        return result


async def terminated(story: Story) -> None:
    if (await story.batch.handle.describe()).status is WorkflowExecutionStatus.RUNNING:
        await story.batch.handle.terminate("by a test")
    await story.again()


async def reset(story: Story) -> None:
    """To its first workflow task: everything that it learned is gone."""
    client, name = story.stack.client, names.batch_workflow_id(story.batch.batch_id)
    latest: Any = client.get_workflow_handle(name, result_type=BatchResult)
    description = await latest.describe()
    done = EventType.EVENT_TYPE_WORKFLOW_TASK_COMPLETED
    events = [event.event_id for event in (await latest.fetch_history()).events if event.event_type == done]
    if events:
        await client.workflow_service.reset_workflow_execution(
            ResetWorkflowExecutionRequest(
                namespace=client.namespace,
                workflow_execution=WorkflowExecution(workflow_id=name, run_id=description.run_id),
                reason="by a test",
                workflow_task_finish_event_id=events[0],
                request_id=str(uuid.uuid4()),
            )
        )
    story.batch.handle = latest


async def without_worker(story: Story) -> None:
    await story.workers_go()
    await story.workers_come()


FAULTS: tuple[Fault, ...] = (terminated, reset, without_worker)
EACH_FAULT = pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.__name__)


@asynccontextmanager
async def begun(stack: Stack, items: int | list[support.Json], chosen: Options | None = None) -> AsyncIterator[Story]:
    """A batch that is started before any worker is there."""
    story = Story(stack, await support.start(stack, items, chosen))
    try:
        yield story
    finally:
        stack.let_go()
        await story.workers_go()


@EACH_FAULT
async def test_a_batch_that_meets_a_fault_in_each_state_ends_as_if_there_had_been_none(
    stack: Stack, fault: Fault, monkeypatch: pytest.MonkeyPatch
) -> None:
    # A worker that ends waits for its gates, and a gate waits for its lock.
    monkeypatch.setattr(pools, "SESSION", pools.SESSION.replace(f"={limits.LOCK_TIMEOUT_SECONDS}s", "=1s"))
    stack.take("lock table cutter_governance.gate_receipt in share mode")
    async with begun(stack, 2) as story:
        batch = story.batch
        if fault is not without_worker:
            await fault(story)
        assert (await batch.view())["batch"]["state"] == "batch_pending"
        await story.workers_come()
        for state, gate_to_sign in (
            ("batch_planning", None),
            ("batch_awaiting_cut_authz_set", CUT),
            ("batch_writing", None),
            ("batch_awaiting_lifecycle_authz_set", LIFECYCLE),
            ("batch_enacting", None),
        ):
            view = await batch.until_state(state)
            await fault(story)
            runs = [item["run_id"] for item in view["items"]]
            stack.let_go()
            if gate_to_sign is not None:
                await sign_gate(story, gate_to_sign)
        result = await story.over("batch_closeout")
        assert result.totals == {"enacted": 2, "settled": 2}
        assert [item["run_id"] for item in (await batch.view())["items"]] == runs
        expected = {
            "units": 6, "enacted": 6, "addresses": 6, "runs": 2, "receipts": 2 * len(GATES), "consumed": 4,
            "queued": 0, "reports": 1, "summaries": 0, "unpublished": 0,
        }  # fmt: skip
        assert stack.database.value(COUNTS) == expected
        await (terminated if fault is without_worker else fault)(story)
        assert (await story.over("batch_closeout")).report == result.report
        assert stack.database.value(COUNTS) == expected


async def sign_gate(story: Story, gate: str) -> None:
    """Sign both and hand them over while the next gate is held, so that the state after it lasts."""
    (story.stack.take_write_lane if gate == CUT else story.stack.take_enact_lane)()
    await story.batch.until_stage("ICX-B-1", "at_sg1" if gate == CUT else "at_sg2")
    await story.batch.until_stage("ICX-B-2", "at_sg1" if gate == CUT else "at_sg2")
    answer = await story.batch.hand_over(await story.batch.sign(gate))
    assert sorted(answer["accepted"]) == ["ICX-B-1", "ICX-B-2"]


@EACH_FAULT
async def test_a_batch_that_ended_with_a_failed_document_is_the_same_after_a_fault(stack: Stack, fault: Fault) -> None:
    stack.register("ICX-P-1", POISON)
    async with begun(stack, [{"document_id": "ICX-P-1"}], Options(policy="quarantine")) as story:
        await story.workers_come()
        result = await story.over("batch_failed_partial")
        before = stack.database.value(COUNTS)
        assert (before["queued"], before["reports"], before["summaries"], before["units"]) == (1, 1, 1, 0)
        await fault(story)
        await story.again()
        assert await story.over("batch_failed_partial") == result
        assert stack.database.value(COUNTS) == before


@EACH_FAULT
async def test_a_voided_batch_stays_void_after_a_fault(stack: Stack, fault: Fault) -> None:
    async with begun(stack, 2) as story:
        await story.workers_come()
        await story.batch.until_state("batch_awaiting_cut_authz_set")
        await story.batch.handle.signal("cancel", {"reason": "not this year"})
        result = await story.over("batch_voided")
        assert result.reason == "not this year"
        before = stack.database.value(COUNTS)
        await fault(story)
        await story.again()
        assert await story.over("batch_voided") == result
        assert stack.database.value(COUNTS) == before


async def test_a_start_whose_answer_was_lost_is_named_again(stack: Stack, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("cutter.limits.STEER_SECONDS", 20)
    monkeypatch.setattr("cutter.limits.STEER_UNHEARD_SECONDS", 2)
    monkeypatch.setattr("cutter.limits.STEER_POLL_SECONDS", 1)
    items = support.small_laws(stack, 2)
    batch_id = await asyncio.to_thread(support.register, stack, items)
    deps = stack.deps(WorkerRole.CUTTER)
    try:
        # The runs are registered, and the answer that names them goes nowhere.
        lost: BatchStep = await asyncio.to_thread(batch_steer.steer_batch, deps, SteerInput(batch_id=batch_id))
        assert len(lost.starts) == 2
        step: BatchStep = await asyncio.to_thread(
            batch_steer.steer_batch, deps, SteerInput(batch_id=batch_id, seen=lost.seen)
        )
        assert step.starts == lost.starts
        halted = "select cutter_governance.fn_batch_halt(%s, 'stop', 'enough')"
        await asyncio.to_thread(stack.database.value, halted, (batch_id,), role="cutter_operator")
        stops: BatchStep = await asyncio.to_thread(batch_steer.steer_batch, deps, SteerInput(batch_id=batch_id))
        again: BatchStep = await asyncio.to_thread(
            batch_steer.steer_batch, deps, SteerInput(batch_id=batch_id, seen=stops.seen)
        )
        assert len(stops.stops) == 2
        assert again.stops == stops.stops
    finally:
        for pool in deps.pools.values():
            pool.close()


async def test_two_parents_of_one_batch_at_the_same_moment_double_nothing(stack: Stack) -> None:
    """Seed 002 "Execution Command Boundary"."""
    stack.register("ICX-P-1", POISON)
    items = [*support.small_laws(stack, 3), {"document_id": "ICX-P-1"}]
    async with stack.workers():
        batch = await support.start(stack, items, Options(policy="quarantine", lanes=2))
        twin = await stack.client.start_workflow(
            names.BATCH, {"batch_id": batch.batch_id}, id="elsewhere/1", task_queue=names.WORKFLOW_QUEUE,
            result_type=BatchResult,
        )  # fmt: skip
        result = await batch.through()
        assert result.totals == {"enacted": 3, "failed": 1, "quarantine_queue": 1, "settled": 4}
        assert (await runs.result_of(twin, BatchResult)).totals == result.totals

        async def published() -> bool:
            return bool(stack.database.value(COUNTS)["unpublished"] == 0)

        await until(published, what="all documents are in the knowledge base")
        counts = stack.database.value(COUNTS)
        assert (counts["units"], counts["enacted"], counts["addresses"], counts["runs"]) == (9, 9, 9, 4)
        assert (counts["consumed"], counts["queued"], counts["reports"], counts["summaries"]) == (6, 1, 1, 1)


def test_what_began_is_not_unheard_of() -> None:
    began = "2026-11-21T09:00:00+00:00"
    pending = views.item("ICX-1", "pending", created_at=began)
    view = views.view(pending, replace(pending, state="marked"), age=31, began_at=began)
    assert batch_step.unstarted(view, 30) == [pending]
    assert batch_step.unstarted(replace(view, age_seconds=29), 30) == []
