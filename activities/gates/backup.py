"""IO: IG_backup: takes a backup, restores it and compares. Only then it opens the gate, because the idle timeout of the
gate's transaction is shorter than a large backup (measured).
"""

from __future__ import annotations

import uuid
from contextlib import ExitStack
from dataclasses import dataclass, replace
from datetime import datetime

from psycopg.types.json import Jsonb

from activities import effects
from activities.effects import Context
from activities.gates import recorded_backups
from activities.gates.runner import GatePassed, GateRefused, backup_damaged, run_gate
from activities.gates.shared_backup import alone_in_wave, shared_backup
from activities.worker.dependencies import Deps
from cutter import limits
from cutter.backup.artifacts import open_store
from cutter.backup.pipeline import Deadline
from cutter.backup.record import RESTORE_POINT, BackupRecord, BackupRefusal, RefusalCode, RestoreReport
from cutter.backup.restore import digest, read_record
from cutter.catalogue import BY_NAME, Role, State
from cutter.domain import restore_point
from cutter.domain.restore_point import RestorePoint
from cutter.domain.run_record import RunRecord
from cutter.errors import ApprovalNeeded, Conflict, InvalidInput, NotFound, PolicyDenied, Unavailable
from cutter.gates import backup as gate
from cutter.messages import GateInput, GateOutcome, GateStatus
from cutter.policy.rules import Permit
from cutter.settings import dsn
from cutter.stack.postgres_programs import backup_programs
from cutter.storage.faults import translated
from cutter.storage.gate_transaction import Attempt, OpenGate
from cutter.storage.records import records
from cutter.types import Json

Checked = tuple[BackupRecord, RestoreReport, Json]
"""A backup, its restore check, and the rule that allowed it."""

BLOB = "pre_write.gpg"
"""Name of a run's backup in its folder (seed 000 §5, backup_blob_path)."""


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

    run: Json
    pins: Json
    now: datetime
    approvers: dict[str, int]
    needed: dict[str, int]


LIMITS = records("run_limits", Limits)
CONTEXT = records("policy_context", Decidable)


def backup(deps: Deps, input: GateInput) -> GateOutcome:
    """Back up the nine tables and prove that the backup restores. In a batch, one backup serves the whole wave."""
    checked: list[tuple[BackupRecord, str, Json, str, str, gate.Beside | None]] = []
    wave = ExitStack()

    def prepare(attempt: Attempt, _permit: Permit) -> tuple[()] | GateRefused:
        # An attempt reads the pin once. Otherwise a key that people change meanwhile would fail the run.
        pinned = recipient(deps)
        wave.enter_context(alone_in_wave(deps, attempt, _step_seconds(deps)))
        shared = shared_backup(deps, attempt, pinned)
        if shared is not None:
            wave.close()
            stored = _as_stored(deps, shared.record.artifact_id)
            checked.append((shared.record, shared.restored_fingerprint, {}, pinned, *stored))
            return ()
        artifact_id = _free_name(deps, attempt)
        answer = take_and_check(deps, effects.of_attempt(attempt), artifact_id, pinned)
        if isinstance(answer, BackupRefusal):
            return _refused(answer)
        # The artifact is read back here, before the transaction, because reading a large backup takes longer than the
        # transaction's idle timeout.
        stored = _as_stored(deps, artifact_id)
        checked.append((answer[0], answer[1].content_fingerprint, answer[2], pinned, *stored))
        return ()

    def body(opened: OpenGate) -> GatePassed | GateRefused:
        record, restored_fingerprint, policy, pinned, stored, beside = checked[0]
        noted = effects.record_backup(opened.connection, effects.of_attempt(opened.attempt), record, policy)
        evidence = gate.Evidence(
            artifact_id=record.artifact_id,
            stored_sha256=stored,
            backup_sha256=record.sha256,
            recorded_sha256=str(noted["sha256"]),
            size_bytes=record.size_bytes,
            taken_utc=record.taken_utc,
            beside=beside,
            recipient=record.recipient,
            pinned_recipient=pinned,
            snapshot_fingerprint=record.content_fingerprint,
            restored_fingerprint=restored_fingerprint,
            restore_point_asked=deps.settings.backup_restore_point,
            restore_point=record.restore_point,
            recorded_restore_point=restore_point.recorded(noted.get(RESTORE_POINT)),
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
        if not store.taken(name) and not effects.backup_on_record(deps, attempt.run_id, name):
            return name
    return f"{folder}/pre_write-{uuid.uuid4().hex[:12]}.gpg"


def refresh_backup(deps: Deps, input: GateInput) -> GateOutcome:
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
        return GateOutcome(gate=gate.GATE, status="failed", code=answer.code.value, reason=reason)
    with translated(), deps.pool(Role.BACKUP).connection() as connection:
        if effects.record_backup(connection, context, answer[0], answer[2])["sha256"] != answer[0].sha256:
            raise Conflict(f"backup {answer[0].artifact_id} is recorded with another sha256")
    return GateOutcome(gate=gate.GATE, status="passed", facts={"backup_sha256": answer[0].sha256})


def _young(deps: Deps, run_id: str) -> GateOutcome | None:
    """The answer without a new backup, because the run is over or has a usable backup. None if the run needs a new
    backup.
    """
    with translated(), deps.pool(Role.READ).connection() as connection:
        run = LIMITS.first(connection, {"run_id": run_id})
        backups_of, parameters = recorded_backups.asked(run_id)
        backups = backups_of.all(connection, parameters)
        connection.rollback()
    if run is None or run.ended:
        return GateOutcome(gate=gate.GATE, status="ended", code="unknown_run" if run is None else "run_ended")
    if not backups:
        return GateOutcome(gate=gate.GATE, status="out_of_order", code="backup_missing")
    limit = run.backup_max_age_seconds or float(deps.settings.backup_max_age_minutes * 60)
    young = recorded_backups.young(backups, limit)
    newest = recorded_backups.usable(young, recorded_backups.as_stored(deps.settings.artifacts, young))
    if newest is None:
        return None
    return GateOutcome(gate=gate.GATE, status="passed", facts={"backup_sha256": newest.sha256})


def _context(deps: Deps, run_id: str) -> tuple[Context, str]:
    """The context of the run's backup, and the run's state."""
    with translated(), deps.pool(Role.READ).connection() as connection:
        row = CONTEXT.first(connection, {"run_id": run_id, "gate": gate.GATE})
        connection.rollback()
    if row is None:
        raise NotFound(f"no run {run_id}: see `cutter status`", code="STOP_RUN_NOT_FOUND")
    run = RunRecord.of(row.run)
    context = effects.of_run(run, row.pins, row.now, gate.GATE)
    return replace(context, approvers=row.approvers, needed=row.needed), run.state


def _by_policy(
    deps: Deps, run_id: str, state: str, to_state: str, problem: PolicyDenied | ApprovalNeeded
) -> GateOutcome:
    """Fail or stop a run that needs the backup to continue. The activity itself moves the run, because a mere claim of
    a workflow must not fail a run.
    """
    if state != State.AWAITING_CUT_AUTHORIZATION:
        return GateOutcome(gate=gate.GATE, status="out_of_order", code=problem.code, reason=str(problem)[:500])
    # Without its tier, the stop would ask for as many people as the highest tier does.
    report = Jsonb({"tier": problem.tier}) if isinstance(problem, ApprovalNeeded) else None
    with translated(), deps.pool(Role.READ).connection() as connection:
        connection.execute(
            "select cutter_governance.fn_run_stop(%s, %s, %s, %s)",
            (run_id, to_state, f"{problem.code}: {problem}", report),
        )
    status: GateStatus = "failed" if isinstance(problem, PolicyDenied) else "needs_approval"
    return GateOutcome(gate=gate.GATE, status=status, code=problem.code, reason=str(problem)[:500], state=to_state)


def take_and_check(deps: Deps, context: Context, artifact_id: str, pinned: str) -> Checked | BackupRefusal:
    """Take a backup for the pinned key under that name, and restore it into the scratch database. Raises PolicyDenied,
    ApprovalNeeded.

    If more documents changed than one artifact may hold, each part is restored and sealed first. If the time is over
    meanwhile, the next attempt needs the other parts only. A restore point that the deployment asks for comes first.
    """
    point = effects.mark_restore_point(deps, context)
    if isinstance(point, BackupRefusal):
        return point
    deadline = Deadline(2 * _step_seconds(deps))
    while True:
        answer = _artifact(deps, context, artifact_id, pinned, deadline.remaining() / 2, point)
        if isinstance(answer, BackupRefusal) or answer[0].whole:
            return answer


def _artifact(
    deps: Deps, context: Context, artifact_id: str, pinned: str, seconds: float, point: RestorePoint | None
) -> Checked | BackupRefusal:
    """One artifact that was taken, restored and sealed: the backup, or a part of it."""
    settings = deps.settings
    home = settings.key_home("backup")
    record, policy = effects.take_backup(deps, context, artifact_id, pinned, seconds, point)
    if isinstance(record, BackupRefusal):
        return record
    restored = deps.restore_check(
        record=record, artifacts_url=settings.artifacts, pg_bin=backup_programs(settings), gpg_home=home,
        deadline_seconds=seconds, scratch_dsn=dsn(settings, Role.BACKUP.value, database="cutter_scratch"),
    )  # fmt: skip
    if isinstance(restored, BackupRefusal):
        return restored
    return effects.seal_backup(deps, record, restored) or (record, restored, policy)


def _step_seconds(deps: Deps) -> float:
    return deps.settings.cap_seconds("backup") * limits.BACKUP_STEP_SHARE


def recipient(deps: Deps) -> str:
    """The deployment's pinned backup key: `<keys_dir>/backup.fingerprint`."""
    path = deps.settings.keys / "backup.fingerprint"
    try:
        return path.read_text(encoding="ascii").strip()
    except OSError:
        raise Unavailable(f"no backup key is pinned at {path}: type `cutter up`", what="backup") from None


def _as_stored(deps: Deps, artifact_id: str) -> tuple[str, gate.Beside | None]:
    """The artifact's sha256 and its record as the store returns them; empty if the store does not have them."""
    try:
        stored, _size = digest(deps.settings.artifacts, artifact_id)
        beside = read_record(deps.settings.artifacts, artifact_id)
    except (NotFound, InvalidInput):
        return "", None
    return stored, gate.Beside(
        sha256=beside.sha256, size_bytes=beside.size_bytes, taken_utc=beside.taken_utc,
        restore_point=beside.restore_point,
    )  # fmt: skip
