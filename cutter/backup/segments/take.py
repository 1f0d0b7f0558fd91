"""IO: takes a pre-write backup as a segment: snapshot → digests → COPY | gpg → artifact (seed 000 §4, IG_backup)."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import psycopg

from cutter import limits
from cutter.backup import connection as postgres
from cutter.backup import programs
from cutter.backup.artifacts import open_store
from cutter.backup.ciphertext import Target, write_artifact
from cutter.backup.fingerprint import TableMissing, pinned_output
from cutter.backup.keyring import Recipient, find_recipient, home_of_backups, pinned
from cutter.backup.pipeline import Deadline
from cutter.backup.record import PART_RECORD_VERSION, SEGMENT_RECORD_VERSION, BackupRecord, BackupRefusal, RefusalCode
from cutter.backup.segments import pages, tree
from cutter.backup.segments.coverage import Base, Head, base_of, head_of
from cutter.backup.segments.header import Header, digest_of_columns, to_line
from cutter.backup.segments.rows import DOCUMENT_COLUMN, Rows, columns, live_rows, query_of
from cutter.backup.tables import SEGMENT_TABLES
from cutter.backup.take import unreadable
from cutter.domain.restore_point import RestorePoint
from cutter.gpg import Gpg
from cutter.kb.store import Store
from cutter.kb.write_once import Draft
from cutter.storage.records import Rows as RowsOf
from cutter.storage.records import values

SCRUB = "cutter backup scrub"
"""The next command after a problem with the segments."""

_TAKEN_UTC: RowsOf[str] = values("taken_utc", named=query_of)


def take(
    *,
    dsn: str,
    pg_bin: Callable[[str], Path],  # noqa: ARG001 — a full backup runs pg_dump, a segment runs no program of PostgreSQL
    gpg_home: Path,
    gpg_binary: str = "gpg",
    recipient_fingerprint: str,
    artifacts_url: str,
    artifact_id: str,
    deadline_seconds: float = limits.BACKUP_DEADLINE_SECONDS,
    verified_max_seconds: float = limits.BACKUP_VERIFIED_MAX_DAYS * limits.DAY_SECONDS,
    snapshot: str | None = None,
    restore_point: RestorePoint | None = None,
    documents_max: int = limits.SEGMENT_DOCUMENTS_MAX,
    bytes_max: int = limits.SEGMENT_BYTES_MAX,
) -> BackupRecord | BackupRefusal:
    """Back up the documents that changed, encrypted for the pinned key, and name the tree that has the others.

    If more changed than one segment may hold, it dumps a part of them under another name. The record is then not
    `whole`: the caller seals the part and takes again.

    It refuses while the segment of a document is damaged, or if the oldest verification is older than
    `verified_max_seconds`. `snapshot` is the exported snapshot of another session, whose moment the backup then has.

    The arguments, the errors and the promises are those of `cutter.backup.take.take`.
    """
    deadline = Deadline(deadline_seconds)
    gpg, target = home_of_backups(gpg_home, gpg_binary), Target(open_store(artifacts_url), artifact_id)
    recipient = find_recipient(gpg, pinned(recipient_fingerprint))
    if isinstance(recipient, BackupRefusal):
        return recipient
    try:
        with closing(postgres.connect(dsn, deadline)) as connection:
            postgres.begin_snapshot(connection, deadline, snapshot)
            moment = _moment(connection, target.store, verified_max_seconds, documents_max, bytes_max)
            if isinstance(moment, BackupRefusal):
                return moment
            if not moment.header.whole:
                target = replace(target, artifact_id=_part_of(artifact_id))
            return _write(replace(moment, restore_point=restore_point), gpg, recipient, target, deadline)
    except postgres.AWAY as problem:
        raise postgres.away(problem) from None
    except (TableMissing, psycopg.Error) as problem:
        return unreadable(problem)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Moment:
    """The rows of the documents to dump, as one transaction sees them. It is valid while its transaction is open."""

    rows: Rows
    header: Header
    taken_utc: str
    oldest_seconds: int | None
    restore_point: RestorePoint | None = None

    def text(self, counts: dict[str, int]) -> Iterator[bytes]:
        """The plaintext of the segment. It counts the rows of each table into `counts`."""
        yield to_line(self.header)
        with pinned_output(self.rows.connection):
            for table in SEGMENT_TABLES:
                named = ", ".join((DOCUMENT_COLUMN, *(name for name, _ in self.header.columns[table])))
                yield f"COPY {table} ({named}) FROM stdin;\n".encode("ascii")
                counts[table] = 0
                for data in self.rows.copied(table, list(self.header.documents)):
                    counts[table] += data.count(b"\n")
                    yield data
                yield b"\\.\n"


def _part_of(artifact_id: str) -> str:
    """A free name next to that of the backup, because another attempt may have left parts of its own."""
    return f"{artifact_id.removesuffix('.gpg')}-part-{uuid.uuid4().hex[:12]}.gpg"


def _moment(
    connection: postgres.Connection, store: Store, verified_max_seconds: float, documents_max: int, bytes_max: int
) -> _Moment | BackupRefusal:
    taken_utc = _TAKEN_UTC.one(connection)
    named = columns(connection)
    head = head_of(connection)
    # One more than a segment may hold tells a part from the whole.
    base = base_of(connection, head, digest_of_columns(named), documents_max + 1)
    if refusal := _unverified(head, verified_max_seconds) or incomplete(base, store):
        return refusal
    rows = live_rows(connection, named)
    held = rows.fitting(list(base.changes)[:documents_max], bytes_max)
    documents = rows.described({name: base.changes[name] for name in held}).documents
    header = Header(base=base.root, columns=named, documents=documents, whole=len(held) == len(base.changes))
    oldest = None if base.root == tree.EMPTY or head.oldest_seconds is None else int(head.oldest_seconds)
    return _Moment(rows=rows, header=header, taken_utc=taken_utc, oldest_seconds=oldest)


def _unverified(head: Head, seconds: float) -> BackupRefusal | None:
    """The refusal if a segment failed its verification, or if the oldest verification is too old."""
    if head.damaged is not None:
        return BackupRefusal(
            code=RefusalCode.SEGMENT_DAMAGED,
            message=f"a segment failed its verification ({head.damaged}): type `{SCRUB}`",
            then=SCRUB,
            observed=head.damaged,
        )
    if (head.oldest_seconds or 0) <= seconds:
        return None
    return BackupRefusal(
        code=RefusalCode.VERIFICATION_STALE,
        message=f"the oldest verification of a segment is too old: type `{SCRUB}`",
        then=SCRUB,
        expected=f"at most {seconds:.0f} seconds",
        observed=f"{head.oldest_seconds:.0f} seconds",
    )


def incomplete(base: Base, store: Store) -> BackupRefusal | None:
    """The refusal if the root of the base tree is missing, or if the tree holds fewer documents than were sealed."""
    try:
        count = tree.count_of(base.root, partial(pages.read, store))
    except tree.TreeDamaged as problem:
        return damaged_tree(problem)
    if count == base.count:
        return None
    return BackupRefusal(
        code=RefusalCode.TREE_INCOMPLETE,
        message=f"the tree of segments omits a document: type `{SCRUB}`",
        then=SCRUB,
        expected=f"{base.count} documents",
        observed=f"{count} documents",
    )


def damaged_tree(problem: tree.TreeDamaged) -> BackupRefusal:
    """The refusal of a tree that cannot be read."""
    return BackupRefusal(
        code=RefusalCode.TREE_DAMAGED, message=f"{problem}: look at the store, then type `{SCRUB}`", then=SCRUB
    )


def _write(
    moment: _Moment, gpg: Gpg, recipient: Recipient, target: Target, deadline: Deadline
) -> BackupRecord | BackupRefusal:
    counts: dict[str, int] = {}

    def record_of(draft: Draft) -> BackupRecord:
        return BackupRecord(
            artifact_id=target.artifact_id,
            sha256=draft.sha256,
            size_bytes=draft.size_bytes,
            taken_utc=moment.taken_utc,
            content_fingerprint=moment.header.content_fingerprint,
            row_counts=counts,
            pg_dump_version="none",
            server_version=programs.server_version(moment.rows.connection)[1],
            recipient=recipient.fingerprint,
            version=SEGMENT_RECORD_VERSION if moment.header.whole else PART_RECORD_VERSION,
            base=moment.header.base,
            oldest_verification_seconds=moment.oldest_seconds,
            restore_point=moment.restore_point,
        )

    return write_artifact(moment.text(counts), gpg, recipient, target, deadline, record_of)
