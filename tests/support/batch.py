"""IO: batches in a stack: queues, signing sessions, and the database's facts, through the commands' own functions."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, LiteralString

import uuid_utils
from temporalio.client import WorkflowHandle
from temporalio.service import RPCError, RPCStatusCode

from cutter.batch import batch_step, documents
from cutter.batch.batch_step import Summary
from cutter.batch.view import BatchView, ItemRecord
from cutter.catalogue import Role
from cutter.kb.store import Store
from cutter.messages import BatchResult
from cutter.storage import batches as batch_rows
from cutter.storage import runs as run_rows
from cutter.storage.batches import Options
from cutter.storage.pools import connect as connect_as
from cutter.storage.runs import caps_of
from cutter.types import Json
from starter.approver import signing_desk, signing_session
from starter.approver.signing_desk import Signing
from starter.operator import batch_outcome
from temporal import batches, runs
from tests.support.signatures import sign_answer
from tests.support.stack import THREE_UNITS, Stack
from tests.support.temporal import seen_when, until

CUT, LIFECYCLE = "SG_cut_authz", "SG_lifecycle_authz"

OVERLAPS = """
select count(*) from cutter_governance.gate_receipt one join cutter_governance.gate_receipt other
    on one.gate = other.gate and one.run_id < other.run_id
where one.gate = %s and one.sealed_at is not null and other.sealed_at is not null
    and one.opened_at < other.sealed_at and other.opened_at < one.sealed_at
"""
"""Pairs of runs that were in a gate at the same time, by the database's own clock."""


def law(number: int, units: int = 2) -> bytes:
    """A small law that differs from every other one."""
    articles = "".join(f"\n## Article {n}. Scope {n}\n\nText {number}, {n}.\n" for n in range(1, units + 1))
    return f"# Act {number}\n{articles}".encode()


def queue_yaml(items: Sequence[Json], batch_id: str = "") -> bytes:
    """A queue file of these items; each is {"document_id": …, "depends_on": […], …}."""
    lines = [
        "schema_version: 1", f"batch_id: {batch_id or uuid_utils.uuid7()}", "created_by: olga",
        'created_utc: "2026-11-21T09:00:00Z"', "default_scope: enacted_only", "items:",
    ]  # fmt: skip
    for item in items:
        first, *rest = item.items()
        lines.append(f"- {first[0]}: {first[1]}")
        for name, value in rest:
            shown = f"[{', '.join(value)}]" if isinstance(value, list) else value
            lines.append(f"  {name}: {shown}")
    return ("\n".join(lines) + "\n").encode()


@dataclass(slots=True, kw_only=True)
class Batch:
    """One batch as people see it."""

    stack: Stack
    batch_id: str
    handle: WorkflowHandle[Any, Any]

    async def seen(self) -> BatchView:
        return await asyncio.to_thread(batches.view, self.stack.settings, self.batch_id)

    async def view(self) -> Json:
        """The same as plain values, for assertions."""
        return asdict(await self.seen())

    async def summary(self) -> Summary:
        view = await self.seen()
        return batch_step.summarise(view, attended=view.attended)

    async def until_state(self, state: str, *, seconds: float = 90) -> Json:
        """Wait until the database has that state of the batch; its view then."""

        async def look() -> Json:
            query: LiteralString = "select state from cutter_governance.batch where batch_id = %s"
            there = await asyncio.to_thread(self.stack.database.look, query, (self.batch_id,)) == state
            return await self.view() if there else {}

        def holds(view: Json) -> bool:
            return bool(view) and view["batch"]["state"] == state

        async def otherwise(_: Json) -> str:
            view = await self.view()
            items = [(item["document_id"], item["state"], item["decided"], item["queue"]) for item in view["items"]]
            return f"not {state}, but {view['batch']['state']}: {items}"

        return await seen_when(look, holds, seconds=seconds, otherwise=otherwise)

    async def status(self) -> Json:
        """Answer of the workflow's query, once it shows the state that the database has."""
        answer: Json = {}

        async def shown() -> bool:
            nonlocal answer
            answer = await self.handle.query("status", result_type=dict)
            return bool(answer["state"] == (await self.view())["batch"]["state"])

        await until(shown, what="the workflow shows the batch's state")
        return answer

    async def sign(
        self, gate: str, *, leave_out: Sequence[str] = (), who: Signing | None = None, into: str = ""
    ) -> str:
        """Sign what waits at a gate in one session; the set's folder in the knowledge base."""
        view = await self.seen()
        folder = into or f"{documents.folder(self.batch_id)}/{documents.GATE_STEMS[gate]}-session-{uuid_utils.uuid7()}"
        waiting = [item for item in batch_step.waiting_at(view, gate) if item.document_id not in leave_out]
        await until(lambda: asyncio.to_thread(self._are_put, waiting), what="the requests stand in the knowledge base")
        await asyncio.to_thread(self._sign, waiting, folder, who or self.stack.kit.alice)
        return folder

    def _are_put(self, waiting: Sequence[ItemRecord]) -> bool:
        """A request is put a moment after the transaction that opens it."""
        kb = Store(self.stack.settings.kb)
        return all(kb.exists(item.request_kb_id or "") for item in waiting)

    def _sign(self, waiting: Sequence[ItemRecord], folder: str, who: Signing) -> None:
        for item in waiting:
            kb_id = f"{folder}/{item.document_id}.md"
            sign_answer(self.stack.settings, who, item.run_id or "", item.request_kb_id or "", kb_id=kb_id)

    async def sign_before(self, *, leave_out: Sequence[str] = (), who: Signing | None = None) -> Json:
        """The session after a rehearsal: both gates of its documents, for the live batch."""
        names = [item.document_id for item in (await self.seen()).items if item.document_id not in leave_out]
        return await asyncio.to_thread(
            signing_session.hold, self.stack.settings, self.batch_id.removesuffix("-dryrun"),
            who or self.stack.kit.alice, only=names,
            ask=signing_session.Ask.NOBODY,
        )  # fmt: skip

    async def hand_over(self, folder: str, listing: str = "") -> Json:
        return (await batches.hand_over_set(self.stack.client, self.batch_id, "olga", folder, listing)).as_json()

    async def hand_over_late(self, folder: str) -> Json:
        """The same as people do it when the batch's workflow is over, or about to be."""
        reply = await asyncio.to_thread(batch_outcome.hand_over, self.stack.settings, await self.seen(), folder, "")
        return reply.as_json()

    async def complete(self, name: str, value: Any) -> None:
        """Answer the batch's open activity of that name in its worker's place, as a client of Temporal may."""

        async def answered() -> bool:
            description = (await self.handle.describe()).raw_description
            for pending_activity in description.pending_activities:
                if pending_activity.activity_type.name == name:
                    handle = self.stack.client.get_async_activity_handle(
                        workflow_id=self.handle.id,
                        run_id=description.workflow_execution_info.execution.run_id,
                        activity_id=pending_activity.activity_id,
                    )
                    return await _taken(handle.complete(value))
            return False

        await until(answered, what=f"{name} is open and takes the answer")

    async def until_stage(self, document_id: str, stage: str, *, seconds: float = 90) -> Json:
        """Wait until an item is at that stage; its row of the view then."""

        def item(view: Json) -> Json:
            return next(item for item in view["items"] if item["document_id"] == document_id)

        def holds(view: Json) -> bool:
            asked = not stage.startswith("at_") or bool(item(view)["request_kb_id"])
            return asked and self.outcomes(view)[document_id] == stage

        async def otherwise(view: Json) -> str:
            return f"{document_id} is not {stage}, but {item(view)}"

        return item(await seen_when(self.view, holds, seconds=seconds, otherwise=otherwise))

    async def result(self) -> BatchResult:
        """How the batch ended."""
        return await runs.result_of(self.handle, BatchResult)

    async def through_lifecycle(self, *, seconds: float = 300) -> Any:
        """Sign what waits at SG_2 until nothing waits there; the result."""

        async def ended() -> bool:
            view = await self.seen()
            if any(item.request_kb_id for item in batch_step.waiting_at(view, LIFECYCLE)):
                await self.hand_over(await self.sign(LIFECYCLE))
            return view.batch.ended_at is not None

        await until(ended, seconds=seconds, what="every enactment that waits is signed and the batch is over")
        return await self.result()

    async def through(self, *, seconds: float = 90) -> Any:
        """Both sets, then the result."""
        await self.until_state("batch_awaiting_cut_authz_set", seconds=seconds)
        await self.hand_over(await self.sign(CUT))
        await self.until_state("batch_awaiting_lifecycle_authz_set", seconds=seconds)
        await self.hand_over(await self.sign(LIFECYCLE))
        return await self.result()

    async def order(self, decision: str, run_id: str, document_id: str, who: Signing | None = None) -> str:
        """Sign an order about one run in a folder of its own; the folder."""
        folder = f"{documents.folder(self.batch_id)}/orders-{uuid_utils.uuid7()}"
        settings, signer = self.stack.settings, who or self.stack.kit.alice
        deployment = signing_desk.policy_in_force(settings).deployment_id
        run = run_rows.sidecar(settings, run_id).run
        statement = signing_desk.order(run, deployment, CUT, signer, decision, "a test says so")
        await asyncio.to_thread(signing_desk.sign_and_upload, settings, statement, signer, f"{folder}/{document_id}.md")
        return folder

    def outcomes(self, view: Json) -> dict[str, str]:
        """Outcome (or stage) of each document."""
        return {
            item.document_id: (item.outcome or item.stage).value for item in batch_step.items_of(BatchView.of(view))
        }


def register(stack: Stack, items: Sequence[Json], options: Options | None = None, batch_id: str = "") -> str:
    """Register a queue as the command does; its batch id."""
    options = replace(options or Options(), items_max=1000)
    with connect_as(stack.settings, Role.OPERATOR) as connection:
        admission = batch_rows.admit(connection, queue_yaml(items, batch_id), options)
        caps = asdict(caps_of(stack.settings))
        return batch_rows.register(connection, admission, options, run_caps=caps, starter="olga")[0]


async def start(
    stack: Stack, documents_: int | Sequence[Json], options: Options | None = None, batch_id: str = ""
) -> Batch:
    """Register that many small laws (or these items) and start their batch."""
    items = small_laws(stack, documents_) if isinstance(documents_, int) else documents_
    name = await asyncio.to_thread(register, stack, items, options, batch_id)
    return Batch(stack=stack, batch_id=name, handle=await batches.start(stack.client, name, "olga"))


async def _taken(answer: Awaitable[None]) -> bool:
    """True once the server takes it; its worker may have been faster."""
    try:
        await answer
    except RPCError as refused:
        if refused.status is not RPCStatusCode.NOT_FOUND:
            raise
        return False
    return True


async def again(batch: Batch) -> Batch:
    """The same batch, its workflow started once more or found open."""
    return replace(batch, handle=await batches.start(batch.stack.client, batch.batch_id, "olga"))


def small_laws(stack: Stack, count: int) -> list[Json]:
    """Register that many; the items of a queue of them."""
    names = [f"ICX-B-{number}" for number in range(1, count + 1)]
    for number, name in enumerate(names, start=1):
        stack.register(name, law(number))
    return [{"document_id": name} for name in names]


def kb_text(stack: Stack, kb_id: str) -> str:
    """A document of the knowledge base."""
    return Store(stack.settings.kb).get(kb_id).decode()


__all__ = ["CUT", "LIFECYCLE", "THREE_UNITS", "Batch", "kb_text", "law", "queue_yaml", "register", "start"]
