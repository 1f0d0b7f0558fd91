"""A run, a batch and the commands cost what their own rows cost, however much the database already holds.

Each step is done once in a small database and once in one with thousands of finished runs. PostgreSQL counts what both
read. A step fails if any of its statements scans a table that grows, or if it reads many more rows by an index.
"""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import LiteralString

import pytest
import uuid_utils

from cutter import limits
from cutter.catalogue import GATES
from cutter.notifications import webhook
from tests.acceptance.cli.conftest import Cutter, Told
from tests.cases.growing_commands import BATCH, DECISIONS, LOOKS, NOT_TYPED, Words, commands, typed
from tests.support import batch as batches
from tests.support import grown
from tests.support.batch import CUT, LIFECYCLE, Batch
from tests.support.reads import Read, counted, without_autovacuum
from tests.support.receivers import http_receiver
from tests.support.stack import THREE_UNITS, Stack

Reads = dict[str, dict[str, Read]]
"""What each step read, by step and table."""

COPIES = 700
"""Each is a single run, a batch of two runs, and two runs about which people decided."""

MORE_ROWS = 3 * COPIES // 4
"""A step may read so many more rows of a table by an index than in the small database: polls are never equally many."""

MISTYPED = ("mistyped law", "mistyped document", "mistyped batch")

LISTED = {
    "status": 200 * len(GATES), "notify": 2 * COPIES, "reconcile": 2 * COPIES,
    **dict.fromkeys(MISTYPED, 2 * limits.NAMES_COMPARED_MAX + MORE_ROWS),
}  # fmt: skip
"""`cutter status` lists 200 runs with their receipts, and the small database has five. A pass of a notification channel
asks five times for what was written in the hour before the last pass, when there were only copies. A mistyped name is
compared with so many others."""

POISON = b"A text that has no heading at all.\n"

EXPECTED = {
    "run": (3,), "run again": (3,), "workers": (0, 1, 5), "reconcile": (0, 1), "doctor": (0, 1, 5),
    "continue a batch": (0, 1), "difference": (1,), **dict.fromkeys(MISTYPED, (1,)),
}  # fmt: skip
"""Exit codes of commands that wait for people, that find no earlier version or a failed document, or that also look at
things that a test does not have, such as running workers."""

UNSIGNED = ("register", "run", "stop", "cancel", "run again", "start a batch")

BEFORE: dict[str, LiteralString] = {
    "approve": "alter function public.fn_content_hash(text) set work_mem = '8MB'",
    "cancel": "alter function public.fn_content_hash(text) reset work_mem",
}
"""What an owner does to the database before a decision. The run stops for this drift, which a person acknowledges."""

SETS = {"start a batch": "batch_awaiting_cut_authz_set", "sign its cuts": "batch_awaiting_lifecycle_authz_set"}
"""The state in which a batch waits for its next session."""


@pytest.mark.timeout(500)
async def test_nothing_scans_what_grows(stack: Stack, cutter: Cutter) -> None:
    with without_autovacuum(stack.database):
        small, large = await two_rounds(stack, cutter)
    with stack.database.connect("postgres") as connection:
        tables = grown.growing(connection)
    scans = [
        f"{step}: {table}: {now}; in the small database {small[step].get(table, Read())}"
        for step, reads in large.items()
        for table, now in reads.items()
        if table in tables
        and (now.scans or now.by_index > 2 * small[step].get(table, Read()).by_index + LISTED.get(step, MORE_ROWS))
    ]
    assert not scans, "\n".join(scans)


def test_each_command_is_typed_or_its_reason_is_given() -> None:
    assert typed() | set(NOT_TYPED) == commands()
    assert typed() & set(NOT_TYPED) == set()


async def two_rounds(stack: Stack, cutter: Cutter) -> tuple[Reads, Reads]:
    """What the steps read in a small database, and in the same one with thousands of finished runs."""
    small = await a_round(stack, cutter, "A")
    grown.add_rare_rows(stack.database, run_of(stack, "ICX-A-1"), "ICX-A-1")
    await asyncio.to_thread(grown.fill, stack.database, COPIES)
    assert stack.database.value("select count(*) from cutter_governance.run") > 5 * COPIES
    return small, await a_round(stack, cutter, "B")


def run_of(stack: Stack, document: str) -> str:
    return str(stack.database.value("select cutter_governance.fn_run_of_document(%s)", (document,)))


async def a_round(stack: Stack, cutter: Cutter, name: str) -> Reads:
    """One run, one batch with a document that fails, a run about which people decide, and each command after them."""
    people = People(stack=stack, cutter=cutter, name=name)
    reads: Reads = {}
    for step, work in {"run": people.run, "batch": people.sign_a_batch, "decisions": people.decide}.items():
        with counted(stack.database) as whole:
            async with stack.workers():
                await work()
        reads[step] = whole.reads
    secrets = with_webhook(stack)
    with http_receiver() as receiver:
        changed = {"CUTTER_WEBHOOK_URL": receiver.url, "CUTTER_SECRETS_DIR": str(secrets)}
        for command, words in LOOKS.items():
            with counted(stack.database) as look:
                await people.type(command, words, **changed)
            reads[command] = look.reads
    return reads


@dataclass(slots=True, kw_only=True)
class People:
    """What people do in one round, with documents of their own."""

    stack: Stack
    cutter: Cutter
    name: str
    values: dict[str, str] = field(init=False)

    def __post_init__(self) -> None:
        folder = self.stack.settings.state
        self.values = {
            "name": self.name, "folder": str(folder), "document": f"ICX-{self.name}-1", "decided": f"ICX-{self.name}-4",
            "failed": f"ICX-{self.name}-3", "batch": str(uuid_utils.uuid7()), "unknown": str(uuid_utils.uuid7()),
        }  # fmt: skip
        items = [{"document_id": f"ICX-{self.name}-{number}"} for number in (2, 3)]
        (folder / f"{self.name}.yaml").write_bytes(batches.queue_yaml(items, self.values["batch"]))
        (folder / f"{self.name}.md").write_bytes(batches.law(4))
        for number, text in enumerate((THREE_UNITS, batches.law(2), POISON), start=1):
            self.stack.register(f"ICX-{self.name}-{number}", text)

    async def type(self, label: str, words: Words, **changed: str) -> Told:
        """Type a command, which must end as it is expected to."""
        given = [word.format(**self.values) for word in words]
        if label in UNSIGNED or label in LOOKS:
            answer = await self.cutter(*given, **changed)
        else:
            answer = await self.cutter.signed(*given)
        assert answer.code in EXPECTED.get(label, (0,)), (label, answer)
        return answer

    async def run(self) -> None:
        """One run, whose id the later commands name."""
        run = await self.stack.start(self.values["document"])
        self.values["run"] = run.run_id
        await run.through()

    async def sign_a_batch(self) -> None:
        """A batch whose requests are signed in two sessions."""
        handle = self.stack.client.get_workflow_handle(f"batch/{self.values['batch']}")
        batch = Batch(stack=self.stack, batch_id=self.values["batch"], handle=handle)
        for label, words in BATCH.items():
            await self.type(label, words)
            if label in SETS:
                await batch.until_state(SETS[label])
        await batch.result()

    async def decide(self) -> None:
        """A run that is stopped, drifts, is cancelled and voided, and one of the same document that is rejected."""
        run = self.stack.run_of("", self.values["decided"])
        waits: dict[str, Callable[[], Awaitable[object]]] = {
            "stop": lambda: run.until_shown("stopped_stop"),
            "resume": lambda: run.until_requested(CUT),
            "approve": lambda: run.until_shown("stopped_drift_functions"),
            "acknowledge": lambda: run.until_requested(LIFECYCLE),
            "cancel": lambda: run.until_state("stopped_cancel"),
            "void": lambda: run.until_state("voided_wrong_text"),
            "reject": lambda: run.until_state("failed_rejected"),
        }
        for label, words in DECISIONS.items():
            if label in BEFORE:
                self.stack.database.run(BEFORE[label])
            await self.type(label, words)
            run.run_id = run_of(self.stack, self.values["decided"])
            if label in waits:
                await waits[label]()


def with_webhook(stack: Stack) -> Path:
    """The passwords of the deployment, and the secret that a receiver of messages shares."""
    folder = stack.settings.state / "secrets-with-webhook"
    if not folder.exists():
        shutil.copytree(stack.settings.secrets, folder)
        (folder / webhook.SECRET_FILE).write_text("0123456789abcdef0123456789abcdef")
        (folder / webhook.SECRET_FILE).chmod(0o600)
    return folder
