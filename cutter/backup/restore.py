"""IO: decrypts an artifact, restores it and compares it with its snapshot.

A backup counts only after a successful restore (spec "Backup"). The bytes flow from the artifact through gpg --decrypt
and pg_restore --section=data into our own connection. One transaction takes the lock, makes the bare tables, loads the
rows and computes the fingerprint. A check rolls it back, so the scratch database stays unchanged, even after a kill.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass
from operator import attrgetter
from pathlib import Path

import psycopg

from cutter import limits
from cutter.backup import connection as postgres
from cutter.backup import programs, scratch
from cutter.backup.artifacts import BY_HAND, COMPANION_SUFFIX, RECORD_SUFFIX, chunks, open_store
from cutter.backup.decryption import Reader, damaged, decryption_key, missing, undecrypted
from cutter.backup.fingerprint import contents
from cutter.backup.keyring import home_of_backups
from cutter.backup.pipeline import Deadline, Exit, Pipeline, Stage
from cutter.backup.record import (
    BackupRecord,
    BackupRefusal,
    Contents,
    RefusalCode,
    RestoreReport,
    from_json,
)
from cutter.backup.script import ScriptRefused
from cutter.errors import NotFound, Unavailable
from cutter.gpg import Gpg, environment
from cutter.kb.store import Store


def restore_check(
    *,
    record: BackupRecord,
    artifacts_url: str,
    scratch_dsn: str,
    pg_bin: Callable[[str], Path],
    gpg_home: Path,
    gpg_binary: str = "gpg",
    schema_sql: str | None = None,
    deadline_seconds: float = limits.BACKUP_DEADLINE_SECONDS,
) -> RestoreReport | BackupRefusal:
    """Prove that a restore of the artifact gives exactly the snapshot of `record`. It leaves no trace.

    `scratch_dsn` names a database that its user owns. Two checks in one database wait for each other. `gpg_home` holds
    the private key. If `schema_sql` is None, cutter's own migrations are used. Raises Unavailable(what="backup") at the
    deadline, and if the environment is unavailable.
    """
    work = _Work(
        record, open_store(artifacts_url), home_of_backups(gpg_home, gpg_binary), pg_bin("pg_restore"),
        schema_sql, Deadline(deadline_seconds),
    )  # fmt: skip
    return _restore(work, scratch_dsn, keep=False)


def restore_into(
    *,
    record: BackupRecord,
    artifacts_url: str,
    dsn: str,
    pg_bin: Callable[[str], Path],
    gpg_home: Path,
    gpg_binary: str = "gpg",
    schema_sql: str | None = None,
    deadline_seconds: float = limits.BACKUP_DEADLINE_SECONDS,
) -> RestoreReport | BackupRefusal:
    """Restore the artifact into an empty database, check it as `restore_check` does, and keep the rows.

    After a refusal the database is still empty.
    """
    work = _Work(
        record, open_store(artifacts_url), home_of_backups(gpg_home, gpg_binary), pg_bin("pg_restore"),
        schema_sql, Deadline(deadline_seconds),
    )  # fmt: skip
    return _restore(work, dsn, keep=True)


def read_record(artifacts_url: str, artifact_id: str) -> BackupRecord:
    """The record of an artifact. Compare its sha256 with the run's receipt.

    Without this comparison the record is only as trustworthy as the store.
    """
    return from_json(
        open_store(artifacts_url)
        .get(artifact_id + RECORD_SUFFIX, limit=limits.BACKUP_RECORD_BYTES_MAX)
        .decode("utf-8", "replace")
    )


def newest_by_hand(artifacts_url: str) -> BackupRecord | None:
    """The record of the newest backup that `cutter backup take` has put into the store, as trustworthy as the store."""
    records = [
        read_record(artifacts_url, name.removesuffix(RECORD_SUFFIX))
        for name in open_store(artifacts_url).list(BY_HAND)
        if name.endswith(".gpg" + RECORD_SUFFIX) and not name.endswith(COMPANION_SUFFIX + RECORD_SUFFIX)
    ]
    return max(
        filter(attrgetter("whole"), records), key=lambda record: (record.taken_utc, record.artifact_id), default=None
    )


def digest(artifacts_url: str, artifact_id: str) -> tuple[str, int]:
    """The (sha256, size in bytes) of an artifact now, for the check before a write. Raises NotFound, Unavailable."""
    read = Reader(chunks(open_store(artifacts_url), artifact_id))
    for _ in read:
        pass
    return read.sha256, read.size_bytes


@dataclass(frozen=True, slots=True)
class _Work:
    record: BackupRecord
    store: Store
    gpg: Gpg
    pg_restore: Path
    schema_sql: str | None
    deadline: Deadline


def _restore(work: _Work, dsn: str, *, keep: bool) -> RestoreReport | BackupRefusal:
    work.gpg.start_agent()
    try:
        with closing(postgres.connect(dsn, work.deadline)) as connection:
            outcome = _in_transaction(connection, work, keep=keep)
            if keep and isinstance(outcome, RestoreReport):
                connection.commit()
            return outcome
    except postgres.AWAY as problem:
        raise postgres.away(problem) from None
    except NotFound:
        return missing(work.record.artifact_id)


def _in_transaction(connection: postgres.Connection, work: _Work, *, keep: bool) -> RestoreReport | BackupRefusal:
    postgres.bound(connection, work.deadline)
    # This comes before the lock, because in a database of another role this role must lock nothing.
    if not keep and (foreign := scratch.require_own(connection)):
        return foreign
    scratch.lock(connection, work.deadline)
    try:
        unfit = scratch.require_empty(connection) if keep else scratch.empty(connection)
        unfit = unfit or scratch.make_tables(connection, work.schema_sql or scratch.schema_sql())
    except (ValueError, psycopg.ProgrammingError) as problem:
        state = problem.sqlstate if isinstance(problem, psycopg.Error) else "unclosed statement"
        return BackupRefusal(
            code=RefusalCode.SCRATCH_UNFIT,
            message=f"the nine tables cannot be made in the scratch database ({state}): check its owner",
        )
    return unfit or _load_and_compare(connection, work, keep=keep)


def _load_and_compare(connection: postgres.Connection, work: _Work, *, keep: bool) -> RestoreReport | BackupRefusal:
    artifact = Reader(chunks(work.store, work.record.artifact_id))
    with Pipeline(_stages(work), deadline=work.deadline, fed=True) as pipeline:
        script = pipeline.chunks(artifact)
        failure = _load(connection, script)
        for _ in script:  # After a failure too: the digest and the exit codes show the first cause.
            pass
        exits = pipeline.exits()
    key = decryption_key(exits["gpg"])
    if refusal := (
        damaged(artifact, work.record.sha256, work.record.size_bytes)
        or undecrypted(exits["gpg"], key, work.record.recipient)
        or _unrestored(exits, failure)
    ):
        return refusal
    if keep:
        scratch.continue_identities(connection)
    return _compared(contents(connection), key, work)


def _stages(work: _Work) -> tuple[Stage, ...]:
    render = (str(work.pg_restore), "--section=data", "--no-owner", "--no-privileges", "--file=-")
    return (
        Stage(name="gpg", command=work.gpg.decryption(), environment=environment()),
        Stage(name="pg_restore", command=render, environment=environment()),
    )


def _load(connection: postgres.Connection, chunks: Iterator[bytes]) -> str:
    """The reason why the load failed, or an empty text. A lost connection raises."""
    try:
        scratch.load(connection, chunks)
    except ScriptRefused as problem:
        return str(problem)
    except postgres.AWAY:
        raise
    except psycopg.Error as problem:
        return f"SQLSTATE {problem.sqlstate}"
    return ""


def _unrestored(exits: dict[str, Exit], failure: str) -> BackupRefusal | None:
    restore = exits["pg_restore"]
    if restore.killed:
        raise Unavailable(f"pg_restore was killed by signal {-restore.code}", what="backup")
    why = f"pg_restore failed with exit code {restore.code}" if restore.code != 0 else failure
    if not why:
        return None
    return BackupRefusal(
        code=RefusalCode.RESTORE_FAILED, message=f"the backup does not restore: {why}; take a new one", observed=why
    )


def _compared(restored: Contents, key: str, work: _Work) -> RestoreReport | BackupRefusal:
    record = work.record
    if (restored.fingerprint, dict(restored.row_counts)) != (record.content_fingerprint, dict(record.row_counts)):
        return BackupRefusal(
            code=RefusalCode.RESTORE_DIFFERS,
            message="the restored rows differ from the rows of the snapshot: take a new backup",
            expected=f"{record.content_fingerprint}, {sum(record.row_counts.values())} rows",
            observed=f"{restored.fingerprint}, {sum(restored.row_counts.values())} rows",
        )
    return RestoreReport(
        artifact_id=record.artifact_id,
        sha256=record.sha256,
        size_bytes=record.size_bytes,
        content_fingerprint=restored.fingerprint,
        row_counts=restored.row_counts,
        decryption_key=key,
        pg_restore_version=programs.version(work.pg_restore)[1],
    )
