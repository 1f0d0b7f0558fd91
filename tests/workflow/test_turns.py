"""Urgency and tenants' weights in a queue that has a backlog, on the real server (seed 002; seed 003 §3.4)."""

from __future__ import annotations

import asyncio
import uuid
from typing import Any

from temporalio import workflow
from temporalio.api.enums.v1 import TaskQueueType
from temporalio.api.taskqueue.v1 import TaskQueue
from temporalio.api.workflowservice.v1 import DescribeTaskQueueRequest
from temporalio.client import Client
from temporalio.worker import UnsandboxedWorkflowRunner, Worker

from cutter.domain.task_priority import Urgency
from cutter.messages import RunInput
from temporal import names, runs
from tests.support.stack import DOCUMENT, Stack
from tests.support.temporal import turns, until

STARTED: list[str] = []


@workflow.defn
class Counted:
    """Says when its turn came."""

    @workflow.run
    async def run(self, name: str) -> None:
        STARTED.append(name)


async def all_wait(client: Client, queue: str, sent: int) -> bool:
    description = await client.workflow_service.describe_task_queue(
        DescribeTaskQueueRequest(
            namespace=client.namespace, task_queue=TaskQueue(name=queue), report_stats=True,
            task_queue_type=TaskQueueType.TASK_QUEUE_TYPE_WORKFLOW,
        )
    )  # fmt: skip
    return description.stats.approximate_backlog_count >= sent


async def test_a_backlog_is_worked_off_by_urgency_and_within_it_by_the_tenants_weights(temporal_address: str) -> None:
    """Without the server's settings of priority and fairness they come as they were sent: the person's last.

    Seeds 002 "Queue and Cancellation Controls", 003 §3.4.
    """
    client, queue = await Client.connect(temporal_address), f"turns-{uuid.uuid4()}"
    sent = [
        *[(f"big-{number}", names.priority(Urgency.BATCH, "big")) for number in range(12)],
        *[(f"small-{number}", names.priority(Urgency.BATCH, f"small-{number}")) for number in range(3)],
        *[(f"heavy-{number}", names.priority(Urgency.BATCH, "heavy", 2)) for number in range(6)],
        ("night", names.priority(Urgency.OVERNIGHT, "south")),
        ("late", names.sooner(names.priority(Urgency.OVERNIGHT, "south"), Urgency.LATE_APPROVAL)),
        ("person", names.priority(Urgency.INTERACTIVE, "south")),
    ]
    handles: list[Any] = [
        await client.start_workflow(Counted.run, name, id=f"{queue}/{name}", task_queue=queue, priority=turn)
        for name, turn in sent
    ]
    # The server hands a start to the queue after it has answered: who is not yet in it has no turn.
    await until(lambda: all_wait(client, queue, len(sent)), what="every task in the queue")
    STARTED.clear()
    async with Worker(
        client, task_queue=queue, workflows=[Counted], max_cached_workflows=0, max_concurrent_workflow_tasks=1,
        max_concurrent_workflow_task_polls=1, workflow_runner=UnsandboxedWorkflowRunner(),
    ):  # fmt: skip
        await asyncio.gather(*(handle.result() for handle in handles))
    assert (STARTED[:2], STARTED[-1]) == (["person", "late"], "night")
    batches = STARTED[2:-1]
    assert {f"small-{number}" for number in range(3)} <= set(batches[:6]), "nobody waits behind the big one"
    last_heavy = max(place for place, name in enumerate(batches) if name.startswith("heavy-"))
    begun = [name.partition("-")[0] for name in batches[: last_heavy + 1]]
    assert 2 <= begun.count("big") <= 4, f"about half of what weighs double: {batches}"


async def test_a_run_that_a_person_starts_goes_first_with_its_tenant_s_weight(stack: Stack) -> None:
    stack.database.run(
        "insert into cutter_governance.tenant_cap (tenant, workflow, weight) values ('default', 'document', 5)"
    )
    stack.register()
    turn = runs.turn_of(stack.settings, DOCUMENT)
    handle = await runs.start(stack.client, RunInput(document_id=DOCUMENT), turn)
    assert (await turns(stack.client, handle.id))["start"] == (1, "default", 5)
