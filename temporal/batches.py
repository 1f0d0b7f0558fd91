"""IO: starts, resumes and reads batches. The commands, the demo and the tests share these functions."""

from __future__ import annotations

import asyncio
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from temporalio.client import (
    Client,
    WithStartWorkflowOperation,
    WorkflowHandle,
    WorkflowUpdateFailedError,
)
from temporalio.common import WorkflowIDConflictPolicy, WorkflowIDReusePolicy
from temporalio.service import RPCError

from cutter import limits
from cutter.batch import batch_step, documents
from cutter.batch.view import BatchView
from cutter.catalogue import Role
from cutter.domain import ids
from cutter.domain.digests import sha256_hex
from cutter.domain.markdown import prose
from cutter.domain.task_priority import Urgency
from cutter.errors import Conflict, InvalidInput, NotFound, Unavailable
from cutter.kb.store import Store, listing_sha256, set_names
from cutter.kb.write_once import put
from cutter.messages import BatchInput, BatchResult
from cutter.projections import run_folder
from cutter.settings import Settings
from cutter.storage import batch_views, runs
from cutter.storage.pools import session
from cutter.storage.records import answer as value_of
from cutter.types import Json
from temporal import executions, names
from temporal.client import connect as connect_to_temporal
from temporal.client import unanswered


@dataclass(frozen=True, slots=True, kw_only=True)
class RefusedStatement:
    """A statement of a set that the batch refused. `code` is a stable snake_case word, and `reason` a sentence."""

    document_id: str
    kb_id: str
    code: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SetReply:
    """A batch's reply to a set of approvals. `status` is accepted or refused.

    `accepted` names the documents whose approval the batch accepted, and `missing` those that wait for an approval that
    the set lacks. If the batch refused the set as a whole, `code` and `reason` say why. Otherwise both are None.
    """

    status: str
    code: str | None = None
    reason: str | None = None
    accepted: tuple[str, ...] = ()
    refused: tuple[RefusedStatement, ...] = ()
    missing: tuple[str, ...] = ()

    def as_json(self) -> Json:
        """The fields of the reply, in the order of a command's answer."""
        why = {} if self.code is None else {"code": self.code, "reason": self.reason}
        return {
            "status": self.status, **why, "accepted": list(self.accepted),
            "refused": [asdict(statement) for statement in self.refused], "missing": list(self.missing),
        }  # fmt: skip


def view(settings: Settings, batch_id: str) -> BatchView:
    """The batch and its items. Raises STOP_BATCH_NOT_FOUND if the database has no such batch."""
    with session(settings, Role.OPERATOR) as connection:
        try:
            return batch_views.view(connection, ids.batch_id(batch_id))
        except NotFound as problem:
            raise runs.with_batches_meant(connection, problem, batch_id) from None


def halt(settings: Settings, batch_id: str, kind: str | None, reason: str) -> str:
    """Halt a batch (`stop`, `cancel`), so that it starts nothing more and stops its running documents.

    The kind None takes the halt back. This works without Temporal. Return the kind of the present halt, or an empty
    text. It differs from `kind` if an earlier halt is stronger.
    """
    with session(settings, Role.OPERATOR) as connection:
        halted = value_of(connection, "select cutter_governance.fn_batch_halt(%s, %s, %s)", (batch_id, kind, reason))
    return str(halted or "")


def stop(settings: Settings, batch_id: str, kind: str, reason: str) -> tuple[str, str]:
    """Halt a batch. If documents still need the stop, make sure that the batch's workflow runs.

    Return (the kind of the present halt, a note for the person or an empty text).
    """

    async def steered() -> None:
        await start(await connect_to_temporal(settings), batch_id, current_view.batch.starter)

    halted = halt(settings, batch_id, kind, reason)
    current_view = view(settings, batch_id)
    note = "" if halted == kind else f"an earlier halt stays in force: {current_view.batch.halted_reason}"
    if batch_step.decide(current_view, window=limits.BATCH_WINDOW).stops:
        try:
            asyncio.run(steered())
        except Unavailable:
            note = "Temporal does not answer: the halt is recorded; type this again when it does"
    return halted, note


def go_on(settings: Settings, batch_id: str, reason: str) -> None:
    """Take back the halt of a batch, under the lock that each look at the batch takes."""
    with session(settings, Role.OPERATOR) as connection, connection.transaction():
        connection.execute("select cutter_governance.fn_batch_lock(%s)", (batch_id,))
        connection.execute("select cutter_governance.fn_batch_halt(%s, null, %s)", (batch_id, reason))


def again(settings: Settings, batch_id: str) -> None:
    """Let the next resume cut the voided documents again. If there are none, nothing is written."""
    if not any(item.voided for item in view(settings, batch_id).items):
        return
    with session(settings, Role.OPERATOR) as connection:
        connection.execute("select cutter_governance.fn_batch_again(%s)", (batch_id,))


async def start(client: Client, batch_id: str, starter: str, *, adopt: bool = True) -> WorkflowHandle[Any, Any]:
    """The batch's workflow, started now or already open. It looks at the batch once more before it closes. With `adopt`
    a new execution first opens the workflows of all open documents that have lost theirs.
    """
    await executions.ours_open(client, names.batch_workflow_id(batch_id))
    try:
        return await client.start_workflow(**_started(batch_id, starter, adopt=adopt), start_signal="look")
    except RPCError as problem:
        raise unanswered(problem) from None


def _started(batch_id: str, starter: str, *, adopt: bool = True) -> Json:
    return {
        "workflow": names.BATCH,
        "arg": BatchInput(batch_id=batch_id, starter=starter, adopt=adopt),
        "result_type": BatchResult,
        "id": names.batch_workflow_id(batch_id),
        "task_queue": names.WORKFLOW_QUEUE,
        "id_reuse_policy": WorkflowIDReusePolicy.ALLOW_DUPLICATE,
        "id_conflict_policy": WorkflowIDConflictPolicy.USE_EXISTING,
        "static_summary": f"batch {batch_id[:8]}",
        "priority": names.priority(Urgency.BATCH),
        "static_details": f"started by {prose(starter)}",
    }


async def hand_over_set(client: Client, batch_id: str, starter: str, folder: str, listing: str) -> SetReply:
    """Send the set of approvals in one update, and return the batch's reply.

    If the batch's workflow has ended, start it again for the update. Raises Conflict if it refused the update.
    """
    await executions.ours_open(client, names.batch_workflow_id(batch_id))
    arguments = _started(batch_id, starter)
    operation = WithStartWorkflowOperation(arguments.pop("workflow"), arguments.pop("arg"), **arguments)
    try:
        reply: SetReply = await client.execute_update_with_start_workflow(
            "submit_approval_set",
            {"folder": folder, "listing_sha256": listing},
            start_workflow_operation=operation,
            result_type=SetReply,
        )
    except WorkflowUpdateFailedError as problem:
        raise Conflict(f"the batch refused the set: {problem.cause}") from None
    except RPCError as problem:
        raise unanswered(problem) from None
    return reply


def upload_set(settings: Settings, batch_id: str, source: str) -> tuple[str, str]:
    """(KB folder, digest of its listing) of a set, from a folder of the knowledge base or a folder on this machine.

    A folder on this machine is uploaded into a KB folder named after the set's digest. So the same set is stored once.
    """
    store = Store(settings.kb)
    local = Path(source)
    if not local.is_dir():
        found_names = set_names(store, source) if ids.is_kb_folder(source) else []
        if not found_names:
            raise NotFound(f"--approval-set {source}: no folder with signed statements, here or in the knowledge base")
        return source.rstrip("/"), listing_sha256(store, found_names)
    files = _signed_files(local)
    if not files:
        raise InvalidInput(f"--approval-set {source}: no NAME.md with its NAME.md.asc")
    digest = sha256_hex("".join(f"{name} {sha256_hex(data)}\n" for name, data in sorted(files.items())))
    folder = f"{documents.folder(batch_id)}/approvals-{digest[:16]}"
    for name, data in sorted(files.items(), key=lambda item: not item[0].endswith(".asc")):
        put(store, f"{folder}/{name}", data)
    return folder, listing_sha256(store, set_names(store, folder))


def upload_pre_batched(settings: Settings, batch_id: str, beside: Path) -> dict[str, int]:
    """Put the pre-batched approvals from the queue file's folder into the KB folders of the batch.

    Return the number of approvals by folder.
    """
    store, counts = Store(settings.kb), {}
    for name in documents.PRE_BATCHED.values():
        files = _signed_files(beside / name)
        for file, data in sorted(files.items(), key=lambda item: not item[0].endswith(".asc")):
            put(store, f"{documents.folder(batch_id)}/{name}/{file}", data)
        if files:
            counts[name] = len(files) // 2
    return counts


def read_queue(path: Path) -> bytes:
    """The bytes of the file that --queue names. Raises STOP_QUEUE_NOT_FOUND if it cannot be read."""
    try:
        return run_folder.read_queue(path)
    except OSError as problem:
        raise InvalidInput(f"--queue {path}: {problem.strerror or problem}", code="STOP_QUEUE_NOT_FOUND") from None


def keep_queue(settings: Settings, batch_id: str, data: bytes) -> None:
    """Put the queue file into the batch's folder and into the knowledge base."""
    put(Store(settings.kb), documents.queue_id(batch_id), data)
    run_folder.keep_queue(settings.batches, batch_id, data)


def _signed_files(folder: Path) -> dict[str, bytes]:
    """The statements that have a signature, and these signatures, by file name."""
    if not folder.is_dir():
        return {}
    statements = [path for path in sorted(folder.glob("*.md")) if path.with_name(f"{path.name}.asc").is_file()]
    return {
        file.name: file.read_bytes()
        for statement in statements
        for file in (statement, statement.with_name(f"{statement.name}.asc"))
    }
