"""IO: the backups that the role cutter_backup has recorded."""

from __future__ import annotations

from dataclasses import dataclass

from cutter.storage.records import Rows, records, values


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordedBackup:
    """A backup of a run: the artifact's name, its sha256, its age, and whether the gate's receipt has sealed it.

    It is `superseded` if people gave up a damaged segment after it was taken, because it may need that segment.
    """

    artifact: str
    sha256: str
    age_seconds: float
    sealed: bool
    superseded: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class ListedBackup:
    """A backup in the list, with the documents whose runs used it, and the name of its restore point if it has one."""

    artifact: str
    sha256: str | None
    taken_utc: str | None
    size_bytes: str | None
    restore_point: str | None
    documents: str


NEWEST = records("newest_backups", RecordedBackup)
LISTED = records("backups", ListedBackup)
WANTED: Rows[str] = values("wanted_backups")
