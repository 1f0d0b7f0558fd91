"""The commands of the systemd units, with the environment and the credentials that systemd would give them."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from cutter.catalogue import WorkerRole
from starter.local import deployment_keys
from starter.local.deployment_keys import KeyRole
from tests.support.processes import ROOT, Stack, wait

UNITS = ROOT / "deploy" / "systemd"
BIN = Path(sys.executable).parent


class Unit:
    """A unit with its folders below `place`: those of its credentials, of its state and of its running process."""

    def __init__(self, name: str, place: Path, stack: Stack) -> None:
        self.place, self.stack = place, stack
        common = UNITS / "cutter-.service.d" / "10-common.conf"
        self.lines = [
            line for file in (common, UNITS / f"cutter-{name}.service") for line in file.read_text().split("\n")
        ]
        self.hand_over()

    def values(self, key: str) -> list[str]:
        """The values of a key with their specifiers replaced."""
        places = {"%d": "credentials", "%t": "run", "%S": "state"}
        values = [line.partition("=")[2] for line in self.lines if line.startswith(f"{key}=")]
        return [re.sub("%[dtS]", lambda found: str(self.place / places[found[0]]), value) for value in values]

    def hand_over(self) -> None:
        """Copy the files that the credentials name, and no others."""
        credentials = self.place / "credentials"
        credentials.mkdir()
        for value in self.values("LoadCredential"):
            name, _, source = value.partition(":")
            folder = self.stack.state / "secrets" if "/secrets/" in source else self.place / "files"
            shutil.copy(folder / Path(source).name, credentials / name)

    def environment(self) -> dict[str, str]:
        """The unit's own variables, and the addresses and policies of the stack, which /etc/cutter would hold."""
        state = self.stack.state
        here = {
            "CUTTER_APPROVERS_DIR": str(state / "approvers"),
            "CUTTER_POLICY_FILE": str(state / "policy.yaml"),
            "CUTTER_DATABASE_URL": (state / "postgres.url").read_text().strip(),
            "CUTTER_TEMPORAL_ADDRESS": (state / "temporal.address").read_text().strip(),
        }
        given = dict(value.split("=", 1) for value in self.values("Environment"))
        return {"PATH": os.environ["PATH"], **given, **here}

    def command(self, line: str) -> list[str]:
        program, *arguments = line.replace("/opt/cutter/bin", str(BIN)).split()
        return [program, *arguments]


def run(unit: Unit, line: str) -> None:
    command, environment = unit.command(line), unit.environment()
    done = subprocess.run(command, env=environment, cwd=unit.place, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, f"{line}: {done.stderr[-2000:]}"


def end_agents(place: Path) -> None:
    for home in place.glob("run/*/keys/*/"):
        subprocess.run(["gpgconf", "--homedir", str(home), "--kill", "all"], check=True)


@pytest.mark.parametrize("worker", WorkerRole)
def test_a_worker_serves_with_its_own_credentials_and_drains(standing: Stack, worker: WorkerRole) -> None:
    with TemporaryDirectory(prefix="cu") as name:
        place = Path(name)
        for role in (KeyRole.EXECUTOR, KeyRole.VERIFIER, KeyRole.BACKUP):
            deployment_keys.make(role, place / "files", expire="1d")
        unit = Unit(worker, place, standing)
        for line in unit.values("ExecStartPre"):
            run(unit, line)
        (start,) = unit.values("ExecStart")
        log = place / "log"
        with log.open("wb") as output:
            command, environment = unit.command(start), unit.environment()
            process = subprocess.Popen(command, env=environment, cwd=place, stdout=output, stderr=output)
        try:
            wait(lambda: process.poll() is not None or b"worker.ready" in log.read_bytes(), seconds=60, what="ready")
            assert process.poll() is None, log.read_text()[-2000:]
            process.send_signal(signal.SIGTERM)
            assert process.wait(60) == 0
        finally:
            process.kill()
            process.wait()
            end_agents(place)
        events = [json.loads(one).get("event") for one in log.read_text().splitlines() if one.startswith("{")]
        assert events[-1] == "worker.drained"


def test_the_servers_are_prepared_with_the_owner_s_password_alone_and_again(standing: Stack) -> None:
    with TemporaryDirectory(prefix="cu") as name:
        unit = Unit("setup", Path(name), standing)
        assert [file.name for file in (unit.place / "credentials").iterdir()] == ["cutter_owner.password"]
        for line in unit.values("ExecStart") * 2:
            run(unit, line)
