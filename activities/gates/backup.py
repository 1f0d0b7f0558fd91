"""IO: IG_backup: takes the backup of the run's document, restores it and compares. Only then it opens the gate, because
the idle timeout of the gate's transaction may be shorter than a backup.
"""

from __future__ import annotations

import uuid
from dataclasses import dataclass, replace
from datetime import datetime

from psycopg.types.json import Jsonb

from activities import backup_effects, permission
from activities.gates import recorded_backups
from activities.gates.runner import GatePassed, GateRefused, run_gate
from activities.permission import AllowingRule
from activities.worker.dependencies import Deps
from cutter import limits
from cutter.backup.encryption import open_store
from cutter.backup.record import BackupRefusal, Proved
from cutter.backup.restore import read_record
from cutter.catalogue import BY_NAME, Role, State
from cutter.domain.run_record import RunRecord
from cutter.errors import ApprovalNeeded, Conflict, InvalidInput, NotFound, PolicyDenied, Unavailable
from cutter.gates import backup as gate
from cutter.messages import BackupRefreshed, GateInput, GateOutcome, GateStatus
from cutter.policy.command import BACKUP_TAKE
from cutter.policy.rules import Permit
from cutter.storage.gate_transaction import Attempt, OpenGate, Read
from cutter.storage.pools import translated
from cutter.storage.records import records
from cutter.types import Json

BLOB = "pre_write.gpg"
"""Name of a run's backup in its folder (seed 000 §5, backup_blob_path)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Taken:
    """A proved backup, its record as the store returns it, the rule that allowed it, and the pinned key."""

    proved: Proved
    beside: gate.Beside | None
    rule: AllowingRule
    pinned: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """Whether a run is over, and the run's limit for the age of a backup in seconds."""

    ended: bool
    backup_max_age_seconds: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Decidable:
    """The facts by which the policy decides about a run at a gate. By tier: how many people approved, and how many are
    needed.
    """

    run: RunRecord
    pins: Json
    now: datetime
    approvers: dict[str, int]
    needed: dict[str, int]

    @classmethod
    def of(cls, run: Json, pins: Json, now: datetime, approvers: dict[str, int], needed: dict[str, int]) -> Decidable:
        return cls(run=RunRecord.of(run), pins=pins, now=now, approvers=approvers, needed=needed)


LIMITS = records("run_limits", Limits)
CONTEXT = records("policy_context", Decidable.of)


def backup(deps: Deps, input: GateInput) -> GateOutcome:
    """Back up the rows that the run may change, and prove that the backup restores."""
    taken: list[_Taken] = []

    def prepare(attempt: Attempt, permit: Permit) -> tuple[()] | GateRefused:
        # An attempt reads the pin once. Otherwise a key that people change meanwhile would fail the run.
        pinned, rule = recipient(deps), AllowingRule.in_permit(permit, BACKUP_TAKE)
        name = _free_name(deps, attempt)
        answer = backup_effects.back_up(deps, attempt.run, name, pinned)
        if isinstance(answer, BackupRefusal):
            return GateRefused(status="failed", code=answer.code.value, reason=answer.message)
        taken.append(_Taken(proved=answer, beside=_beside(deps, name), rule=rule, pinned=pinned))
        return ()

    def body(opened: OpenGate) -> GatePassed | GateRefused:
        made = taken[-1]
        record, report = made.proved.record, made.proved.report
        noted = opened.rows(backup_effects.RECORDED)[0]
        evidence = gate.Evidence(
            artifact_id=record.artifact_id,
            stored_sha256=report.sha256,
            backup_sha256=record.sha256,
            recorded_sha256=noted.sha256,
            size_bytes=record.size_bytes,
            taken_utc=record.taken_utc,
            beside=made.beside,
            recipient=record.recipient,
            pinned_recipient=made.pinned,
            snapshot_fingerprint=record.content_fingerprint,
            restored_fingerprint=report.content_fingerprint,
            restore_point_asked=deps.settings.backup_restore_point,
            restore_point=record.restore_point,
            recorded_restore_point=noted.restore_point,
        )
        return GatePassed(report=gate.evaluate(evidence))

    def receipt(attempt: Attempt) -> list[Read]:
        made = taken[-1]
        # The receipt is recorded with the opening, in one round trip. Without an open gate, it is rolled back.
        context = permission.of_attempt(attempt)
        return [(backup_effects.RECORDED, backup_effects.receipt_of(context, made.proved.record, made.rule))]

    def attempted() -> GateOutcome:
        return run_gate(deps, BY_NAME[gate.GATE], input, body, prepare=prepare, reads=receipt)

    try:
        return attempted()
    except Conflict:
        # The role cutter_backup can record a name before its gate does. The next attempt takes a name of its own.
        return attempted()


def _free_name(deps: Deps, attempt: Attempt) -> str:
    """The artifact's name: the seed's name for the first attempt, if it is free.

    cutter never replaces an artifact or a record, even one that cutter did not write.
    """
    name = f"{attempt.run_id}/{BLOB}"
    if attempt.number == 1 and not open_store(deps.settings.artifacts).taken(name):
        return name
    return _new_name(attempt.run_id)


def _new_name(run_id: str) -> str:
    return f"{run_id}/pre_write-{uuid.uuid4().hex[:12]}.gpg"


def refresh_backup(deps: Deps, input: GateInput) -> BackupRefreshed:
    """Take a new backup for a run whose backup became stale while people decided. Gate 6 reads the newest backup.

    If a backup is fresh enough, it is the answer. So a person who can write to Temporal cannot fill the store with
    backups.
    """
    young = _young(deps, input.run_id)
    if young is not None:
        return young
    with translated(), deps.pool(Role.READ).connection() as connection:
        facts = CONTEXT.first(connection, {"run_id": input.run_id, "gate": gate.GATE})
        connection.rollback()
    if facts is None:
        raise NotFound(f"no run {input.run_id}: see", then="cutter status", code="STOP_RUN_NOT_FOUND")
    run, context = facts.run, permission.of_run(facts.run, facts.pins, facts.now, gate.GATE)
    context = replace(context, approvers=facts.approvers, needed=facts.needed)
    try:
        rule = permission.required(deps, context, BACKUP_TAKE)
        answer = backup_effects.back_up(deps, run, _new_name(input.run_id), recipient(deps))
    except PolicyDenied as problem:
        return _by_policy(deps, run, "failed_policy", problem)
    except ApprovalNeeded as problem:
        return _by_policy(deps, run, "stopped_policy_backup", problem)
    if isinstance(answer, BackupRefusal):
        reason = answer.message[: limits.REASON_CHARACTERS_MAX]
        return BackupRefreshed(gate=gate.GATE, status="failed", code=answer.code.value, reason=reason)
    record = answer.record
    with translated(), deps.pool(Role.BACKUP).connection() as connection:
        noted = backup_effects.RECORDED.one(connection, backup_effects.receipt_of(context, record, rule))
        if noted.sha256 != record.sha256:
            raise Conflict(f"backup {record.artifact_id} is recorded with another sha256")
    return BackupRefreshed(gate=gate.GATE, status="passed", facts={"backup_sha256": record.sha256})


def _young(deps: Deps, run_id: str) -> BackupRefreshed | None:
    """The answer without a new backup, because the run is over or has a usable backup. None if the run needs a new
    backup.
    """
    with translated(), deps.pool(Role.READ).connection() as connection:
        run = LIMITS.first(connection, {"run_id": run_id})
        backups_of, parameters = recorded_backups.asked(run_id)
        backups = backups_of.all(connection, parameters)
        connection.rollback()
    if run is None or run.ended:
        return BackupRefreshed(gate=gate.GATE, status="ended", code="unknown_run" if run is None else "run_ended")
    if not backups:
        return BackupRefreshed(gate=gate.GATE, status="out_of_order", code="backup_missing")
    limit = run.backup_max_age_seconds or float(deps.settings.backup_max_age_minutes * 60)
    young = recorded_backups.young(backups, limit)
    newest = recorded_backups.usable(young, recorded_backups.as_stored(deps.settings.artifacts, young))
    if newest is None:
        return None
    return BackupRefreshed(gate=gate.GATE, status="passed", facts={"backup_sha256": newest.sha256})


def _by_policy(deps: Deps, run: RunRecord, to_state: str, problem: PolicyDenied | ApprovalNeeded) -> BackupRefreshed:
    """Fail or stop a run that needs the backup to continue. The activity itself moves the run, because a mere claim of
    a workflow must not fail a run.
    """
    if run.state != State.AWAITING_CUT_AUTHORIZATION:
        return BackupRefreshed(gate=gate.GATE, status="out_of_order", code=problem.code, reason=str(problem)[:500])
    # Without its tier, the stop would ask for as many people as the highest tier does.
    report = Jsonb({"tier": problem.tier}) if isinstance(problem, ApprovalNeeded) else None
    with translated(), deps.pool(Role.READ).connection() as connection:
        connection.execute(
            "select cutter_governance.fn_run_stop(%s, %s, %s, %s)",
            (run.run_id, to_state, f"{problem.code}: {problem}", report),
        )
    status: GateStatus = "failed" if isinstance(problem, PolicyDenied) else "needs_approval"
    return BackupRefreshed(gate=gate.GATE, status=status, code=problem.code, reason=str(problem)[:500], state=to_state)


def recipient(deps: Deps) -> str:
    """The deployment's pinned backup key: `<keys_dir>/backup.fingerprint`."""
    path = deps.settings.keys / "backup.fingerprint"
    try:
        return path.read_text(encoding="ascii").strip()
    except OSError:
        raise Unavailable(f"no backup key is pinned at {path}: type", then="cutter up", what="backup") from None


def _beside(deps: Deps, artifact_id: str) -> gate.Beside | None:
    """The record of an artifact as the store returns it. None if the store has none."""
    try:
        beside = read_record(deps.settings.artifacts, artifact_id)
    except (NotFound, InvalidInput):
        return None
    return gate.Beside(
        sha256=beside.sha256, size_bytes=beside.size_bytes, taken_utc=beside.taken_utc,
        restore_point=beside.restore_point,
    )  # fmt: skip
