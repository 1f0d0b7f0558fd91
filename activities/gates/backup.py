"""IO: IG_backup: takes a backup, restores it and compares. Only then it opens the gate, because the idle timeout of the
gate's transaction is shorter than a large backup (measured).
"""

from __future__ import annotations

import uuid
from contextlib import ExitStack
from dataclasses import dataclass, replace
from datetime import datetime

from psycopg.types.json import Jsonb

from activities import backup_effects, effects
from activities.effects import AllowingRule, Context
from activities.gates import recorded_backups
from activities.gates.runner import GatePassed, GateRefused, backup_damaged, run_gate
from activities.gates.shared_backup import alone_in_wave, shared_backup
from activities.worker.dependencies import Deps
from cutter import limits
from cutter.backup.artifacts import open_store
from cutter.backup.pipeline import Deadline
from cutter.backup.record import BackupRecord, BackupRefusal, RefusalCode, RestoreReport
from cutter.backup.restore import digest, read_record
from cutter.catalogue import BY_NAME, Role, State
from cutter.domain.restore_point import RestorePoint
from cutter.domain.run_record import RunRecord
from cutter.errors import ApprovalNeeded, Conflict, InvalidInput, NotFound, PolicyDenied, Unavailable
from cutter.gates import backup as gate
from cutter.messages import BackupRefreshed, GateInput, GateOutcome, GateStatus
from cutter.policy.rules import Permit
from cutter.settings import dsn
from cutter.stack.postgres_programs import backup_programs
from cutter.storage.faults import translated
from cutter.storage.gate_transaction import Attempt, OpenGate
from cutter.storage.records import records
from cutter.types import Json

BLOB = "pre_write.gpg"
"""Name of a run's backup in its folder (seed 000 §5, backup_blob_path)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Restored:
    """A backup, its restore check, and the rule that allowed it."""

    record: BackupRecord
    report: RestoreReport
    rule: AllowingRule


@dataclass(frozen=True, slots=True, kw_only=True)
class _Artifact:
    """An artifact's sha256 and record as the store returns them. They are empty and None if the store has neither."""

    sha256: str
    beside: gate.Beside | None


@dataclass(frozen=True, slots=True, kw_only=True)
class _Checked:
    """The backup that a gate seals: a new one with the rule that allowed it, or the wave's own without a rule.

    `fingerprint` is what the restore check found, `pinned` is the pinned key, and `stored` is what the store holds.
    """

    record: BackupRecord
    fingerprint: str
    rule: AllowingRule | None
    pinned: str
    stored: _Artifact


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
        """The facts from the columns of the query."""
        return cls(run=RunRecord.of(run), pins=pins, now=now, approvers=approvers, needed=needed)


LIMITS = records("run_limits", Limits)
CONTEXT = records("policy_context", Decidable.of)


def backup(deps: Deps, input: GateInput) -> GateOutcome:
    """Back up the nine tables and prove that the backup restores. In a batch, one backup serves the whole wave."""
    checked: list[_Checked] = []
    wave = ExitStack()

    def prepare(attempt: Attempt, _permit: Permit) -> tuple[()] | GateRefused:
        # An attempt reads the pin once. Otherwise a key that people change meanwhile would fail the run.
        pinned = recipient(deps)
        wave.enter_context(alone_in_wave(deps, attempt, _step_seconds(deps)))
        shared = shared_backup(deps, attempt, pinned)
        if shared is not None:
            wave.close()
            checked.append(
                _Checked(
                    record=shared.record, fingerprint=shared.restored_fingerprint, rule=None, pinned=pinned,
                    stored=_as_stored(deps, shared.record.artifact_id),
                )
            )  # fmt: skip
            return ()
        artifact_id = _free_name(deps, attempt)
        answer = take_and_check(deps, effects.of_attempt(attempt), artifact_id, pinned)
        if isinstance(answer, BackupRefusal):
            return _refused(answer)
        # The artifact is read back here, before the transaction, because reading a large backup takes longer than the
        # transaction's idle timeout.
        checked.append(
            _Checked(
                record=answer.record, fingerprint=answer.report.content_fingerprint, rule=answer.rule, pinned=pinned,
                stored=_as_stored(deps, artifact_id),
            )
        )  # fmt: skip
        return ()

    def body(opened: OpenGate) -> GatePassed | GateRefused:
        backup, record = checked[0], checked[0].record
        noted = backup_effects.record_backup(opened.connection, effects.of_attempt(opened.attempt), record, backup.rule)
        evidence = gate.Evidence(
            artifact_id=record.artifact_id,
            stored_sha256=backup.stored.sha256,
            backup_sha256=record.sha256,
            recorded_sha256=noted.sha256,
            size_bytes=record.size_bytes,
            taken_utc=record.taken_utc,
            beside=backup.stored.beside,
            recipient=record.recipient,
            pinned_recipient=backup.pinned,
            snapshot_fingerprint=record.content_fingerprint,
            restored_fingerprint=backup.fingerprint,
            restore_point_asked=deps.settings.backup_restore_point,
            restore_point=record.restore_point,
            recorded_restore_point=noted.restore_point,
        )
        return GatePassed(report=gate.evaluate(evidence))

    # The lock is held until the receipt is sealed, because the other runs of the wave look for a sealed receipt.
    with wave:
        return run_gate(deps, BY_NAME[gate.GATE], input, body, prepare=prepare)


def _refused(refusal: BackupRefusal) -> GateRefused:
    """A damaged segment only stops the run, because people mend it. Every other refusal fails the run."""
    if refusal.code is RefusalCode.SEGMENT_DAMAGED:
        return backup_damaged(refusal.observed)
    return GateRefused(status="failed", code=refusal.code.value, reason=refusal.message)


def _free_name(deps: Deps, attempt: Attempt) -> str:
    """The artifact's name. It is the seed's name, or another one if an attempt died after its backup or the name is on
    record.

    cutter never replaces an artifact or a record, even one that cutter did not write.
    """
    store, folder = open_store(deps.settings.artifacts), attempt.run_id
    for name in (f"{folder}/{BLOB}", f"{folder}/pre_write-{attempt.number}.gpg"):
        if not store.taken(name) and not backup_effects.backup_on_record(deps, attempt.run_id, name):
            return name
    return f"{folder}/pre_write-{uuid.uuid4().hex[:12]}.gpg"


def refresh_backup(deps: Deps, input: GateInput) -> BackupRefreshed:
    """Take a new backup for a run whose backup became stale while people decided. Gate 6 reads the newest backup.

    If a backup is fresh enough, it is the answer. So a person who can write to Temporal cannot fill the store with
    backups.
    """
    young = _young(deps, input.run_id)
    if young is not None:
        return young
    context, state = _context(deps, input.run_id)
    try:
        name = f"{input.run_id}/pre_write-{uuid.uuid4().hex[:12]}.gpg"
        answer = take_and_check(deps, context, name, recipient(deps))
    except PolicyDenied as problem:
        return _by_policy(deps, input.run_id, state, "failed_policy", problem)
    except ApprovalNeeded as problem:
        return _by_policy(deps, input.run_id, state, "stopped_policy_backup", problem)
    if isinstance(answer, BackupRefusal):
        reason = answer.message[: limits.REASON_CHARACTERS_MAX]
        return BackupRefreshed(gate=gate.GATE, status="failed", code=answer.code.value, reason=reason)
    with translated(), deps.pool(Role.BACKUP).connection() as connection:
        if backup_effects.record_backup(connection, context, answer.record, answer.rule).sha256 != answer.record.sha256:
            raise Conflict(f"backup {answer.record.artifact_id} is recorded with another sha256")
    return BackupRefreshed(gate=gate.GATE, status="passed", facts={"backup_sha256": answer.record.sha256})


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


def _context(deps: Deps, run_id: str) -> tuple[Context, str]:
    """The context of the run's backup, and the run's state."""
    with translated(), deps.pool(Role.READ).connection() as connection:
        row = CONTEXT.first(connection, {"run_id": run_id, "gate": gate.GATE})
        connection.rollback()
    if row is None:
        raise NotFound(f"no run {run_id}: see", then="cutter status", code="STOP_RUN_NOT_FOUND")
    context = effects.of_run(row.run, row.pins, row.now, gate.GATE)
    return replace(context, approvers=row.approvers, needed=row.needed), row.run.state


def _by_policy(
    deps: Deps, run_id: str, state: str, to_state: str, problem: PolicyDenied | ApprovalNeeded
) -> BackupRefreshed:
    """Fail or stop a run that needs the backup to continue. The activity itself moves the run, because a mere claim of
    a workflow must not fail a run.
    """
    if state != State.AWAITING_CUT_AUTHORIZATION:
        return BackupRefreshed(gate=gate.GATE, status="out_of_order", code=problem.code, reason=str(problem)[:500])
    # Without its tier, the stop would ask for as many people as the highest tier does.
    report = Jsonb({"tier": problem.tier}) if isinstance(problem, ApprovalNeeded) else None
    with translated(), deps.pool(Role.READ).connection() as connection:
        connection.execute(
            "select cutter_governance.fn_run_stop(%s, %s, %s, %s)",
            (run_id, to_state, f"{problem.code}: {problem}", report),
        )
    status: GateStatus = "failed" if isinstance(problem, PolicyDenied) else "needs_approval"
    return BackupRefreshed(gate=gate.GATE, status=status, code=problem.code, reason=str(problem)[:500], state=to_state)


def take_and_check(deps: Deps, context: Context, artifact_id: str, pinned: str) -> Restored | BackupRefusal:
    """Take a backup for the pinned key under that name, and restore it into the scratch database. Raises PolicyDenied,
    ApprovalNeeded.

    If more documents changed than one artifact may hold, each part is restored and sealed first. If the time is over
    meanwhile, the next attempt needs the other parts only. A restore point that the deployment asks for comes first.
    """
    point = backup_effects.mark_restore_point(deps, context)
    if isinstance(point, BackupRefusal):
        return point
    deadline = Deadline(2 * _step_seconds(deps))
    while True:
        answer = _artifact(deps, context, artifact_id, pinned, deadline.remaining() / 2, point)
        if isinstance(answer, BackupRefusal) or answer.record.whole:
            return answer


def _artifact(
    deps: Deps, context: Context, artifact_id: str, pinned: str, seconds: float, point: RestorePoint | None
) -> Restored | BackupRefusal:
    """One artifact that was taken, restored and sealed: the backup, or a part of it."""
    settings = deps.settings
    home = settings.key_home("backup")
    record, rule = backup_effects.take_backup(deps, context, artifact_id, pinned, seconds, point)
    if isinstance(record, BackupRefusal):
        return record
    restored = deps.restore_check(
        record=record, artifacts_url=settings.artifacts, pg_bin=backup_programs(settings), gpg_home=home,
        deadline_seconds=seconds, scratch_dsn=dsn(settings, Role.BACKUP.value, database="cutter_scratch"),
    )  # fmt: skip
    if isinstance(restored, BackupRefusal):
        return restored
    return backup_effects.seal_backup(deps, record, restored) or Restored(record=record, report=restored, rule=rule)


def _step_seconds(deps: Deps) -> float:
    return deps.settings.cap_seconds("backup") * limits.BACKUP_STEP_SHARE


def recipient(deps: Deps) -> str:
    """The deployment's pinned backup key: `<keys_dir>/backup.fingerprint`."""
    path = deps.settings.keys / "backup.fingerprint"
    try:
        return path.read_text(encoding="ascii").strip()
    except OSError:
        raise Unavailable(f"no backup key is pinned at {path}: type", then="cutter up", what="backup") from None


def _as_stored(deps: Deps, artifact_id: str) -> _Artifact:
    try:
        stored, _size = digest(deps.settings.artifacts, artifact_id)
        beside = read_record(deps.settings.artifacts, artifact_id)
    except (NotFound, InvalidInput):
        return _Artifact(sha256="", beside=None)
    known = gate.Beside(
        sha256=beside.sha256, size_bytes=beside.size_bytes, taken_utc=beside.taken_utc,
        restore_point=beside.restore_point,
    )  # fmt: skip
    return _Artifact(sha256=stored, beside=known)
