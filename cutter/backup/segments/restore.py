"""IO: decrypts segments, loads them and compares them with their headers.

A check loads one segment into the scratch database and rolls back. A restore (recovery.py, and rebuild.py for a whole
database) also loads every segment of its base tree, and takes from each one the documents for which the tree names it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TypeVar

from cutter import limits
from cutter.backup import connection as postgres
from cutter.backup import scratch
from cutter.backup.record import BackupRecord, BackupRefusal, RefusalCode, RestoreReport
from cutter.backup.segments import pages, tree
from cutter.backup.segments.header import Document, Header
from cutter.backup.segments.loader import Artifact, Refused, Tools, load, prepare, tools_for
from cutter.backup.segments.rows import Described, Rows
from cutter.backup.segments.take import damaged_tree

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class SegmentReport(RestoreReport):
    """The report of a good segment, with its header as the restored rows give it."""

    header: Header


def restore_check(
    *,
    record: BackupRecord,
    artifacts_url: str,
    scratch_dsn: str,
    pg_bin: Callable[[str], Path],  # noqa: ARG001 — a full backup is rendered by pg_restore, a segment by no program
    gpg_home: Path,
    gpg_binary: str = "gpg",
    schema_sql: str | None = None,
    deadline_seconds: float = limits.BACKUP_DEADLINE_SECONDS,
) -> RestoreReport | BackupRefusal:
    """Prove that the segment restores to the rows of its snapshot, and that its base tree is there.

    The segments of the base were proved when they were taken. The tables stay for the next check, without rows.
    Arguments and errors are those of `cutter.backup.restore.restore_check`.
    """
    tools = tools_for(artifacts_url, gpg_home, gpg_binary, deadline_seconds, schema_sql)
    return refusals_of(tools, partial(_checked, record, tools, scratch_dsn))


def refusals_of(tools: Tools, work: Callable[[], T]) -> T | BackupRefusal:
    """The outcome of this work, or the refusal with which it ended. Raises Unavailable(what="backup")."""
    tools.gpg.start_agent()
    try:
        return work()
    except Refused as problem:
        return problem.refusal
    except tree.TreeDamaged as problem:
        return damaged_tree(problem)
    except postgres.AWAY as problem:
        raise postgres.away(problem) from None


def _checked(record: BackupRecord, tools: Tools, dsn: str) -> SegmentReport:
    with closing(postgres.connect(dsn, tools.deadline)) as connection:
        return _segment(connection, record, tools)


def _segment(connection: postgres.Connection, record: BackupRecord, tools: Tools) -> SegmentReport:
    """Load the one segment of the record, and find the root of its base."""
    prepare(connection, tools, keep=False)
    header, key = load(connection, tools, artifact_of(record), record.recipient)
    if record.base not in ("", header.base):
        raise Refused(_differs(record, "another base tree than its record says"))
    if record.whole:
        require_backup(header)
    tree.count_of(header.base, partial(pages.read, tools.store))
    report = report_of(record, header, compared(connection, header, header.documents, record), key)
    if dict(report.row_counts) != dict(record.row_counts):
        raise Refused(_differs(record, "other numbers of rows"))
    scratch.leave_tables(connection)
    return report


def base_parts(tools: Tools, header: Header) -> dict[Artifact, dict[str, tree.Entry]]:
    """The documents of the base tree that the segment itself does not hold, by the artifact that holds them. Raises
    Refused for the header of a part.
    """
    require_backup(header)
    parts: dict[Artifact, dict[str, tree.Entry]] = {}
    for entry in tree.entries_of(header.base, partial(pages.read, tools.store)):
        if entry.document not in header.documents:
            artifact = Artifact(artifact_id=entry.artifact, sha256=entry.sha256)
            parts.setdefault(artifact, {})[entry.document] = entry
    return parts


def load_part(
    connection: postgres.Connection,
    tools: Tools,
    header: Header,
    artifact: Artifact,
    entries: Mapping[str, tree.Entry],
    *,
    marked: bool = True,
) -> dict[str, Document]:
    """Load these documents from one segment of the base. Returns them as the segment describes them.

    Raises Refused if the segment does not hold them as the tree says.
    """
    own, _ = load(connection, tools, artifact, None, wanted=entries, marked=marked)
    if own.columns_sha256 != header.columns_sha256:
        raise Refused(_foreign(artifact, "it has the columns of another time"))
    for name, entry in entries.items():
        held = own.documents.get(name)
        if held is None or held.fingerprint != entry.fingerprint:
            raise Refused(_foreign(artifact, f"it does not hold {name} as the tree says"))
    return {name: own.documents[name] for name in entries}


def require_backup(header: Header) -> None:
    """Raise Refused for the header of a part, because its base lacks documents or has rows of an earlier time."""
    if not header.whole:
        message = "the artifact is a part of a backup that consists of several artifacts: name the last of them"
        raise Refused(BackupRefusal(code=RefusalCode.SEGMENT_PART, message=message))


def compared(
    connection: postgres.Connection, header: Header, expected: Mapping[str, Document], record: BackupRecord
) -> Described:
    """The loaded rows of the documents of all segments. Raises Refused if one differs from what its segment says, or if
    the header is not the one of the record.
    """
    rows = Rows(connection=connection, columns=header.columns, live=False)
    description = rows.described({name: document.changes for name, document in expected.items()})
    for name, document in expected.items():
        if description.documents[name] != document:
            raise Refused(_differs(record, f"document {name}"))
    if header.content_fingerprint != record.content_fingerprint:
        raise Refused(_differs(record, "another header than its record says"))
    return description


def report_of(record: BackupRecord, header: Header, description: Described, key: str) -> SegmentReport:
    """The report of rows that equal what the header says, so that the header is also that of the restored rows."""
    return SegmentReport(
        artifact_id=record.artifact_id,
        sha256=record.sha256,
        size_bytes=record.size_bytes,
        content_fingerprint=header.content_fingerprint,
        row_counts=description.row_counts,
        decryption_key=key,
        pg_restore_version="none",
        header=header,
    )


def artifact_of(record: BackupRecord) -> Artifact:
    """The artifact that the record describes."""
    return Artifact(artifact_id=record.artifact_id, sha256=record.sha256, size_bytes=record.size_bytes)


def _differs(record: BackupRecord, what: str) -> BackupRefusal:
    return BackupRefusal(
        code=RefusalCode.RESTORE_DIFFERS,
        message=f"the restored rows differ from the rows of the snapshot ({what}): take a new backup",
        expected=record.content_fingerprint,
        observed=what,
    )


def _foreign(artifact: Artifact, why: str) -> BackupRefusal:
    return BackupRefusal(
        code=RefusalCode.SEGMENT_FOREIGN,
        message=f"segment {artifact.artifact_id} is not the one that the tree names: {why}",
        expected=artifact.sha256,
        observed=why,
    )
