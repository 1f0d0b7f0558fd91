"""IO: decrypts segments, loads them and compares them with their headers.

A check loads one segment into the scratch database and rolls back. A restore loads the segment and every segment of its
base tree into an empty database, takes from each one the documents for which the tree names it, and compares the rows
of every document before COMMIT.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import closing
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from cutter import limits
from cutter.backup import connection as postgres
from cutter.backup import scratch
from cutter.backup.record import BackupRecord, BackupRefusal, RefusalCode, RestoreReport
from cutter.backup.segments import pages, tree
from cutter.backup.segments.header import Document, Header
from cutter.backup.segments.loader import Artifact, Refused, Tools, load, prepare, tools_for
from cutter.backup.segments.rows import DOCUMENT_COLUMN, Rows
from cutter.backup.segments.take import damaged_tree
from cutter.backup.tables import SEGMENT_TABLES


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
    return _restored(record, tools, scratch_dsn, keep=False)


def restore_into(
    *,
    record: BackupRecord,
    artifacts_url: str,
    dsn: str,
    pg_bin: Callable[[str], Path],  # noqa: ARG001
    gpg_home: Path,
    gpg_binary: str = "gpg",
    schema_sql: str | None = None,
    deadline_seconds: float = limits.RESTORE_DEADLINE_SECONDS,
) -> RestoreReport | BackupRefusal:
    """Restore the rows of every document at the moment of the segment into an empty database, and keep them.

    After a refusal the database is still empty.
    """
    tools = tools_for(artifacts_url, gpg_home, gpg_binary, deadline_seconds, schema_sql)
    return _restored(record, tools, dsn, keep=True)


def _restored(record: BackupRecord, tools: Tools, dsn: str, *, keep: bool) -> RestoreReport | BackupRefusal:
    tools.gpg.start_agent()
    try:
        with closing(postgres.connect(dsn, tools.deadline)) as connection:
            report = _everything(connection, record, tools) if keep else _segment(connection, record, tools)
            if keep:
                connection.commit()
            return report
    except Refused as problem:
        return problem.refusal
    except tree.TreeDamaged as problem:
        return damaged_tree(problem)
    except postgres.AWAY as problem:
        raise postgres.away(problem) from None


def _segment(connection: postgres.Connection, record: BackupRecord, tools: Tools) -> SegmentReport:
    """Load the one segment of the record, and find the root of its base."""
    prepare(connection, tools, keep=False)
    header, key = load(connection, tools, _artifact(record), record.recipient)
    if record.base not in ("", header.base):
        raise Refused(_differs(record, "another base tree than its record says"))
    if record.whole and not header.whole:
        raise Refused(_no_backup(record.artifact_id))
    tree.count_of(header.base, partial(pages.read, tools.store))
    report = _compared(connection, header, header.documents, key, record)
    if dict(report.row_counts) != dict(record.row_counts):
        raise Refused(_differs(record, "other numbers of rows"))
    scratch.leave_tables(connection)
    return report


def _everything(connection: postgres.Connection, record: BackupRecord, tools: Tools) -> SegmentReport:
    """Load the segment of the record and every segment of its base."""
    prepare(connection, tools, keep=True)
    header, key = load(connection, tools, _artifact(record), record.recipient)
    expected = dict(header.documents)
    for artifact, entries in base_parts(tools, header).items():
        expected |= load_part(connection, tools, header, artifact, entries)
    report = _compared(connection, header, expected, key, record)
    scratch.drop_column(connection, SEGMENT_TABLES, DOCUMENT_COLUMN)
    scratch.continue_identities(connection, SEGMENT_TABLES)
    return report


def base_parts(tools: Tools, header: Header) -> dict[Artifact, dict[str, tree.Entry]]:
    """The documents of the base tree that the segment itself does not hold, by the artifact that holds them.

    Raises Refused if this is the header of a part, because its base lacks documents or has rows of an earlier time.
    """
    if not header.whole:
        raise Refused(_no_backup())
    found: dict[Artifact, dict[str, tree.Entry]] = {}
    for entry in tree.entries_of(header.base, partial(pages.read, tools.store)):
        if entry.document not in header.documents:
            artifact = Artifact(artifact_id=entry.artifact, sha256=entry.sha256)
            found.setdefault(artifact, {})[entry.document] = entry
    return found


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


def _compared(
    connection: postgres.Connection, header: Header, expected: Mapping[str, Document], key: str, record: BackupRecord
) -> SegmentReport:
    """Compare every document with its header. `expected` are the documents of all loaded segments."""
    rows = Rows(connection=connection, columns=header.columns, live=False)
    found = rows.described({name: one.changes for name, one in expected.items()})
    for name, one in expected.items():
        if found.documents[name] != one:
            raise Refused(_differs(record, f"document {name}"))
    restored = replace(header, documents={name: found.documents[name] for name in header.documents})
    if restored.content_fingerprint != record.content_fingerprint:
        raise Refused(_differs(record, "another header than its record says"))
    return SegmentReport(
        artifact_id=record.artifact_id,
        sha256=record.sha256,
        size_bytes=record.size_bytes,
        content_fingerprint=restored.content_fingerprint,
        row_counts=found.row_counts,
        decryption_key=key,
        pg_restore_version="none",
        header=restored,
    )


def _artifact(record: BackupRecord) -> Artifact:
    return Artifact(artifact_id=record.artifact_id, sha256=record.sha256, size_bytes=record.size_bytes)


def _differs(record: BackupRecord, what: str) -> BackupRefusal:
    return BackupRefusal(
        code=RefusalCode.RESTORE_DIFFERS,
        message=f"the restored rows differ from the rows of the snapshot ({what}): take a new backup",
        expected=record.content_fingerprint,
        observed=what,
    )


def _no_backup(artifact_id: str = "the artifact") -> BackupRefusal:
    return BackupRefusal(
        code=RefusalCode.SEGMENT_PART,
        message=f"{artifact_id} is a part of a backup that consists of several artifacts: name the last of them",
    )


def _foreign(artifact: Artifact, why: str) -> BackupRefusal:
    return BackupRefusal(
        code=RefusalCode.SEGMENT_FOREIGN,
        message=f"segment {artifact.artifact_id} is not the one that the tree names: {why}",
        expected=artifact.sha256,
        observed=why,
    )
