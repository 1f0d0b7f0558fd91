"""`cutter reconcile` and batches: documents that wait are put, a batch that nobody drives is named with its command."""

from __future__ import annotations

import shutil
from pathlib import Path

from tests.acceptance.cli.conftest import Cutter
from tests.support import batch as support
from tests.support.stack import Stack


async def test_reconcile_names_a_batch_whose_workflow_is_gone_and_starts_nothing(stack: Stack, cutter: Cutter) -> None:
    async with stack.workers():
        batch = await support.start(stack, 1)
        await batch.until_state("batch_awaiting_cut_authz_set")
        assert (await cutter("reconcile", "--json")).json["batches_without_workflow"] == []
        await batch.handle.terminate("by a test")
        rows = (await cutter("reconcile", "--json")).json["batches_without_workflow"]
        command = f"cutter orchestrate resume-batch --batch-id {batch.batch_id}"
        assert rows == [{"batch_id": batch.batch_id, "state": "batch_awaiting_cut_authz_set", "next": command}]
        assert command in (await cutter("reconcile")).out, "it was only named"
        assert (await cutter(*command.split()[1:])).code == 0
        assert (await cutter("reconcile", "--json")).json["batches_without_workflow"] == []


async def test_reconcile_puts_a_batch_s_documents_that_wait(stack: Stack, cutter: Cutter) -> None:
    async with stack.workers():
        batch = await support.start(stack, 1)
        await batch.until_state("batch_awaiting_cut_authz_set")
        overview = (await batch.status())["overview"]
    stack.database.run(
        "update cutter_governance.outbox set done_at = null, sha256 = null where kb_id = %s", (overview,)
    )
    place = Path(str(stack.settings.kb).removeprefix("file://")) / overview
    shutil.copy(place, kept := stack.settings.state / "kept.md")
    place.chmod(0o600)
    place.unlink()
    answer = await cutter("reconcile", "--json")
    assert answer.code == 0, answer.err
    assert {"batch_id": batch.batch_id, "kb_id": overview} in answer.json["documents_put"]
    assert place.read_bytes() == kept.read_bytes()
    assert (await cutter("reconcile", "--json")).json["documents_put"] == []
