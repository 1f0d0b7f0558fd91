"""IO: takes the pre-write backup: snapshot → fingerprint → pg_dump | gpg → artifact (seed 000 §4, IG_backup)."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import LiteralString

import psycopg

from cutter import limits
from cutter.backup import connection as postgres
from cutter.backup import programs
from cutter.backup.artifacts import open_store
from cutter.backup.ciphertext import Target, publish, refused_key, require_success, write_sealed, wrong_recipient
from cutter.backup.fingerprint import TableMissing, contents
from cutter.backup.keyring import Recipient, find_recipient, home_of_backups, pinned
from cutter.backup.pipeline import Deadline, Exit, Pipeline, Stage
from cutter.backup.record import BackupRecord, BackupRefusal, Contents, RefusalCode
from cutter.backup.tables import BACKUP_TABLES
from cutter.domain.restore_point import RestorePoint
from cutter.gpg import Gpg, environment
from cutter.kb import write_once
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
    verified_max_seconds: float = 0.0,  # noqa: ARG001 — a full backup needs no earlier artifact
    restore_point: RestorePoint | None = None,
) -> BackupRecord | BackupRefusal:
    """Back up the nine tables at one moment, encrypted for the pinned key, and store the record with the artifact.

    `dsn` is that of cutter_backup. `artifact_id` must be a name that no earlier attempt used. The record names the
    `restore_point` that was marked for this backup. After a refusal no retry helps. After Unavailable(what="backup") a
    retry may help: disk full, gpg killed, connection lost, deadline. Raises Conflict if the artifact exists, and
    InvalidInput for wrong arguments. Without success, nothing stays under the artifact's name. Seed 000 §4.
    """
    deadline = Deadline(deadline_seconds)
    gpg, target = home_of_backups(gpg_home, gpg_binary), Target(open_store(artifacts_url), artifact_id)
    recipient = find_recipient(gpg, pinned(recipient_fingerprint))
    if isinstance(recipient, BackupRefusal):
        return recipient
    dump = _Dump(pg_bin("pg_dump"), *programs.version(pg_bin("pg_dump")), postgres.client(dsn))
    try:
        with closing(postgres.connect(dsn, deadline)) as connection:
            if refusal := programs.too_old((dump.major, dump.version), programs.server_version(connection)):
                return refusal
            moment = _open_snapshot(connection, deadline)
            return _write(moment, dump, gpg, recipient, target, deadline, restore_point)
    except postgres.AWAY as problem:
        raise postgres.away(problem) from None
    except (TableMissing, psycopg.Error) as problem:
        return unreadable(problem)


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
    moment: _Moment,
    dump: _Dump,
    gpg: Gpg,
    recipient: Recipient,
    target: Target,
    deadline: Deadline,
    restore_point: RestorePoint | None,
) -> BackupRecord | BackupRefusal:
    encrypt = Stage(name="gpg", command=gpg.encryption(recipient.fingerprint), environment=environment())
    with write_once.draft(target.store, target.artifact_id) as draft:
        with Pipeline((dump.stage(moment, deadline), encrypt), deadline=deadline) as pipeline:
            sealed = write_sealed(pipeline.chunks(), draft, recipient)
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
            restore_point=restore_point,
        )
        publish(target.store, draft, record)
        return record


def _judge(exits: dict[str, Exit], recipient: Recipient, *, sealed: bool) -> BackupRefusal | None:
    """The refusal, or None for a good backup. It judges gpg first, because pg_dump fails too if gpg stops reading."""
    if refusal := refused_key(exits["gpg"], recipient):
        return refusal
    dump = exits["pg_dump"]
    require_success("gpg", exits["gpg"])
    require_success("pg_dump", dump, _first_line(dump.stderr))
    return None if sealed else wrong_recipient(recipient)


def _first_line(stderr: str) -> str:
    """The first line of pg_dump's error, for the operator. It names tables and hosts, but never rows or passwords."""
    line = "".join(c for c in stderr.strip().split("\n")[0] if c.isprintable())
    return f" ({line[: limits.BACKUP_REASON_CHARACTERS_MAX]})" if line else ""


def unreadable(problem: TableMissing | psycopg.Error) -> BackupRefusal:
    """The refusal if the tables cannot be read."""
    what = f"{problem} is missing" if isinstance(problem, TableMissing) else f"SQLSTATE {problem.sqlstate}"
    return BackupRefusal(
        code=RefusalCode.SOURCE_UNREADABLE,
        message=f"the nine tables cannot be read ({what}): apply the migrations and grant cutter_backup SELECT on them",
        observed=what,
    )
