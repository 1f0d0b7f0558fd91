"""IO: loads a companion into empty tables and compares every table with the header of the companion."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from contextlib import closing
from pathlib import Path

from cutter import limits
from cutter.backup import connection as postgres
from cutter.backup import scratch
from cutter.backup.artifacts import BY_HAND, COMPANION_SUFFIX, RECORD_SUFFIX, open_store
from cutter.backup.companion import rows
from cutter.backup.companion.header import CompanionRecord, Header, Table, from_json, from_line
from cutter.backup.record import BackupRefusal, RefusalCode
from cutter.backup.segments.header import HeaderRefused
from cutter.backup.segments.loader import Artifact, Refused, Tools, decrypted, split, tools_for
from cutter.errors import NotFound


def newest(artifacts_url: str) -> CompanionRecord:
    """The record of the newest companion in the store, which is found without the database. Raises NotFound."""
    store = open_store(artifacts_url)
    records = [
        from_json(store.get(name, limit=limits.BACKUP_RECORD_BYTES_MAX).decode("utf-8", "replace"))
        for name in store.list(BY_HAND)
        if name.endswith(COMPANION_SUFFIX + RECORD_SUFFIX)
    ]
    if not records:
        raise NotFound(f"no companion in {artifacts_url}:", then="cutter backup take --whole", rest=" takes one")
    return max(records, key=lambda record: (record.taken_utc, record.artifact_id))


def restore_check(
    *,
    record: CompanionRecord,
    artifacts_url: str,
    scratch_dsn: str,
    gpg_home: Path,
    gpg_binary: str = "gpg",
    deadline_seconds: float = limits.RESTORE_DEADLINE_SECONDS,
) -> Header | BackupRefusal:
    """Prove in the scratch database that a companion restores to the rows of its snapshot. It leaves no trace there."""
    tools = tools_for(artifacts_url, gpg_home, gpg_binary, deadline_seconds)
    tools.gpg.start_agent()
    try:
        with closing(postgres.connect(scratch_dsn, tools.deadline)) as connection:
            return _checked(connection, tools, record)
    except Refused as problem:
        return problem.refusal
    except postgres.AWAY as problem:
        raise postgres.away(problem) from None


def _checked(connection: postgres.Connection, tools: Tools, record: CompanionRecord) -> Header:
    postgres.bound(connection, tools.deadline)
    foreign = scratch.require_own(connection)
    if foreign is None:
        scratch.lock(connection, tools.deadline)
        foreign = scratch.empty(connection) or scratch.make_tables(connection, scratch.schema_sql(), None)
    if foreign is not None:
        raise Refused(foreign)
    return load(connection, tools, record)


def load(connection: postgres.Connection, tools: Tools, record: CompanionRecord) -> Header:
    """Load a companion into the tables of this database, and compare them. Raises Refused."""
    expected = rows.tables(connection)

    def loaded(plain: Iterator[bytes]) -> Header:
        header, rest = split(plain, from_line)
        _require_same(expected, header.tables)
        scratch.load(connection, rest, expected)
        return header

    artifact = Artifact(artifact_id=record.artifact_id, sha256=record.sha256, size_bytes=record.size_bytes)
    header, _ = decrypted(tools, artifact, record.recipient, loaded)
    restored = rows.described(connection)
    for name, table in header.tables.items():
        if restored[name] != table:
            raise Refused(_differs(record, name))
    return header


def _require_same(expected: Collection[str], held: Mapping[str, Table]) -> None:
    if other := sorted(set(expected) ^ set(held)):
        raise HeaderRefused(f"{other[0]} is in the companion or in this version of cutter, but not in both")


def _differs(record: CompanionRecord, table: str) -> BackupRefusal:
    return BackupRefusal(
        code=RefusalCode.RESTORE_DIFFERS,
        message=f"the restored rows of {table} differ from those of the snapshot: take a new backup",
        expected=record.sha256,
        observed=table,
    )
