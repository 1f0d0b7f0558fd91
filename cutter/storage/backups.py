"""IO: the backups that are on record, as the role that takes backups has recorded them."""

from __future__ import annotations

from dataclasses import dataclass

from cutter.storage.records import records


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordedBackup:
    """A backup of a run: the artifact's name, its sha256, its age, whether the gate's receipt sealed it."""

    artifact: str
    sha256: str
    age_seconds: float
    sealed: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class ListedBackup:
    """A backup in the list, with the documents whose runs it precedes."""

    artifact: str
    sha256: str | None
    taken_utc: str | None
    size_bytes: str | None
    documents: str


NEWEST = records("newest_backups", RecordedBackup)
LISTED = records("backups", ListedBackup)
