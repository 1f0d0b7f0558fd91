"""Who may write to the knowledge base can take any name there; no run and no approval waits for it."""

from __future__ import annotations

import asyncio
import os
from dataclasses import replace
from itertools import cycle
from pathlib import Path
from typing import Any

import psycopg
import pytest

from activities.worker.dependencies import day_of, folder_of
from cutter.approvals import schema
from cutter.catalogue import GATES
from cutter.domain.digests import sha256_hex
from cutter.kb import ids as kb_ids
from cutter.kb.ids import signature_of
from cutter.kb.store import Store
from cutter.storage import runs as run_rows
from starter.approver import signing_desk
from starter.commands import status
from starter.commands.rebuild import rebuild_run
from starter.commands.reconcile import reading_deps
from tests.support.documents import run_documents
from tests.support.stack import DOCUMENT, LAW, Run, Stack

CUT, LIFECYCLE = "SG_cut_authz", "SG_lifecycle_authz"


def take(stack: Stack, kb_id: str, how: str) -> None:
    """Put something of a stranger's under a name: other bytes, a folder, or a link to nowhere."""
    path = Path(stack.settings.kb.removeprefix("file://")) / kb_id
    path.parent.mkdir(parents=True, exist_ok=True)
    if how == "bytes":
        path.write_bytes(b"garbage")
    elif how == "folder":
        path.mkdir()
    else:
        os.symlink("/nonexistent", path)


async def prepared(stack: Stack) -> tuple[str, str, Any]:
    """A registered run that has not started: its run id, its folder in the knowledge base, its day."""
    run_id = run_rows.register_run(stack.settings, DOCUMENT, "live")
    run = (await asyncio.to_thread(run_rows.sidecar, stack.settings, run_id)).run
    folder = folder_of(replace(run, docprefix=DOCUMENT), sha256_hex(LAW.read_bytes()))
    return run_id, folder, day_of(run).date()


async def test_a_run_ends_although_every_name_of_its_documents_is_taken(stack: Stack) -> None:
    run_id, folder, day = await prepared(stack)
    copy = kb_ids.snapshot_copy(folder, sha256_hex(LAW.read_bytes()))
    names = [*run_documents(folder, GATES, day), copy]
    for name, how in zip(names, cycle(("bytes", "folder", "link")), strict=False):
        take(stack, name, how)
    async with stack.workers():
        run = await stack.start(run_id=run_id)
        assert (await run.through()).state == "closeout_reported"
    documents = (await run.sidecar())["documents"]
    assert all(document["sha256"] for document in documents)
    store = Store(stack.settings.kb)
    assert all(sha256_hex(store.get(document["kb_id"])) == document["sha256"] for document in documents)
    assert sum("-other2.md" in document["kb_id"] for document in documents) >= len(GATES)


@pytest.mark.parametrize("how", ["bytes", "folder", "link"])
@pytest.mark.parametrize("which", ["statement", "signature"])
async def test_an_approval_whose_name_is_taken_goes_under_another(stack: Stack, how: str, which: str) -> None:
    async with stack.workers():
        run = await stack.start()
        await run.until_requested(CUT)
        request = signing_desk.open_request(stack.settings, run.run_id)
        wanted = request.replace("-request-", "-approval-")
        take(stack, wanted if which == "statement" else signature_of(wanted), how)
        kb_id = await run.sign()
        assert kb_id == wanted.replace(".md", "-other2.md")
        await run.handle.signal("submit_approval", kb_id)
        assert (await run.until_requested(LIFECYCLE))["awaits"] == LIFECYCLE


async def replaced(run: Run) -> str:
    """A request whose document somebody replaced; its KB id."""
    await run.until_requested(CUT)
    kb_id = signing_desk.open_request(run.stack.settings, run.run_id)
    (Path(run.stack.settings.kb.removeprefix("file://")) / kb_id).unlink()
    take(run.stack, kb_id, "bytes")
    return kb_id


async def test_status_names_a_replaced_request_and_rebuild_puts_it_under_another_name(stack: Stack) -> None:
    async with stack.workers():
        run = await stack.start()
        kb_id = await replaced(run)
        view = await asyncio.to_thread(status.view_of, stack.settings, run.run_id)
        assert kb_id in view.request_flaw
        assert view.next == f"cutter rebuild {run.run_id}"
        with pytest.raises(signing_desk.Refused, match=f"cutter rebuild {run.run_id}"):
            await run.sign(schema.APPROVE)
        with reading_deps(stack.settings) as deps:
            done = await asyncio.to_thread(rebuild_run, deps, run.run_id)
        assert [document["kb_id"] for document in done["renamed"]] == [kb_id]
        view = await asyncio.to_thread(status.view_of, stack.settings, run.run_id)
        assert view.request_flaw is None
        assert view.next == f"cutter approve {DOCUMENT}"
        assert (await run.through()).state == "closeout_reported"


RENAME = "select cutter_governance.fn_outbox_rename(%s, %s)"


async def test_a_document_gets_no_name_but_its_own_others(stack: Stack) -> None:
    async with stack.workers():
        run = await stack.start()
        await run.until_requested(CUT)
    documents = (await run.sidecar())["documents"]
    report, request = (
        next(document["kb_id"] for document in documents if document["kind"] == kind)
        for kind in ("gate_report", "request")
    )
    reader = stack.database.connect("cutter_read", autocommit=True)
    with pytest.raises(psycopg.Error, match="was put already"):
        reader.execute(RENAME, (report, report.replace(".md", "-other2.md")))
    others = ("-r2.md", "-other2/x.md")
    of_nobody = "x" * len(request.removesuffix(".md")) + "-other2.md"
    for free in ("elsewhere.md", report, of_nobody, *(request.replace(".md", ending) for ending in others)):
        with pytest.raises(psycopg.Error, match="is not another name of"):
            reader.execute(RENAME, (request, free))
    writer = stack.database.connect("cutter_exec", autocommit=True)
    with pytest.raises(psycopg.Error, match="is not for cutter_exec to put"):
        writer.execute(RENAME, (request, request.replace(".md", "-other2.md")))
    with pytest.raises(psycopg.Error, match="no outbox row"):
        reader.execute(RENAME, ("elsewhere.md", "elsewhere-other2.md"))
    assert (await run.sidecar())["documents"] == documents
