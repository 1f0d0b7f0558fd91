"""IO: one backup a writing wave: the items of a batch share the newest backup that one of them took and restored.

Only what a sealed receipt of the same batch proves is shared, and only while it is young enough that the wave's leg As
will still find it fresh. A gate that finds none takes one, while the others wait for it (spec 04 "Backup").
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from time import monotonic, sleep
from typing import Any

from activities.worker.dependencies import Deps
from cutter.backup.record import BackupRecord
from cutter.backup.restore import read_record
from cutter.catalogue import Role
from cutter.errors import InvalidInput, NotFound
from cutter.storage.faults import translated
from cutter.storage.gate_transaction import Attempt
from cutter.storage.pools import session
from cutter.storage.queries import query

SHARE_OF_AGE = 0.5
"""Of the age at which a backup is stale; the rest is left for the approvals and the lane."""

POLL_SECONDS = 0.1


@dataclass(frozen=True, slots=True, kw_only=True)
class Shared:
    """A backup of the wave: its record, and the fingerprint that its restore check found."""

    record: BackupRecord
    restored_fingerprint: str


@contextmanager
def alone_in_wave(deps: Deps, attempt: Attempt, seconds: float) -> Iterator[None]:
    """Hold the wave's lock, so that one of its items takes the backup and the others find it.

    A run without a batch holds nothing. A lock that is not had in time is not worth a failure: one backup more is.
    """
    batch_id = attempt.run["batch_id"]
    if not batch_id:
        yield
        return
    with session(deps.settings, Role.BACKUP) as connection:
        ends = monotonic() + seconds
        while monotonic() < ends:
            row = connection.execute(query("wave_lock"), {"batch_id": batch_id}).fetchone()
            if row and row[0]:
                break
            sleep(POLL_SECONDS)
        # The lock goes with the connection, also when this process is killed.
        yield


def shared_backup(deps: Deps, attempt: Attempt) -> Shared | None:
    """The wave's backup, or None when this run has to take one."""
    if not attempt.run["batch_id"]:
        return None
    limit = attempt.run["caps"].get("backup_max_age_seconds") or deps.settings.backup_max_age_minutes * 60
    asked = {"run_id": attempt.run_id, "batch_id": attempt.run["batch_id"], "seconds": float(limit) * SHARE_OF_AGE}
    with translated(), deps.pool(Role.BACKUP).connection() as connection:
        row = connection.execute(query("wave_backup"), asked).fetchone()
        connection.rollback()
    if row is None:
        return None
    pins: dict[str, Any] = row[0]  # type: ignore[assignment]
    try:
        record = read_record(deps.settings.artifacts, pins["backup_artifact"])
    except (NotFound, InvalidInput):
        return None
    return Shared(record=record, restored_fingerprint=str(pins["backup_fingerprint"]))
