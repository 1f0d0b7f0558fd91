"""IO: a whole stack in one test process: real Temporal, real PostgreSQL, real gpg, the workers of all three roles.

Each worker has a secrets folder with only its own roles' passwords, as in a deployment; caps, lives and delays are
shrunk by settings. What a person does (sign, approve, resume, void) goes through the commands' own functions.
"""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, LiteralString

import psycopg
from temporalio.api.sdk.v1 import WorkflowMetadata
from temporalio.client import Client, WorkflowHandle, WorkflowHistory
from temporalio.service import RPCError, RPCStatusCode
from temporalio.worker import Interceptor

from activities.worker.dependencies import ROLES_OF, Deps
from cutter import limits, sources
from cutter.approvals import approver_store, schema
from cutter.approvals.policy import Tier
from cutter.catalogue import WorkerRole
from cutter.domain.digests import sha256_hex
from cutter.gpg import Gpg
from cutter.kb.store import Store
from cutter.kb.write_once import put
from cutter.messages import RunInput, RunResult
from cutter.settings import Settings
from cutter.stack import workers
from cutter.storage import runs as run_rows
from cutter.types import Json
from starter.approver import orders, signing_desk
from starter.approver.signing_desk import Signing
from starter.commands import approvers
from starter.commands.keys import ensure_throwaway_keys
from temporal import names, runs
from temporal.client import connect
from tests.support import database as database_support
from tests.support import run_sidecar
from tests.support.database import Connection, Database, TestCluster, short_folder
from tests.support.signatures import sign_answer, sign_order
from tests.support.temporal import end_all, seen_when, server
from worker import build_deps, serving

DOCUMENT = "ICX-TEST-1"
LAW = Path(__file__).resolve().parents[2] / "examples" / "laws" / "reading-rooms-act.en.md"
THREE_UNITS = b"# Act\n\n## Article 1. Scope\n\nOne.\n\n## Article 2. Terms\n\nTwo.\n"

OPEN_WORKFLOWS = """
select array_agg(id) from (
    select 'document/' || document_id as id from cutter_governance.run where ended_at is null
    union select 'batch/' || batch_id from cutter_governance.batch where ended_at is null) as w
"""

QUICK: dict[str, Any] = {"retry_delays_seconds": (0.05,), "lane_wait_seconds": 0.1}
"""Waits of seconds and minutes, shrunk."""

OPTIONS = {"duplicates": "ordinal", "empty": "heading_only", "max_candidates": 10_000}


@dataclass(frozen=True, slots=True, kw_only=True)
class Kit:
    """Keys that all tests of a process share: the workers' own, and those of two approvers and a stranger."""

    keys: Path
    people: Gpg
    alice: Signing
    bob: Signing
    mallory: Signing


@contextmanager
def kit() -> Iterator[Kit]:
    """Made once a process; the agents end with it."""
    with short_folder() as folder:
        keys = folder / "k"
        ensure_throwaway_keys(Settings(state_dir=folder, keys_dir=keys))
        home = folder / "p"
        people = Gpg(home)
        made = {
            name: Signing(approver=name, fingerprint=people.generate_key(name), home=home)
            for name in ("alice", "bob", "mallory")
        }
        try:
            yield Kit(keys=keys, people=people, **made)
        finally:
            for gpg in (people, *(Gpg(keys / name) for name in ("executor", "verifier", "backup"))):
                gpg.stop_agent()


@dataclass(slots=True, kw_only=True)
class Stack:
    """One deployment: settings, database, client, keys; workers are started where a test wants them."""

    settings: Settings
    database: Database
    client: Client
    kit: Kit
    hooks: list[Callable[[str], None]] = field(default_factory=list)
    """Called with a gate's name right after its COMMIT, in the worker's thread."""
    held: list[Connection] = field(default_factory=list)
    """Transactions that a test holds open."""

    # --- workers --------------------------------------------------------------------------------------------------

    @asynccontextmanager
    async def workers(
        self,
        *roles: WorkerRole,
        cached_workflows: int = limits.WORKFLOWS_CACHED,
        interceptors: Sequence[Interceptor] = (),
        **changed: Any,
    ) -> AsyncIterator[dict[WorkerRole, Deps]]:
        """Workers of these roles (all three without any), with these settings changed for them."""
        async with AsyncExitStack() as exits:
            held = {}
            for role in roles or tuple(WorkerRole):
                deps = self.deps(role, **changed)
                held[role] = deps
                for pool in deps.pools.values():
                    exits.callback(pool.close)
                await exits.enter_async_context(
                    serving(self.client, deps, cached_workflows=cached_workflows, interceptors=interceptors)
                )
            yield held

    def deps(self, role: WorkerRole, **changed: Any) -> Deps:
        """What a worker of that role holds: no password but its own roles', no key but its own."""
        secrets = self.settings.state / f"secrets-{role.value}"
        secrets.mkdir(exist_ok=True)
        for name in ROLES_OF[role]:
            shutil.copy(self.settings.secrets / f"{name.value}.password", secrets)
        keys = self.settings.state / f"keys-{role.value}"
        workers.hand_over(self.settings.keys, keys, role)
        own = {"secrets_dir": secrets, "keys_dir": keys}
        deps = build_deps(self.settings.model_copy(update={**own, **changed}), role)
        deps.after_commit.append(self._after_commit)
        return deps

    def _after_commit(self, gate: str) -> None:
        for hook in self.hooks:
            hook(gate)

    # --- locks ----------------------------------------------------------------------------------------------------

    def take(self, statement: LiteralString) -> None:
        """Run a statement in a transaction that stays open until `let_go`."""
        held = self.database.connect("postgres")
        held.execute("set idle_in_transaction_session_timeout = 0")
        held.execute(statement)
        self.held.append(held)

    def take_write_lane(self) -> None:
        """Be another leg A that is writing."""
        self.take("select from cutter_governance.lane where name = 'write' for update")

    def take_enact_lane(self) -> None:
        """Be another enactment."""
        self.take("select from cutter_governance.lane where name = 'enact' for update")

    def let_go(self) -> None:
        while self.held:
            self.held.pop().rollback()

    # --- documents and runs ---------------------------------------------------------------------------------------

    def register(self, document_id: str = DOCUMENT, data: bytes | None = None) -> None:
        """Register a source with the profile of plain Markdown."""
        sources.register(
            self.settings, LAW.read_bytes() if data is None else data, document_id=document_id, docprefix=document_id,
            profile="generic-markdown", options=OPTIONS,
        )  # fmt: skip

    async def start(
        self, document_id: str = DOCUMENT, *, mode: Any = "live", run_id: str | None = None, **fields: Any
    ) -> Run:
        """Register a run (or take one that is there) and start its workflow."""
        run_id = run_id or run_rows.register_run(self.settings, document_id, mode, amends=fields.get("amends"))
        handle = await runs.start(
            self.client, RunInput(document_id=document_id, run_id=run_id, mode=mode, starter="olga", **fields)
        )
        return Run(stack=self, run_id=run_id, document_id=document_id, handle=handle)

    def run_of(self, run_id: str, document_id: str = DOCUMENT) -> Run:
        """A run by its document's newest execution."""
        handle: Any = self.client.get_workflow_handle(workflow_id(document_id), result_type=RunResult)
        return Run(stack=self, run_id=run_id, document_id=document_id, handle=handle)


@dataclass(slots=True, kw_only=True)
class Run:
    """One run as people see it."""

    stack: Stack
    run_id: str
    document_id: str
    handle: WorkflowHandle[Any, RunResult]

    # --- looking --------------------------------------------------------------------------------------------------

    async def sidecar(self) -> Json:
        return await asyncio.to_thread(run_sidecar.sidecar, self.stack.settings, self.run_id)

    async def state(self) -> str:
        return str((await self.sidecar())["run"]["state"])

    async def status(self) -> Json:
        """Answer of the query; on a machine that is too busy to answer within the server's own limit, asked again."""
        while True:
            try:
                answer: Json = await self.handle.query("status", result_type=dict)
                return answer
            except RPCError as problem:
                if problem.status is not RPCStatusCode.DEADLINE_EXCEEDED and "Timeout" not in str(problem):
                    raise

    async def details(self) -> str:
        """Current details, as the Web UI shows them."""
        metadata = await self.handle.query("__temporal_workflow_metadata", result_type=WorkflowMetadata)
        return str(metadata.current_details)

    async def until_state(self, state: str, *, seconds: float = 90) -> Json:
        """Wait until the database has that state; the whole sidecar then."""

        async def look() -> Json:
            # One column of one row costs a hundredth of the sidecar.
            query: LiteralString = "select state from cutter_governance.run where run_id = %s"
            there = await asyncio.to_thread(self.stack.database.look, query, (self.run_id,)) == state
            return await self.sidecar() if there else {}

        def holds(sidecar: Json) -> bool:
            return bool(sidecar) and sidecar["run"]["state"] == state

        async def otherwise(_: Json) -> str:
            return f"not {state}, but {await self.explain()}"

        return await seen_when(look, holds, seconds=seconds, otherwise=otherwise)

    async def until_shown(self, state: str, *, seconds: float = 90) -> Json:
        """Wait until the workflow itself shows that state; its status then."""

        async def otherwise(status: Json) -> str:
            return f"{state} not shown, but {status}"

        return await seen_when(
            self.status, lambda status: status["state"] == state, seconds=seconds, otherwise=otherwise
        )

    async def until_requested(self, gate: str, *, seconds: float = 90) -> Json:
        """Wait until the workflow waits at a sovereign gate; its status then."""
        query: LiteralString = "select count(*) from cutter_governance.approval_request where run_id = %s and gate = %s"

        async def look() -> Json:
            # A query takes a task of the worker, so the workflow is asked after its request is in the database. A run
            # that a stranger started has no id here yet.
            asked = not self.run_id or await asyncio.to_thread(
                self.stack.database.look, query, (self.run_id, str(gate))
            )
            return await self.status() if asked else {"awaits": ""}

        async def otherwise(_: Json) -> str:
            return f"{gate} is not awaited, but {await self.explain()}"

        return await seen_when(look, lambda status: status["awaits"] == gate, seconds=seconds, otherwise=otherwise)

    async def until_attempted(self, gate: str, outcome: str, *, times: int = 1, seconds: float = 90) -> Json:
        """Wait until so many attempts of a gate had that outcome; the whole sidecar then."""

        def holds(sidecar: Json) -> bool:
            return (
                sum((attempt["gate"], attempt["outcome"]) == (gate, outcome) for attempt in sidecar["attempts"])
                >= times
            )

        async def otherwise(_: Json) -> str:
            return f"{gate} is not {outcome}, but {await self.explain()}"

        return await seen_when(self.sidecar, holds, seconds=seconds, otherwise=otherwise)

    async def explain(self) -> str:
        """What the database says went wrong; for a failed test's message."""
        sidecar = await self.sidecar()
        tail = [
            (attempt["gate"], attempt["n"], attempt["outcome"], attempt["reason"])
            for attempt in sidecar["attempts"][-3:]
        ]
        return f"{sidecar['run']['state']}: {sidecar['run']['last_error']} {tail}"

    async def result(self, *, seconds: float = 120) -> RunResult:
        return await asyncio.wait_for(runs.result_of(self.handle, RunResult), seconds)

    async def history(self) -> WorkflowHistory:
        return await self.handle.fetch_history()

    # --- what people do -------------------------------------------------------------------------------------------

    async def sign(self, decision: str = schema.APPROVE, who: Signing | None = None, text: str = "") -> str:
        """Sign the open request's approval (or rejection) and put it into the knowledge base; its KB id."""
        return await asyncio.to_thread(self._sign, decision, who or self.stack.kit.alice, text)

    def _sign(self, decision: str, who: Signing, text: str) -> str:
        settings = self.stack.settings
        request = signing_desk.open_request(settings, self.run_id)
        return sign_answer(settings, who, self.run_id, request, decision=decision, text=text)

    async def order(
        self, decision: str, reason: str = "a test says so", who: Signing | None = None, kb_id: str = "", **more: str
    ) -> str:
        """Sign an order about the run (resume, void, acknowledge_drift, revoke); its KB id, which may be given."""
        who = who or self.stack.kit.alice
        return await asyncio.to_thread(
            sign_order, self.stack.settings, who, self.run_id, decision, reason, kb_id=kb_id, **more
        )

    async def revoke(self, kb_id: str, who: Signing | None = None) -> Json:
        """Take back the approval under that KB id, as `cutter revoke` does; the verdict."""
        return await asyncio.to_thread(self._revoke, kb_id, who or self.stack.kit.alice)

    def _revoke(self, kb_id: str, who: Signing) -> Json:
        settings = self.stack.settings
        approval = sha256_hex(Store(settings.kb).get(kb_id))
        order = sign_order(settings, who, self.run_id, schema.REVOKE, "taken back", approval_sha256=approval)
        return orders.revoke(settings, run_rows.sidecar(settings, self.run_id).run, approval, order).as_json()

    async def resume(self, kb_id: str | None = None) -> Json:
        """The update `resume`; its answer."""
        return (await runs.resume(self.stack.client, self.document_id, kb_id)).as_json()

    async def approve(self, gate: str, *whos: Signing) -> str:
        """Wait for the gate's request, sign it by each, hand them over by signal; the last one's KB id."""
        await self.until_requested(gate)
        kb_id = ""
        for who in whos or (self.stack.kit.alice,):
            kb_id = await self.sign(who=who)
            await self.handle.signal("submit_approval", kb_id)
        return kb_id

    async def through(self) -> RunResult:
        """Both approvals, then the result."""
        await self.approve("SG_cut_authz")
        await self.approve("SG_lifecycle_authz")
        return await self.result()

    def put(self, kb_id: str, data: bytes) -> None:
        """Put any object into the knowledge base, as anyone who writes there may."""
        put(Store(self.stack.settings.kb), kb_id, data)


@asynccontextmanager
async def stack(
    database: Database, state: Path, address: str, kit: Kit, *, tier: Tier = Tier.MEDIUM,
    enact_tier: Tier | None = None, **changed: Any,
) -> AsyncIterator[Stack]:  # fmt: skip
    """A deployment with its policy in force and the model law registered; its workflows end with it."""
    settings = database.settings(state, keys_dir=kit.keys, temporal_address=address, **{**QUICK, **changed})
    client = await connect(settings)
    made = Stack(settings=settings, database=database, client=client, kit=kit)
    install_policy(made, tier=tier, enact_tier=enact_tier)
    made.register()
    try:
        yield made
    finally:
        await end_all(made.client, open_workflows(database))


def open_workflows(database: Database) -> list[str]:
    """The ids of the workflows of open runs and batches; none if a test has stopped the database."""
    try:
        return database.value(OPEN_WORKFLOWS) or []
    except psycopg.OperationalError:
        return []


def install_policy(
    made: Stack,
    *,
    tier: Tier = Tier.MEDIUM,
    enact_tier: Tier | None = None,
    signer_names: Sequence[str] = ("alice", "bob"),
) -> None:
    """Epoch 1 of this deployment; the stranger is not in it."""
    cut, _ = approver_store.default_rules(tier)
    _, enact = approver_store.default_rules(enact_tier or tier)
    signers = [getattr(made.kit, name) for name in signer_names]
    policy = approver_store.init(
        made.settings.approvers,
        approvers=[
            approver_store.NewApprover(name=signer.approver, public_key=made.kit.people.export_key(signer.fingerprint))
            for signer in signers
        ],
        gates=(cut, enact),
    )
    approvers.install(made.settings, policy)


@dataclass(frozen=True, slots=True, kw_only=True)
class Ground:
    """What stacks stand on: cluster, Temporal, keys."""

    cluster: TestCluster
    address: str
    kit: Kit

    @asynccontextmanager
    async def stack(self, **changed: Any) -> AsyncIterator[Stack]:
        """A deployment of its own on it."""
        with self.cluster.database() as database, short_folder() as state:
            async with stack(database, state, self.address, self.kit, **changed) as made:
                yield made


@contextmanager
def ground() -> Iterator[Ground]:
    """Everything started for a program that is no test, and stopped behind it."""
    ours = database_support.claim()
    try:
        with server() as address, kit() as keys:
            yield Ground(cluster=database_support.session_cluster(), address=address, kit=keys)
    finally:
        if ours:
            database_support.release()


def played(play: Callable[..., Awaitable[list[Json]]], **words: int) -> list[Json]:
    """What `play` of a campaign finds on a stack of its own."""

    async def on_it() -> list[Json]:
        async with under.stack() as made:
            return await play(made, **words)

    with ground() as under:
        return asyncio.run(on_it())


def workflow_id(document_id: str = DOCUMENT) -> str:
    return names.document_workflow_id(document_id)
