"""Orchestration: the same steps driven by Temporal as its tutorials do: one workflow, one worker, one signal.

python -m benchmarks.peer_temporal STATE. Nobody can stop, look into or repair such a run.
"""

from __future__ import annotations

import asyncio
import sys
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


async def main(state: Path) -> None:
    """Serve until a signal ends this process."""
    steps = Steps(state)
    client = await connect(Stack(state=state).settings)
    functions = [activity.defn(name=name)(getattr(steps, name)) for name in ("request", "verdict", "gate")]
    with ThreadPoolExecutor(AT_ONCE * 2) as threads:
        async with Worker(
            client, task_queue=QUEUE, workflows=[PlainDocument], activities=functions, activity_executor=threads
        ):
            print("ready", flush=True)
            await asyncio.Event().wait()


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1])))
