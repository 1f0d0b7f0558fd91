"""A run, a batch and the commands cost what their own rows cost, however much the database already holds.

Each step is done once in a small database and once in one with thousands of finished runs. PostgreSQL counts what both
read. A step fails if any of its statements scans a table that grows, or if it reads many more rows by an index.

The backup's dump is the one statement that reads whole tables. It is a stand-in here.
"""

from __future__ import annotations

import asyncio
import shutil
from pathlib import Path

import pytest

from cutter.catalogue import GATES
from cutter.notifications import webhook
from tests.acceptance.cli.conftest import Cutter
from tests.support import batch as batches
from tests.support import grown
from tests.support.reads import Read, counted
from tests.support.receivers import http_receiver
from tests.support.stack import THREE_UNITS, Stack

Reads = dict[str, dict[str, Read]]
"""What each step read, by step and table."""

COPIES = 1_000
"""Each is one single run and a batch of two runs."""

MORE_ROWS = 3 * COPIES // 4
"""A step may read so many more rows of a table by an index than in the small database: polls are never equally many."""

LISTED = {"status": 200 * len(GATES)}
"""`cutter status` lists 200 runs with their receipts, and the small database has three."""

POISON = b"A text that has no heading at all.\n"

COMMANDS = {
    "status": ("status",),
    "status of a run": ("status", "{run}"),
    "status of a document": ("status", "{document}"),
    "status of a batch": ("status", "{batch}"),
    "inbox": ("inbox",),
    "request": ("request", "{run}"),
    "queues": ("queues",),
    "report of a run": ("report", "{run}"),
    "report of a batch": ("report", "{batch}"),
    "reconcile": ("reconcile",),
    "rebuild": ("rebuild", "{run}"),
    "evidence": ("evidence", "export", "{run}", "-o", "{folder}/{name}.tar"),
    "audit": ("audit", "export", "--run", "{run}", "--out", "{folder}/{name}.jsonl"),
    "backups": ("backup", "list"),
    "notify": ("notify", "deliver"),
    "notifications": ("notify", "list"),
    "doctor": ("doctor",),
}

EXPECTED = {"doctor": (0, 1, 5), "reconcile": (0, 1)}
"""Exit codes of commands that also look at things that a test does not have, such as running workers."""


@pytest.mark.timeout(280)
async def test_nothing_scans_what_grows(stack: Stack, cutter: Cutter) -> None:
    small = await a_round(stack, cutter, "A")
    grown.add_rare_rows(stack.database, run_of(stack, "ICX-A-1"), "ICX-A-1")
    await asyncio.to_thread(grown.fill, stack.database, COPIES)
    assert stack.database.value("select count(*) from cutter_governance.run") > 3 * COPIES
    large = await a_round(stack, cutter, "B")
    with stack.database.connect("postgres") as connection:
        tables = grown.growing(connection)
    found = [
        f"{step}: {table}: {now}; in the small database {small[step].get(table, Read())}"
        for step, reads in large.items()
        for table, now in reads.items()
        if table in tables
        and (now.scans or now.by_index > 2 * small[step].get(table, Read()).by_index + LISTED.get(step, MORE_ROWS))
    ]
    assert not found, "\n".join(found)


def run_of(stack: Stack, document: str) -> str:
    return str(stack.database.value("select cutter_governance.fn_run_of_document(%s)", (document,)))


async def a_round(stack: Stack, cutter: Cutter, name: str) -> Reads:
    """One run, one batch with a document that fails, and each command after them; what each read."""
    names = [f"ICX-{name}-{number}" for number in (1, 2, 3)]
    for document, text in zip(names, (THREE_UNITS, batches.law(2), POISON), strict=True):
        stack.register(document, text)
    seen: Reads = {}
    with counted(stack.database) as step:
        async with stack.workers():
            run = await stack.start(names[0])
            await run.through()
    seen["run"] = step.reads
    with counted(stack.database) as step:
        async with stack.workers():
            batch = await batches.start(stack, [{"document_id": document} for document in names[1:]])
            await batch.through()
    seen["batch"] = step.reads
    values = {"run": run.run_id, "document": names[0], "batch": batch.batch_id, "name": name}
    await the_commands(stack, cutter, values, seen)
    return seen


async def the_commands(stack: Stack, cutter: Cutter, values: dict[str, str], seen: Reads) -> None:
    secrets = with_webhook(stack)
    with http_receiver() as receiver:
        changed = {"CUTTER_WEBHOOK_URL": receiver.url, "CUTTER_SECRETS_DIR": str(secrets)}
        for command, words in COMMANDS.items():
            given = [word.format(**values, folder=stack.settings.state) for word in words]
            with counted(stack.database) as step:
                told = await cutter(*given, **changed)
            assert told.code in EXPECTED.get(command, (0,)), (command, told)
            seen[command] = step.reads


def with_webhook(stack: Stack) -> Path:
    """The passwords of the deployment, and the secret that a receiver of messages shares."""
    folder = stack.settings.state / "secrets-with-webhook"
    if not folder.exists():
        shutil.copytree(stack.settings.secrets, folder)
        (folder / webhook.SECRET_FILE).write_text("0123456789abcdef0123456789abcdef")
        (folder / webhook.SECRET_FILE).chmod(0o600)
    return folder
