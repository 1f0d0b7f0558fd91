"""`cutter up` and `cutter down` as commands, on the real PostgreSQL and the real Temporal."""

from __future__ import annotations

import json
import os
import signal
import socket
import sqlite3
import subprocess
from contextlib import closing, suppress
from dataclasses import replace
from ipaddress import ip_address
from pathlib import Path

import psutil
import pytest

from cutter.stack import addresses, postgres, supervisor, temporal
from cutter.stack.processes import Process, alive, identify, send, until
from cutter.stack.supervisor import only_one
from tests.integration.stack.conftest import Checkout

WORKERS = ("worker-cutter", "worker-exec", "worker-verify")
pytestmark = pytest.mark.xdist_group("stack")

SERVICES = {"postgres", "temporal", *WORKERS, "web ui"}


def processes(checkout: Checkout) -> dict[str, Process]:
    return {name: service.process for name, service in supervisor.read(checkout.state).items()}


def kill(process: Process) -> None:
    send(process, signal.SIGKILL)
    assert until(lambda: not alive(process), seconds=10)


def test_up_again_up_down_and_up(standing: Checkout) -> None:
    """The life of a stack; one test, since each step needs the one before."""
    assert set(standing.up()) == SERVICES
    first = processes(standing)
    assert all(alive(process) for process in first.values())

    again = standing.cutter("up")
    assert again.returncode == 0
    assert processes(standing) == first
    assert all(name in again.stdout for name in SERVICES)
    assert "died" not in again.stderr
    assert again.stderr.endswith("next: cutter approvers init --approver NAME=KEY.asc\n")

    looked = standing.cutter("doctor", "--json")
    checks = {check["name"]: check["verdict"] for check in json.loads(looked.stdout)["checks"]}
    assert {name: checks[name] for name in ("postgres", "temporal", *WORKERS)} == dict.fromkeys(
        ("postgres", "temporal", *WORKERS), "ok"
    )

    stopped = standing.cutter("down", "--json")
    assert set(json.loads(stopped.stdout)["stopped"]) == SERVICES - {"web ui"}
    assert not any(alive(process) for process in first.values())
    assert not (standing.state / "temporal.address").exists()
    assert json.loads(standing.cutter("down", "--json").stdout)["stopped"] == []

    before = {name: (standing.state / name).read_text() for name in ("postgres/port", "temporal/port")}
    standing.up()
    assert {name: (standing.state / name).read_text() for name in before} == before


def test_what_died_is_started_again_and_it_is_said(standing: Checkout) -> None:
    standing.up()
    first = processes(standing)
    for name in ("postgres", "temporal", "worker-exec"):
        kill(first[name])
    sick = standing.cutter("doctor", "--json")
    assert sick.returncode == 5
    bad = {check["name"] for check in json.loads(sick.stdout)["checks"] if check["verdict"] == "bad"}
    assert bad >= {"postgres", "temporal", "worker-exec"}

    healed = standing.cutter("up")
    assert healed.returncode == 0, healed.stderr
    for name in ("postgres", "temporal", "worker-exec"):
        assert f"{name} had died" in healed.stderr
    second = processes(standing)
    assert all(alive(process) for process in second.values())
    assert second["worker-verify"] == first["worker-verify"]


def test_everything_listens_on_loopback_only(standing: Checkout) -> None:
    standing.up()
    for name, process in processes(standing).items():
        for connection in psutil.Process(process.pid).net_connections(kind="all"):
            if connection.status == psutil.CONN_LISTEN:
                assert ip_address(connection.laddr.ip).is_loopback, f"{name} listens at {connection.laddr}"


def test_a_worker_gets_its_own_passwords_and_key_and_nothing_else(standing: Checkout) -> None:
    standing.up()
    for name in WORKERS:
        kill(processes(standing)[name])
    standing.up(SECRET_OF_OURS="1", CUTTER_TENANT="kept", AWS_REGION="kept")
    own = {"cutter": {"cutter_read", "cutter_backup"}, "exec": {"cutter_exec"}, "verify": {"cutter_verify"}}
    keys = {"cutter": ["backup", "backup.fingerprint"], "exec": ["executor"], "verify": ["verifier"]}
    for role, passwords in own.items():
        inventory = json.loads((standing.state / "workers" / f"{role}.seen").read_text())
        assert set(inventory["secrets"]) == {f"{password}.password" for password in passwords}
        assert inventory["keys"] == keys[role]
        assert "SECRET_OF_OURS" not in inventory["environment"]
        assert inventory["environment"]["CUTTER_TENANT"] == "kept"
        assert inventory["environment"]["AWS_REGION"] == "kept"
        folder = standing.state / "workers" / role / "secrets"
        assert {path.stat().st_mode & 0o777 for path in folder.iterdir()} == {0o600}


def test_two_checkouts_run_side_by_side_and_down_stops_its_own_only(standing: Checkout, checkout: Checkout) -> None:
    theirs, ours = standing.up(), checkout.up()
    for name in ("postgres", "temporal", "web ui"):
        assert ours[name]["address"] != theirs[name]["address"]
    assert checkout.cutter("down").returncode == 0
    assert left_below(checkout.folder) == []
    assert all(alive(process) for process in processes(standing).values())


def left_below(folder: Path) -> list[str]:
    """Command lines of all processes that name the folder or work in it."""
    lines = []
    for process in psutil.process_iter():
        with suppress(psutil.Error):
            if str(folder) in " ".join([process.cwd(), *process.cmdline()]):
                lines.append(" ".join(process.cmdline()))
    return lines


def test_a_server_that_exists_is_used_and_not_stopped(standing: Checkout, checkout: Checkout) -> None:
    theirs = standing.up()
    given = {"CUTTER_TEMPORAL_ADDRESS": theirs["temporal"]["address"]}
    assert set(checkout.up(**given)) == {"postgres", *WORKERS}
    assert checkout.cutter("down", **given).returncode == 0
    assert alive(processes(standing)["temporal"])


def test_workers_start_again_when_a_server_has_moved(standing: Checkout) -> None:
    standing.up()
    first = processes(standing)
    kill(first["postgres"])
    with socket.socket() as other:
        other.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        other.bind((addresses.LOOPBACK, int((standing.state / "postgres" / "port").read_text())))
        other.listen()
        moved = standing.cutter("up")
    assert moved.returncode == 0, moved.stderr
    for name in WORKERS:
        assert f"{name} its settings have changed: started again" in moved.stderr
    second = processes(standing)
    assert second["temporal"] == first["temporal"]
    assert not any(alive(first[name]) for name in WORKERS)


def test_a_profile_for_another_server_does_not_stop_the_local_one(standing: Checkout) -> None:
    assert standing.cutter("down").returncode == 0
    standing.up(TEMPORAL_TLS="true", TEMPORAL_TLS_SERVER_NAME="cloud.example", TEMPORAL_API_KEY="theirs")


def test_a_second_up_at_the_same_time_is_told(checkout: Checkout) -> None:
    with only_one(checkout.state):
        for command in ("up", "down"):
            done = checkout.cutter(command)
            assert done.returncode == 5
            assert "another `cutter up` or `cutter down` works in" in done.stderr
    assert supervisor.read(checkout.state) == {}


def test_a_process_that_reuses_a_recorded_number_is_left_alone(standing: Checkout) -> None:
    standing.up()
    kill(processes(standing)["worker-exec"])
    me = identify(os.getpid())
    assert me is not None
    service = supervisor.read(standing.state)["worker-exec"]
    supervisor.remember(standing.state, replace(service, process=replace(me, birth=service.process.birth)))
    assert "worker-exec had died" in standing.cutter("up").stderr


def test_a_worker_that_ends_is_an_error_with_its_last_words(standing: Checkout, tmp_path: Path) -> None:
    standing.up(CUTTER_BUILD_ID="the-same")
    kill(processes(standing)["worker-exec"])
    (tmp_path / "worker.py").write_text("raise SystemExit('no signing key')")
    done = standing.cutter("up", PYTHONPATH=f"{tmp_path}:{Path(__file__).parents[3]}", CUTTER_BUILD_ID="the-same")
    assert done.returncode == 5
    assert done.stderr.splitlines()[-1].startswith("the exec worker ended: no signing key")


def test_workers_of_another_build_are_started_again(standing: Checkout) -> None:
    standing.up(CUTTER_BUILD_ID="one")
    first = processes(standing)
    second = standing.cutter("up", CUTTER_BUILD_ID="two")
    assert second.returncode == 0, second.stderr
    for name in WORKERS:
        assert f"{name} its settings have changed: started again" in second.stderr
    assert {name for name, process in processes(standing).items() if process == first[name]} == {"postgres", "temporal"}
    assert {service.version for name, service in supervisor.read(standing.state).items() if name in WORKERS} == {"two"}


def test_the_local_server_lists_workers_and_keeps_its_data_over_a_kill(standing: Checkout) -> None:
    address = standing.up()["temporal"]["address"]
    program = temporal.resolve().path
    assert program is not None

    def ask(*arguments: str) -> subprocess.CompletedProcess[str]:
        command = [program, *arguments, "--address", address]
        return subprocess.run(command, capture_output=True, text=True, check=False, env={"HOME": str(standing.folder)})

    listed = ask("worker", "list")
    assert listed.returncode == 0, listed.stderr
    started = ask("workflow", "start", "--type", "T", "--task-queue", "none", "--workflow-id", "kept")
    assert started.returncode == 0, started.stderr
    kill(processes(standing)["temporal"])
    assert standing.up()["temporal"]["address"] == address
    assert ask("workflow", "describe", "--workflow-id", "kept").returncode == 0


def test_the_local_servers_file_is_in_wal_mode(standing: Checkout) -> None:
    standing.up()
    file = standing.state / "temporal" / "temporal.db"
    with closing(sqlite3.connect(f"file:{file}?mode=ro", uri=True)) as connection:
        assert connection.execute("PRAGMA journal_mode").fetchone() == ("wal",)
    assert "synchronous=FULL" in psutil.Process(processes(standing)[temporal.NAME].pid).cmdline()


def test_down_before_any_up_is_nothing(checkout: Checkout) -> None:
    done = checkout.cutter("down")
    assert (done.returncode, done.stdout.strip()) == (0, f"nothing was running in {checkout.state}")
    assert not checkout.state.exists()
    assert postgres.cluster_status(checkout.state).state is postgres.State.ABSENT


def test_up_works_in_a_folder_with_a_long_path(checkout: Checkout) -> None:
    """The keys, the sockets of their agents and the database, behind 200 bytes with spaces and letters of any kind."""
    folder = checkout.folder
    while len(os.fsencode(folder)) < 200:
        folder /= "Gesetze und Verträge 法律"
    folder.mkdir(parents=True)
    deep = replace(checkout, folder=folder)
    try:
        assert set(deep.up()) == SERVICES
        again = deep.cutter("doctor", "--json")
        wrong = [check for check in json.loads(again.stdout)["checks"] if check["verdict"] == "bad"]
        assert [check["name"] for check in wrong] == ["approvers"], wrong
    finally:
        deep.cutter("down")
