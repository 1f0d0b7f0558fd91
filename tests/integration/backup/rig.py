"""IO: real parts for proving backups: one cluster, databases of the real schema, gpg homes, programs that misbehave.

Used by the integration tests and the P18 campaign.
"""

from __future__ import annotations

import re
import shutil
import stat
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psycopg

from cutter.backup.pipeline import Deadline
from cutter.backup.record import BackupRecord, BackupRefusal, RestoreReport
from cutter.backup.restore import restore_check
from cutter.backup.take import take
from cutter.catalogue import Role
from cutter.settings import Settings
from cutter.stack.postgres import Cluster, bootstrap, ensure_cluster, stop_cluster
from cutter.stack.postgres_programs import pg_bin
from cutter.storage.migrate import migrate_url
from cutter.storage.pools import Pool, open_pool

CANARY = "canary-7f3a9c-not-to-be-found"
ROLE = "cutter_backup"
NUMBER = 9
# A cluster that lives for minutes has nothing to lose in a crash.
_FAST = {"fsync": "off", "synchronous_commit": "off", "full_page_writes": "off"}


@dataclass(slots=True)
class Server:
    """A cluster whose database `cutter` holds the schema and serves as template."""

    cluster: Cluster
    secrets: Path
    made: int = 0

    def dsn(self, role: str, database: str) -> str:
        password = (self.secrets / f"{role}.password").read_text(encoding="ascii").strip()
        return f"postgresql://{role}:{password}@127.0.0.1:{self.cluster.port}/{database}"

    def run(self, statement: str, *, database: str = "postgres") -> None:
        """As the superuser."""
        with psycopg.connect(self.cluster.superuser_dsn(database), autocommit=True) as connection:
            connection.execute(statement)

    def value(self, query: str, *, database: str = "postgres") -> Any:
        with psycopg.connect(self.cluster.superuser_dsn(database), autocommit=True) as connection:
            row = connection.execute(query).fetchone()
        return row[0] if row else None

    def new_database(self) -> str:
        self.made += 1
        name = f"law_{self.made}"
        self.run(f"CREATE DATABASE {name} OWNER cutter_owner TEMPLATE cutter")
        return name

    def new_scratch(self, *, owner: str = ROLE) -> str:
        self.made += 1
        name = f"scratch_{self.made}"
        self.run(f"CREATE DATABASE {name} OWNER {owner} TEMPLATE template0")
        return name

    def drop(self, *databases: str) -> None:
        for name in databases:
            self.run(f"DROP DATABASE IF EXISTS {name} WITH (FORCE)")

    def fill(self, database: str, *, units: int, canary: str = CANARY, number: int = NUMBER) -> None:
        """The rows of one law. Laws with other numbers share no id with it."""
        script = Path(__file__).with_name("rows.sql").read_text(encoding="utf-8")
        for name, value in {"units": str(units), "canary": canary, "number": str(number)}.items():
            script = script.replace(f"{{{name}}}", value)
        self.run(script, database=database)


@contextmanager
def server() -> Iterator[Server]:
    with tempfile.TemporaryDirectory(prefix="cb-", dir="/tmp") as folder:
        state = Path(folder)
        cluster = ensure_cluster(state, settings=_FAST)
        try:
            bootstrap(cluster, state / "secrets")
            made = Server(cluster=cluster, secrets=state / "secrets")
            migrate_url(made.dsn("cutter_owner", "cutter"))
            yield made
        finally:
            stop_cluster(state)


@dataclass(frozen=True, slots=True)
class Home:
    """A gpg home with one key."""

    path: Path
    fingerprint: str

    def export(self) -> bytes:
        return gpg(self.path, "--export", self.fingerprint)

    def add(self, public_key: bytes) -> None:
        gpg(self.path, "--import", given=public_key)


def gpg(home: Path, *arguments: str, given: bytes = b"") -> bytes:
    done = subprocess.run(
        ["gpg", "--homedir", str(home), "--batch", "--quiet", "--no-tty", "--trust-model", "always", *arguments],
        input=given,
        capture_output=True,
        check=True,
    )
    return done.stdout


@contextmanager
def new_home(*, made_at: str = "20260101T000000", lives: str = "never", usage: str = "default") -> Iterator[Home]:
    """A key made at a moment of the past, so that an expired one is a real one."""
    with tempfile.TemporaryDirectory(prefix="cg-", dir="/tmp") as folder:
        path = Path(folder)
        algorithm = "future-default" if usage == "default" else "ed25519"
        # The exclamation mark lets gpg's clock stand still, or the agent and it would not agree on the moment.
        quiet = ("--passphrase", "", "--pinentry-mode", "loopback", "--faked-system-time", f"{made_at}!")
        gpg(path, *quiet, "--quick-generate-key", "backup <backup@example.org>", algorithm, usage, lives)
        colons = gpg(path, "--with-colons", "--list-keys").decode()
        fingerprint = re.search(r"^fpr:+([0-9A-F]+):", colons, re.MULTILINE)
        assert fingerprint
        try:
            yield Home(path, fingerprint[1])
        finally:
            subprocess.run(["gpgconf", "--homedir", folder, "--kill", "gpg-agent"], check=False, capture_output=True)


@dataclass(slots=True)
class Rig:
    """One filled database, its scratch, a key, a store; `take` and `check` with the defect that a test puts in."""

    server: Server
    home: Home
    folder: Path
    database: str
    scratch: str
    programs: dict[str, Path] = field(default_factory=dict)
    taken: int = 0

    @property
    def store(self) -> Path:
        return self.folder / "artifacts"

    @property
    def gpg(self) -> str:
        return str(self.programs.get("gpg", "gpg"))

    def settings(self, database: str) -> Settings:
        url = f"postgresql://127.0.0.1:{self.server.cluster.port}/{database}"
        return Settings(state_dir=self.folder / "state", database_url=url, secrets_dir=self.server.secrets)

    def pool(self, database: str) -> Pool:
        return open_pool(self.settings(database), Role.BACKUP, size=1, timeout=3)

    def take(self, *, database: str = "", deadline_seconds: float = 60, **changed: Any) -> BackupRecord | BackupRefusal:
        self.taken += 1
        arguments: dict[str, Any] = {
            "document_id": f"ICX-LAW-{NUMBER}",
            "docprefix": f"ICX-LAW-{NUMBER}",
            "gpg_home": self.home.path,
            "gpg_binary": self.gpg,
            "recipient_fingerprint": self.home.fingerprint,
            "artifacts_url": self.store.as_uri(),
            "artifact_id": f"run/pre_write_{self.taken}.gpg",
            "deadline": Deadline(deadline_seconds),
        }
        with closing(self.pool(database or self.database)) as source:
            return take(source=source, **arguments | changed)

    def check(
        self, record: BackupRecord, *, deadline_seconds: float = 60, **changed: Any
    ) -> RestoreReport | BackupRefusal:
        arguments: dict[str, Any] = {
            "record": record,
            "artifacts_url": self.store.as_uri(),
            "gpg_home": self.home.path,
            "gpg_binary": self.gpg,
            "deadline": Deadline(deadline_seconds),
        }
        with closing(self.pool(self.scratch)) as scratch:
            return restore_check(scratch=scratch, **arguments | changed)

    def taken_record(self) -> BackupRecord:
        record = self.take()
        assert isinstance(record, BackupRecord), record
        return record

    def artifact(self, record: BackupRecord) -> Path:
        return self.store / record.artifact_id

    def replace(self, program: str, script: str) -> Path:
        """Put a shell script in a program's place; in it `$REAL` is the program, `$STORE` the artifacts' folder."""
        real = shutil.which("gpg") if program == "gpg" else str(pg_bin(program))
        path = self.folder / f"{program}-replaced"
        path.write_text(
            f'#!/bin/bash\nREAL="{real}"\nSTORE="{self.store}"\n{_PASS_VERSION}{script}\n', encoding="utf-8"
        )
        path.chmod(stat.S_IRWXU)
        self.programs[program] = path
        return path

    def left(self) -> list[str]:
        """Every file below the store."""
        return sorted(str(path.relative_to(self.store)) for path in self.store.rglob("*") if path.is_file())


# Questions that carry no data are answered by the real program; only the work itself goes wrong.
_PASS_VERSION = """case " $* " in *" --version "*|*" --list-keys "*) exec "$REAL" "$@";; esac
"""


@contextmanager
def rig(server: Server, home: Home, *, units: int = 20) -> Iterator[Rig]:
    database, scratch = server.new_database(), server.new_scratch()
    try:
        server.fill(database, units=units)
        with tempfile.TemporaryDirectory(prefix="ca-", dir="/tmp") as folder:
            yield Rig(server=server, home=home, folder=Path(folder), database=database, scratch=scratch)
    finally:
        server.drop(database, scratch)


def holds_plaintext(folders: list[Path], canary: str = CANARY) -> list[Path]:
    """Files that hold the canary or the head of a pg_dump archive."""
    paths = []
    for folder in folders:
        for path in folder.rglob("*"):
            if path.is_file() and not path.name.endswith("-replaced"):
                data = path.read_bytes()
                if canary.encode() in data or data.startswith(b"PGDMP"):
                    paths.append(path)
    return paths
