"""IO: the two forms of a backup: a full one dumps every document, and a segment the documents that changed.

The setting `backup_form` chooses the form of new backups. The record of a backup says its form, so cutter verifies and
restores backups of both forms.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, Literal

from cutter import limits
from cutter.backup import restore, take
from cutter.backup.record import SEGMENT_VERSIONS, BackupRecord, BackupRefusal, RestoreReport
from cutter.backup.segments import recovery
from cutter.backup.segments import restore as segment_restore
from cutter.backup.segments import take as segment_take
from cutter.backup.segments.parallel import Told
from cutter.errors import InvalidInput

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


def restore_into(
    *, record: BackupRecord, document: str | None = None, jobs: int = limits.RESTORE_JOBS,
    progress: Told = lambda _name, _total: None, **given: Any,
) -> RestoreReport | BackupRefusal:  # fmt: skip
    """Restore a backup, or one document of a backup of segments, into an empty database. So many segments are restored
    at once. Raises InvalidInput for one document of a full backup.
    """
    if record.version in SEGMENT_VERSIONS:
        return recovery.restore_into(record=record, document=document, jobs=jobs, progress=progress, **given)
    if document is not None:
        raise InvalidInput(f"{record.artifact_id} has the form full, which gives all documents only")
    return restore.restore_into(record=record, **given)
