"""IO: decrypts an artifact, restores its rows and compares them with the snapshot.

A backup counts only after a successful restore (spec "Backup"). The bytes flow from the artifact through gpg --decrypt
into our own session. Its rows become JSON values of a table of this session, and PostgreSQL executes nothing of them.
This matters because an artifact is encrypted but not signed, so everyone who has the public key can make one.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import TypeVar

import psycopg

from cutter import limits
from cutter.backup import rows
from cutter.backup.artifacts import RECORD_SUFFIX, chunks, open_store
from cutter.backup.decryption import Reader, damaged, decryption_key, undecrypted
from cutter.backup.keyring import home_of_backups
from cutter.backup.pipeline import Deadline, Pipeline, Stage
from cutter.backup.record import BackupRecord, BackupRefusal, RefusalCode, RestoreReport, from_json
from cutter.backup.rows import ContentRefused, Digests
from cutter.backup.tables import TABLES
from cutter.errors import NotFound, Unavailable
from cutter.gpg import Gpg, environment
from cutter.kb.store import Store
from cutter.storage.pools import SESSION, Connection, Pool, single

T = TypeVar("T")


def restore_check(
    *,
    record: BackupRecord,
    artifacts_url: str,
    scratch: Pool,
    gpg_home: Path,
    gpg_binary: str = "gpg",
    deadline: Deadline,
) -> RestoreReport | BackupRefusal:
    """Prove that a restore of the artifact gives exactly the snapshot of `record`. It leaves no row.

    `scratch` is a pool for a database in which its role may make temporary tables. They belong to one session, so
    several checks do not wait for each other. `gpg_home` holds the private key. Raises Unavailable(what="backup") at
    the deadline, and if the environment is unavailable.
    """
    gpg, store = home_of_backups(gpg_home, gpg_binary), open_store(artifacts_url)

    def checked() -> RestoreReport | BackupRefusal:
        with single(scratch) as connection:
            return _restored(record, store, gpg, connection, deadline, keep=False)

    outcome = checked()
    if isinstance(outcome, BackupRefusal) and outcome.code in (RefusalCode.WRONG_KEY, RefusalCode.ARTIFACT_DAMAGED):
        # gpg reports a missing agent as a missing private key. An agent outlives its first user, so it mostly runs.
        gpg.start_agent()
        outcome = checked()
    return outcome


def restore_into(
    *, record: BackupRecord, artifacts_url: str, dsn: str, gpg_home: Path, gpg_binary: str = "gpg",
    deadline_seconds: float = limits.BACKUP_DEADLINE_SECONDS,
) -> RestoreReport | BackupRefusal:  # fmt: skip
    """Restore the artifact into an empty database, check it as `restore_check` does, and keep the rows.

    After a refusal the database is still empty.
    """
    gpg, store = home_of_backups(gpg_home, gpg_binary), open_store(artifacts_url)
    gpg.start_agent()
    try:
        made = psycopg.connect(dsn, autocommit=True, options=SESSION)
    except psycopg.OperationalError:
        raise Unavailable("no connection to the database of --into", what="backup") from None
    with closing(made) as connection:
        if table := rows.first_table(connection):
            return BackupRefusal(
                code=RefusalCode.RESTORE_FAILED, message=f"the database holds {table}: name an empty database",
                observed=table,
            )  # fmt: skip
        outcome = _restored(record, store, gpg, connection, Deadline(deadline_seconds), keep=True)
        if isinstance(outcome, RestoreReport):
            connection.commit()
        return outcome


def plain_rows(*, record: BackupRecord, artifacts_url: str, gpg_home: Path) -> Iterator[tuple[str, str]]:
    """The table and the JSON text of each row of an artifact that `restore_check` has just proved."""
    gpg, store = home_of_backups(gpg_home, "gpg"), open_store(artifacts_url)
    artifact = Reader(chunks(store, record.artifact_id))
    with Pipeline(_decryption(gpg), deadline=Deadline(limits.WHOLE_DATABASE_SECONDS), fed=True) as pipeline:
        held = b""
        for chunk in pipeline.chunks(artifact):
            *lines, held = (held + chunk).split(b"\n")
            for line in lines:
                table, _, row = line.decode().partition("\t")
                if table in TABLES:
                    yield table, row
        end = pipeline.exits()["gpg"]
    if artifact.sha256 != record.sha256 or held or not decryption_key(end):
        raise Unavailable(f"{record.artifact_id} was not read to its end: type the command again", what="backup")


def read_record(artifacts_url: str, artifact_id: str) -> BackupRecord:
    """The record of an artifact. Compare its sha256 with the run's receipt.

    Without this comparison the record is only as trustworthy as the store.
    """
    return from_json(
        open_store(artifacts_url)
        .get(artifact_id + RECORD_SUFFIX, limit=limits.BACKUP_RECORD_BYTES_MAX)
        .decode("utf-8", "replace")
    )


def digest(artifacts_url: str, artifact_id: str) -> tuple[str, int]:
    """The (sha256, size in bytes) of an artifact now, for the check before a write. Raises NotFound, Unavailable."""
    read = Reader(chunks(open_store(artifacts_url), artifact_id))
    for _ in read:
        pass
    return read.sha256, read.size_bytes


def _decryption(gpg: Gpg) -> tuple[Stage]:
    return (Stage(name="gpg", command=gpg.decryption(), environment=environment()),)


def _restored(
    record: BackupRecord, store: Store, gpg: Gpg, connection: Connection, deadline: Deadline, *, keep: bool
) -> RestoreReport | BackupRefusal:
    """Decrypt and stage the artifact, restore its rows, and compare. After a failure the connection is closed, so that
    nothing stays.
    """
    artifact = Reader(chunks(store, record.artifact_id))
    filled = [table for table, count in record.row_counts.items() if count]
    whole = False
    try:
        with Pipeline(_decryption(gpg), deadline=deadline, fed=True) as pipeline:
            plain = pipeline.chunks(artifact)
            description, failure = _attempted(lambda: _staged(connection, plain))
            for _ in plain:  # After a failure too: the digest and the exit code show the first cause.
                pass
            end = pipeline.exits()["gpg"]
        # The bytes are the recorded ones, and the pinned key opened them.
        key = decryption_key(end)
        refusal = damaged(artifact, record.sha256, record.size_bytes) or undecrypted(end, key, record.recipient)
        if refusal is not None:
            return refusal
        digests = None
        if description is not None:
            digests, failure = _attempted(
                lambda: rows.restore(connection, description, filled, deadline.milliseconds(), keep=keep)
            )
        if digests is None:
            return BackupRefusal(
                code=RefusalCode.RESTORE_FAILED, observed=failure,
                message=f"the backup does not restore: {failure}; take a new one",
            )  # fmt: skip
        outcome = _compared(record, description, artifact, digests, key)
        whole = isinstance(outcome, RestoreReport)
        return outcome
    except NotFound:
        return BackupRefusal(
            code=RefusalCode.ARTIFACT_MISSING, expected=record.artifact_id,
            message="the artifact is no longer in the store: take a new backup",
        )  # fmt: skip
    finally:
        if not whole:
            connection.close()


def _staged(connection: Connection, plain: Iterator[bytes]) -> rows.Description:
    """Stage the lines. The first one describes the tables that `rows.restore` makes."""
    head = b""
    for chunk in plain:
        head += chunk
        if b"\n" in chunk or len(head) > limits.BACKUP_RECORD_BYTES_MAX:
            break
    description = rows.described(head.partition(b"\n")[0])
    rows.stage(connection, itertools.chain([head], plain))
    return description


def _attempted(work: Callable[[], T]) -> tuple[T | None, str]:
    """The outcome of this work, or None and the reason why it failed. A lost connection raises Unavailable."""
    try:
        return work(), ""
    except ContentRefused as problem:
        return None, str(problem)
    except rows.AWAY as problem:
        raise rows.away(problem) from None
    except psycopg.Error as problem:
        return None, f"SQLSTATE {problem.sqlstate}"


def _compared(
    record: BackupRecord, description: rows.Description | None, artifact: Reader, restored: Digests, key: str
) -> RestoreReport | BackupRefusal:
    if description is None or (description.document_id, description.taken_utc) != (
        record.document_id,
        record.taken_utc,
    ):
        return BackupRefusal(
            code=RefusalCode.RESTORE_DIFFERS, message="the record names another document or time than the artifact",
        )  # fmt: skip
    if (restored.fingerprint, dict(restored.row_counts)) != (record.content_fingerprint, dict(record.row_counts)):
        return BackupRefusal(
            code=RefusalCode.RESTORE_DIFFERS,
            message="the restored rows differ from the rows of the snapshot: take a new backup",
            expected=f"{record.content_fingerprint}, {sum(record.row_counts.values())} rows",
            observed=f"{restored.fingerprint}, {sum(restored.row_counts.values())} rows",
        )
    return RestoreReport(
        artifact_id=record.artifact_id,
        document_id=record.document_id,
        sha256=artifact.sha256,
        size_bytes=artifact.size_bytes,
        content_fingerprint=restored.fingerprint,
        row_counts=restored.row_counts,
        decryption_key=key,
    )
