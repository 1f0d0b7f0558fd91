"""Pure: IG_backup: a backup that was restored (seed 000 §4; spec 04 "Backup")."""

from __future__ import annotations

from dataclasses import dataclass

from cutter.domain.digests import is_digest
from cutter.domain.restore_point import RestorePoint
from cutter.gates.report import GateReport, Invariant, equal, holds

GATE = "IG_backup"


@dataclass(frozen=True, slots=True, kw_only=True)
class Beside:
    """The JSON record of the artifact, as it was read back."""

    sha256: str
    size_bytes: int
    taken_utc: str
    restore_point: RestorePoint | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """The results of the backup and its restore check: digests, size, time, fingerprints.

    `stored_sha256` is that of the artifact as the store gives it back now, and `recorded_sha256` the one in the
    database. `beside` is the record that was read back (None if there is none). `recorded_restore_point` is what the
    database has recorded of the restore point. Both are None without one.
    """

    artifact_id: str
    stored_sha256: str
    backup_sha256: str
    recorded_sha256: str
    size_bytes: int
    taken_utc: str
    beside: Beside | None
    recipient: str
    pinned_recipient: str
    snapshot_fingerprint: str
    restored_fingerprint: str
    restore_point_asked: bool = False
    restore_point: RestorePoint | None = None
    recorded_restore_point: RestorePoint | None = None


def evaluate(evidence: Evidence) -> GateReport:
    """Refuses unless all of these hold (seed 000 §4, in its words where it has them):

    - backup_target_reachable: the target gives back the bytes that were written
    - gpg_fingerprint_pinned: the GPG public key's fingerprint matches the deployment-pinned one
    - backup_sha256_recorded: the sha256 of the .gpg is recorded
    - sidecar_json_written: the record has the sha256, the size and the timestamp
    - restore_equals_snapshot: it was decrypted, restored and found equal (ours)
    - restore_point_marked: there is a restore point, if the deployment asks for one (ours)
    - restore_point_recorded: the database has recorded this restore point (ours)
    """
    taken = Beside(
        sha256=evidence.backup_sha256, size_bytes=evidence.size_bytes, taken_utc=evidence.taken_utc,
        restore_point=evidence.restore_point,
    )  # fmt: skip
    recorded = evidence.recorded_sha256
    return GateReport(
        gate=GATE,
        invariants=(
            equal("backup_target_reachable", evidence.stored_sha256, evidence.backup_sha256),
            equal("gpg_fingerprint_pinned", evidence.recipient, evidence.pinned_recipient or None),
            holds(
                "backup_sha256_recorded",
                is_digest(recorded) and recorded == evidence.backup_sha256,
                recorded or "nothing",
                evidence.backup_sha256,
            ),
            holds(
                "sidecar_json_written",
                evidence.beside == taken and taken.size_bytes > 0 and bool(taken.taken_utc),
                _said(evidence.beside),
                _said(taken),
            ),
            equal("restore_equals_snapshot", evidence.restored_fingerprint, evidence.snapshot_fingerprint or None),
            *_of_restore_point(evidence),
        ),
        pins={
            "backup_artifact": evidence.artifact_id,
            "backup_sha256": evidence.backup_sha256,
            "backup_size_bytes": evidence.size_bytes,
            "backup_taken_utc": evidence.taken_utc,
            "backup_fingerprint": evidence.restored_fingerprint,
            **(evidence.restore_point.as_pins() if evidence.restore_point else {}),
        },
    )


def _of_restore_point(evidence: Evidence) -> tuple[Invariant, ...]:
    """The invariants of a restore point. None if there is no point, and nobody asks for one."""
    point, recorded, asked = evidence.restore_point, evidence.recorded_restore_point, evidence.restore_point_asked
    if point is None and recorded is None and not asked:
        return ()
    return (
        holds("restore_point_marked", point is not None, _place(point), "one, as asked for" if asked else "one"),
        holds("restore_point_recorded", point is not None and recorded == point, _place(recorded), _place(point)),
    )


def _place(point: RestorePoint | None) -> str:
    return f"{point.name} at {point.lsn}" if point else "none"


def _said(record: Beside | None) -> str:
    return f"{record.sha256}, {record.size_bytes} bytes, {record.taken_utc}" if record else "no record"
