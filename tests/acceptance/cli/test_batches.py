"""Batches by command: status, watch, queues, report, rebuild, on real batches."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

from tests.acceptance.cli.conftest import NOBODY, Cutter
from tests.support import batch as support
from tests.support.stack import Stack

NO_HEADING = b"nothing that could be cut\n"


def queue_file(stack: Stack, items: list[dict[str, object]]) -> Path:
    path = stack.settings.state / "queue.yaml"
    path.write_bytes(support.queue_yaml(items))
    return path


async def test_a_batch_is_started_watched_looked_at_and_reported(stack: Stack, cutter: Cutter) -> None:
    items = support.small_laws(stack, 2)
    stack.register("ICX-BAD", NO_HEADING)
    path = queue_file(stack, [*items, {"document_id": "ICX-BAD"}])
    async with stack.workers():
        watched = await cutter("orchestrate", "batch", "--queue", str(path), "--watch")
    assert watched.code == 3
    batch_id = re.search(r"batch_id: (\S+)", path.read_text())[1]  # type: ignore[index]
    lines = [line.split(" ", 2)[2] for line in watched.out.splitlines() if line.startswith("2")]
    for row in ("ICX-B-1 awaiting_cut_authorization", "ICX-BAD failed_mark (error_queue)",
                f"batch {batch_id} batch_awaiting_cut_authz_set"):  # fmt: skip
        assert lines.count(row) == 1
    assert f"next: cutter approve --batch {batch_id}" in watched.out

    status = (await cutter("status", batch_id, "--json", CUTTER_TEMPORAL_ADDRESS=NOBODY)).json
    fields = ("document_id", "shown", "gates_passed")
    assert [tuple(document[field] for field in fields) for document in status["documents"]] == [
        ("ICX-B-1", "at_sg1", 5), ("ICX-B-2", "at_sg1", 5), ("ICX-BAD", "failed", 1),
    ]  # fmt: skip
    assert (status["state"], status["gates_done"], status["gates"]) == ("batch_awaiting_cut_authz_set", 21, 33)
    answer = await cutter("status", batch_id)
    assert re.search(rf"ICX-BAD +failed +mark .*error +{status['documents'][2]['commands'][0]}", answer.out)

    listed = (await cutter("status", "--json")).json
    assert [(batch["batch_id"], batch["documents"], batch["queued"]) for batch in listed["batches"]] == [
        (batch_id, 3, 1)
    ]
    assert re.search(rf"{batch_id} +batch_awaiting_cut_authz_set +3 +1", (await cutter("status")).out)

    page = stack.settings.state / "reports" / f"{batch_id}.html"
    assert (await cutter("report", batch_id)).out == f"{page}\n"
    assert "error_queue" in page.read_text()


async def test_queues_list_what_waits_and_show_its_document_with_the_command(stack: Stack, cutter: Cutter) -> None:
    assert (await cutter("queues")).out.startswith("no document is in a queue;")
    stack.register("ICX-BAD", NO_HEADING)
    async with stack.workers():
        batch = await support.start(stack, [{"document_id": "ICX-BAD"}])
        result = await batch.result()
    assert result.state == "batch_failed_partial"
    (entry,) = (await cutter("queues", "--json", CUTTER_TEMPORAL_ADDRESS=NOBODY)).json["waiting"]
    again = f"cutter approve --batch {batch.batch_id} --decision include_failed --only ICX-BAD --reason TEXT"
    assert (entry["document_id"], entry["queue"], entry["batch_id"]) == ("ICX-BAD", "error_queue", batch.batch_id)
    assert (entry["state"], entry["commands"][-1]) == ("failed_mark", again)
    listed = (await cutter("queues")).out
    row = rf"ICX-BAD +…{batch.batch_id[-12:]} +error +\d+ s +failed_mark +text_can_be_marked: .* {entry['commands'][0]}"
    assert re.search(row, listed)
    assert entry["reason"].count("text_can_be_marked") == 1
    assert len((await cutter("queues", "--batch", batch.batch_id, "--json")).json["waiting"]) == 1
    other = f"{batch.batch_id[:-1]}{(int(batch.batch_id[-1], 16) + 1) % 16:x}"
    assert (await cutter("queues", "--batch", other, "--json")).json["waiting"] == []
    for name in ("ICX-BAD", entry["run_id"]):
        shown = await cutter("queues", "show", name)
        assert "recommended_disposition: amend" in shown.out
        words = ["next", *["then"] * (len(entry["commands"]) - 1)]
        wanted = [f"{word}: {command}" for word, command in zip(words, entry["commands"], strict=True)]
        assert shown.out.splitlines()[-len(wanted) :] == wanted
    assert (await cutter("queues", "show", "ICX-BAD", "--json")).json["document"].startswith("# ICX-BAD · failed_mark")
    async with stack.workers():
        assert (await cutter.signed("void", "ICX-BAD", "--reason", "no law at all")).code == 0
    assert (await cutter("queues")).out.startswith("no document is in a queue;")
    status = (await cutter("status", batch.batch_id, "--json")).json
    assert (status["totals"].get("voided"), status["totals"].get("error_queue")) == (1, None)


async def test_what_is_in_no_queue_has_nothing_to_show(stack: Stack, cutter: Cutter) -> None:
    async with stack.workers():
        run = await stack.start()
        await run.until_requested(support.CUT)
    answer = await cutter("queues", "show", run.run_id)
    assert (answer.code, answer.err.strip()) == (
        1, f"{run.run_id} is in no queue: see `cutter queues`, or `cutter status {run.run_id}`",
    )  # fmt: skip


async def test_a_batch_s_folder_and_documents_are_rebuilt(stack: Stack, cutter: Cutter) -> None:
    path = queue_file(stack, support.small_laws(stack, 1))
    async with stack.workers():
        started = await cutter("orchestrate", "batch", "--queue", str(path), "--mode", "dryrun", "--wait", "--json")
    assert (started.code, started.json["state"]) == (0, "batch_closeout")
    batch_id = started.json["batch_id"]
    folder = stack.settings.batches / "archive" / batch_id
    before = {file.name: file.read_bytes() for file in folder.iterdir() if file.is_file()}
    assert before["queue.yaml"] == path.read_bytes()
    shutil.rmtree(folder)
    (rebuilt,) = (await cutter("rebuild", batch_id, "--json", CUTTER_TEMPORAL_ADDRESS=NOBODY)).json["batches"]
    assert (rebuilt["folder"], rebuilt["missing"], rebuilt["documents"]) == (str(folder), [], 1)
    assert {file.name: file.read_bytes() for file in folder.iterdir() if file.is_file()} == before
    every = (await cutter("rebuild", "--all", "--json")).json
    assert [batch["batch_id"] for batch in every["batches"]] == [batch_id]
    assert len(every["runs"]) == 1


async def test_an_unknown_batch_is_said_so(cutter: Cutter) -> None:
    unknown = "0199f1de-7c3d-7e4f-8a9b-0c1d2e3f4a5b"
    for command in ("status", "report", "rebuild"):
        answer = await cutter(command, unknown)
        assert (answer.code, f"no batch {unknown}" in answer.err) == (1, True), command
        assert f"{unknown}-dryrun" in answer.err, "a rehearsal has a name of its own"
