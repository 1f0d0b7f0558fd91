"""IO: checks that the server archives its write-ahead log, which only restore points need."""

from __future__ import annotations

from cutter import limits
from cutter.backup import archiver
from cutter.catalogue import Role
from cutter.errors import CutterError
from cutter.preflight import checks
from cutter.preflight.checks import Check, bad, ok, unseen, warned
from cutter.settings import Settings
from cutter.storage.pools import session
from cutter.storage.records import parsed

ARCHIVER = parsed("archiver", archiver.Archive.of)


def needed(settings: Settings) -> Check:
    """The archive that a gate's restore point needs. A problem that can end by itself keeps no worker from serving."""
    if not settings.backup_restore_point:
        return ok(checks.RESTORE_POINTS, "none is asked for")
    try:
        with session(settings, Role.BACKUP) as connection:
            archive = ARCHIVER.one(connection, {"late_seconds": float(limits.ARCHIVER_LATE_SECONDS)})
    except CutterError:
        return unseen(checks.RESTORE_POINTS, "the database does not answer")
    problem = archive.problem
    if problem is None:
        until = f"{archive.archived_wal} at {archive.archived_utc}"
        return ok(checks.RESTORE_POINTS, f"the log is archived, up to {until}")
    judge = bad if problem.lasting else warned
    return judge(checks.RESTORE_POINTS, problem.found, problem.remedy)
