"""IO: the side effects of the backup gate: a restore point, a backup, its seal and its receipt.

`activities.effects` asks the policy and looks the receipts up.
"""

from __future__ import annotations

from dataclasses import dataclass

from activities import effects
from activities.worker.dependencies import Deps
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
from cutter.catalogue import Role
from cutter.domain import restore_point
from cutter.domain.digests import canonical_digest
from cutter.domain.restore_point import RestorePoint
from cutter.policy.command import BACKUP_TAKE, Command
from cutter.settings import dsn
from cutter.stack.postgres_programs import backup_programs
from cutter.storage.faults import translated
from cutter.storage.gate_transaction import call
from cutter.storage.pools import Connection, single
from cutter.storage.records import answer as value_of
from cutter.storage.records import parsed
from cutter.types import Json

MARKED = parsed("restore_point", archiver.judged)


@dataclass(frozen=True, slots=True, kw_only=True)
class BackupOnRecord:
    """The facts that the database has on record about a backup. `restore_point` is None if it has none."""

    sha256: str
    restore_point: RestorePoint | None

    @classmethod
    def of(cls, answer: Json) -> BackupOnRecord:
        """The backup from the response that a receipt records."""
        return cls(sha256=str(answer["sha256"]), restore_point=restore_point.recorded(answer.get(RESTORE_POINT)))


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


def mark_restore_point(deps: Deps, context: effects.Context) -> RestorePoint | BackupRefusal | None:
    """Mark a restore point for the backup that follows. None if the deployment asks for none.

    It is a part of the backup, so the rule about backups allows it, and the backup's receipt names it. Raises
    PolicyDenied, ApprovalNeeded, and Unavailable if the archiver has a problem that can end.
    """
    if not deps.settings.backup_restore_point:
        return None
    effects.required(deps, context, BACKUP_TAKE)
    asked = {"run_id": context.run_id, "late_seconds": float(limits.ARCHIVER_LATE_SECONDS)}
    with translated(), deps.pool(Role.BACKUP).connection() as connection:
        return MARKED.one(connection, asked)


def take_backup(
    deps: Deps,
    context: effects.Context,
    artifact_id: str,
    recipient: str,
    seconds: float,
    point: RestorePoint | None = None,
) -> tuple[BackupRecord | BackupRefusal, effects.AllowingRule]:
    """Take a backup, or find the recorded one of that name and key. Returns it with the rule that allowed it.

    `record_backup` writes the receipt after the backup was restored. Raises PolicyDenied, ApprovalNeeded, Conflict.
    """
    settings = deps.settings
    command = backup_command(artifact_id, recipient)
    rule = effects.required(deps, context, command.operation)
    if effects.was_done(deps, Role.BACKUP, context, command):
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
    connection: Connection, context: effects.Context, taken: BackupRecord, rule: effects.AllowingRule | None
) -> BackupOnRecord:
    """Record the backup's receipt. Gate 6 reads the newest one. Returns what the database has on record about it.

    `rule` is None for a backup that another run took, because it has its receipt already.
    """
    response: Json = {"sha256": taken.sha256, "taken_utc": taken.taken_utc, "size_bytes": taken.size_bytes}
    if taken.restore_point is not None:
        response[RESTORE_POINT] = taken.restore_point.as_json()
    request = {"recipient": taken.recipient, "policy": rule.as_json() if rule else {}}
    command = backup_command(taken.artifact_id, taken.recipient)
    return call(connection, BackupOnRecord.of, *effects.receipt(context, command, request, response))
