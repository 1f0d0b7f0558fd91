"""Orchestration: the same steps driven by Temporal as its tutorials do: one workflow, one worker, one signal.

python -m benchmarks.peer_temporal STATE. Nobody can stop, look into or repair such a run.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from pathlib import Path

from temporalio import activity, workflow
from temporalio.worker import Worker

with workflow.unsafe.imports_passed_through():
    from benchmarks.peer_steps import AT_ONCE, PLAN, Steps
    from temporal.client import connect
    from tests.support.processes import Stack

QUEUE, WORKFLOW, SIGNAL = "peers", "PlainDocument", "approve"
STEP_TIMEOUT = timedelta(minutes=10)


@workflow.defn(name=WORKFLOW)
class PlainDocument:
    """One run through all gates."""

    def __init__(self) -> None:
        self.approvals: dict[str, str] = {}

    @workflow.signal(name=SIGNAL)
    def approve(self, approval: str, kb_id: str) -> None:
        """Keep an approval until its gate."""
        self.approvals[approval] = kb_id

    @workflow.run
    async def run(self, run_id: str) -> None:
        """Call each step, and wait for each approval."""
        for name, approval in PLAN:
            kb_id = await self._approved(approval, run_id) if approval else ""
            await _step("gate", name, run_id, kb_id)

    async def _approved(self, approval: str, run_id: str) -> str:
        await _step("request", approval, run_id)
        await workflow.wait_condition(lambda: approval in self.approvals)
        await _step("verdict", approval, run_id, self.approvals[approval])
        return self.approvals[approval]


async def _step(name: str, *arguments: str) -> None:
    await workflow.execute_activity(name, args=arguments, start_to_close_timeout=STEP_TIMEOUT)


def activities(steps: Steps) -> list[Callable[..., None]]:
    """The three kinds of step as activities."""

    @activity.defn(name="request")
    def request(approval: str, run_id: str) -> None:
        steps.request(approval, run_id)

    @activity.defn(name="verdict")
    def verdict(approval: str, run_id: str, kb_id: str) -> None:
        steps.verdict(approval, run_id, kb_id)

    @activity.defn(name="gate")
    def gate(name: str, run_id: str, kb_id: str) -> None:
        steps.gate(name, run_id, kb_id)

    return [request, verdict, gate]


async def main(state: Path) -> None:
    """Serve until a signal ends this process."""
    client = await connect(Stack(state=state).settings)
    with ThreadPoolExecutor(AT_ONCE * 2) as threads:
        async with Worker(
            client,
            task_queue=QUEUE,
            workflows=[PlainDocument],
            activities=activities(Steps(state)),
            activity_executor=threads,
        ):
            print("ready", flush=True)
            await asyncio.Event().wait()


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1])))
