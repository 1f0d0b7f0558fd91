"""IO: takes a companion: all tables that segments do not hold, from the snapshot of a backup, encrypted for its key."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path

from cutter.backup import connection as postgres
from cutter.backup.artifacts import open_store
from cutter.backup.ciphertext import Target, write_artifact
from cutter.backup.companion.header import CompanionRecord, Header, to_line
from cutter.backup.companion.rows import copied, described, query_of, sequences
from cutter.backup.connection import Connection
from cutter.backup.keyring import find_recipient, home_of_backups, pinned
from cutter.backup.pipeline import Deadline
from cutter.backup.record import BackupRecord, BackupRefusal
from cutter.kb.write_once import Draft
from cutter.storage.records import Rows, values

_SNAPSHOT: Rows[str] = values("snapshot", named=query_of)


@dataclass(frozen=True, slots=True, kw_only=True)
class Moment:
    """A transaction of cutter_owner whose snapshot a backup and its companion share."""

    connection: Connection
    snapshot: str
    deadline: Deadline


@contextmanager
def moment(backup_dsn: str, owner_dsn: str, seconds: float) -> Iterator[Moment]:
    """Open the transaction. Raises Unavailable(what="backup") if PostgreSQL does not answer.

    Only cutter_backup may export a snapshot, and only cutter_owner can read every table. So there are two sessions.
    """
    deadline = Deadline(seconds)
    try:
        with (
            closing(postgres.connect(backup_dsn, deadline)) as exporting,
            closing(postgres.connect(owner_dsn, deadline)) as connection,
        ):
            postgres.begin_snapshot(exporting, deadline)
            snapshot = _SNAPSHOT.one(exporting)
            postgres.begin_snapshot(connection, deadline, snapshot)
            yield Moment(connection=connection, snapshot=snapshot, deadline=deadline)
    except postgres.AWAY as problem:
        raise postgres.away(problem) from None


def take(
    at: Moment,
    backup: BackupRecord,
    *,
    gpg_home: Path,
    gpg_binary: str = "gpg",
    recipient_fingerprint: str,
    artifacts_url: str,
    artifact_id: str,
) -> CompanionRecord | BackupRefusal:
    """Write the companion of a backup that was taken from the snapshot of `at`."""
    gpg, target = home_of_backups(gpg_home, gpg_binary), Target(open_store(artifacts_url), artifact_id)
    recipient = find_recipient(gpg, pinned(recipient_fingerprint))
    if isinstance(recipient, BackupRefusal):
        return recipient
    header = Header(
        artifact=backup.artifact_id, sha256=backup.sha256, tables=described(at.connection),
        sequences=sequences(at.connection),
    )  # fmt: skip

    def record_of(draft: Draft) -> CompanionRecord:
        return CompanionRecord(
            artifact_id=artifact_id, backup=backup.artifact_id, sha256=draft.sha256, size_bytes=draft.size_bytes,
            taken_utc=backup.taken_utc, recipient=recipient.fingerprint,
        )  # fmt: skip

    return write_artifact(_text(at.connection, header), gpg, recipient, target, at.deadline, record_of)


def _text(connection: Connection, header: Header) -> Iterator[bytes]:
    yield to_line(header)
    yield from copied(connection, header.tables)
