"""Pure: judges PostgreSQL's answer to a wish for a restore point: the point, or the problem with the archive."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from cutter import limits
from cutter.backup.record import BackupRefusal, RefusalCode
from cutter.domain import restore_point
from cutter.domain.restore_point import RestorePoint
from cutter.errors import Unavailable
from cutter.types import Json


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """What keeps a restore point from being of use, and what a person does about it.

    If it is `lasting`, no retry helps until a person has changed the server or a setting.
    """

    found: str
    remedy: str
    lasting: bool = False


_OR_OFF: Final = "or set CUTTER_BACKUP_RESTORE_POINT=false"

PROBLEMS: Final[dict[str, Problem]] = {
    RefusalCode.RESTORE_POINT_UNPREPARED: Problem(
        found="this database has no function that marks restore points",
        remedy=f"type `cutter migrate --bootstrap URL` with the URL of a superuser, {_OR_OFF}",
        lasting=True,
    ),
    RefusalCode.ARCHIVING_OFF: Problem(
        found="the server does not archive its write-ahead log",
        remedy=f"set archive_mode and archive_command and start the server again, {_OR_OFF}",
        lasting=True,
    ),
    "archiver_failing": Problem(
        found="the archiver failed at {failed_wal}, and has archived nothing since",
        remedy="see PostgreSQL's log, and correct archive_command",
    ),
    "archiver_late": Problem(
        found="{waiting_files} files of the write-ahead log wait for the archiver, the oldest one for "
        f"{{waiting_seconds}} seconds (limit {limits.ARCHIVER_LATE_SECONDS})",
        remedy="look at the archive and its disk",
    ),
    "archiver_unproved": Problem(
        found="the server has archived nothing since its statistics began",
        remedy="set archive_timeout, or type `select pg_switch_wal()` once as a superuser",
    ),
}
"""The problem of each code that the database gives."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Archive:
    """The state of the server's archive. `problem` is None if the archive is in order.

    `archived_wal` is the last file of the log that was archived, and `archived_utc` the time. Both are None if no file
    was archived.
    """

    problem: Problem | None
    archived_wal: str | None
    archived_utc: str | None

    @classmethod
    def of(cls, answer: Json) -> Archive:
        """The state from an answer of `fn_archiver`."""
        return cls(
            problem=_problem_of(answer), archived_wal=answer.get("archived_wal"),
            archived_utc=answer.get("archived_utc"),
        )  # fmt: skip


def _problem_of(answer: Json) -> Problem | None:
    """The problem with the archive, or None if it is in order."""
    code = answer.get("problem")
    if code is None:
        return None
    known = PROBLEMS[code]
    return Problem(found=known.found.format_map(answer), remedy=known.remedy, lasting=known.lasting)


def judged(answer: Json) -> RestorePoint | BackupRefusal:
    """The restore point, or the refusal. Raises Unavailable(what="backup") if the problem can end by itself."""
    problem = _problem_of(answer)
    if problem is None:
        return restore_point.from_json(answer)
    code, message = answer["problem"], f"{problem.found}: {problem.remedy}"
    if problem.lasting:
        return BackupRefusal(code=RefusalCode(code), message=message)
    raise Unavailable(f"{code}: {message}", what="backup", code=code)
