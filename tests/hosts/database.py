"""IO: PostgreSQL servers with TLS: the engine's one, and the pair of the law database with a synchronous standby."""

from __future__ import annotations

import shutil
import signal
import subprocess
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any, LiteralString

import psutil
import psycopg
from psycopg import sql
from psycopg.rows import dict_row

from cutter.stack.processes import ServiceUser, as_user, until
from cutter.types import Json
from tests.hosts.certificates import Authority
from tests.hosts.ground import Ground, give
from tests.hosts.keeper import Keeper, Unit
from tests.hosts.programs import Programs

SETTINGS = {
    "listen_addresses": "127.0.0.1", "ssl": "on", "max_connections": "200", "authentication_timeout": "20s",
    "log_min_error_statement": "panic", "log_error_verbosity": "terse",
}  # fmt: skip
HBA = "local all all trust\nlocal replication all trust\nhostssl all all 127.0.0.0/8 scram-sha-256\n" \
    "hostssl replication all 127.0.0.0/8 scram-sha-256\n"  # fmt: skip
REPLICATOR = "replicator"
START_SECONDS = 30


@dataclass(frozen=True, slots=True, kw_only=True)
class Server:
    """One server. People and workers reach it by TLS; the cluster itself reaches it by its socket."""

    name: str
    ground: Ground
    programs: Programs
    authority: Authority
    keeper: Keeper
    user: ServiceUser
    port: int
    restarts: bool = False

    @property
    def data(self) -> Path:
        return self.ground.place / "databases" / self.name

    @property
    def sockets(self) -> Path:
        return self.ground.place / "databases"

    @property
    def archive(self) -> Path:
        """The archived write-ahead log of whichever server is the primary."""
        return self.ground.place / "databases" / "archive"

    def initialise(self) -> None:
        """An empty cluster of databases, with a password of the superuser and of the replication."""
        self._run(self.programs.postgres / "initdb", "--pgdata", self.data, "--username=postgres", "--encoding=UTF8",
                  "--locale-provider=builtin", "--builtin-locale=C.UTF-8", "--locale=C", "--auth=trust")  # fmt: skip
        (self.data / "pg_hba.conf").write_text(HBA, encoding="ascii")

    def begin(self) -> None:
        """Start it, and wait until it accepts connections."""
        for kind, source in (("crt", self.authority.certificate), ("key", self.authority.key)):
            copy = self.data / f"server.{kind}"
            shutil.copy(source("database"), copy)
            give(copy, self.user)
        settings = {
            **SETTINGS, "port": str(self.port), "unix_socket_directories": str(self.sockets), "archive_mode": "on",
            "archive_command": f"test -f {self.archive}/%f || cp %p {self.archive}/%f",
        }  # fmt: skip
        words = [word for name, value in settings.items() for word in ("-c", f"{name}={value}")]
        self.keeper.start(Unit(
            name=self.name, command=[str(self.programs.postgres / "postgres"), "-D", str(self.data), *words],
            environment={"PATH": "/usr/bin:/bin", "TZ": "UTC"}, user=self.user, folder=self.data,
            log=self.ground.place / "logs" / f"{self.name}.log", restarts=self.restarts, last=signal.SIGQUIT,
        ))  # fmt: skip
        assert until(self.answers, seconds=START_SECONDS), f"{self.name}: {self.keeper.said(self.name)}"

    def answers(self) -> bool:
        try:
            return bool(self.rows("select 1 as one"))
        except psycopg.Error:
            return False

    def rows(self, query: LiteralString | sql.Composed, given: Any = None, *, database: str = "postgres") -> list[Json]:
        """Rows as the superuser sees them."""
        where = f"host={self.sockets} port={self.port} user=postgres dbname={database} connect_timeout=3"
        with closing(psycopg.connect(where, autocommit=True)) as connection:
            cursor = connection.cursor(row_factory=dict_row).execute(query, given)
            return cursor.fetchall() if cursor.description else []

    def url(self, user: str, database: str) -> str:
        """As a client on another host connects, without the password."""
        where = f"127.0.0.1:{self.port}/{database}?sslmode=verify-full&sslrootcert={self.authority.root}"
        return f"postgresql://{user}@{where}"

    def send(self, number: signal.Signals) -> None:
        """A signal to the server with all its processes, as if it met the whole host."""
        head = psutil.Process(self.keeper.processes[self.name].pid)
        for process in (head, *head.children(recursive=True)):
            try:
                process.send_signal(number)
            except psutil.NoSuchProcess:
                continue

    def gone(self) -> bool:
        return not psutil.pid_exists(self.keeper.processes[self.name].pid)

    def _run(self, *words: str | Path) -> None:
        done = subprocess.run([str(word) for word in words], capture_output=True, text=True, check=False, umask=0o077,
                              cwd=self.sockets, env={"PATH": "/usr/bin:/bin"}, **as_user(self.user))  # fmt: skip
        assert done.returncode == 0, f"{words[0]}: {done.stderr[-1000:]}"


@dataclass(slots=True)
class Pair:
    """The law database: a primary, and a standby that has each transaction before its COMMIT is answered."""

    primary: Server
    standby: Server
    password: str

    def begin(self) -> None:
        """Start both."""
        self.primary.archive.mkdir()
        give(self.primary.archive, self.primary.user)
        self.primary.initialise()
        self.primary.begin()
        for name, attributes in (("postgres", sql.SQL("")), (REPLICATOR, sql.SQL("login replication"))):
            verb = sql.SQL("alter" if name == "postgres" else "create")
            self.primary.rows(sql.SQL("{} role {} {} password {}").format(
                verb, sql.Identifier(name), attributes, sql.Literal(self.password)))  # fmt: skip
        self.follow()

    def follow(self) -> None:
        """Make the standby from the primary again, and wait until it is synchronous."""
        self._copy_primary(self.standby.data)
        source = (
            f"host=127.0.0.1 port={self.primary.port} user={REPLICATOR} password={self.password} "
            f"sslmode=verify-full sslrootcert={self.primary.authority.root} application_name={self.standby.name}"
        )
        settings = f"\nprimary_conninfo = '{source}'\nhot_standby = on\nsynchronous_standby_names = ''\n"
        with (self.standby.data / "postgresql.auto.conf").open("a", encoding="utf-8") as file:
            file.write(settings)
        (self.standby.data / "standby.signal").touch()
        self.standby.begin()
        self.primary.rows(sql.SQL("alter system set synchronous_standby_names = {}").format(
            sql.Literal(self.standby.name)))  # fmt: skip
        self.primary.rows("select pg_reload_conf()")
        assert until(self.is_synchronous, seconds=START_SECONDS), "the standby does not follow"

    def _copy_primary(self, folder: Path) -> None:
        shutil.rmtree(folder, ignore_errors=True)
        self.standby._run(self.primary.programs.base_backup, "--host", self.primary.sockets, "--port",
                          str(self.primary.port), "--username=postgres", "--pgdata", folder,
                          "--checkpoint=fast")  # fmt: skip

    def take_base(self) -> None:
        """A base backup, from which the archived log leads to any later moment."""
        self._copy_primary(self.primary.sockets / "base")

    def lose_and_recover(self) -> None:
        """The primary's folder is gone. It comes back from base backup and archive, and gets another standby."""
        (file,) = self.primary.rows("select pg_walfile_name(pg_switch_wal()) as name")
        archived = "select 1 as one from pg_stat_archiver where last_archived_wal >= %s"
        assert until(lambda: bool(self.primary.rows(archived, (file["name"],))), seconds=START_SECONDS)
        for server in (self.standby, self.primary):
            server.keeper.units.pop(server.name, None)
            server.send(signal.SIGKILL)
            assert until(server.gone, seconds=10)
        shutil.rmtree(self.primary.data)
        shutil.copytree(self.primary.sockets / "base", self.primary.data)
        (self.primary.data / "recovery.signal").touch()
        with (self.primary.data / "postgresql.auto.conf").open("a", encoding="utf-8") as conf:
            conf.write(
                f"\nrestore_command = 'cp {self.primary.archive}/%f %p'\nrecovery_target_action = 'promote'\n"
                "hot_standby = off\nsynchronous_standby_names = ''\n"
            )
        give(self.primary.data, self.primary.user)
        self.primary.begin()
        self.follow()

    def is_synchronous(self) -> bool:
        return bool(self.primary.rows("select 1 as one from pg_stat_replication where sync_state = 'sync'"))

    def fail_over(self) -> None:
        """Kill the primary and promote the standby, as a cluster manager does."""
        self.primary.send(signal.SIGKILL)
        assert until(self.primary.gone, seconds=10)
        self.primary.keeper.units.pop(self.primary.name)
        self.standby.rows("select pg_promote()")
        self.primary, self.standby = self.standby, self.primary
