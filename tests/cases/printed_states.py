"""IO: the states that a run or a batch can be in when the product prints a command; each is made afresh on demand."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psycopg

from cutter.policy.rules_file import shipped
from tests.acceptance.cli.conftest import NOBODY, Cutter, Told
from tests.support import batch as support
from tests.support import forked
from tests.support.policies import policy_of
from tests.support.stack import Run, Stack
from tests.support.temporal import until

CUT, LIFECYCLE = "SG_cut_authz", "SG_lifecycle_authz"
POISON = b"# Act\n\n## Article 1. Scope\n\n## Article 2. Terms\n\nTwo.\n"
"""A childless heading, which the profile refuses without another option."""

Ask = tuple[str, ...]
Builder = Callable[[Stack, Cutter], Awaitable["World"]]
DOCUMENTS: Ask = ("the documents",)
"""Asks nothing: the requests, reports and queue documents are read."""

FOLLOWING = {"--watch", "serve"}
FOLLOWED_SECONDS = 4
"""A command that looks on until the end is left with Ctrl-C after this, where the end is far."""

AWAY: list[Callable[[], None]] = []
"""How to bring back what a state took away, which is what a person does before the printed command."""
CHANGED: list[Callable[[], None]] = []
"""How to undo what a state changed in its deployment; the printed commands are typed while it lasts."""


def put_back() -> None:
    """Bring back everything that the present state took away."""
    while AWAY:
        AWAY.pop()()


def left_behind(stack: Stack) -> None:
    """Leave the deployment as it was before the present state, and make sure that it is so."""
    put_back()
    while CHANGED:
        CHANGED.pop()()
    kb = Path(stack.settings.kb.removeprefix("file://"))
    folders = {stack.settings.state, stack.settings.approvers.parent, kb.parent}
    kept = [str(path) for folder in folders for path in folder.glob(f"*{HIDDEN}")]
    kept += [] if stack.database.value(AS_MIGRATED) else ["other definitions than the migrated ones"]
    kept += [] if policy_of(stack.settings).text == shipped().decode() else ["another effect policy"]
    kept += ["open transactions"] if stack.held else []
    assert not kept, f"left behind: {', '.join(kept)}"


HIDDEN = ".away"
"""How the name of a folder ends that a state took away."""
AS_MIGRATED = """
select cutter_governance.fn_definition_pins() =
    (select pins from cutter_governance.schema_baseline order by id desc limit 1)
"""

_numbers = itertools.count(1)


MEMBERS = """
select coalesce(jsonb_object_agg(document_id, run_id order by run_id), '{}') from cutter_governance.run
where batch_id::text = %s
"""


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
    others: list[str] = field(default_factory=list)
    """Of a batch: its documents after the first one."""
    runs: dict[str, str] = field(default_factory=dict)
    """Of a batch: what `members` knew last."""
    stand_ins: dict[str, str] = field(default_factory=dict)
    """What a person types instead of a name that an example has."""
    environment: dict[str, str] = field(default_factory=dict)
    """What is set in this state alone, such as an address where nobody answers."""

    @property
    def run(self) -> Run:
        return self.stack.run_of(self.run_id, self.document)

    @property
    def kb(self) -> Path:
        return Path(self.stack.settings.kb.removeprefix("file://"))

    def values(self, command: str) -> dict[str, str]:
        """What a person puts in place of the words in capitals; a queue or a key is made only for who needs one."""
        made = {
            "TEXT": "a person says why", "say why": "a person says why",
            "FILE": str(self.file), "PROFILE": "generic-markdown",
            "DOCUMENT": self.document, "RUN": self.run_id, "ID": self.batch, "HOME": str(self.stack.kit.alice.home),
            "FINGERPRINT": self.stack.kit.alice.fingerprint, "UUID": self.batch,
        }  # fmt: skip
        if "--queue" in command:
            made["QUEUE"] = str(self.queue_file())
        if "NAME=KEY.asc" in command:
            made["NAME=KEY.asc"] = self.key("mallory")
        return made

    def read(self) -> Told:
        """The newest document of the knowledge base that names this run or batch: older ones are of states before."""
        named = [name for name in (self.run_id, self.batch) if name]
        paths = sorted(self.kb.rglob("*.md"), key=lambda path: path.stat().st_mtime_ns, reverse=True)
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
        file.write_bytes(self.stack.kit.people.export_key(person.fingerprint))
        return f"{name}={file}"

    def names(self) -> dict[str, str]:
        """What differs between two instances of the same state, by what it stands for."""
        batch = self.batch.removesuffix("-dryrun")
        names = {"<folder>": self.folder(self.document, self.run_id), "<run>": self.run_id}
        for number, name in enumerate((self.document, *self.others), start=1):
            run_id = self.members().get(name, "")
            names |= {f"<folder-{number}>": self.folder(name, run_id), f"<run-{number}>": run_id}
        names |= {"<queue>": str(self.queue), "<batch>": batch, "<document>": self.document}
        names |= {f"<document-{number}>": name for number, name in enumerate(self.others, start=2)}
        return {meaning: name for meaning, name in names.items() if name not in ("", ".")}

    def members(self) -> dict[str, str]:
        """Of a batch: each document's newest run. A database that is away leaves what was known before."""
        if self.batch and not self.run_id:
            with suppress(psycopg.OperationalError):
                self.runs = self.stack.database.value(MEMBERS, (self.batch,))
        return self.runs

    def folder(self, document_id: str, run_id: str) -> str:
        """A run's folder in the knowledge base, which the names of its documents begin with."""
        ends = f"knowledge/dev/laws/{document_id.lower()}/*-{run_id[-12:]}"
        return next((str(path.relative_to(self.kb)) for path in self.kb.glob(ends)), "") if run_id else ""

    def filled(self, command: str) -> str:
        """The command of an example with this world's names in place of those of the page."""
        for shown, name in self.stand_ins.items():
            command = command.replace(shown, name)
        return command

    def has(self, example: str) -> bool:
        """False for an example that is about a run or a batch, in a state that has none."""
        return example.startswith("cutter ") and all(name for shown, name in self.stand_ins.items() if shown in example)

    async def to(self, state: str) -> None:
        """Wait until the run has stopped so, and its report can be read; who terminated it wrote none."""
        await self.run.until_state(state)
        if state != "stopped_terminated":
            await until(self.reported, what=f"the report of {state}")

    async def reported(self) -> bool:
        """True when the knowledge base has the report of the run's newest stop."""
        reports = [row["kb_id"] for row in (await self.run.sidecar())["documents"] if row["kind"] == "stop_route"]
        return bool(reports) and (self.kb / reports[-1]).exists()

    async def type(self, *arguments: str) -> Told:
        """A command in a folder of its own, where it may leave files."""
        folder = self.stack.settings.state / "desk"
        folder.mkdir(exist_ok=True)
        follows = bool(FOLLOWING.intersection(arguments))
        done = await asyncio.to_thread(
            forked.run, arguments, self.cutter.environment(self.environment), cwd=folder, follows=follows,
            seconds=FOLLOWED_SECONDS if follows else 120,
        )  # fmt: skip
        assert "Traceback" not in done.stderr, done.stderr
        return Told(code=done.returncode, out=done.stdout, err=done.stderr)

    async def typed(self, *arguments: str, **changed: str) -> Any:
        """A command of a person who may sign; its answer."""
        return await self.cutter(*arguments, *signed_by(self, arguments), "--json", **changed)


SIGNING = (("approve",), ("reject",), ("void",), ("revoke",))


def signed_by(world: World, arguments: Sequence[str]) -> tuple[str, ...]:
    """The options with which an approver answers without being asked, where a command signs."""
    arguments = tuple(arguments)
    yes = () if "--yes" in arguments else ("--yes",)
    of_epoch = arguments[:2] == ("approvers", "sign")
    if "--help" in arguments or not (arguments[:1] in SIGNING or of_epoch):
        return ()
    if of_epoch and "--gpg-home" in arguments:
        return yes
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
    answer = await cutter("source", "add", str(original), "--document-id", world.document, "--profile",
                        "generic-markdown", "--force")  # fmt: skip
    assert answer.code == 0, answer.out + answer.err
    world.asks = [("status", world.document), ("law", "show"), ("status",), ("run", "NOPE-1")]
    return world


async def started(stack: Stack, cutter: Cutter, data: bytes | None = None, *options: str, **changed: str) -> World:
    """A run that was begun by command."""
    world = await document(stack, cutter, data)
    answer = await cutter("run", world.document, *options, "--json", **changed)
    assert answer.code == 0, answer.out + answer.err
    world.run_id = answer.json["run_id"]
    world.asks = looking(world.run_id, world.document)
    return world


def looking(run_id: str, document_id: str) -> list[Ask]:
    """What people type to see how a run stands, and what they try without looking."""
    return [
        ("status", run_id), ("status", run_id, "--json"), ("status", document_id), ("inbox",), DOCUMENTS,
        ("run", document_id), ("approve", run_id, "--yes"), ("orchestrate", "resume", "--run-id", run_id),
        ("approve", run_id, "--decision", "resume", "--reason", "x"),
        ("approve", run_id, "--decision", "acknowledge_drift", "--reason", "x"),
        ("evidence", "export", run_id), ("queues", "show", run_id), ("reconcile",),
    ]  # fmt: skip


def looking_closely(run_id: str, document_id: str) -> list[Ask]:
    """What answers much the same in every state."""
    return [
        ("inbox", "--json"), ("status", run_id, "--as", "request"), ("status", run_id, "--as", "task"),
        ("report", run_id), ("queues",), ("workers",), ("policy", "explain"), ("doctor",),
        ("backup", "list"), ("tenants",), ("run", document_id, "--json"), ("doctor",),
        ("revoke", run_id, "--approval", "0" * 64, "--reason", "x"), ("stop", run_id, "--reason", "x"),
        ("cancel", run_id, "--reason", "x"), ("reject", run_id, "--reason", "x", "--yes"),
    ]  # fmt: skip


async def waiting_at_the_cut(stack: Stack, cutter: Cutter) -> World:
    world = await started(stack, cutter)
    await world.run.until_requested(CUT)
    return world


async def waiting_and_looked_at_closely(stack: Stack, cutter: Cutter) -> World:
    world = await waiting_at_the_cut(stack, cutter)
    world.asks = looking_closely(world.run_id, world.document)
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


EXPIRES_HOURS = "0.002"
"""Seven seconds. The request that a resume makes expires as soon, and a person has to sign it before that."""


async def expired(stack: Stack, cutter: Cutter) -> World:
    world = await started(stack, cutter, None, CUTTER_TTL_SG1_HOURS=EXPIRES_HOURS)
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
    answer = await cutter("run", world.document, "--wait", "--json")
    assert answer.code == 0, answer.out + answer.err
    world.run_id = answer.json["run_id"]
    world.asks = looking(world.run_id, world.document)
    return world


async def revision_waiting_at_the_cut(stack: Stack, cutter: Cutter) -> World:
    world = await enacted(stack, cutter)
    answer = await cutter("source", "add", str(world.file), "--document-id", world.document, "--profile",
                        "generic-markdown", "--force")  # fmt: skip
    assert answer.code == 0, answer.out + answer.err
    answer = await cutter("run", world.document, "--json")
    assert answer.code == 0, answer.out + answer.err
    world.run_id = answer.json["run_id"]
    await world.run.until_requested(CUT)
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


RUNS: tuple[Builder, ...] = (
    registered, waiting_and_looked_at_closely, waiting_at_the_cut, waiting_at_the_enactment, stopped_before_the_write,
    stopped_after_the_write, cancelled_before_the_write, cancelled_after_the_write, voided, rejected,
    rejected_after_the_write, failed_at_the_marking, expired, over_its_hard_cap, rehearsed, enacted, skipped,
    revision_waiting_at_the_cut, without_its_workflow, terminated, told_to_stop_while_temporal_was_away,
)  # fmt: skip

__all__ = ["RUNS", "Builder", "World"]
