"""IO: takes the pre-write backup: snapshot → fingerprint → pg_dump | gpg → artifact (seed 000 §4, IG_backup)."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import LiteralString

import psycopg

from cutter import limits, openpgp
from cutter.backup import connection as postgres
from cutter.backup import programs
from cutter.backup.artifacts import RECORD_SUFFIX, open_store
from cutter.backup.fingerprint import TableMissing, contents
from cutter.backup.keyring import Recipient, find_recipient, home_of_backups, pinned
from cutter.backup.pipeline import Deadline, Exit, Pipeline, Stage
from cutter.backup.record import BackupRecord, BackupRefusal, Contents, RefusalCode, to_json
from cutter.backup.tables import BACKUP_TABLES
from cutter.errors import CutterError, Unavailable
from cutter.gpg import Gpg, environment
from cutter.gpg_status import status_words
from cutter.kb import write_once
from cutter.kb.store import Store
from cutter.kb.write_once import Draft
from cutter.storage.queries import queries_in
from cutter.storage.records import Rows, records, values


def take(
    *,
    dsn: str,
    pg_bin: Callable[[str], Path],
    gpg_home: Path,
    gpg_binary: str = "gpg",
    recipient_fingerprint: str,
    artifacts_url: str,
    artifact_id: str,
    deadline_seconds: float = limits.BACKUP_DEADLINE_SECONDS,
) -> BackupRecord | BackupRefusal:
    """Back up the nine tables at one moment, encrypted for the pinned key, and store the record with the artifact.

    `dsn` is that of cutter_backup. `artifact_id` must be a name that no earlier attempt used. After a refusal no retry
    helps. After Unavailable(what="backup") a retry may help: disk full, gpg killed, connection lost, deadline. Raises
    Conflict if the artifact exists, and InvalidInput for wrong arguments. Without success, nothing stays under the
    artifact's name. Seed 000 §4.
    """
    deadline = Deadline(deadline_seconds)
    gpg, target = home_of_backups(gpg_home, gpg_binary), _Target(open_store(artifacts_url), artifact_id)
    recipient = find_recipient(gpg, pinned(recipient_fingerprint))
    if isinstance(recipient, BackupRefusal):
        return recipient
    dump = _Dump(pg_bin("pg_dump"), *programs.version(pg_bin("pg_dump")), postgres.client(dsn))
    try:
        with closing(postgres.connect(dsn, deadline)) as connection:
            if refusal := programs.too_old((dump.major, dump.version), programs.server_version(connection)):
                return refusal
            moment = _open_snapshot(connection, deadline)
            return _write(moment, dump, gpg, recipient, target, deadline)
    except postgres.AWAY as problem:
        raise postgres.away(problem) from None
    except (TableMissing, psycopg.Error) as problem:
        return _unreadable(problem)


@dataclass(frozen=True, slots=True)
class _Target:
    store: Store
    artifact_id: str

    def __post_init__(self) -> None:
        self.store.check(self.artifact_id)


@dataclass(frozen=True, slots=True)
class _Dump:
    program: Path
    major: int
    version: str
    client: postgres.Client

    def stage(self, moment: _Moment, deadline: Deadline) -> Stage:
        """The stage that runs pg_dump.

        Without `--strict-names`, pg_dump would silently leave out a missing table if another table matches. The dump
        has no positions of identity sequences: a snapshot does not include them, and reading them needs one more grant.
        A restore lets the sequences continue after the highest value.
        """
        fixed = ("--no-password", "--format=custom", "--strict-names", f"--snapshot={moment.snapshot}")
        command = (
            *(str(self.program), f"--dbname={self.client.conninfo}", *fixed),
            f"--lock-wait-timeout={deadline.milliseconds()}ms",
            *(f"--table={table}" for table in BACKUP_TABLES),
            *(f"--exclude-table-data={sequence}" for sequence in moment.sequences),
        )
        return Stage(name="pg_dump", command=command, environment=self.client.environment)


def _query(name: str) -> LiteralString:
    return queries_in("cutter.backup", "take.sql")[name]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Exported:
    """The name of an exported snapshot, and the start of its transaction."""

    snapshot: str
    taken_utc: str


_EXPORTED = records("export_snapshot", _Exported, named=_query)
_SEQUENCES: Rows[str] = values("owned_sequences", named=_query)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Moment:
    """An exported snapshot with its contents. It is valid only while its transaction is open."""

    snapshot: str
    taken_utc: str
    server_version: str
    sequences: tuple[str, ...]
    contents: Contents


def _open_snapshot(connection: postgres.Connection, deadline: Deadline) -> _Moment:
    """Open a snapshot that the fingerprint and the dump share. Later commits change neither of them."""
    connection.isolation_level = psycopg.IsolationLevel.REPEATABLE_READ
    connection.read_only = True
    postgres.bound(connection, deadline)
    exported = _EXPORTED.one(connection, None)
    surveyed = contents(connection)
    sequences = _SEQUENCES.all(connection, {"tables": list(BACKUP_TABLES)})
    return _Moment(
        snapshot=exported.snapshot,
        taken_utc=exported.taken_utc,
        server_version=programs.server_version(connection)[1],
        sequences=tuple(sequences),
        contents=surveyed,
    )


def _write(
    moment: _Moment, dump: _Dump, gpg: Gpg, recipient: Recipient, target: _Target, deadline: Deadline
) -> BackupRecord | BackupRefusal:
    encrypt = Stage(name="gpg", command=gpg.encryption(recipient.fingerprint), environment=environment())
    with write_once.draft(target.store, target.artifact_id) as draft:
        with Pipeline((dump.stage(moment, deadline), encrypt), deadline=deadline) as pipeline:
            sealed = _seal(pipeline.chunks(), draft, recipient)
            exits = pipeline.exits()
        if refusal := _judge(exits, recipient, sealed=sealed):
            return refusal
        record = BackupRecord(
            artifact_id=target.artifact_id,
            sha256=draft.sha256,
            size_bytes=draft.size_bytes,
            taken_utc=moment.taken_utc,
            content_fingerprint=moment.contents.fingerprint,
            row_counts=moment.contents.row_counts,
            pg_dump_version=dump.version,
            server_version=moment.server_version,
            recipient=recipient.fingerprint,
        )
        _publish(target.store, draft, record)
        return record


def _seal(chunks: Iterable[bytes], draft: Draft, recipient: Recipient) -> bool:
    """Write the ciphertext if its head names exactly the pinned key. Otherwise write nothing and return False.

    So no plaintext reaches the disk, even if gpg passes its input through. This always reads to the end, because
    `exits` needs finished processes.
    """
    source, head = iter(chunks), b""
    for chunk in source:
        head += chunk
        if len(head) >= openpgp.HEAD_BYTES:
            break
    named = openpgp.recipients(head[: openpgp.HEAD_BYTES])
    sealed = named is not None and len(named) == 1 and named[0] in recipient.encryption_key_ids
    if sealed:
        draft.write(head)
    for chunk in source:
        if sealed:
            draft.write(chunk)
    return sealed


def _judge(exits: dict[str, Exit], recipient: Recipient, *, sealed: bool) -> BackupRefusal | None:
    """The refusal, or None for a good backup. It judges gpg first, because pg_dump fails too if gpg stops reading."""
    gpg, dump = exits["gpg"], exits["pg_dump"]
    if any(words[0] == "INV_RECP" for words in status_words(gpg.stderr.splitlines())):
        return BackupRefusal(
            code=RefusalCode.KEY_UNUSABLE,
            message="gpg refuses to encrypt for the pinned backup key: extend it, or pin another",
            expected=recipient.fingerprint,
        )
    for name, end in (("gpg", gpg), ("pg_dump", dump)):
        if end.code != 0:
            how = f"was killed by signal {-end.code}" if end.killed else f"failed with exit code {end.code}"
            why = _first_line(dump.stderr) if name == "pg_dump" else ""
            raise Unavailable(f"{name} {how}; no backup was kept{why}", what="backup")
    if sealed:
        return None
    return BackupRefusal(
        code=RefusalCode.WRONG_RECIPIENT,
        message="gpg did not encrypt for exactly the pinned backup key: check the gpg program",
        expected=recipient.fingerprint,
    )


def _first_line(stderr: str) -> str:
    """The first line of pg_dump's error, for the operator. It names tables and hosts, but never rows or passwords."""
    line = "".join(c for c in stderr.strip().split("\n")[0] if c.isprintable())
    return f" ({line[: limits.BACKUP_REASON_CHARACTERS_MAX]})" if line else ""


def _publish(store: Store, draft: Draft, record: BackupRecord) -> None:
    """Publish the artifact, then put its record. In this order, no record exists without its artifact."""
    draft.publish()
    try:
        _put(store, record.artifact_id + RECORD_SUFFIX, to_json(record).encode())
    except CutterError:
        write_once.remove(store, record.artifact_id)
        raise


def _put(store: Store, name: str, data: bytes) -> None:
    """Put a record. Raises Conflict if the name is taken, even by the same bytes."""
    with write_once.draft(store, name) as draft:
        draft.write(data)
        draft.publish()


def _unreadable(problem: TableMissing | psycopg.Error) -> BackupRefusal:
    what = f"{problem} is missing" if isinstance(problem, TableMissing) else f"SQLSTATE {problem.sqlstate}"
    return BackupRefusal(
        code=RefusalCode.SOURCE_UNREADABLE,
        message=f"the nine tables cannot be read ({what}): apply the migrations and grant cutter_backup SELECT on them",
        observed=what,
    )
