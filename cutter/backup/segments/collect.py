"""IO: finds the artifacts and pages in a store that no backup needs any more, and deletes them."""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime
from functools import partial

from cutter import limits
from cutter.backup.artifacts import RECORD_SUFFIX, open_store
from cutter.backup.companion import header as companion
from cutter.backup.record import SEGMENT_VERSIONS, from_json
from cutter.backup.segments import pages
from cutter.backup.segments.retention import Garbage, Stored, garbage
from cutter.errors import InvalidInput
from cutter.kb import write_once
from cutter.kb.store import Store

ARTIFACT_SUFFIX = ".gpg"


def look(artifacts_url: str, *, now: datetime, days: float, wanted: Collection[str], newest_tree: str) -> Garbage:
    """What may be deleted (`cutter.backup.segments.retention.garbage`). It changes nothing."""
    store = open_store(artifacts_url)
    return garbage(
        _stored(store), now=now, days=days, wanted=wanted, newest_tree=newest_tree, read=partial(pages.read, store)
    )


def delete(artifacts_url: str, unneeded: Garbage) -> None:
    """Delete it. The record of an artifact goes last, so that an interrupted collection can find the rest again."""
    store = open_store(artifacts_url)
    for page in unneeded.pages:
        write_once.remove(store, pages.name_of(page))
    for artifact in unneeded.artifacts:
        write_once.remove(store, artifact)
        write_once.remove(store, artifact + RECORD_SUFFIX)


def _stored(store: Store) -> list[Stored]:
    """The backups and companions of the store, as their records describe them. Other objects are left alone."""
    backups = []
    for name in store.list(""):
        if name.endswith(ARTIFACT_SUFFIX + RECORD_SUFFIX):
            text = store.get(name, limit=limits.BACKUP_RECORD_BYTES_MAX).decode("utf-8", "replace")
            backup = _described(text)
            if backup is not None and backup.artifact + RECORD_SUFFIX == name:
                backups.append(backup)
    return backups


def _described(text: str) -> Stored | None:
    """A backup by its record. None if the text is the record of neither a backup nor a companion."""
    try:
        record = companion.from_json(text)
        return Stored(artifact=record.artifact_id, taken=_instant(record.taken_utc), goes_with=record.backup)
    except InvalidInput:
        pass
    try:
        backup = from_json(text)
        base = backup.base if backup.version in SEGMENT_VERSIONS else None
        return Stored(artifact=backup.artifact_id, taken=_instant(backup.taken_utc), base=base, whole=backup.whole)
    except InvalidInput:
        return None


def _instant(text: str) -> datetime:
    try:
        return datetime.fromisoformat(text)
    except ValueError:
        raise InvalidInput("the time of a backup is not a time") from None
