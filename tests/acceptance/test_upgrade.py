"""docs/runbooks/upgrade.md: runs that wait end on the build that they began on, new ones begin on the new one.

`UPGRADE_RUNS=20` for more runs that wait.
"""

from __future__ import annotations

import asyncio
import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from temporalio.api.enums.v1 import EventType
from temporalio.client import Client

from cutter import sources
from cutter.messages import RunInput
from cutter.stack import workers
from cutter.storage import runs as run_rows
from temporal import runs
from temporal.client import connect
from tests.support.laws import law
from tests.support.processes import ROOT, Stack, pinned_workers, wait
from tests.support.processes import stack as processes
from tests.support.stack import OPTIONS

RUNS = int(os.environ.get("UPGRADE_RUNS", "5"))
PARTS = ("activities", "cutter", "starter", "temporal", "workflows")
STEP = "        for gate in GATES:\n"
OTHER_STEP = '            await workflow.sleep(0.001, summary="the other build")\n'
CUT, LIFECYCLE = "awaiting_cut_authorization", "awaiting_lifecycle_authorization"


@pytest.fixture
def builds(tmp_path: Path) -> Iterator[tuple[Stack, dict[str, Path]]]:
    """A stack, and two installations whose workflows ask for different steps."""
    made = {name: tmp_path / name for name in ("old", "new")}
    for folder in made.values():
        for part in PARTS:
            shutil.copytree(ROOT / part, folder / part, ignore=shutil.ignore_patterns("__pycache__"))
        shutil.copy(ROOT / "worker.py", folder)
    file = made["new"] / "workflows" / "document_run.py"
    text = file.read_text(encoding="utf-8")
    assert text.count(STEP) == 1
    file.write_text(text.replace(STEP, STEP + OTHER_STEP), encoding="utf-8")
    with processes("cu", CUTTER_WORKER_BEAT_SECONDS="2") as stack:
        yield stack, made


async def start(stack: Stack, client: Client, document_id: str) -> str:
    sources.register(
        stack.settings, law(3).encode(), document_id=document_id, docprefix=document_id, profile="generic-markdown",
        options=OPTIONS,
    )  # fmt: skip
    run_id = await asyncio.to_thread(run_rows.register_run, stack.settings, document_id, "live")
    await runs.start(client, RunInput(document_id=document_id, run_id=run_id, starter="olga"))
    return run_id


async def approve(stack: Stack, client: Client, document_id: str, run_id: str, state: str) -> None:
    """Sign what the run waits with, and hand it over."""
    await asyncio.to_thread(
        wait, lambda: stack.waits_in(run_id) == state, seconds=120, what=f"{document_id} waits in {state}"
    )
    kb_id = await asyncio.to_thread(stack.approve, run_id)
    await client.get_workflow_handle(f"document/{document_id}").signal("submit_approval", kb_id)


async def driven_by(client: Client, document_id: str) -> tuple[set[str], bool]:
    """The builds that ran the document's workflow, and whether it took the other build's steps."""
    build_ids, other = set(), False
    async for event in client.get_workflow_handle(f"document/{document_id}").fetch_history_events():
        if event.event_type is EventType.EVENT_TYPE_WORKFLOW_TASK_COMPLETED:
            build_ids.add(event.workflow_task_completed_event_attributes.deployment_version.build_id)
        other |= b"the other build" in event.user_metadata.summary.data
    return build_ids, other


def attempted_by(stack: Stack, run_id: str) -> set[str]:
    """The builds of the workers that made the run's attempts."""
    return {
        row["build_id"]
        for row in stack.rows(
            "select w.build_id from cutter_governance.gate_attempt a left join cutter_governance.worker_heartbeat w"
            " on w.worker_id = a.lease_owner where a.run_id = %s",
            (run_id,),
        )
    }


async def test_runs_that_wait_end_on_the_build_that_they_began_on(builds: tuple[Stack, dict[str, Path]]) -> None:
    stack, folders = builds
    stack.up()
    workers.stop_workers(stack.state)
    pinned_workers(stack, "old", folders["old"])
    stack.approver()
    client = await connect(stack.settings)
    waiting = {f"OLD-{number}": "" for number in range(RUNS)}
    for document_id in waiting:
        waiting[document_id] = await start(stack, client, document_id)
    for document_id, run_id in list(waiting.items())[::2]:
        await approve(stack, client, document_id, run_id, CUT)

    pinned_workers(stack, "new", folders["new"])
    output = stack.cutter("workers").stdout
    assert "build new: current" in output
    assert "build old: draining" in output
    begun = await start(stack, client, "NEW-1")
    for number, (document_id, run_id) in enumerate(waiting.items()):
        if number % 2:
            await approve(stack, client, document_id, run_id, CUT)
    await approve(stack, client, "NEW-1", begun, CUT)
    for document_id, run_id in {**waiting, "NEW-1": begun}.items():
        await approve(stack, client, document_id, run_id, LIFECYCLE)
        ended = await asyncio.wait_for(client.get_workflow_handle(f"document/{document_id}").result(), 120)
        assert ended["state"] == "closeout_reported"

    for document_id, run_id in waiting.items():
        assert await driven_by(client, document_id) == ({"old"}, False)
        assert attempted_by(stack, run_id) == {"old"}
        assert stack.sidecar(run_id)["run"]["workflow_version_id"] == "old"
    assert await driven_by(client, "NEW-1") == ({"new"}, True)
    assert attempted_by(stack, begun) == {"new"}

    def drained() -> bool:
        return "build old: drained" in stack.cutter("workers").stdout

    await asyncio.to_thread(wait, drained, seconds=120, what="the old build has no run left")
