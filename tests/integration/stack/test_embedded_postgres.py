"""The embedded PostgreSQL: made once, found again, recovered, and closed to everyone without a password."""

from __future__ import annotations

import os
import signal
import socket
import stat
import subprocess
import sys
from pathlib import Path

import psutil
import psycopg
import pytest

from cutter.errors import Unavailable
from cutter.stack import addresses, postgres
from cutter.stack.postgres import State, cluster_status, ensure_cluster, stop_cluster
from cutter.stack.postgres_programs import pg_bin
from cutter.stack.processes import alive, identify, send, until, working_in
from tests.integration.stack.conftest import FAST

START = """
import sys
from pathlib import Path
from cutter.stack.postgres import ensure_cluster
print(ensure_cluster(Path(sys.argv[1])).process.pid)
"""


def rows(cluster: postgres.Cluster, query: str) -> list[tuple[object, ...]]:
    with psycopg.connect(cluster.superuser_dsn(), autocommit=True) as connection:
        return connection.execute(query.encode()).fetchall()


def write(cluster: postgres.Cluster, statement: str) -> None:
    with psycopg.connect(cluster.superuser_dsn(), autocommit=True) as connection:
        connection.execute(statement.encode())


def killed(cluster: postgres.Cluster) -> None:
    send(cluster.process, signal.SIGKILL)
    assert until(lambda: not alive(cluster.process), seconds=10)


def test_it_is_made_once_and_found_again(state_dir: Path) -> None:
    first = ensure_cluster(state_dir, settings=FAST)
    write(first, "CREATE TABLE kept (n int)")
    second = ensure_cluster(state_dir, settings=FAST)
    assert (first.started, second.started) == (True, False)
    assert (second.process, second.port) == (first.process, first.port)
    assert second.version.startswith("18.")
    assert (state_dir / "postgres.url").read_text().strip() == f"postgresql://127.0.0.1:{first.port}/cutter"
    assert rows(second, "SELECT count(*) FROM kept") == [(0,)]


def test_a_stop_is_clean_and_the_next_start_has_port_and_data(state_dir: Path) -> None:
    first = ensure_cluster(state_dir, settings=FAST)
    write(first, "CREATE TABLE kept (n int)")
    assert stop_cluster(state_dir)
    assert not stop_cluster(state_dir)
    assert cluster_status(state_dir).state is State.STOPPED
    assert not (state_dir / "postgres.url").exists()
    second = ensure_cluster(state_dir, settings=FAST)
    assert (second.port, second.started, second.recovered) == (first.port, True, False)
    assert rows(second, "SELECT count(*) FROM kept") == [(0,)]


def test_a_killed_one_recovers_what_was_committed_and_says_so(state_dir: Path) -> None:
    first = ensure_cluster(state_dir)  # durable, as in use
    write(first, "CREATE TABLE kept AS SELECT generate_series(1, 1000) AS n")
    killed(first)
    assert cluster_status(state_dir).state is State.CRASHED
    second = ensure_cluster(state_dir)
    assert second.recovered
    assert rows(second, "SELECT count(*) FROM kept") == [(1000,)]
    assert not ensure_cluster(state_dir).recovered


def test_a_pid_file_that_names_another_process_does_not_block(state_dir: Path) -> None:
    first = ensure_cluster(state_dir, settings=FAST)
    killed(first)
    assert until(lambda: not working_in(first.data_dir, "postgres"), seconds=10)
    note = first.data_dir / "postmaster.pid"
    ours = note.read_text().replace(str(first.process.pid), str(os.getpid()), 1)
    note.write_text(ours)
    second = ensure_cluster(state_dir, settings=FAST)
    assert second.recovered
    assert identify(os.getpid()) is not None


def test_a_port_taken_since_is_chosen_again(state_dir: Path) -> None:
    first = ensure_cluster(state_dir, settings=FAST)
    stop_cluster(state_dir)
    with socket.socket() as other:
        other.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        other.bind((addresses.LOOPBACK, first.port))
        other.listen()
        second = ensure_cluster(state_dir, settings=FAST)
    assert second.port != first.port
    assert rows(second, "SELECT 1") == [(1,)]


def test_a_first_start_that_was_cut_off_is_done_anew(state_dir: Path) -> None:
    half = state_dir / "postgres" / "data.new"
    half.mkdir(parents=True)
    (half / "PG_VERSION").write_text("18\n")
    assert cluster_status(state_dir).state is State.ABSENT
    assert rows(ensure_cluster(state_dir, settings=FAST), "SELECT 1") == [(1,)]
    assert not half.exists()


def test_a_cluster_of_another_version_is_refused_and_untouched(state_dir: Path) -> None:
    data = state_dir / "postgres" / "data"
    data.mkdir(parents=True)
    (data / "PG_VERSION").write_text("16\n")
    with pytest.raises(Unavailable, match="PostgreSQL 16, the installed one is 18"):
        ensure_cluster(state_dir)
    assert [path.name for path in data.iterdir()] == ["PG_VERSION"]


def test_it_outlives_the_command_that_started_it_and_two_that_start_at_once_share_it(state_dir: Path) -> None:
    starters = [
        subprocess.Popen([sys.executable, "-c", START, str(state_dir)], stdout=subprocess.PIPE, text=True) for _ in "ab"
    ]
    pids = {starter.communicate(timeout=120)[0].strip() for starter in starters}
    status = cluster_status(state_dir)
    assert status.state is State.RUNNING
    assert status.process is not None
    assert pids == {str(status.process.pid)}


def test_nobody_connects_without_a_password(state_dir: Path) -> None:
    cluster = ensure_cluster(state_dir, settings=FAST)
    for password in ("", "wrong"):
        with pytest.raises(psycopg.OperationalError, match="password"):
            psycopg.connect(cluster.url("postgres"), user="postgres", password=password, passfile="/nonexistent")
    assert rows(cluster, "SHOW password_encryption") == [("scram-sha-256",)]
    assert rows(cluster, "SELECT DISTINCT auth_method FROM pg_hba_file_rules") == [("scram-sha-256",)]


def test_its_superusers_password_is_in_a_closed_file_and_in_no_address(state_dir: Path) -> None:
    cluster = ensure_cluster(state_dir, settings=FAST)
    kept = state_dir / "secrets" / "postgres.password"
    assert stat.S_IMODE(kept.stat().st_mode) == 0o600
    assert stat.S_IMODE(kept.parent.stat().st_mode) == 0o700
    password = kept.read_text().strip()
    assert len(password) >= 40
    assert password not in cluster.url() + repr(cluster)
    assert not any(password in argument for argument in psutil.Process(cluster.process.pid).cmdline())


def test_a_lost_password_is_an_error_that_names_the_file(state_dir: Path) -> None:
    ensure_cluster(state_dir, settings=FAST)
    (state_dir / "secrets" / "postgres.password").unlink()
    with pytest.raises(Unavailable, match=r"postgres\.password: put the file back"):
        ensure_cluster(state_dir, settings=FAST)


def test_it_listens_on_loopback_only_and_on_no_socket_file(state_dir: Path) -> None:
    cluster = ensure_cluster(state_dir, settings=FAST)
    listening = psutil.Process(cluster.process.pid).net_connections(kind="all")
    assert {connection.laddr for connection in listening if connection.status == psutil.CONN_LISTEN} == {
        (addresses.LOOPBACK, cluster.port)
    }
    assert rows(cluster, "SHOW unix_socket_directories") == [("",)]


def test_it_is_durable_unless_told_otherwise(state_dir: Path) -> None:
    cluster = ensure_cluster(state_dir)
    for setting in ("fsync", "synchronous_commit", "full_page_writes"):
        assert rows(cluster, f"SHOW {setting}") == [("on",)]


def test_its_log_repeats_no_statement_and_no_row(state_dir: Path) -> None:
    cluster = ensure_cluster(state_dir, settings=FAST)
    write(cluster, "CREATE TABLE law (body text UNIQUE CHECK (length(body) < 20))")
    for statement in (
        "INSERT INTO law VALUES ('CANARY one'), ('CANARY one')",
        "INSERT INTO law VALUES ('CANARY two, which is too long')",
        "SELECT 'CANARY three' FROM nothing",
    ):
        with pytest.raises(psycopg.Error):
            write(cluster, statement)
    log = (state_dir / "logs" / "postgres.log").read_text()
    assert log.count("ERROR") == 3
    assert "CANARY" not in log


@pytest.mark.skipif(os.geteuid() != 0, reason="only root gives up its rights")
def test_as_root_it_runs_as_an_unprivileged_user(state_dir: Path) -> None:
    cluster = ensure_cluster(state_dir, settings=FAST)
    assert psutil.Process(cluster.process.pid).uids().effective != 0
    assert stat.S_IMODE(cluster.data_dir.stat().st_mode) == 0o700


def test_a_server_that_still_recovers_is_not_begun_anew(state_dir: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It holds its port by then, which must not be taken for another program's: each new start would begin again."""
    ready, begun = postgres._await_ready, []

    def late(folder: Path, process: postgres.Process) -> None:
        ready(folder, process)
        begun.append(process)
        raise Unavailable("PostgreSQL does not get ready in time", what="database")

    monkeypatch.setattr(postgres, "_await_ready", late)
    with pytest.raises(Unavailable, match="in time"):
        ensure_cluster(state_dir, settings=FAST)
    assert len(begun) == 1
    assert alive(begun[0])


def test_a_missing_program_is_named() -> None:
    with pytest.raises(Unavailable, match="no pg_nonsense in the PostgreSQL wheel"):
        pg_bin("pg_nonsense")
    for name in ("psql", "pg_dump", "pg_restore"):
        assert os.access(pg_bin(name), os.X_OK)
