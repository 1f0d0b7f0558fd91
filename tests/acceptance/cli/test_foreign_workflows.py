"""A workflow of a stranger under one of our ids: every command that meets it names it and says how to remove it."""

from __future__ import annotations

import shlex
import subprocess

import pytest
from temporalio.client import WorkflowExecutionStatus

from cutter.errors import Refused
from temporal import batches, executions, names
from tests.acceptance.cli.conftest import Cutter
from tests.support.processes import temporal_program
from tests.support.stack import DOCUMENT, Stack
from tests.support.temporal import until

BATCH = "0199f1de-7c3d-7e4f-8a9b-0c1d2e3f4a5b"


async def squat(stack: Stack, workflow_id: str, **changed: str) -> None:
    """Start a workflow that nobody works on under an id of ours."""
    words = {"workflow": "Foreign\x1b[31m", "task_queue": "nobody", **changed}
    await stack.client.start_workflow(**words, id=workflow_id)


def remove(command: str) -> None:
    """Type what was printed."""
    words = shlex.split(command)
    assert words[1:3] == ["workflow", "terminate"], command
    done = subprocess.run([temporal_program(), *words[1:]], capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 0, done.stderr


def printed(text: str) -> str:
    """The command between backticks in a message, which a terminal may have wrapped."""
    return " ".join(text.split("`")[1].split())


async def test_each_command_names_it_and_the_printed_command_removes_it(stack: Stack, cutter: Cutter) -> None:
    await squat(stack, f"document/{DOCUMENT}")
    for words in (
        ("run", DOCUMENT),
        ("status", DOCUMENT),
        ("stop", DOCUMENT, "--reason", "r"),
        ("orchestrate", "resume", "--document-id", DOCUMENT),
    ):
        done = await cutter(*words)
        assert done.code == 4, done
        assert "\x1b[31m" not in done.err
        assert f"document/{DOCUMENT} is a workflow" in " ".join(done.err.split()), words
        assert f"--workflow-id document/{DOCUMENT}" in printed(done.err), words

    async def listed() -> list[dict[str, str]]:
        return list((await cutter("reconcile", "--json")).json["foreign"])

    rows = await until(listed, what="Temporal lists it")
    assert [row["workflow_id"] for row in rows] == [f"document/{DOCUMENT}"]
    remove(rows[0]["command"])
    assert await executions.ours_open(stack.client, f"document/{DOCUMENT}") is None
    async with stack.workers():
        assert (await cutter("run", DOCUMENT, "--wait", "--json")).json["state"] == "awaiting_cut_authorization"


async def test_a_run_whose_workflow_was_replaced_is_marked_and_goes_on(stack: Stack, cutter: Cutter) -> None:
    async with stack.workers():
        run = await stack.start()
        await run.until_requested("SG_cut_authz")
        await run.handle.terminate("by a stranger")
        await squat(stack, f"document/{DOCUMENT}", workflow="DocumentRun")
        report = (await cutter("reconcile", "--json", "--grace-seconds", "0")).json
        assert [entry["run_id"] for entry in report["marked"]] == [run.run_id]
        stopped = (await cutter("stop", DOCUMENT, "--reason", "r", "--json")).json
        assert not stopped["workflow_told"]
        remove(printed(stopped["note"]))
        assert await executions.ours_open(stack.client, f"document/{DOCUMENT}") is None


async def test_a_batchs_id_that_a_stranger_uses_is_refused_with_the_command(stack: Stack) -> None:
    await squat(stack, f"batch/{BATCH}")
    with pytest.raises(Refused) as caught:
        await batches.start(stack.client, BATCH, "olga")
    assert caught.value.code == "foreign_workflow"
    remove(printed(str(caught.value)))
    assert await executions.ours_open(stack.client, f"batch/{BATCH}") is None


async def test_a_workflow_of_ours_is_not_foreign(stack: Stack) -> None:
    run = await stack.start()
    assert (await run.handle.describe()).status is WorkflowExecutionStatus.RUNNING
    assert await executions.ours_open(stack.client, names.document_workflow_id(DOCUMENT)) is not None
    assert await executions.foreign(stack.client) == []
