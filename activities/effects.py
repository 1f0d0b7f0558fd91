"""IO: the one handler of side effects: policy → approval if needed → receipt lookup → effect → receipt (AG-EXE-01).

No other module of the workers calls an adapter; an import contract holds it. What is written into the database goes
through a gate's transaction instead (`activities.gates.runner`), whose receipt is the gate's own: the decision is part
of it. Reads are no commands.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any, LiteralString

from psycopg.types.json import Jsonb

from activities.worker.dependencies import Deps
from cutter.backup.record import BackupRecord, BackupRefusal
from cutter.backup.restore import read_record
from cutter.backup.take import take
from cutter.catalogue import BY_NAME, Role
from cutter.domain.digests import canonical_digest, sha256_hex
from cutter.errors import ApprovalNeeded, PolicyDenied
from cutter.kb import folder as kb_folder
from cutter.kb import writing
from cutter.kb.store import Store
from cutter.policy import current
from cutter.policy.command import BACKUP_TAKE, EVIDENCE_STORE, KB_PUT, Command, Operation
from cutter.policy.rules import Permit, ProposedAction, Verdict, permit
from cutter.settings import dsn
from cutter.stack.postgres import pg_bin
from cutter.storage.gate_transaction import Attempt, call
from cutter.storage.pools import Connection, single
from cutter.types import Json


@dataclass(frozen=True, slots=True, kw_only=True)
class Context:
    """Where a side effect would happen, as the policy asks: a run at one of its gates, or a batch.

    `now` is the database's clock; `gate` and the rest are None where there is none. `approvers` is how many people have
    approved what is done there, by tier, `needed` how many each tier asks for; without it nobody can be asked.
    """

    now: datetime
    run_id: str | None = None
    gate: str | None = None
    document_id: str | None = None
    tenant: str | None = None
    mode: str | None = None
    candidates: int | None = None
    approvers: Mapping[str, int] = field(default_factory=dict)
    needed: Mapping[str, int] = field(default_factory=dict)

    def proposed(self, operation: Operation) -> ProposedAction:
        """The action that the policy decides about."""
        return ProposedAction(
            connector=operation.connector.value, operation=operation.name, at=self.now, gate=self.gate,
            document_id=self.document_id, tenant=self.tenant, mode=self.mode, candidates=self.candidates,
        )  # fmt: skip


def of_run(run: Json, pins: Mapping[str, Any], now: str | datetime, gate: str | None) -> Context:
    """The context of a run's row with its pins so far."""
    return Context(
        now=_instant(now), run_id=run["run_id"], gate=gate, document_id=run["document_id"], tenant=run["tenant"],
        mode=run["mode"], candidates=pins.get("candidate_count"),
    )  # fmt: skip


def of_attempt(attempt: Attempt) -> Context:
    """The context of an attempt of a gate."""
    context = of_run(attempt.run, attempt.pins, attempt.now, attempt.gate.name)
    return replace(context, approvers=attempt.approvers, needed=attempt.needed)


def of_batch(now: str | datetime, batch_id: str) -> Context:
    """The context of a batch as a whole."""
    return Context(now=_instant(now), mode="dryrun" if batch_id.endswith("-dryrun") else "live")


def decided(deps: Deps, context: Context, operations: Sequence[Operation]) -> Permit:
    """What the policy in force says now of each of them."""
    return permit(current.read(deps.settings.policy), [context.proposed(one) for one in operations])


def require(context: Context, permit: Permit) -> None:
    """Return when everything may be done. Raises PolicyDenied, or ApprovalNeeded where too few people have approved."""
    for action, said in permit.decisions:
        if said.verdict is Verdict.DENY:
            raise PolicyDenied(said.why)
        if said.tier is not None and not _asked_there(action):
            needed, have = context.needed.get(said.tier.value), context.approvers.get(said.tier.value, 0)
            if needed is None or have < needed:
                raise ApprovalNeeded(
                    f"{said.why}: {have} of {needed or 'as many as it asks for'} have approved",
                    tier=said.tier.value,
                )


def _asked_there(action: ProposedAction) -> bool:
    """A sovereign gate asks for people itself, in its own request."""
    return action.gate in BY_NAME and BY_NAME[action.gate].sovereign is not None


def put(deps: Deps, context: Context, kb_id: str, data: bytes) -> Put:
    """Put a document into the knowledge base.

    The store is write-once and answers the same bytes again with their digest, other bytes with both: it is looked up
    by the put itself, and the receipt is written with what is written anyway. Raises PolicyDenied, and what the store
    raises.
    """
    said = _required(deps, context, KB_PUT)
    return Put(kb_id=kb_id, sha256=writing.put(deps.kb, kb_id, data), size_bytes=len(data), policy=said)


def put_free(deps: Deps, context: Context, kb_id: str, data: bytes) -> Put:
    """Put a document under its name, or under the next one when something else has that name."""
    said = _required(deps, context, KB_PUT)
    name, sha256 = writing.put_first(deps.kb, kb_folder.names_for(kb_id, sha256_hex(data)), data)
    return Put(kb_id=name, sha256=sha256, size_bytes=len(data), policy=said)


@dataclass(frozen=True, slots=True, kw_only=True)
class Put:
    """A document in the knowledge base, and the rule that allowed it."""

    kb_id: str
    sha256: str
    size_bytes: int
    policy: Json

    @property
    def command(self) -> Command:
        return Command(operation=KB_PUT, target=self.kb_id, fields_sha256=self.sha256)


def receipt_of_put(context: Context, done: Put, kind: str) -> tuple[LiteralString, Sequence[Any]]:
    """The statement of the receipt of a document that has no row in the outbox; it raises Conflict for other bytes."""
    request = {"kind": kind, "policy": done.policy}
    return _receipt(context, done.command, request, {"size_bytes": done.size_bytes})


def backup_command(artifact_id: str, recipient: str) -> Command:
    """A backup is for one key, under one name; what it will hold nobody knows before it is taken."""
    fields = canonical_digest({"artifact_id": artifact_id, "recipient": recipient})
    return Command(operation=BACKUP_TAKE, target=artifact_id, fields_sha256=fields)


def backup_on_record(deps: Deps, run_id: str, artifact_id: str) -> bool:
    """Whether a backup of that name is on record, for whatever key."""
    with single(deps.pool(Role.BACKUP)) as connection:
        row = connection.execute(
            "select cutter_governance.fn_action_is_recorded(%s, %s, %s, %s)",
            (run_id, BACKUP_TAKE.connector.value, BACKUP_TAKE.name, artifact_id),
        ).fetchone()
    return row is not None and bool(row[0])


def take_backup(
    deps: Deps, context: Context, artifact_id: str, recipient: str, seconds: float
) -> tuple[BackupRecord | BackupRefusal, Json]:
    """Take a backup, or find the recorded one of that name and key; and the rule that allowed it.

    Its receipt is written when it was restored (`record_backup`). Raises PolicyDenied, ApprovalNeeded, Conflict.
    """
    settings = deps.settings
    command = backup_command(artifact_id, recipient)
    policy = _required(deps, context, command.operation)
    if _was_done(deps, Role.BACKUP, context, command):
        return read_record(settings.artifacts, artifact_id), policy
    answer = take(
        dsn=dsn(settings, Role.BACKUP.value), pg_bin=pg_bin, gpg_home=settings.key_home("backup"),
        recipient_fingerprint=recipient, artifacts_url=settings.artifacts, artifact_id=artifact_id,
        deadline_seconds=seconds,
    )  # fmt: skip
    return answer, policy


def record_backup(connection: Connection, context: Context, taken: BackupRecord, policy: Json) -> str:
    """The backup's receipt, of which gate 6 reads the newest; the sha256 that the database has for it."""
    response = {"sha256": taken.sha256, "taken_utc": taken.taken_utc, "size_bytes": taken.size_bytes}
    request = {"recipient": taken.recipient, "policy": policy}
    command = backup_command(taken.artifact_id, taken.recipient)
    return str(call(connection, *_receipt(context, command, request, response))["sha256"])


def store_evidence(deps: Deps, context: Context, artifacts: Store, name: str, data: bytes) -> None:
    """Store an evidence bundle or its signature; write-once like a document. Raises PolicyDenied."""
    _required(deps, context, EVIDENCE_STORE)
    writing.put(artifacts, name, data)


def receipt_of_evidence(context: Context, name: str, sha256: str, closing: Json) -> tuple[LiteralString, Sequence[Any]]:
    """The statement of a bundle's receipt; by which rule, the receipt of the gate says that sealed its digest."""
    command = Command(operation=EVIDENCE_STORE, target=name, fields_sha256=sha256)
    said = next(one for one in closing["policy"]["decisions"] if one["connector"] == EVIDENCE_STORE.connector)
    policy = {"sha256": closing["policy"]["sha256"], "rule": said["rule"], "line": said["line"]}
    return _receipt(context, command, {"policy": policy}, {})


def _was_done(deps: Deps, role: Role, context: Context, command: Command) -> bool:
    """Whether this command was carried out. Raises Conflict when other fields were."""
    with single(deps.pool(role)) as connection:
        row = connection.execute(
            "select cutter_governance.fn_action_find(%s, %s, %s, %s, %s)",
            (
                context.run_id, command.operation.connector, command.operation.name, command.target,
                command.fields_sha256,
            ),
        ).fetchone()  # fmt: skip
    return row is not None and row[0] is not None


def _receipt(context: Context, command: Command, request: Json, response: Json) -> tuple[LiteralString, Sequence[Any]]:
    operation = command.operation
    return (
        "select cutter_governance.fn_action_record(%s, %s, %s, %s, %s, %s, %s, %s, %s, %s)",
        (
            context.run_id, context.gate, operation.connector.value, operation.name, command.target,
            command.fields_sha256, Jsonb({**request, "risk": operation.risk.value}), Jsonb(response),
            operation.reversible, operation.how_to_reverse,
        ),
    )  # fmt: skip


def _required(deps: Deps, context: Context, operation: Operation) -> Json:
    """The rule that allows it, as a receipt names it."""
    permit = decided(deps, context, (operation,))
    require(context, permit)
    _, decision = permit.decisions[0]
    return {"sha256": permit.policy_sha256, "rule": decision.rule, "line": decision.line}


def _instant(now: str | datetime) -> datetime:
    return now if isinstance(now, datetime) else datetime.fromisoformat(now)
