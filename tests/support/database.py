"""IO: real databases for tests: one cluster a test session, one migrated template, one clone a test.

The cluster's folder is named in an environment variable by the first pytest process (`claim`), so that all xdist
workers use the same one; that process also stops it (`release`). Roles and their passwords are the cluster's: a test
that alters a role does it in a transaction that it rolls back, or on a cluster of its own (`own_cluster`).
"""

from __future__ import annotations

import os
import shutil
import tempfile
import uuid
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from threading import Lock
from typing import Any, LiteralString

import psycopg
from psycopg import sql
from psycopg.rows import tuple_row

from cutter.catalogue import Role
from cutter.limits import MIB
from cutter.policy.rules_file import shipped
from cutter.settings import Settings
from cutter.stack import postgres
from cutter.stack.processes import held
from cutter.storage import policies
from cutter.storage.migrate import migrate_url
from cutter.storage.pools import SESSION
from cutter.storage.roles import CONNECT

FOLDER_VARIABLE = "TEST_CLUSTER_FOLDER"
TEMPLATE = "cutter"
SCRATCH = "cutter_scratch"
OWNER = "cutter_owner"
ROLES = (
    "cutter_read", "cutter_backup", "cutter_exec", "cutter_verify", "directus", "cutter_operator", "cutter_api",
    "cutter_desk",
)  # fmt: skip
"""Every role but the owner."""

MEMORY_FREE_MIN_BYTES = 2 * 1024 * MIB

FAST = {"fsync": "off", "full_page_writes": "off", "synchronous_commit": "off", "max_connections": "300"}
"""A cluster that lives for minutes has nothing to lose in a crash."""

Connection = psycopg.Connection[tuple[Any, ...]]


def claim() -> bool:
    """Name the folder of this session's cluster; True for the process that must `release` it."""
    if FOLDER_VARIABLE in os.environ:
        return False
    os.environ[FOLDER_VARIABLE] = str(_quick_place() / f"ct{uuid.uuid4().hex[:8]}")
    return True


def _quick_place() -> Path:
    """Memory where there is enough of it: a clone is 500 small files, which took 13 times as long on a disk."""
    memory = Path("/dev/shm")
    if os.access(memory, os.W_OK) and shutil.disk_usage(memory).free > MEMORY_FREE_MIN_BYTES:
        return memory
    return Path("/tmp")


def release() -> None:
    """Stop the cluster, if any test started it, and remove its folder."""
    folder = Path(os.environ.pop(FOLDER_VARIABLE))
    if folder.exists():
        postgres.stop_cluster(folder)
        shutil.rmtree(folder)


@dataclass(frozen=True, slots=True, kw_only=True)
class TestCluster:
    """A running cluster with roles, passwords and a migrated template database."""

    __test__ = False

    cluster: postgres.Cluster
    secrets: Path

    def url(self, role: str, database: str) -> str:
        """Connection string of a role, with its password."""
        if role == postgres.SUPERUSER:
            return self.cluster.superuser_dsn(database)
        password = (self.secrets / f"{role}.password").read_text(encoding="ascii").strip()
        return f"postgresql://{role}:{password}@127.0.0.1:{self.cluster.port}/{database}"

    def maintain(self, *statements: sql.Composed) -> None:
        """Statements of the superuser in the maintenance database."""
        with psycopg.connect(self.cluster.superuser_dsn(), autocommit=True) as connection:
            for statement in statements:
                connection.execute(statement)

    @contextmanager
    def database(self, *, template: str = TEMPLATE, prefix: str = "t") -> Iterator[Database]:
        """A clone of the template (or of any database that no one is connected to), dropped at the end."""
        name = f"{prefix}_{uuid.uuid4().hex[:12]}"
        ours = sql.Identifier(name)
        grantees = sql.SQL(", ").join(map(sql.Identifier, CONNECT[TEMPLATE]))
        self.maintain(
            sql.SQL("CREATE DATABASE {} OWNER {} TEMPLATE {} STRATEGY file_copy").format(
                ours, sql.Identifier(OWNER), sql.Identifier(template)
            ),
            sql.SQL("REVOKE ALL ON DATABASE {} FROM PUBLIC").format(ours),
            sql.SQL("GRANT CONNECT ON DATABASE {} TO {}").format(ours, grantees),
        )
        made = Database(server=self, name=name)
        try:
            yield made
        finally:
            made.close()
            self.maintain(sql.SQL("DROP DATABASE IF EXISTS {} WITH (FORCE)").format(ours))


@dataclass(slots=True, kw_only=True)
class Database:
    """One test's database. What `connect` gave is closed at the test's end."""

    server: TestCluster
    name: str
    _open: list[Connection] = field(default_factory=list)
    _kept: Connection | None = None
    _look_lock: Lock = field(default_factory=Lock)

    def url(self, role: str) -> str:
        return self.server.url(role, self.name)

    @property
    def address(self) -> str:
        """Without user and password, as `Settings.database_url` wants it."""
        return self.server.cluster.url(self.name)

    def connect(self, role: str, *, autocommit: bool = False) -> Connection:
        """A connection of that role (`postgres` is the superuser) with the product's session settings."""
        made: Connection = psycopg.connect(
            self.url(role),
            autocommit=autocommit,
            options=SESSION,
            row_factory=tuple_row,
            application_name=f"test:{role}",
        )
        self._open.append(made)
        return made

    def value(self, query: LiteralString, parameters: Any = None, *, role: str = postgres.SUPERUSER) -> Any:
        """The first column of the first row, committed at once; None when there is no row."""
        with psycopg.connect(self.url(role), autocommit=True) as connection:
            row = connection.execute(query, parameters).fetchone()
        return row[0] if row else None

    def look(self, query: LiteralString, parameters: Any = None) -> Any:
        """The same as `value`, for waits: on a connection that is kept, because a new one costs more than the answer.

        A connection that was lost is replaced once.
        """
        with self._look_lock:
            try:
                return self._looked(query, parameters)
            except psycopg.OperationalError:
                return self._looked(query, parameters)

    def _looked(self, query: LiteralString, parameters: Any) -> Any:
        if self._kept is None or self._kept.closed:
            self._kept = self.connect(postgres.SUPERUSER, autocommit=True)
        row = self._kept.execute(query, parameters).fetchone()
        return row[0] if row else None

    def run(self, statement: LiteralString, parameters: Any = None, *, role: str = postgres.SUPERUSER) -> None:
        """One statement (or several without parameters), committed at once."""
        with psycopg.connect(self.url(role), autocommit=True) as connection:
            connection.execute(statement, parameters)

    def settings(self, state: Path, **changed: Any) -> Settings:
        """Settings of a deployment on this database; every role's password is in reach."""
        return Settings(state_dir=state, database_url=self.address, secrets_dir=self.server.secrets, **changed)

    def close(self) -> None:
        for connection in self._open:
            connection.close()
        self._open.clear()


@dataclass(slots=True, kw_only=True)
class Behind(Database):
    """A database whose clients come through a proxy."""

    port: int

    @property
    def address(self) -> str:
        return f"postgresql://127.0.0.1:{self.port}/{self.name}"


def session_cluster() -> TestCluster:
    """The session's cluster; the first caller of all workers makes it, the others wait for it."""
    folder = Path(os.environ[FOLDER_VARIABLE])
    with held(folder.with_suffix(".lock"), seconds=180, busy="another worker does not get its cluster up"):
        cluster = _started(folder)
    folder.with_suffix(".lock").unlink(missing_ok=True)
    return cluster


@contextmanager
def own_cluster(**changed: str) -> Iterator[TestCluster]:
    """A cluster of one's own, for what alters roles or the server itself; `changed` are settings of the server."""
    folder = Path(tempfile.mkdtemp(prefix="ct", dir=_quick_place()))
    try:
        yield _started(folder, {**FAST, **changed})
    finally:
        postgres.stop_cluster(folder)
        shutil.rmtree(folder)


def _started(folder: Path, settings: Mapping[str, str] = FAST) -> TestCluster:
    cluster = postgres.ensure_cluster(folder, settings=settings)
    made = TestCluster(cluster=cluster, secrets=folder / "secrets")
    ready = folder / "template.ready"
    if not ready.exists():
        postgres.bootstrap(cluster, made.secrets)
        migrate_url(made.url(OWNER, TEMPLATE))
        with psycopg.connect(made.url(Role.OPERATOR, TEMPLATE)) as connection:
            policies.install(connection, shipped())
        ready.touch()
    return made


@contextmanager
def short_folder() -> Iterator[Path]:
    """A folder whose path is short enough for the socket of a gpg-agent."""
    folder = Path(tempfile.mkdtemp(prefix="cs", dir="/tmp"))
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
