"""A batch by `temporal` and `gpg` alone: approved as its overview says, asked, stopped."""

from __future__ import annotations

import json
import re
import shutil
from dataclasses import asdict
from pathlib import Path
from typing import Any

import uuid_utils

from temporal import batches
from tests.acceptance.test_by_hand import Instructions
from tests.support.batch import queue_yaml
from tests.support.laws import law
from tests.support.processes import Stack, wait

DOCUMENTS = ("BATCH-HAND-1", "BATCH-HAND-2")


def view(stack: Stack, batch_id: str) -> Any:
    return asdict(batches.view(stack.settings, batch_id))


def until_state(stack: Stack, batch_id: str, state: str) -> Any:
    wait(lambda: view(stack, batch_id)["batch"]["state"] == state, seconds=60, what=state)
    return view(stack, batch_id)


def query(stack: Stack, batch_id: str) -> Any:
    """What the batch says of itself, by the temporal program."""
    answer = stack.temporal("workflow", "query", "--workflow-id", f"batch/{batch_id}", "--type", "status", "-o", "json")
    return json.loads(answer.stdout)["queryResult"][0]


def approve_by_hand(stack: Stack, batch: Any, overview: Path, folder: Path) -> str:
    """Sign each request in its own words, put all into the folder that the overview names, type what it says."""
    text = overview.read_text(encoding="utf-8")
    command = re.search(r"^temporal workflow update execute .*$", text, re.M)
    assert command is not None
    into = stack.state / "kb" / json.loads(command[0].partition("--input ")[2].strip("'"))["folder"]
    into.mkdir(parents=True)
    for item in batch["items"]:
        assert item["request_kb_id"] in text
        here = folder / item["document_id"]
        here.mkdir(parents=True)
        request = Instructions((stack.state / "kb" / item["request_kb_id"]).read_text(encoding="utf-8"))
        for file, suffix in zip(request.signed(stack, here), ("", ".asc"), strict=True):
            shutil.copy(file, into / f"{item['document_id']}.md{suffix}")
    return request.shell(stack, folder, command[0])


def test_a_batch_is_approved_asked_and_stopped_by_temporal_alone(standing: Stack, tmp_path: Path) -> None:
    for name in DOCUMENTS:
        standing.add(name, law(4))
    batch_id = str(uuid_utils.uuid7())
    queue = tmp_path / "queue.yaml"
    queue.write_bytes(queue_yaml([{"document_id": name} for name in DOCUMENTS], batch_id))
    standing.json("orchestrate", "batch", "--queue", str(queue))
    wait(lambda: shows(standing, batch_id, "batch_awaiting_cut_authz_set"), seconds=90, what="SG_1")
    shown = query(standing, batch_id)
    overview = standing.state / "kb" / shown["overview"]
    wait(overview.exists, seconds=30, what="the overview is in the knowledge base")

    answer = approve_by_hand(standing, view(standing, batch_id), overview, tmp_path)
    assert f"accepted:[{' '.join(DOCUMENTS)}] missing:[] refused:[]" in answer
    batch = until_state(standing, batch_id, "batch_awaiting_lifecycle_authz_set")
    assert standing.value("select count(*) from cutter_governance.approval_consumption where run_id = any (%s)",
                          ([item["run_id"] for item in batch["items"]],)) == 2  # fmt: skip

    standing.temporal("workflow", "signal", "--workflow-id", f"batch/{batch_id}", "--name", "stop",
                      "--input", '{"reason": "by hand"}')  # fmt: skip
    wait(lambda: {item["state"] for item in view(standing, batch_id)["items"]} == {"stopped_stop"}, seconds=60,
         what="both documents are stopped")  # fmt: skip
    wait(lambda: status(standing, batch_id).endswith("FAILED"), seconds=60, what="the batch's workflow ends")
    assert query(standing, batch_id)["state"] == "batch_failed_partial"


def status(stack: Stack, batch_id: str) -> str:
    """The execution's status, by the temporal program."""
    description = json.loads(stack.temporal("workflow", "describe", "-w", f"batch/{batch_id}", "-o", "json").stdout)
    return str(description["workflowExecutionInfo"]["status"])


def shows(stack: Stack, batch_id: str, state: str) -> bool:
    """The workflow itself shows that state, with its overview; false while it has not begun."""
    answer = stack.temporal("workflow", "query", "--workflow-id", f"batch/{batch_id}", "--type", "status", "-o", "json",
                            code=None)  # fmt: skip
    batch = json.loads(answer.stdout)["queryResult"][0] if answer.returncode == 0 else {}
    return batch.get("state") == state and bool(batch.get("overview"))
