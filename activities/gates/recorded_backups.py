"""IO: finds the recorded backups of a run that the store still holds as recorded.

A record is only a claim of the role cutter_backup. cutter believes it if the artifact exists with that sha256. A record
without such an artifact covers no write, and hides no other backup.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from cutter.backup.restore import digest
from cutter.errors import InvalidInput, NotFound
from cutter.storage.gate_transaction import Read
from cutter.storage.run_evidence import NEWEST_BACKUPS, RecordedBackup


def asked(run_id: str) -> Read:
    # Recorded backups of a run that are read back, the newest first, until one equals its record.
    return NEWEST_BACKUPS, {"run_id": run_id, "limit": 20}


def young(backups: Iterable[RecordedBackup], seconds: float) -> list[RecordedBackup]:
    """The backups that are fresh enough for a write, the newest first."""
    return [backup for backup in backups if backup.age_seconds <= seconds]


def as_stored(artifacts_url: str, backups: Iterable[RecordedBackup]) -> dict[str, str]:
    """Maps each artifact to its present sha256, or to "" if it is missing. Reading ends at the first artifact that is
    as recorded.
    """
    digests: dict[str, str] = {}
    for backup in backups:
        if backup.artifact not in digests:
            try:
                digests[backup.artifact] = digest(artifacts_url, backup.artifact)[0]
            except (NotFound, InvalidInput):
                digests[backup.artifact] = ""
        if digests[backup.artifact] == backup.sha256:
            break
    return digests


def usable(backups: Iterable[RecordedBackup], stored: Mapping[str, str]) -> RecordedBackup | None:
    """The newest backup whose artifact the store holds as recorded."""
    return next((backup for backup in backups if stored.get(backup.artifact) == backup.sha256), None)
