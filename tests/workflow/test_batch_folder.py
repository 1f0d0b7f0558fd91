"""A batch's folder and report: there when it ends, made again byte for byte, moved when it failed, never in the way."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
from dataclasses import asdict, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from structlog.testing import capture_logs

from activities.batch.documents import follow_batch, project_batch
from cutter import limits
from cutter.approvals import schema
from cutter.batch import documents
from cutter.batch.view import BatchView
from cutter.errors import Refused
from cutter.kb.store import Store
from cutter.kb.write_once import put
from cutter.lifecycle.validation import Finding, Validation
from cutter.projections import batch_folder, run_folder
from cutter.projections import batch_folder as projection
from cutter.projections.transitions_file import check
from cutter.storage.batches import Options
from starter.commands.rebuild import rebuild_batch
from starter.commands.reconcile import reading_deps
from tests.support import batch as support
from tests.support.batch import Batch
from tests.support.stack import Stack
from tests.support.temporal import until
from tests.unit.batch import views

NO_HEADING = b"nothing that could be cut\n"


def read(folder: Path) -> dict[str, bytes | str]:
    """Every file's bytes and every link's target, by path."""
    return {
        path.relative_to(folder).as_posix(): os.readlink(path) if path.is_symlink() else path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_symlink() or path.is_file()
    }


def findings(folder: Path) -> list[Finding]:
    """What is wrong with the batch's file of transitions."""
    with (folder / "transitions.jsonl").open("rb") as stream:
        return list(check(stream, Validation()))


async def failed(stack: Stack) -> Batch:
    """A batch of a law that ends well until it waits, and one that cannot be cut, cancelled: it has failed."""
    items = support.small_laws(stack, 1)
    stack.register("ICX-BAD", NO_HEADING)
    batch = await support.start(stack, [*items, {"document_id": "ICX-BAD", "depends_on": []}])
    await batch.until_state("batch_awaiting_cut_authz_set")
    await batch.hand_over(await batch.sign(support.CUT))
    await batch.until_state("batch_awaiting_lifecycle_authz_set")
    await batch.hand_over(await batch.sign(support.LIFECYCLE))
    await batch.result()
    return batch


async def test_a_batch_that_went_well_leaves_its_folder_and_its_report(stack: Stack) -> None:
    """Seeds 001 §3, 001 §5, 001 §8, 004 "Workstream Lifecycle" Transition Details, 004 "Event Schema"."""
    async with stack.workers():
        batch = await support.start(stack, 2)
        await batch.through()
    assert not (stack.settings.batches / batch.batch_id).exists()
    folder = stack.settings.batches / "archive" / batch.batch_id
    files = read(folder)
    runs = [item["run_id"] for item in (await batch.view())["items"]]
    assert set(files) == {*projection.FILES, *(f"runs/{run_id}" for run_id in runs)}
    for run_id in runs:
        assert json.loads((folder / "runs" / run_id / "state.json").read_bytes())["state"] == "closeout_reported"
    state = json.loads(files["state.json"])
    assert (state["state"], state["workstream"]) == ("batch_closeout", "completed")
    assert [item["shown"] for item in state["items"]] == ["enacted", "enacted"]
    page = bytes(files["report.html"]).decode()
    assert all(run in page for run in (*runs, "batch_closeout", stack.kit.alice.fingerprint))
    moves = [json.loads(line) for line in bytes(files["transitions.jsonl"]).splitlines()]
    assert [move["to_state"] for move in moves][-3:] == ["batch_closeout", "validating", "completed"]
    assert findings(folder) == []
    assert {move["metadata"]["workstream_id"] for move in moves if move["event_type"] == "task_state_transition"} == {
        f"{batch.batch_id}#1"
    }


async def test_a_failed_batch_is_archived_with_its_queue_and_made_again_byte_for_byte(stack: Stack) -> None:
    """Seeds 001 §6, 001 §8, 004 "Workstream Lifecycle" Transition Details, 004 "Workstream Lifecycle" Invariants."""
    async with stack.workers():
        batch = await failed(stack)
    folder = stack.settings.batches / "archive" / batch.batch_id
    files = read(folder)
    assert not (stack.settings.batches / batch.batch_id).exists()
    bad = (await batch.view())["items"][1]
    entry = f"error_queue/{bad['run_id']}/{bad['run_id']}.md"
    assert bytes(files[entry]) == support.kb_text(stack, bad["queue_kb_id"]).encode()
    assert (folder / "error_queue" / bad["run_id"] / "run" / "state.json").is_file()
    assert json.loads(files["state.json"])["state"] == "batch_failed_partial"
    assert findings(folder) == []
    events = [json.loads(line) for line in bytes(files["transitions.jsonl"]).splitlines()]
    assert (events[-1]["event_type"], events[-1]["to_state"]) == ("workstream_state_transition", "failed")
    report = documents.report_id(batch.batch_id, 1)
    assert bytes(files["batch_report.md"]) == support.kb_text(stack, report).encode()
    shutil.rmtree(folder)
    with reading_deps(stack.settings) as deps:
        rebuilt = await asyncio.to_thread(rebuild_batch, deps, batch.batch_id)
        assert read(folder) == files
        await asyncio.to_thread(rebuild_batch, deps, batch.batch_id)
    assert read(folder) == files
    assert (rebuilt["folder"], rebuilt["conflicts"]) == (str(folder), [])


@pytest.mark.thorough
async def test_a_batch_at_work_has_its_folder_and_one_that_is_resumed_gets_it_back(stack: Stack) -> None:
    """Seeds 001 §3, 001 §8: the folder is there while people are asked, and moves as the batch does."""
    here = stack.settings.batches
    items = support.small_laws(stack, 1)
    stack.register("ICX-BAD", NO_HEADING)
    async with stack.workers():
        batch = await support.start(stack, [*items, {"document_id": "ICX-BAD", "depends_on": []}])
        view = await batch.until_state("batch_awaiting_cut_authz_set")
        await until(lambda: asyncio.to_thread(shows, here / batch.batch_id, view), what="the folder shows the pause")
        files = read(here / batch.batch_id)
        assert {"state.json", "transitions.jsonl", "dag.mmd", "plan.json", "report.html"} <= set(files)
        assert {f"runs/{item['run_id']}" for item in view["items"]} <= set(files)
        await batch.hand_over(await batch.sign(support.CUT))
        await batch.until_state("batch_awaiting_lifecycle_authz_set")
        await batch.hand_over(await batch.sign(support.LIFECYCLE))
        await batch.result()
        assert run_folder.find_batch(here, batch.batch_id) == here / "archive" / batch.batch_id
        stack.register("ICX-BAD", support.law(7))
        bad = (await batch.view())["items"][1]
        await batch.hand_over_late(await batch.order(schema.INCLUDE_FAILED, bad["run_id"], "ICX-BAD"))
        view = await batch.until_state("batch_awaiting_cut_authz_set")
        await until(lambda: asyncio.to_thread(shows, here / batch.batch_id, view), what="the folder is back")
    assert not (here / "archive" / batch.batch_id).exists()


def shows(folder: Path, view: dict[str, Any]) -> bool:
    return folder.is_dir() and not batch_folder.is_behind(folder, BatchView.of(view), pace=False)


def test_the_folder_of_a_batch_at_work_is_written_after_a_pause_and_for_news_after_a_shorter_one(
    tmp_path: Path,
) -> None:
    item = views.item("ICX-1", "marked")
    batch_view = views.view(item, state="batch_planning")
    state, pause = tmp_path / "state.json", limits.BATCH_FOLDER_PAUSE_SECONDS + limits.BATCH_FOLDER_ITEM_SECONDS
    assert batch_folder.is_behind(tmp_path, batch_view), "there is none yet"
    state.write_text(json.dumps({"state": "batch_planning", "halted": None, "items": [asdict(item)]}))
    moved = replace(batch_view, items=(replace(item, state="cutplan_ok"),))
    many = replace(moved, items=moved.items * 100)

    def behind_after(seconds: float, view: BatchView, *, news: bool) -> bool:
        then = datetime.now(UTC).timestamp() - seconds
        os.utime(state, (then, then))
        return batch_folder.is_behind(tmp_path, view, news=news)

    assert not behind_after(1e6, batch_view, news=True), "it shows this already"
    assert not behind_after(0, moved, news=True)
    assert behind_after(pause / limits.BATCH_FOLDER_NEWS + 1, moved, news=True)
    assert not behind_after(pause / limits.BATCH_FOLDER_NEWS, moved, news=False)
    assert behind_after(pause + 1, moved, news=False)
    assert not behind_after(pause + 1, many, news=False), "many documents wait longer"
    assert behind_after(-60, moved, news=False), "a clock was set back"


async def test_what_was_signed_before_stands_beside_the_queue(stack: Stack) -> None:
    """Seeds 001 §7, 001 §8: what lies in the batch's own folder counts as signed before."""
    batch_id = await asyncio.to_thread(support.register, stack, support.small_laws(stack, 1))
    name = documents.pre_batched(batch_id, support.CUT, "ICX-B-1")
    kb = Store(stack.settings.kb)
    put(kb, name, b"statement")
    put(kb, f"{name}.asc", b"signature")
    put(kb, documents.pre_batched(batch_id, support.LIFECYCLE, "ICX-B-1"), b"unsigned")
    with reading_deps(stack.settings) as deps:
        folder, _ = project_batch(deps, batch_id)
    approvals = folder / "SG1-pre-batched-approvals"
    assert {path.name: path.read_bytes() for path in approvals.iterdir()} == {
        "ICX-B-1.md": b"statement", "ICX-B-1.md.asc": b"signature",
    }  # fmt: skip
    assert not (folder / "SG2-pre-batched-approvals").exists()


async def test_a_queue_comes_back_from_the_knowledge_base_only_when_it_is_the_registered_one(stack: Stack) -> None:
    """Seed 001 §8."""
    items = support.small_laws(stack, 1)
    batch_id = await asyncio.to_thread(support.register, stack, items)
    kb, queue_id = Store(stack.settings.kb), documents.queue_id(batch_id)
    with reading_deps(stack.settings) as deps:
        folder, has_queue = project_batch(deps, batch_id)
        assert (has_queue, (folder / "queue.yaml").exists()) == (False, False)
        put(kb, queue_id, b"schema_version: 1\n")
        assert project_batch(deps, batch_id) == (folder, False)
        assert not (folder / "queue.yaml").exists()


async def test_what_people_put_there_stays_and_what_is_over_goes(stack: Stack) -> None:
    batch_id = await asyncio.to_thread(support.register, stack, support.small_laws(stack, 1))
    here = stack.settings.batches / batch_id
    with reading_deps(stack.settings) as deps:
        project_batch(deps, batch_id)
        (here / "notes.txt").write_text("mine")
        gone = here / "error_queue" / "ictr-x"
        gone.mkdir(parents=True)
        (gone / "ictr-x.md").write_text("over")
        (gone / "notes.md").write_text("mine too")
        (here / "runs").mkdir(exist_ok=True)
        (here / "runs" / "ictr-x").symlink_to("../elsewhere")
        project_batch(deps, batch_id)
    assert (here / "notes.txt").read_text() == "mine"
    assert [path.name for path in gone.iterdir()] == ["notes.md"]
    assert not os.path.lexists(here / "runs" / "ictr-x")


async def test_a_folder_moves_with_what_people_put_into_either_place(stack: Stack) -> None:
    batch_id = await asyncio.to_thread(support.register, stack, support.small_laws(stack, 1))
    here, there = stack.settings.batches / batch_id, stack.settings.batches / "archive" / batch_id
    with reading_deps(stack.settings) as deps:
        there.mkdir(parents=True)
        for name in ("state.json", "mine.txt", "both.txt"):
            (there / name).write_text(f"archived {name}")
        here.mkdir()
        (here / "both.txt").write_text("newer")
        project_batch(deps, batch_id)
    assert (here / "mine.txt").read_text() == "archived mine.txt"
    assert json.loads((here / "state.json").read_bytes())["batch_id"] == batch_id
    assert (here / "both.txt").read_text() == "newer"
    assert {path.name: path.read_text() for path in there.iterdir()} == {"both.txt": "archived both.txt"}


async def test_a_folder_that_cannot_be_written_does_not_fail_the_batch(stack: Stack) -> None:
    stack.settings.batches.parent.mkdir(parents=True, exist_ok=True)
    stack.settings.batches.write_text("a file where the folder should be")
    async with stack.workers():
        batch = await support.start(stack, support.small_laws(stack, 1), Options(mode="dryrun"))
        result = await batch.result()
    assert result.state == "batch_closeout"
    with reading_deps(stack.settings) as deps, capture_logs() as logs:
        follow_batch(deps, batch.batch_id)
    assert [(log["event"], log["log_level"]) for log in logs] == [("batch_folder.behind", "warning")]


async def test_a_folder_that_another_process_writes_is_left_alone(stack: Stack) -> None:
    batch_id = await asyncio.to_thread(support.register, stack, support.small_laws(stack, 1))
    with reading_deps(stack.settings) as deps, deps.pool(next(iter(deps.pools))).connection() as connection:
        contents, _ = batch_folder.read_contents(connection, batch_id)
        batches = stack.settings.batches
        batches.mkdir(parents=True)
        with (
            batch_folder.locked(batches / batch_folder.LOCK, "another", 1),
            pytest.raises(Refused, match="another process"),
        ):
            batch_folder.write(batches, stack.settings.runs, contents, lock_seconds=0.1)
    assert not (batches / batch_id).exists()
