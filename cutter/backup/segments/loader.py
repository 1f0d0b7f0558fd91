"""IO: loads segments into empty tables: store → gpg --decrypt → our own connection. It executes nothing of one."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TypeVar

import psycopg

from cutter import limits
from cutter.backup import connection as postgres
from cutter.backup import scratch
from cutter.backup.artifacts import chunks, open_store
from cutter.backup.decryption import Reader, damaged, decryption_key, missing, undecrypted
from cutter.backup.keyring import home_of_backups
from cutter.backup.pipeline import Deadline, Pipeline, Stage
from cutter.backup.record import BackupRefusal, RefusalCode
from cutter.backup.script import ScriptRefused
from cutter.backup.segments.header import Header, HeaderRefused, from_line
from cutter.backup.segments.rows import DOCUMENT_COLUMN
from cutter.backup.tables import SEGMENT_TABLES
from cutter.errors import NotFound
from cutter.gpg import Gpg, environment
from cutter.kb.store import Store

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class Artifact:
    """An artifact that must be read: its name, its sha256 and, if known, its size."""

    artifact_id: str
    sha256: str
    size_bytes: int | None = None


class Refused(Exception):
    """Ends a restore with its refusal. No module outside this package sees it."""

    def __init__(self, refusal: BackupRefusal) -> None:
        super().__init__(refusal.message)
        self.refusal = refusal


@dataclass(frozen=True, slots=True, kw_only=True)
class Tools:
    """The parts with which segments are loaded. If `schema_sql` is None, cutter's own migrations make the tables."""

    store: Store
    gpg: Gpg
    schema_sql: str | None
    deadline: Deadline


def tools_for(url: str, home: Path, binary: str, seconds: float, schema_sql: str | None = None) -> Tools:
    """The tools for the store at this URL and the gpg home with the private key."""
    return Tools(
        store=open_store(url), gpg=home_of_backups(home, binary), schema_sql=schema_sql, deadline=Deadline(seconds)
    )


def prepare(connection: postgres.Connection, tools: Tools, *, keep: bool) -> None:
    """Make the empty tables. Raises Refused if the database does not fit."""
    postgres.bound(connection, tools.deadline)
    # This comes before the lock, because in a database of another role this role must lock nothing.
    require(None if keep else scratch.require_own(connection))
    scratch.lock(connection, tools.deadline)
    try:
        schema = tools.schema_sql or scratch.schema_sql()
        if not keep:
            require(scratch.check_tables(connection, schema, SEGMENT_TABLES, DOCUMENT_COLUMN))
            return
        require(scratch.require_empty(connection) or scratch.make_tables(connection, schema, SEGMENT_TABLES))
        scratch.add_column(connection, SEGMENT_TABLES, DOCUMENT_COLUMN)
    except (ValueError, psycopg.ProgrammingError) as problem:
        state = problem.sqlstate if isinstance(problem, psycopg.Error) else "unclosed statement"
        message = f"the tables cannot be made in this database ({state}): check its owner"
        raise Refused(BackupRefusal(code=RefusalCode.SCRATCH_UNFIT, message=message)) from None


def load(
    connection: postgres.Connection,
    tools: Tools,
    artifact: Artifact,
    recipient: str | None,
    wanted: Collection[str] | None = None,
    *,
    marked: bool = True,
) -> tuple[Header, str]:
    """Load the wanted documents of one segment, or all of them. Returns its header and the key that opened it.

    If `marked` is false, the tables have no column for the document of a row. Raises Refused if the artifact is
    missing, damaged, for another key than `recipient`, or no segment.
    """

    def loaded(plain: Iterator[bytes]) -> Header:
        header, rest = split(plain, from_line)
        names = {name.encode("ascii") for name in (header.documents if wanted is None else wanted)}
        kept = partial(_only if marked else _unmarked, names)
        scratch.load(connection, rest, SEGMENT_TABLES, kept, left_out=None if marked else DOCUMENT_COLUMN)
        return header

    return decrypted(tools, artifact, recipient, loaded)


def decrypted(
    tools: Tools, artifact: Artifact, recipient: str | None, load_into: Callable[[Iterator[bytes]], T]
) -> tuple[T, str]:
    """Decrypt an artifact and load its plaintext. Returns what the load returned, and the key that opened the artifact.

    Raises Refused, as `load` does. A lost connection raises psycopg's error.
    """
    reader = Reader(chunks(tools.store, artifact.artifact_id))
    decrypt = Stage(name="gpg", command=tools.gpg.decryption(), environment=environment())
    try:
        with Pipeline((decrypt,), deadline=tools.deadline, fed=True) as pipeline:
            plain = pipeline.chunks(reader)
            outcome, failure = _attempted(plain, load_into)
            for _ in plain:  # After a failure too: the digest and the exit codes show the first cause.
                pass
            gpg = pipeline.exits()["gpg"]
    except NotFound:
        raise Refused(missing(artifact.artifact_id)) from None
    key = decryption_key(gpg)
    require(damaged(reader, artifact.sha256, artifact.size_bytes) or undecrypted(gpg, key, recipient or key))
    if outcome is None:
        message = f"{artifact.artifact_id} does not restore: {failure}; take a new backup"
        raise Refused(BackupRefusal(code=RefusalCode.RESTORE_FAILED, message=message, observed=failure))
    return outcome, key


def _attempted(plain: Iterator[bytes], load_into: Callable[[Iterator[bytes]], T]) -> tuple[T | None, str]:
    """What the load returned, or None and the reason why it failed. A lost connection raises."""
    try:
        return load_into(plain), ""
    except (ScriptRefused, HeaderRefused) as problem:
        return None, str(problem)
    except postgres.AWAY:
        raise
    except psycopg.Error as problem:
        return None, f"SQLSTATE {problem.sqlstate}"


def split(plain: Iterator[bytes], header_of: Callable[[bytes], T]) -> tuple[T, Iterator[bytes]]:
    """The header of a plaintext, and the plaintext after it. Raises HeaderRefused."""
    head = b""
    for chunk in plain:
        head += chunk
        if b"\n" in chunk or len(head) > limits.SEGMENT_HEADER_BYTES_MAX:
            break
    line, _, rest = head.partition(b"\n")
    return header_of(line), itertools.chain([rest], plain)


def _only(names: Collection[bytes], lines: bytes) -> bytes:
    """The lines of these documents. A row's document is its first field."""
    return b"".join(line + b"\n" for line in lines[:-1].split(b"\n") if line.split(b"\t", 1)[0] in names)


def _unmarked(names: Collection[bytes], lines: bytes) -> bytes:
    """The lines of these documents without their first field."""
    split_lines = (line.split(b"\t", 1) for line in lines[:-1].split(b"\n"))
    return b"".join(rest[0] + b"\n" for name, *rest in split_lines if name in names)


def require(refusal: BackupRefusal | None) -> None:
    """Raise Refused if there is a refusal."""
    if refusal is not None:
        raise Refused(refusal)
