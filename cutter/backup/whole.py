"""IO: dumps the whole database of the local stack through gpg, and brings it back into a fresh stack.

A deployment archives its write-ahead log instead (docs/runbooks/point-in-time.md). No plaintext reaches the disk.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

import psycopg

from cutter import limits
from cutter.backup.encryption import (
    Reader,
    chunks,
    decryption_key,
    encrypted,
    find_recipient,
    home_of_backups,
    open_store,
    pinned,
    require_success,
)
from cutter.backup.pipeline import Deadline, Pipeline, Stage
from cutter.backup.record import BackupRefusal
from cutter.errors import Refused, Unavailable
from cutter.gpg import environment
from cutter.kb import write_once
from cutter.storage.records import answer

DATABASE, _NEW = "cutter", "cutter_new"


@dataclass(frozen=True, slots=True, kw_only=True)
class Server:
    """The embedded server with its superuser, and the function that gives the path of one of its programs."""

    host: str
    port: int
    user: str
    password: str = field(repr=False)
    program: Callable[[str], Path] = field(repr=False)

    def connect(self, database: str = "postgres") -> psycopg.Connection[tuple[object, ...]]:
        """A connection of the superuser, in which each statement is a transaction."""
        return psycopg.connect(
            host=self.host, port=self.port, user=self.user, password=self.password, dbname=database, autocommit=True
        )

    def stage(self, name: str, database: str, *words: str) -> Stage:
        """One of its programs. The password is in the environment, because everyone sees a command line."""
        address = ("--no-password", f"--host={self.host}", f"--port={self.port}", f"--username={self.user}")
        command = (str(self.program(name)), *words, *address, f"--dbname={database}")
        client = {"PATH": os.defpath, "LC_ALL": "C", "PGPASSWORD": self.password}
        return Stage(name=name, command=command, environment=client)


@dataclass(frozen=True, slots=True, kw_only=True)
class Dumped:
    """An encrypted dump: its digest and its size in bytes."""

    sha256: str
    size_bytes: int


def dump(server: Server, file: Path, *, gpg_home: Path, recipient: str) -> Dumped:
    """Dump the database into a new file. Raises Refused, Unavailable, and Conflict if the file exists."""
    gpg, store = home_of_backups(gpg_home, "gpg"), open_store(str(file.absolute().parent))
    key = find_recipient(gpg, pinned(recipient))
    if isinstance(key, BackupRefusal):
        raise Refused(key.message, code=key.code)
    stages = (
        server.stage("pg_dump", DATABASE, "--format=custom", "--compress=none"),
        Stage(name="gpg", command=gpg.encryption(key.fingerprint), environment=environment()),
    )
    with write_once.draft(store, file.name) as draft:
        refusal = encrypted(stages, (), draft, key, Deadline(limits.WHOLE_DATABASE_SECONDS))
        if refusal is not None:
            raise Refused(refusal.message, code=refusal.code)
        draft.publish()
        return Dumped(sha256=draft.sha256, size_bytes=draft.size_bytes)


def bring_back(server: Server, file: Path, *, sha256: str, gpg_home: Path) -> None:
    """Put the dump in the place of the database of a stack that has no run yet. A bootstrap must follow.

    The superuser executes the dump, so its digest must be the given one, and only bytes with this digest are executed.
    The dump goes into a new database. If gpg or pg_restore fails, the present one stays. Raises Refused, Unavailable.
    """
    gpg = home_of_backups(gpg_home, "gpg")
    gpg.start_agent()
    with tempfile.TemporaryFile() as judged, closing(server.connect()) as connection:
        artifact = Reader(chunks(open_store(str(file.absolute().parent)), file.name))
        judged.writelines(artifact)
        if artifact.sha256 != sha256:
            message = f"{file} has the sha256 {artifact.sha256}, not {sha256}: bring the right file"
            raise Refused(message, code="artifact_damaged")
        if runs(server):
            message = "the database of this stack has runs: set CUTTER_STATE_DIR to a new folder, and type"
            raise Refused(message, then="cutter up", code="database_in_use")
        judged.seek(0)
        connection.execute(f"DROP DATABASE IF EXISTS {_NEW} WITH (FORCE)")
        connection.execute(
            f"CREATE DATABASE {_NEW} OWNER cutter_owner TEMPLATE template0 ENCODING 'UTF8' LOCALE_PROVIDER builtin"
            " BUILTIN_LOCALE 'C.UTF-8' LOCALE 'C'"
        )
        stages = (
            Stage(name="gpg", command=gpg.decryption(), environment=environment()),
            server.stage("pg_restore", _NEW, "--single-transaction", "--exit-on-error"),
        )
        with Pipeline(stages, deadline=Deadline(limits.WHOLE_DATABASE_SECONDS), fed=True) as pipeline:
            for _ in pipeline.chunks(iter(partial(judged.read, limits.BACKUP_CHUNK_BYTES), b"")):
                pass
            exits = pipeline.exits()
        if exits["gpg"].killed:
            require_success("gpg", exits["gpg"])
        if not decryption_key(exits["gpg"]):
            raise Refused(f"gpg cannot open {file}: give --gpg-home the home with the private key", code="wrong_key")
        if exits["pg_restore"].code != 0:
            raise Unavailable(f"pg_restore failed with exit code {exits['pg_restore'].code}", what="backup")
        connection.execute(f"DROP DATABASE {DATABASE} WITH (FORCE)")
        connection.execute(f"ALTER DATABASE {_NEW} RENAME TO {DATABASE}")


def runs(server: Server) -> int:
    """The number of runs in the database; 0 before the first migration."""
    try:
        with closing(server.connect(DATABASE)) as connection:
            return int(answer(connection, "SELECT count(*) FROM cutter_governance.run"))
    except psycopg.errors.UndefinedTable:
        return 0
    except psycopg.OperationalError:
        raise Unavailable("this stack's database does not answer: type", then="cutter up", what="database") from None
