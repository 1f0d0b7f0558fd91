"""IO: one backup for each writing wave. The items of a batch share the newest backup that one of them took and
restored.

A backup is shared only if a sealed receipt of the same batch proves it, and only while it will still be fresh at every
leg A of the wave. A gate that finds no such backup takes one, while the other gates wait (spec 04 "Backup").
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from time import monotonic, sleep

from activities.worker.dependencies import Deps
from cutter.backup.record import BackupRecord
from cutter.backup.restore import read_record
from cutter.catalogue import Role
from cutter.errors import InvalidInput, NotFound
from cutter.storage.faults import translated
from cutter.storage.gate_transaction import Attempt
from cutter.storage.pools import session
from cutter.storage.records import Rows, parsed, values
from cutter.types import Json

SHARE_OF_AGE = 0.5
"""The share of a backup's allowed age within which it is shared. The rest of the time is left for the approvals and the
lane.
"""

POLL_SECONDS = 0.1

LOCK: Rows[bool] = values("wave_lock")


@dataclass(frozen=True, slots=True, kw_only=True)
class Shared:
    """A backup of the wave: its record, and the fingerprint that its restore check found."""

    record: BackupRecord
    restored_fingerprint: str


@dataclass(frozen=True, slots=True, kw_only=True)
class WaveBackup:
    """The sealed backup of another run of the wave: its artifact, and the fingerprint that its restore check found."""

    artifact: str
    fingerprint: str

    @classmethod
    def of(cls, pins: Json) -> WaveBackup:
        """The backup from the pins of the other run's receipt."""
        return cls(artifact=pins["backup_artifact"], fingerprint=str(pins["backup_fingerprint"]))


BACKUP = parsed("wave_backup", WaveBackup.of)


@contextmanager
def alone_in_wave(deps: Deps, attempt: Attempt, seconds: float) -> Iterator[None]:
    """Hold the wave's lock, so that one item takes the backup and the others find it.

    A run without a batch holds no lock. If the lock is not free in time, the run takes its own backup, because that is
    better than a failure.
    """
    batch_id = attempt.run.batch_id
    if not batch_id:
        yield
        return
    with session(deps.settings, Role.BACKUP) as connection:
        ends = monotonic() + seconds
        while monotonic() < ends:
            if LOCK.first(connection, {"batch_id": batch_id}):
                break
            sleep(POLL_SECONDS)
        # PostgreSQL frees the lock with the connection, even if this process is killed.
        yield


def shared_backup(deps: Deps, attempt: Attempt, pinned: str) -> Shared | None:
    """The wave's backup for the pinned key, or None if this run must take one. After a change of the key it must. It
    also must if the deployment asks for a restore point and the wave's backup has none.
    """
    if not attempt.run.batch_id:
        return None
    limit = attempt.run.caps.get("backup_max_age_seconds") or deps.settings.backup_max_age_minutes * 60
    asked = {"run_id": attempt.run_id, "batch_id": attempt.run.batch_id, "seconds": float(limit) * SHARE_OF_AGE}
    with translated(), deps.pool(Role.BACKUP).connection() as connection:
        sealed = BACKUP.first(connection, asked)
        connection.rollback()
    if sealed is None:
        return None
    try:
        record = read_record(deps.settings.artifacts, sealed.artifact)
    except (NotFound, InvalidInput):
        return None
    if record.recipient != pinned:
        return None
    if deps.settings.backup_restore_point and record.restore_point is None:
        return None
    return Shared(record=record, restored_fingerprint=sealed.fingerprint)
