"""IO: the states that a run or a batch can be in when the product prints a command; each is made afresh on demand."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import uuid_utils

from cutter.storage.pools import OPERATOR, connect
from tests.acceptance.cli.conftest import NOBODY, Cutter, Told
from tests.support import batch as support
from tests.support import forked
from tests.support.batch import Batch
from tests.support.stack import Run, Stack
from tests.support.temporal import until

CUT, LIFECYCLE = "SG_cut_authz", "SG_lifecycle_authz"
POISON = b"# Act\n\n## Article 1. Scope\n\n## Article 2. Terms\n\nTwo.\n"
"""A childless heading, which the profile refuses without another option."""

Ask = tuple[str, ...]
DOCUMENTS: Ask = ("the documents",)
"""Asks nothing: the requests, reports and queue documents are read."""

_numbers = itertools.count(1)


@dataclass(slots=True, kw_only=True)
class World:
    """One instance of a state: who it is about, and what a person would type to look at it."""

    stack: Stack
    cutter: Cutter
    document: str = ""
    run_id: str = ""
    batch: str = ""
    asks: list[Ask] = field(default_factory=list)
    file: Path = Path()
    queue: Path = Path()

    @property
    def run(self) -> Run:
        return self.stack.run_of(self.run_id, self.document)

    def values(self) -> dict[str, str]:
        """What a person puts in place of the words in capitals."""
        return {
            "TEXT": "a person says why", "ZONE": "Europe/Berlin", "FILE": str(self.file), "PROFILE": "generic-markdown",
            "QUEUE": str(self.queue_file()), "DOCUMENT": self.document, "RUN": self.run_id, "ID": self.batch,
            "NAME=KEY.asc": self.key("mallory"),
        }  # fmt: skip

    def read(self) -> Told:
        """The newest document of the knowledge base that names this run or batch: older ones are of states before."""
        kb = Path(self.stack.settings.kb.removeprefix("file://"))
        named = [name for name in (self.run_id, self.batch) if name]
        paths = sorted(kb.rglob("*.md"), key=lambda path: path.stat().st_mtime_ns, reverse=True)
        texts = (path.read_text(encoding="utf-8") for path in paths)
        newest = next((text for text in texts if any(name in text for name in named)), "")
        return Told(code=0, out=newest, err="")

    def queue_file(self) -> Path:
        """A queue that may be started: of a new batch, with a document that has no run."""
        file = self.stack.settings.state / "new-queue.yaml"
        name = f"ICX-Q{next(_numbers):03}"
        self.stack.register(name, support.law(next(_numbers)))
        file.write_bytes(support.queue_yaml([{"document_id": name}]))
        return file

    def key(self, name: str) -> str:
        """NAME=FILE of somebody who may become an approver."""
        person = getattr(self.stack.kit, name)
        file = self.stack.settings.state / f"{name}.asc"
        file.write_bytes(self.stack.kit.people.export_public(person.fingerprint))
        return f"{name}={file}"

    def names(self) -> dict[str, str]:
        """What differs between two instances of the same state, by what it stands for."""
        found = {"<run>": self.run_id, "<batch>": self.batch, "<document>": self.document, "<queue>": str(self.queue)}
        return {meaning: name for meaning, name in found.items() if name not in ("", ".")}

    async def to(self, state: str) -> None:
        """Wait until the run is in that state, and shown so."""
        await self.run.until_state(state)

    async def type(self, *arguments: str) -> Told:
        """A command in a folder of its own, where it may leave files."""
        folder = self.stack.settings.state / "desk"
        folder.mkdir(exist_ok=True)
        done = await asyncio.to_thread(forked.run, arguments, self.cutter.environment({}), cwd=folder)
        assert "Traceback" not in done.stderr, done.stderr
        return Told(code=done.returncode, out=done.stdout, err=done.stderr)

    async def typed(self, *arguments: str, **changed: str) -> Any:
        """A command of a person who may sign; its answer."""
        return await self.cutter(*arguments, *signed_by(self, arguments), "--json", **changed)


SIGNING = ("approve", "reject", "void", "revoke", "acknowledge-drift")


def signed_by(world: World, arguments: Sequence[str]) -> tuple[str, ...]:
    """The options with which an approver answers without being asked, where a command signs."""
    if not arguments or arguments[0] not in SIGNING or "--help" in arguments:
        return ()
    yes = () if arguments[0] == "revoke" or "--yes" in arguments else ("--yes",)
    return ("--approver", "alice", "--gpg-home", str(world.stack.kit.alice.home), *yes)


async def document(stack: Stack, cutter: Cutter, data: bytes | None = None) -> World:
    """A registered document of its own."""
    number = next(_numbers)
    world = World(stack=stack, cutter=cutter, document=f"ICX-N{number:03}")
    body = data or support.law(number)
    world.file = stack.settings.state / f"{world.document}.md"
    world.file.write_bytes(support.law(number + 500))
    original = stack.settings.state / f"{world.document}-first.md"
    original.write_bytes(body)
    told = await cutter("source", "add", str(original), "--document-id", world.document, "--profile",
                        "generic-markdown", "--force")  # fmt: skip
    assert told.code == 0, told.err
    world.asks = [("status", world.document), ("source", "list"), ("status",), ("run", "NOPE-1")]
    return world


async def started(stack: Stack, cutter: Cutter, data: bytes | None = None, *options: str, **changed: str) -> World:
    """A run that was begun by command."""
    world = await document(stack, cutter, data)
    told = await cutter("run", world.document, *options, "--json", **changed)
    assert told.code == 0, told.err
    world.run_id = told.json["run_id"]
    world.asks = looking(world.run_id, world.document)
    return world


def looking(run_id: str, document_id: str) -> list[Ask]:
    """What people type to see how a run stands, and what they try without looking."""
    return [
        ("status", run_id), ("status", run_id, "--json"), ("status", document_id), ("inbox",), ("inbox", "--json"),
        DOCUMENTS,
        ("status", run_id, "--as", "request"), ("status", run_id, "--as", "task"), ("report", run_id), ("queues",),
        ("workers",), ("policy", "check", "--current"), ("approvers", "show"), ("backup", "list"), ("tenants",),
        ("run", document_id), ("run", document_id, "--json"), ("approve", run_id, "--yes"),
        ("approve", run_id, "--decision", "resume", "--reason", "x"), ("orchestrate", "resume", "--run-id", run_id),
        ("acknowledge-drift", run_id, "--reason", "x"), ("revoke", run_id, "--approval", "0" * 64, "--reason", "x"),
        ("queues", "show", run_id), ("evidence", "export", run_id), ("reconcile",),
    ]  # fmt: skip


async def waiting_at_the_cut(stack: Stack, cutter: Cutter) -> World:
    world = await started(stack, cutter)
    await world.run.until_requested(CUT)
    return world


async def waiting_at_the_enactment(stack: Stack, cutter: Cutter) -> World:
    world = await waiting_at_the_cut(stack, cutter)
    assert (await world.typed("approve", world.run_id)).code == 0
    await world.run.until_requested(LIFECYCLE)
    return world


async def stopped_before_the_write(stack: Stack, cutter: Cutter) -> World:
    world = await waiting_at_the_cut(stack, cutter)
    await world.typed("stop", world.run_id, "--reason", "x")
    await world.to("stopped_stop")
    return world


async def stopped_after_the_write(stack: Stack, cutter: Cutter) -> World:
    world = await waiting_at_the_enactment(stack, cutter)
    await world.typed("stop", world.run_id, "--reason", "x")
    await world.to("stopped_stop")
    return world


async def cancelled_before_the_write(stack: Stack, cutter: Cutter) -> World:
    world = await waiting_at_the_cut(stack, cutter)
    await world.typed("cancel", world.run_id, "--reason", "x")
    await world.run.result()
    return world


async def cancelled_after_the_write(stack: Stack, cutter: Cutter) -> World:
    world = await waiting_at_the_enactment(stack, cutter)
    await world.typed("cancel", world.run_id, "--reason", "x")
    await world.to("stopped_cancel")
    return world


async def voided(stack: Stack, cutter: Cutter) -> World:
    world = await waiting_at_the_enactment(stack, cutter)
    assert (await world.typed("void", world.run_id, "--reason", "x")).code == 0
    await world.run.result()
    return world


async def rejected(stack: Stack, cutter: Cutter) -> World:
    world = await waiting_at_the_cut(stack, cutter)
    assert (await world.typed("reject", world.run_id, "--reason", "x")).code == 0
    await world.run.result()
    return world


async def rejected_after_the_write(stack: Stack, cutter: Cutter) -> World:
    world = await waiting_at_the_enactment(stack, cutter)
    assert (await world.typed("reject", world.run_id, "--reason", "x")).code == 0
    await world.run.result()
    return world


async def failed_at_the_marking(stack: Stack, cutter: Cutter) -> World:
    world = await started(stack, cutter, POISON)
    await world.run.result()
    return world


async def expired(stack: Stack, cutter: Cutter) -> World:
    world = await started(stack, cutter, None, CUTTER_TTL_SG1_HOURS="0.0003")
    await world.to("stopped_expired")
    return world


async def over_its_hard_cap(stack: Stack, cutter: Cutter) -> World:
    world = await started(stack, cutter, None, CUTTER_HARD_CAP_MINUTES="0.0005")
    await world.to("stopped_hard_cap")
    return world


async def rehearsed(stack: Stack, cutter: Cutter) -> World:
    world = await started(stack, cutter, None, "--mode", "dryrun")
    await world.run.result()
    return world


async def enacted(stack: Stack, cutter: Cutter) -> World:
    world = await waiting_at_the_enactment(stack, cutter)
    assert (await world.typed("approve", world.run_id)).code == 0
    await world.run.result()
    world.asks += [("void", world.run_id, "--reason", "x"), ("stop", world.run_id, "--reason", "x"),
                   ("source", "add", str(world.file), "--document-id", world.document, "--profile",
                    "generic-markdown"), ("report", world.run_id, "--json")]  # fmt: skip
    return world


async def skipped(stack: Stack, cutter: Cutter) -> World:
    world = await enacted(stack, cutter)
    told = await cutter("run", world.document, "--wait", "--json")
    assert told.code == 0, told.err
    world.run_id = told.json["run_id"]
    world.asks = looking(world.run_id, world.document)
    return world


async def of_another_version_than_the_law(stack: Stack, cutter: Cutter) -> World:
    world = await enacted(stack, cutter)
    told = await cutter("source", "add", str(world.file), "--document-id", world.document, "--profile",
                        "generic-markdown", "--force")  # fmt: skip
    assert told.code == 0, told.err
    run = await stack.start(world.document)
    await run.result()
    world.run_id = run.run_id
    world.asks = looking(world.run_id, world.document)
    return world


async def without_its_workflow(stack: Stack, cutter: Cutter) -> World:
    world = await waiting_at_the_cut(stack, cutter)
    await world.run.handle.terminate()
    return world


async def terminated(stack: Stack, cutter: Cutter) -> World:
    world = await without_its_workflow(stack, cutter)
    await cutter("reconcile", "--grace-seconds", "0")
    await world.to("stopped_terminated")
    return world


async def told_to_stop_while_temporal_was_away(stack: Stack, cutter: Cutter) -> World:
    world = await waiting_at_the_cut(stack, cutter)
    assert (await cutter("stop", world.run_id, "--reason", "x", CUTTER_TEMPORAL_ADDRESS=NOBODY)).code == 0
    return world


async def registered(stack: Stack, cutter: Cutter) -> World:
    return await document(stack, cutter)


async def mistakes(stack: Stack, cutter: Cutter) -> World:
    """What people mistype, with one document and one run there."""
    world = await waiting_at_the_cut(stack, cutter)
    near = world.document[:-1]
    batch_id = str(uuid_utils.uuid7())
    empty = stack.settings.state / "empty.md"
    empty.write_bytes(b"")
    loose = stack.settings.state / "loose.md"
    loose.write_text("# Article 1\nca\u0301c\n")
    childless = stack.settings.state / "childless.md"
    childless.write_bytes(POISON)
    add = ("--document-id", "ICX-NEW-1", "--profile", "generic-markdown")
    world.asks = [
        ("staus",), ("approvers", "initt"), ("orchestrate", "btch"), ("evidence", "exprt"), ("run",), ("approve",),
        ("run", near), ("approve", near), ("status", near), ("report", near), ("stop", near, "--reason", "x"),
        ("void", "NOPE", "--reason", "x"), ("cancel", near, "--reason", "x"), ("audit", "export", "--run", near),
        ("status", batch_id), ("orchestrate", "resume-batch", "--batch-id", batch_id), ("approve", "--batch", batch_id),
        ("queues", "show", world.run_id), ("run", world.document, "--mode", "trial"), ("run", world.document, "--wat"),
        ("source", "add", str(empty), *add), ("source", "add", str(loose), *add), ("source", "add", "none.md", *add),
        ("source", "add", str(childless), *add), ("mark", str(childless)), ("mark", str(loose)), ("mark", "none.md"),
        ("source", "add", str(world.file), *add, "--max-candidates", "1098"),
        ("mark", str(world.file), "--profil", "x"),
        ("mark", str(world.file), "--max-candidates", "1098"), ("policy", "check", str(world.file)),
        ("policy", "check"),
        ("orchestrate", "batch", "--queue", "none.yaml"), ("orchestrate", "batch", "--queue", "none.yaml", "--check"),
        ("orchestrate", "resume"), ("rebuild",), ("backup", "verify", near), ("backup", "verify", "x/y.gpg"),
        ("revoke", world.run_id, "--approval", "0" * 64, "--reason", "x"), ("tenants", "set", "north"),
        ("approve", world.run_id, "--decision", "void"), ("evidence", "verify", "none.tar"),
        ("audit", "verify", "none.jsonl"), ("transitions", "validate", "none.jsonl"),
        ("approvers", "install", "7"), ("approvers", "sign", "7"),
    ]  # fmt: skip
    world.asks += [(*ask, "--json") for ask in list(world.asks)]
    return world


# --- batches ----------------------------------------------------------------------------------------------------------


async def _batch(stack: Stack, cutter: Cutter, bodies: Sequence[bytes | None], *options: str) -> tuple[World, Batch]:
    members = [await document(stack, cutter, body) for body in bodies]
    world = members[0]
    world.batch = str(uuid_utils.uuid7())
    world.queue = stack.settings.state / f"{world.batch}.yaml"
    world.queue.write_bytes(support.queue_yaml([{"document_id": one.document} for one in members], world.batch))
    told = await cutter("orchestrate", "batch", "--queue", str(world.queue), *options, "--json")
    assert told.code == 0, told.err
    world.batch = told.json["batch_id"]
    world.asks = [
        ("status", world.batch), ("status", world.batch, "--json"), ("queues",), ("queues", "--json"),
        ("queues", "--batch", world.batch, "--json"), DOCUMENTS, ("status", world.batch, "--as", "workstream"),
        ("report", world.batch), ("orchestrate", "batch", "--queue", str(world.queue), *options),
        ("approve", "--batch", world.batch, "--decision", "include_failed", "--reason", "x"), ("status",), ("inbox",),
    ]  # fmt: skip
    return world, Batch(
        stack=stack, batch_id=world.batch, handle=stack.client.get_workflow_handle(f"batch/{world.batch}")
    )


def batch_of(world: World) -> Batch:
    handle = world.stack.client.get_workflow_handle(f"batch/{world.batch}")
    return Batch(stack=world.stack, batch_id=world.batch, handle=handle)


async def batch_at_the_cut(stack: Stack, cutter: Cutter) -> World:
    world, batch = await _batch(stack, cutter, [None, None])
    await batch.until_state("batch_awaiting_cut_authz_set")
    await until_put(stack, world.batch)
    return world


async def batch_at_the_enactment(stack: Stack, cutter: Cutter) -> World:
    world, batch = await _batch(stack, cutter, [None, None])
    await batch.until_state("batch_awaiting_cut_authz_set")
    await until_put(stack, world.batch)
    assert (await world.typed("approve", "--batch", world.batch)).code == 0
    await batch.until_state("batch_awaiting_lifecycle_authz_set")
    await until_put(stack, world.batch)
    return world


async def batch_rehearsed(stack: Stack, cutter: Cutter) -> World:
    world, batch = await _batch(stack, cutter, [None, None], "--mode", "dryrun")
    await until(lambda: _over(batch), seconds=120, what="the rehearsal is over")
    return world


async def batch_stopped(stack: Stack, cutter: Cutter) -> World:
    world = await batch_at_the_cut(stack, cutter)
    assert (await cutter("stop", world.batch, "--reason", "x")).code == 0
    batch = batch_of(world)
    await until(lambda: _over(batch), seconds=120, what="the batch has stopped")
    return world


async def batch_quarantined(stack: Stack, cutter: Cutter) -> World:
    world, batch = await _batch(stack, cutter, [POISON, None], "--quarantine")
    await batch.until_state("batch_awaiting_cut_authz_set")
    await until_put(stack, world.batch)
    return world


async def batch_failed_partial(stack: Stack, cutter: Cutter) -> World:
    world, batch = await _batch(stack, cutter, [POISON])
    await batch.until_state("batch_failed_partial")
    await until(lambda: _over(batch), seconds=120, what="the batch is over")
    return world


async def batch_strict(stack: Stack, cutter: Cutter) -> World:
    world, batch = await _batch(stack, cutter, [POISON, None], "--stop-on-first-failure")
    await batch.until_state("batch_failed_partial")
    await until(lambda: _over(batch), seconds=120, what="the batch is over")
    return world


async def batch_overnight(stack: Stack, cutter: Cutter) -> World:
    world, batch = await _batch(stack, cutter, [None], "--overnight")
    await until(lambda: _over(batch), seconds=120, what="the night is over")
    return world


async def batch_done(stack: Stack, cutter: Cutter) -> World:
    world = await batch_at_the_enactment(stack, cutter)
    assert (await world.typed("approve", "--batch", world.batch)).code == 0
    batch = batch_of(world)
    await batch.until_state("batch_closeout")
    return world


async def _over(batch: Batch) -> bool:
    told = await batch.view()
    return bool(told["batch"]["ended_at"] or (await batch.summary()).over)


async def until_put(stack: Stack, batch_id: str) -> None:
    """Wait until every request of the batch stands in the knowledge base."""

    async def put() -> bool:
        with connect(stack.settings, OPERATOR) as connection:
            row = connection.execute(
                "select count(*) from cutter_governance.outbox o join cutter_governance.run r using (run_id) "
                "where r.batch_id = %s and o.done_at is null", (batch_id,)
            ).fetchone()  # fmt: skip
        return bool(row and row[0] == 0)

    await until(put, what="the requests stand in the knowledge base")


Builder = Callable[[Stack, Cutter], Awaitable[World]]

RUNS: tuple[Builder, ...] = (
    registered, waiting_at_the_cut, waiting_at_the_enactment, stopped_before_the_write, stopped_after_the_write,
    cancelled_before_the_write, cancelled_after_the_write, voided, rejected, rejected_after_the_write,
    failed_at_the_marking, expired, over_its_hard_cap, rehearsed, enacted, skipped, of_another_version_than_the_law,
    without_its_workflow, terminated, told_to_stop_while_temporal_was_away,
)  # fmt: skip
BATCHES: tuple[Builder, ...] = (
    batch_at_the_cut, batch_at_the_enactment, batch_rehearsed, batch_stopped, batch_quarantined, batch_failed_partial,
    batch_strict, batch_overnight, batch_done,
)  # fmt: skip
ALL = (*RUNS, mistakes, *BATCHES)

__all__ = ["ALL", "BATCHES", "RUNS", "Builder", "World", "mistakes"]
