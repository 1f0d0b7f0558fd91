"""IO: the one handler of side effects: policy → approval if needed → receipt lookup → effect → receipt (AG-EXE-01).

No other module of the workers calls an adapter; an import contract enforces this. Writes into the database are
different: they go through a gate's transaction (`activities.gates.runner`), and the gate's receipt holds the policy's
decision. Reads are not side effects.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from datetime import datetime
from typing import Any, LiteralString

from psycopg.types.json import Jsonb

from activities.worker.dependencies import ROLES_OF, Deps
from cutter import limits
from cutter.backup import archiver
from cutter.backup.artifacts import open_store
from cutter.backup.record import RESTORE_POINT, BackupRecord, BackupRefusal, RestoreReport
from cutter.backup.restore import read_record
from cutter.backup.segments import coverage
from cutter.backup.segments.restore import SegmentReport
from cutter.backup.segments.scrub import Scrubbed, each_pass, scrub
from cutter.backup.segments.take import damaged_tree
from cutter.backup.segments.tree import TreeDamaged
from cutter.catalogue import BY_NAME, Role
from cutter.domain import restore_point
from cutter.domain.digests import canonical_digest, sha256_hex
from cutter.domain.restore_point import RestorePoint
from cutter.domain.run_record import Receipt, RunRecord
from cutter.errors import ApprovalNeeded, PolicyDenied
from cutter.kb import folder as kb_folder
from cutter.kb import write_once
from cutter.kb.store import Store
from cutter.policy.command import BACKUP_TAKE, EVIDENCE_STORE, KB_PUT, Command, Operation
from cutter.policy.rules import EffectPolicy, InvalidPolicy, Permit, ProposedAction, Verdict, permit
from cutter.settings import dsn
from cutter.stack.postgres_programs import backup_programs
from cutter.storage import effect_policy
from cutter.storage.faults import translated
from cutter.storage.gate_transaction import Attempt, call
from cutter.storage.pools import Connection, single
from cutter.storage.records import answer as value_of
from cutter.storage.records import parsed
from cutter.types import Json

MARKED = parsed("restore_point", archiver.judged)


@dataclass(frozen=True, slots=True, kw_only=True)
class Context:
    """The context of a side effect, as the policy needs it: a run at one of its gates, or a batch.

    `now` is the database's clock. `gate` and the later fields are None if they do not apply. `approvers` gives, by
    tier, how many people have approved the action; `needed` gives how many each tier asks for. Without `needed`, nobody
    can be asked.
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


def of_run(run: RunRecord, pins: Mapping[str, Any], now: str | datetime, gate: str | None) -> Context:
    """The context of a run's row with its pins so far."""
    return Context(
        now=_instant(now), run_id=run.run_id, gate=gate, document_id=run.document_id, tenant=run.tenant,
        mode=run.mode, candidates=pins.get("candidate_count"),
    )  # fmt: skip


def of_attempt(attempt: Attempt) -> Context:
    """The context of an attempt of a gate."""
    context = of_run(attempt.run, attempt.pins, attempt.now, attempt.gate.name)
    return replace(context, approvers=attempt.approvers, needed=attempt.needed)


def of_batch(now: str | datetime, batch_id: str) -> Context:
    """The context of a batch as a whole."""
    return Context(now=_instant(now), mode="dryrun" if batch_id.endswith("-dryrun") else "live")


def decided(
    deps: Deps, context: Context, operations: Sequence[Operation], policy: EffectPolicy | InvalidPolicy | None = None
) -> Permit:
    """The present decision of the policy in force for each effect.

    A caller that reads other facts reads the `policy` with them and gives it. A caller that holds a connection must do
    so. If several callers held a connection and waited for a second one, the pool would be empty. All of them would
    then wait until its timeout.
    """
    present = policy_in_force(deps) if policy is None else policy
    return permit(present, [context.proposed(operation) for operation in operations])


def policy_in_force(deps: Deps) -> EffectPolicy | InvalidPolicy:
    """The effect policy that PostgreSQL names now, read as the worker's own role."""
    with single(deps.pool(ROLES_OF[deps.worker_role][0])) as connection:
        return effect_policy.in_force(connection)


def require(context: Context, permit: Permit) -> None:
    """Return if the policy allows every effect. Raises PolicyDenied, or ApprovalNeeded if too few people have
    approved.
    """
    for action, decision in permit.decisions:
        if decision.verdict is Verdict.DENY:
            raise PolicyDenied(decision.why).leads_to("cutter policy check --current")
        if decision.tier is not None and not _asked_there(action):
            needed, have = context.needed.get(decision.tier.value), context.approvers.get(decision.tier.value, 0)
            if needed is None or have < needed:
                raise ApprovalNeeded(
                    f"{decision.why}: {have} of {needed or 'as many as it asks for'} have approved",
                    tier=decision.tier.value,
                )


def _asked_there(action: ProposedAction) -> bool:
    """A sovereign gate asks for people itself, in its own request."""
    return action.gate in BY_NAME and BY_NAME[action.gate].sovereign is not None


def put(
    deps: Deps, context: Context, kb_id: str, data: bytes, policy: EffectPolicy | InvalidPolicy | None = None
) -> Put:
    """Put a document into the knowledge base.

    The store is write-once. The put itself looks the document up: for the same bytes the store answers with their
    digest, and for other bytes with both digests. The receipt is part of a write that happens anyway. `policy` is as in
    `decided`. Raises PolicyDenied, and the errors of the store.
    """
    rule = _required(deps, context, KB_PUT, policy)
    return Put(kb_id=kb_id, sha256=write_once.put(deps.kb, kb_id, data), data=data, rule=rule)


def put_free(
    deps: Deps, context: Context, kb_id: str, data: bytes, policy: EffectPolicy | InvalidPolicy | None = None
) -> Put:
    """Put a document under its name, or under the next free name if another document has that name.

    `policy` is as in `decided`.
    """
    rule = _required(deps, context, KB_PUT, policy)
    name, sha256 = write_once.put_first(deps.kb, kb_folder.names_for(kb_id, sha256_hex(data)), data)
    return Put(kb_id=name, sha256=sha256, data=data, rule=rule)


def put_by_digest(deps: Deps, done: Put) -> Put:
    """Put a document under the name with its digest. The database refuses a receipt of this name if its sha256 begins
    otherwise (fn_action_note).
    """
    *_, name = kb_folder.names_for(done.kb_id, done.sha256)
    write_once.put(deps.kb, name, done.data)
    return replace(done, kb_id=name)


@dataclass(frozen=True, slots=True, kw_only=True)
class AllowingRule:
    """The rule that allowed a side effect: the sha256 of its policy, its name, and its line in the policy's text."""

    sha256: str
    rule: str
    line: int

    @classmethod
    def of(cls, sealed: Json, operation: Operation) -> AllowingRule:
        """The rule in the decisions that a receipt sealed. The first decision about the connector counts."""
        decision = next(part for part in sealed["decisions"] if part["connector"] == operation.connector)
        return cls(sha256=sealed["sha256"], rule=decision["rule"], line=decision["line"])

    def as_json(self) -> Json:
        """The rule as a receipt names it."""
        return asdict(self)


@dataclass(frozen=True, slots=True, kw_only=True)
class BackupOnRecord:
    """The facts that the database has on record about a backup. `restore_point` is None if it has none."""

    sha256: str
    restore_point: RestorePoint | None

    @classmethod
    def of(cls, answer: Json) -> BackupOnRecord:
        """The backup from the response that a receipt records."""
        return cls(sha256=str(answer["sha256"]), restore_point=restore_point.recorded(answer.get(RESTORE_POINT)))


@dataclass(frozen=True, slots=True, kw_only=True)
class Put:
    """A document in the knowledge base, and the rule that allowed it."""

    kb_id: str
    sha256: str
    data: bytes = field(repr=False)
    rule: AllowingRule

    @property
    def command(self) -> Command:
        return Command(operation=KB_PUT, target=self.kb_id, fields_sha256=self.sha256)


def receipt_of_put(context: Context, done: Put, kind: str) -> tuple[LiteralString, Sequence[Any]]:
    """The SQL statement that records the receipt of a document without a row in the outbox. The statement raises
    Conflict for other bytes.
    """
    request = {"kind": kind, "policy": done.rule.as_json()}
    return _receipt(context, done.command, request, {"size_bytes": len(done.data)})


def backup_command(artifact_id: str, recipient: str) -> Command:
    """The fields that identify a backup: its key and its name. Its content is unknown before it is taken."""
    fields = canonical_digest({"artifact_id": artifact_id, "recipient": recipient})
    return Command(operation=BACKUP_TAKE, target=artifact_id, fields_sha256=fields)


def backup_on_record(deps: Deps, run_id: str, artifact_id: str) -> bool:
    """Whether a backup of that name is on record, for any key."""
    with single(deps.pool(Role.BACKUP)) as connection:
        recorded = value_of(
            connection,
            "select cutter_governance.fn_action_is_recorded(%s, %s, %s, %s)",
            (run_id, BACKUP_TAKE.connector.value, BACKUP_TAKE.name, artifact_id),
        )
    return bool(recorded)


def mark_restore_point(deps: Deps, context: Context) -> RestorePoint | BackupRefusal | None:
    """Mark a restore point for the backup that follows. None if the deployment asks for none.

    It is a part of the backup, so the rule about backups allows it, and the backup's receipt names it. Raises
    PolicyDenied, ApprovalNeeded, and Unavailable if the archiver has a problem that can end.
    """
    if not deps.settings.backup_restore_point:
        return None
    _required(deps, context, BACKUP_TAKE)
    asked = {"run_id": context.run_id, "late_seconds": float(limits.ARCHIVER_LATE_SECONDS)}
    with translated(), deps.pool(Role.BACKUP).connection() as connection:
        return MARKED.one(connection, asked)


def take_backup(
    deps: Deps,
    context: Context,
    artifact_id: str,
    recipient: str,
    seconds: float,
    point: RestorePoint | None = None,
) -> tuple[BackupRecord | BackupRefusal, AllowingRule]:
    """Take a backup, or find the recorded one of that name and key. Returns it with the rule that allowed it.

    `record_backup` writes the receipt after the backup was restored. Raises PolicyDenied, ApprovalNeeded, Conflict.
    """
    settings = deps.settings
    command = backup_command(artifact_id, recipient)
    rule = _required(deps, context, command.operation)
    if _was_done(deps, Role.BACKUP, context, command):
        return read_record(settings.artifacts, artifact_id), rule
    answer = deps.take_backup(
        dsn=dsn(settings, Role.BACKUP.value), pg_bin=backup_programs(settings), gpg_home=settings.key_home("backup"),
        recipient_fingerprint=recipient, artifacts_url=settings.artifacts, artifact_id=artifact_id,
        deadline_seconds=seconds, verified_max_seconds=settings.backup_verified_max_days * limits.DAY_SECONDS,
        restore_point=point,
    )  # fmt: skip
    return answer, rule


def seal_backup(deps: Deps, taken: BackupRecord, report: RestoreReport) -> BackupRefusal | None:
    """Let a restored segment cover its documents, so that later backups need not dump them again.

    The pages of the tree are part of the backup that `take_backup` was allowed to take. Returns the refusal if a page
    of the tree is damaged, because the backup is then not whole.
    """
    if not isinstance(report, SegmentReport):
        return None
    try:
        with translated(), deps.pool(Role.BACKUP).connection() as connection:
            coverage.seal(connection, open_store(deps.settings.artifacts), taken, report.header)
    except TreeDamaged as problem:
        return damaged_tree(problem)
    return None


def scrub_backups(deps: Deps) -> Scrubbed | None:
    """Verify some sealed segments again, the longest unverified ones first. None if this worker takes full backups.

    The more documents there are, the more of them one pass verifies.
    """
    settings = deps.settings
    if settings.backup_form != "segments":
        return None
    with translated(), deps.pool(Role.BACKUP).connection() as connection:
        sealed = coverage.head_of(connection).documents
        connection.rollback()
    return scrub(
        dsn=dsn(settings, Role.BACKUP.value), scratch_dsn=dsn(settings, Role.BACKUP.value, database="cutter_scratch"),
        gpg_home=settings.key_home("backup"), artifacts_url=settings.artifacts,
        documents=each_pass(
            sealed, settings.backup_verified_max_days, limits.DAY_SECONDS / (60 * limits.RECONCILE_MINUTES),
            least=limits.SCRUB_DOCUMENTS_EACH_PASS,
        ),
        seconds=limits.SCRUB_PASS_SECONDS, deadline_seconds=limits.SCRUB_PASS_SECONDS,
    )  # fmt: skip


def record_backup(
    connection: Connection, context: Context, taken: BackupRecord, rule: AllowingRule | None
) -> BackupOnRecord:
    """Record the backup's receipt. Gate 6 reads the newest one. Returns what the database has on record about it.

    `rule` is None for a backup that another run took, because it has its receipt already.
    """
    response: Json = {"sha256": taken.sha256, "taken_utc": taken.taken_utc, "size_bytes": taken.size_bytes}
    if taken.restore_point is not None:
        response[RESTORE_POINT] = taken.restore_point.as_json()
    request = {"recipient": taken.recipient, "policy": rule.as_json() if rule else {}}
    command = backup_command(taken.artifact_id, taken.recipient)
    return call(connection, BackupOnRecord.of, *_receipt(context, command, request, response))


def store_evidence(
    deps: Deps, context: Context, artifacts: Store, name: str, data: bytes, policy: EffectPolicy | InvalidPolicy
) -> None:
    """Store an evidence bundle or its signature; write-once like a document. `policy` is as in `decided`.

    Raises PolicyDenied.
    """
    _required(deps, context, EVIDENCE_STORE, policy)
    write_once.put(artifacts, name, data)


def receipt_of_evidence(
    context: Context, name: str, sha256: str, closing: Receipt
) -> tuple[LiteralString, Sequence[Any]]:
    """The SQL statement that records a bundle's receipt. The receipt of the gate that sealed the bundle's digest names
    the rule.
    """
    command = Command(operation=EVIDENCE_STORE, target=name, fields_sha256=sha256)
    rule = AllowingRule.of(closing.policy or {}, EVIDENCE_STORE)
    return _receipt(context, command, {"policy": rule.as_json()}, {})


def _was_done(deps: Deps, role: Role, context: Context, command: Command) -> bool:
    """Whether this command was already carried out. Raises Conflict if it was carried out with other fields."""
    with single(deps.pool(role)) as connection:
        action = value_of(
            connection,
            "select cutter_governance.fn_action_find(%s, %s, %s, %s, %s)",
            (
                context.run_id, command.operation.connector, command.operation.name, command.target,
                command.fields_sha256,
            ),
        )  # fmt: skip
    return action is not None


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


def _required(
    deps: Deps, context: Context, operation: Operation, policy: EffectPolicy | InvalidPolicy | None = None
) -> AllowingRule:
    """The rule that allows the effect."""
    permit = decided(deps, context, (operation,), policy)
    require(context, permit)
    _, decision = permit.decisions[0]
    return AllowingRule(sha256=permit.policy_sha256, rule=decision.rule, line=decision.line)


def _instant(now: str | datetime) -> datetime:
    return now if isinstance(now, datetime) else datetime.fromisoformat(now)
