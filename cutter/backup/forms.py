"""IO: the two forms of a backup: a full one dumps every document, and a segment the documents that changed.

The setting `backup_form` chooses the form of new backups. The record of a backup says its form, so cutter verifies and
restores backups of both forms.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, Literal

from cutter.backup import restore, take
from cutter.backup.record import SEGMENT_VERSIONS, BackupRecord, BackupRefusal, RestoreReport
from cutter.backup.segments import restore as segment_restore
from cutter.backup.segments import take as segment_take

Form = Literal["full", "segments"]

TAKE: Final[dict[Form, Callable[..., BackupRecord | BackupRefusal]]] = {
    "full": take.take,
    "segments": segment_take.take,
}
"""By form: the function that takes a backup. Both have the same arguments."""


def restore_check(*, record: BackupRecord, **given: Any) -> RestoreReport | BackupRefusal:
    """Prove that a backup restores, as its form demands. The report of a segment is a SegmentReport."""
    if record.version in SEGMENT_VERSIONS:
        return segment_restore.restore_check(record=record, **given)
    return restore.restore_check(record=record, **given)


def restore_into(*, record: BackupRecord, **given: Any) -> RestoreReport | BackupRefusal:
    """Restore a backup into an empty database, as its form demands."""
    if record.version in SEGMENT_VERSIONS:
        return segment_restore.restore_into(record=record, **given)
    return restore.restore_into(record=record, **given)
