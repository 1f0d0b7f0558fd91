"""IO: the backups that the role cutter_backup has recorded."""

from __future__ import annotations

from dataclasses import dataclass

from cutter.storage.records import records


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordedBackup:
    """A backup of a run: the artifact's name, its sha256, its age, and whether the gate's receipt has sealed it."""

    artifact: str
    sha256: str
    age_seconds: float
    sealed: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class ListedBackup:
    """A backup in the list, with the document whose rows it has, and the name of its restore point if it has one."""

    artifact: str
    sha256: str | None
    taken_utc: str | None
    size_bytes: str | None
    restore_point: str | None
    document_id: str


NEWEST = records("newest_backups", RecordedBackup)
LISTED = records("backups", ListedBackup)
