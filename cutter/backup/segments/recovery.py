"""IO: restores the documents of a backup into an empty database for good, several segments at the same time.

Each segment is loaded and committed by a connection of its own. Then one transaction compares the rows of every
document with what the segments say. If anything differs or fails, the tables are dropped again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import psycopg

from cutter import limits
from cutter.backup import connection as postgres
from cutter.backup import scratch
from cutter.backup.pipeline import Deadline
from cutter.backup.record import BackupRecord, BackupRefusal, RestoreReport
from cutter.backup.segments import pages, tree
from cutter.backup.segments.header import Document, Header
from cutter.backup.segments.loader import Artifact, Refused, Tools, load, prepare, tools_for
from cutter.backup.segments.parallel import Parts, Told, each_part
from cutter.backup.segments.restore import (
    artifact_of,
    base_parts,
    compared,
    load_part,
    refusals_of,
    report_of,
    require_backup,
)
from cutter.backup.segments.rows import DOCUMENT_COLUMN
from cutter.backup.tables import SEGMENT_TABLES
from cutter.errors import CutterError, NotFound


def restore_into(
    *,
    record: BackupRecord,
    artifacts_url: str,
    dsn: str,
    pg_bin: Callable[[str], Path],  # noqa: ARG001 — a full backup is rendered by pg_restore, a segment by no program
    gpg_home: Path,
    gpg_binary: str = "gpg",
    schema_sql: str | None = None,
    deadline_seconds: float = limits.RESTORE_DEADLINE_SECONDS,
    document: str | None = None,
    jobs: int = limits.RESTORE_JOBS,
    progress: Told = lambda _name, _total: None,
) -> RestoreReport | BackupRefusal:
    """Restore the rows of every document, or of one, at the moment of the segment into an empty database for good.

    After a refusal or an error, the database is empty again. If this process is killed, drop the database. Raises
    NotFound if the backup does not hold `document`, and Unavailable(what="backup").
    """
    tools = tools_for(artifacts_url, gpg_home, gpg_binary, deadline_seconds, schema_sql)
    work = _Work(record=record, tools=tools, dsn=dsn, jobs=jobs, told=progress, document=document)
    return refusals_of(tools, partial(_kept, work))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Work:
    record: BackupRecord
    tools: Tools
    dsn: str
    jobs: int
    told: Told
    document: str | None

    @contextmanager
    def session(self) -> Iterator[postgres.Connection]:
        """A transaction that is committed at the end of the context."""
        with closing(postgres.connect(self.dsn, self.tools.deadline)) as connection:
            postgres.bound(connection, self.tools.deadline)
            yield connection
            connection.commit()


def _kept(work: _Work) -> RestoreReport:
    with work.session() as connection:
        prepare(connection, work.tools, keep=True)
    try:
        return _filled(work)
    except BaseException:
        with suppress(CutterError, psycopg.Error), closing(postgres.connect(work.dsn, _to_drop())) as connection:
            scratch.drop_tables(connection, SEGMENT_TABLES)
            connection.commit()
        raise


def _to_drop() -> Deadline:
    return Deadline(limits.RESTORE_DROP_SECONDS)


def _filled(work: _Work) -> RestoreReport:
    """Load the segment of the record and the segments of its base, and compare all documents."""
    with work.session() as connection:
        wanted = None if work.document is None else [work.document]
        header, key = load(connection, work.tools, artifact_of(work.record), work.record.recipient, wanted)
    require_backup(header)
    expected = {name: document for name, document in header.documents.items() if work.document in (None, name)}
    expected |= each_part(_parts(work, header), partial(_part, work, header), work.jobs, work.told)
    with work.session() as connection:
        description = compared(connection, header, expected, work.record)
        scratch.drop_column(connection, SEGMENT_TABLES, DOCUMENT_COLUMN)
        scratch.continue_identities(connection, SEGMENT_TABLES)
    report = report_of(work.record, header, description, key)
    return report if work.document is None else replace(report, content_fingerprint=expected[work.document].fingerprint)


def _parts(work: _Work, header: Header) -> Parts:
    """The segments of the base that must be loaded, with the documents that come from each."""
    if work.document is None:
        return base_parts(work.tools, header)
    if work.document in header.documents:
        return {}
    entry = tree.entry_of(header.base, work.document, partial(pages.read, work.tools.store))
    if entry is None:
        raise NotFound(f"{work.record.artifact_id} does not hold {work.document}: see", then="cutter backup list")
    return {Artifact(artifact_id=entry.artifact, sha256=entry.sha256): {work.document: entry}}


def _part(work: _Work, header: Header, artifact: Artifact, entries: Mapping[str, tree.Entry]) -> dict[str, Document]:
    try:
        with work.session() as connection:
            return load_part(connection, work.tools, header, artifact, entries)
    except Refused as problem:
        message = f"segment {artifact.artifact_id}: {problem.refusal.message}"
        raise Refused(replace(problem.refusal, message=message)) from None
