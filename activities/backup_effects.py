"""IO: the side effects of the backup gate: a restore point, a backup and its receipt. The caller asks the policy."""

from __future__ import annotations

from dataclasses import dataclass

from activities import effects, permission
from activities.worker.dependencies import Deps
from cutter import limits
from cutter.backup import archiver
from cutter.backup.pipeline import Deadline
from cutter.backup.record import RESTORE_POINT, BackupRecord, BackupRefusal, Proved
from cutter.backup.restore import restore_check
from cutter.backup.take import take
from cutter.catalogue import Role
from cutter.domain import restore_point
from cutter.domain.digests import canonical_digest
from cutter.domain.restore_point import RestorePoint
from cutter.domain.run_record import RunRecord
from cutter.errors import ProgrammingError
from cutter.policy.command import BACKUP_TAKE, Command
from cutter.storage.pools import SCRATCH, translated
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
        return cls(sha256=str(answer["sha256"]), restore_point=restore_point.recorded(answer.get(RESTORE_POINT)))


RECORDED = parsed("record_backup", BackupOnRecord.of, named=lambda _: effects.RECORD)
"""Records the receipt of a backup, and returns what the database has on record about it."""


def back_up(deps: Deps, run: RunRecord, artifact_id: str, recipient: str) -> Proved | BackupRefusal:
    """Take the backup of a run's document for the pinned key, and prove it. The policy has allowed it.

    A restore point that the deployment asks for comes first. It is a part of the backup, and the backup's receipt names
    it. `RECORDED` writes the receipt. Raises Conflict and Unavailable.
    """
    settings, point = deps.settings, None
    if run.docprefix is None:
        raise ProgrammingError(f"{run.run_id} has pinned no source, so no rows can be backed up")
    if settings.backup_restore_point:
        asked = {"run_id": run.run_id, "late_seconds": float(limits.ARCHIVER_LATE_SECONDS)}
        with translated(), deps.pool(Role.BACKUP).connection() as connection:
            marked = MARKED.one(connection, asked)
        if isinstance(marked, BackupRefusal):
            return marked
        point = marked
    # The gate's transaction needs the rest of the cap.
    home, deadline = settings.key_home("backup"), Deadline(settings.cap_seconds("backup") * 0.9)
    record = take(
        source=deps.pool(Role.BACKUP), document_id=run.document_id, docprefix=run.docprefix, gpg_home=home,
        recipient_fingerprint=recipient, artifacts_url=settings.artifacts, artifact_id=artifact_id,
        deadline=deadline, restore_point=point,
    )  # fmt: skip
    if isinstance(record, BackupRefusal):
        return record
    report = restore_check(
        record=record, artifacts_url=settings.artifacts, scratch=deps.pools[SCRATCH], gpg_home=home, deadline=deadline
    )
    return report if isinstance(report, BackupRefusal) else Proved(record=record, report=report)


def receipt_of(context: permission.Context, taken: BackupRecord, rule: permission.AllowingRule) -> Json:
    """The parameters of `RECORDED`, which records the backup's receipt. Gate 6 reads the newest one."""
    response: Json = {"sha256": taken.sha256, "taken_utc": taken.taken_utc, "size_bytes": taken.size_bytes}
    if taken.restore_point is not None:
        response[RESTORE_POINT] = taken.restore_point.as_json()
    request = {"recipient": taken.recipient, "policy": rule.as_json()}
    fields = canonical_digest({"artifact_id": taken.artifact_id, "recipient": taken.recipient})
    command = Command(operation=BACKUP_TAKE, target=taken.artifact_id, fields_sha256=fields)
    return effects.receipt(context, command, request, response)[1]
