"""IO: prepares, shows, signs and hands over orders about a run, and runs failed documents of a batch again."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import timedelta
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import uuid_utils
from temporalio.client import Client, WorkflowFailureError, WorkflowHandle
from temporalio.common import WorkflowIDConflictPolicy, WorkflowIDReusePolicy
from temporalio.exceptions import WorkflowAlreadyStartedError
from temporalio.service import RPCError

from cutter import limits
from cutter.approvals import schema
from cutter.approvals.statement import Statement
from cutter.batch import documents, ways
from cutter.batch.ways import UnsignedFailure
from cutter.catalogue import Sovereign
from cutter.domain.amounts import counted
from cutter.domain.run_record import RunRecord, RunSidecar
from cutter.errors import InvalidInput, NotFound, Refused, Unavailable
from cutter.messages import VOIDED_BEFORE, JudgeResult, RevokeInput, RunInput, VoidInput, VoidResult
from cutter.settings import Settings
from cutter.storage import runs as run_rows
from cutter.types import Json
from starter.approver import signing_desk
from starter.console.confirmation import require_yes
from starter.console.terminal import Listing, err, progress, table
from starter.operator import batch_outcome
from temporal import batches, executions, names, runs
from temporal.client import connect, unanswered
from temporal.executions import open_execution_of
from temporal.runs import OrderReply

Result = TypeVar("Result")

TAKEN = ("accepted", "duplicate", "queued")
"""Statuses of a run that took a document."""


class Keys(NamedTuple):
    """The options that say who signs. If all are None, the owner of the one local key that the policy knows signs."""

    approver: str | None
    key: str | None
    home: Path | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Order:
    statement: Statement
    signer: signing_desk.Signing


@dataclass(frozen=True, slots=True, kw_only=True)
class VoidReply(OrderReply):
    """The reply to a signed void. `status` is voided, duplicate or refused, and `state` is the run's state."""

    state: str


def prepare(
    settings: Settings, run: RunRecord, decision: str, reason: str, keys: Keys, *, gate: str = "", **fields: str
) -> Order:
    """The unsigned statement about this run, for a gate or its next sovereign one, with the decision's `fields`."""
    if not reason.strip():
        raise InvalidInput("--reason: say why, in one line")
    deployment, ahead = signing_desk.gate_ahead(settings, run.run_id)
    gate = gate or ahead
    signer = signing_desk.who(settings, *keys)
    signing_desk.require_fit(settings, signer, gate, decision, run_id=run.run_id, starter=run.starter)
    made = signing_desk.order(run, deployment, gate, signer, decision, reason, **fields)
    return Order(statement=within_ttl(made, run.caps), signer=signer)


def within_ttl(statement: Statement, caps: Json) -> Statement:
    """An order that lives at most as long as an approval at the same gate, as the run has pinned it."""
    name = "ttl_lifecycle_seconds" if statement.gate == Sovereign.LIFECYCLE else "ttl_cut_seconds"
    life = timedelta(seconds=int(caps.get(name) or 0))
    if not life:
        return statement
    return replace(statement, not_after=min(statement.not_after, statement.signed_utc + life))


def confirm(order: Order, rows: Sequence[tuple[str, object]], *, yes: bool) -> None:
    """Show what an order is about, and ask before a person's key is used."""
    statement = order.statement
    shown = [("document", statement.document_id), *rows, ("reason", statement.reason)]
    err().print(table((statement.decision, statement.run_id or ""), shown))
    require_yes(f"sign {statement.decision} as {order.signer.approver}?", yes=yes)


def sign(settings: Settings, order: Order) -> str:
    """Sign and upload the order. Returns its KB id."""
    statement = order.statement
    wanted = f"knowledge/dev/orders/{statement.run_id}/{statement.decision}-{statement.approver}.md"
    return signing_desk.sign_and_upload(settings, statement, order.signer, wanted)


def hand_over(settings: Settings, run: RunRecord, kb_id: str) -> OrderReply:
    """Give a signed document to its run and wait for the reply. If the run's workflow was lost, start it again.

    Raises Unavailable if no worker answers within `limits.ORDER_ANSWER_SECONDS`.
    """
    try:
        return asyncio.run(asyncio.wait_for(_hand_over(settings, run, kb_id), limits.ORDER_ANSWER_SECONDS))
    except (Unavailable, TimeoutError):
        raise Unavailable(
            f"{kb_id} is signed and stored, but no worker answered: see",
            then="cutter doctor",
            rest=f", then type `cutter orchestrate resume --run-id {run.run_id} --approval-kb-id {kb_id}`",
            what="temporal",
        ) from None


async def _hand_over(settings: Settings, run: RunRecord, kb_id: str) -> OrderReply:
    client = await connect(settings)
    await ensure_open(settings, client, run)
    return await runs.resume(client, run.document_id, kb_id)


async def ensure_open(settings: Settings, client: Client, run: RunRecord) -> bool:
    """Start the run's workflow again if it has none, and return True. Refuses if another run's workflow is open."""
    if run.ended_at is not None:
        raise Refused(f"{run.run_id} is over as {run.outcome or run.state}", code="run_ended")
    if await open_execution_of(client, run) is not None:
        return False
    again = RunInput(
        document_id=run.document_id, run_id=run.run_id, mode=run.mode, starter=run.starter,
        batch_id=run.batch_id, amends=run.amends,
    )  # fmt: skip
    await runs.start(client, again, runs.turn_of(settings, run.document_id, run.priority))
    return True


async def through_void_workflow(settings: Settings, run: RunRecord, kb_id: str) -> VoidReply:
    """Carry out a signed void by the short workflow `void/<run_id>`, which tells an open run that it is over."""
    order = VoidInput(run_id=run.run_id, kb_id=kb_id, document_id=run.document_id)
    workflow_id = names.void_workflow_id(run.run_id)
    done = await _carried_out(settings, run, names.VOID_RUN, workflow_id, order, VoidResult, name="void")
    status = "duplicate" if done.code == VOIDED_BEFORE else "voided" if done.voided else "refused"
    return VoidReply(status=status, state=done.state, code=done.code, reason=done.reason)


async def tell_of_void(settings: Settings, sidecar: RunSidecar) -> None:
    """Tell an open workflow that its run was voided, because it would hold its document until the request expires.

    Does nothing if Temporal is unavailable.
    """
    voids = [verdict.kb_id for verdict in sidecar.verdicts if verdict.accepted and verdict.decision == schema.VOID]
    with suppress(Unavailable, Refused, RPCError):
        client = await connect(settings)
        execution = await open_execution_of(client, sidecar.run) if voids else None
        if execution is not None:
            await execution.handle(client).signal("void", voids[-1])


def revoke(settings: Settings, run: RunRecord, approval_sha256: str, kb_id: str) -> OrderReply:
    """Revoke by a short workflow, because the run may be busy with the gate that the approval opens."""
    order, workflow_id = RevokeInput(run_id=run.run_id, kb_id=kb_id), names.revoke_workflow_id(approval_sha256)
    carried_out = _carried_out(
        settings, run, names.REVOKE_APPROVAL, workflow_id, order, JudgeResult, name="revocation"
    )  # fmt: skip
    try:
        done = asyncio.run(asyncio.wait_for(carried_out, limits.ORDER_ANSWER_SECONDS))
    except TimeoutError:
        raise Unavailable(
            "no worker has recorded the revocation yet, so it may come too late: see",
            then="cutter doctor",
            rest=f"; meanwhile `cutter stop {run.run_id} --reason TEXT` holds the run",
            what="worker",
        ) from None
    status = "accepted" if done.accepted else "refused"
    return OrderReply(status=status, code=done.code, reason=done.reason)


async def _carried_out(
    settings: Settings, run: RunRecord, workflow: str, workflow_id: str, order: VoidInput | RevokeInput,
    result: type[Result], *, name: str,
) -> Result:  # fmt: skip
    """The answer of a short workflow next to a run. `name` is its name for people."""
    client = await connect(settings)
    try:
        handle: WorkflowHandle[Any, Result] = await client.start_workflow(
            workflow,
            order,
            id=workflow_id,
            task_queue=names.WORKFLOW_QUEUE,
            result_type=result,
            id_reuse_policy=WorkflowIDReusePolicy.ALLOW_DUPLICATE,
            id_conflict_policy=WorkflowIDConflictPolicy.FAIL,
            static_summary=f"{name} of {run.document_id}",
            priority=runs.turn_of(settings, run.document_id),
        )
        return await handle.result()
    except WorkflowAlreadyStartedError:
        await executions.ours_open(client, workflow_id)
        raise Refused(
            f"a {name} of {run.run_id} is under way: see",
            then=f"cutter status {run.run_id}",
            code="STOP_RUN_BUSY",
        ) from None
    except WorkflowFailureError as problem:
        raise Unavailable(
            f"{problem.cause}: see", then="cutter doctor", rest=", then type the command again", what="worker"
        ) from None
    except RPCError as problem:
        raise unanswered(problem) from None


LIFTED = ("failure", "critical")
"""Halts that the failed document itself caused. If it is included again, the others continue too."""


def include(settings: Settings, batch_id: str, keys: Keys, *, only: Sequence[str], reason: str, yes: bool) -> Json:
    """Sign for the failed documents (or `only` for some), and hand the set over. Returns what became of each."""
    view = batches.view(settings, batch_id)
    failed = [
        unsigned_failure
        for unsigned_failure in ways.unsigned_failures(view)
        if not only or unsigned_failure.document_id in only
    ]
    others = sorted(set(only) - {failure.document_id for failure in failed})
    if others or not failed:
        raise NotFound(
            f"{', '.join(others) or 'no document'} of batch {batch_id} failed without being signed in again: see",
            then=f"cutter status {batch_id}",
            code="nothing_failed",
        )
    err().print(Listing(columns=("document", "state", "run"), title=counted(len(failed), "failed document"),
                        rows=[(failure.document_id, failure.state, failure.run_id) for failure in failed]))  # fmt: skip
    ready, left_out = _prepared(settings, failed, keys, reason, yes=yes)
    folder = f"{documents.folder(batch_id)}/include-failed-{uuid_utils.uuid7()}"
    with progress(f"signing {len(ready)}") as _:
        files = signing_desk.sign([order.statement for order in ready], ready[0].signer)
        for order, file in zip(ready, files, strict=True):
            signing_desk.upload(settings, file, f"{folder}/{order.statement.document_id}.md")
    folder, listing = batches.upload_set(settings, batch_id, folder)
    reply = batch_outcome.hand_over(settings, view, folder, listing)
    # Only the batch's halt is reported, because the person who includes a failed document knows that others wait for
    # their own approvals.
    answer = {name: value for name, value in reply.as_json().items() if name != "missing"}
    accepted = reply.status == "accepted"
    if accepted and view.batch.halted in LIFTED:
        answer |= batch_outcome.go_on(settings, batches.view(settings, batch_id))
    step = {"next": f"cutter status {batch_id} --watch"} if accepted else {}
    return {"batch_id": batch_id, "signed": len(ready), "left_out": left_out, "folder": folder, **answer, **step}


def _prepared(
    settings: Settings, failed: Sequence[UnsignedFailure], keys: Keys, reason: str, *, yes: bool
) -> tuple[list[Order], list[str]]:
    """(Orders to sign, left-out documents with the reason). Each document gets its own question."""
    ready, left_out = [], []
    for failure in failed:
        try:
            sidecar = run_rows.sidecar(settings, failure.run_id)
            if sidecar.step_facts.wrote:
                raise Refused(
                    "its drafts exist: type",
                    then=f"cutter void {failure.run_id} --reason TEXT",
                    rest=", then resume the queue with --skip-completed",
                    code="drafts_stand",
                )
            gate = Sovereign.CUT.value
            order = prepare(settings, sidecar.run, schema.INCLUDE_FAILED, reason, keys, gate=gate)
            require_yes(f"sign include_failed of {failure.document_id} as {order.signer.approver}?", yes=yes)
            ready.append(order)
        except Refused as problem:
            if problem.code not in ("not_confirmed", "drafts_stand"):
                raise
            left_out.append(f"{failure.document_id} ({problem})")
    if not ready:
        raise Refused("; ".join(["nothing was signed", *left_out]), code="not_confirmed")
    return ready, left_out
