"""The systemd units: one for each process, with only its own secrets, and as closed as systemd can make it."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections import defaultdict
from pathlib import Path

import pytest

from cutter.catalogue import LONGEST_CAP_SECONDS, WorkerRole
from cutter.settings import Settings
from cutter.stack import workers
from starter.command_table import COMMANDS
from starter.commands import keys
from starter.commands.keys import KeyRole
from tests.support.database import short_folder

FOLDER = Path(__file__).resolve().parents[2] / "deploy" / "systemd"
UNITS = sorted(FOLDER.glob("*.service"))
COMMON = FOLDER / "cutter-.service.d" / "10-common.conf"
EXPOSURE_MAX = 15
"""Tenths of systemd's own score, where 0 is closed and 100 is open."""

ANALYZE = shutil.which("systemd-analyze")
every_unit = pytest.mark.parametrize("unit", UNITS, ids=lambda unit: unit.stem)
analyzed = pytest.mark.skipif(ANALYZE is None, reason="systemd-analyze is missing (Debian: apt-get install systemd)")


def lines(unit: Path) -> dict[str, list[str]]:
    """The values of each key, in their order."""
    entries: dict[str, list[str]] = defaultdict(list)
    for line in unit.read_text(encoding="utf-8").splitlines():
        if line and line[0] not in "#[":
            key, _, value = line.partition("=")
            entries[key].append(value)
    return entries


def credentials(unit: Path) -> set[str]:
    return {value.partition(":")[0] for value in lines(unit)["LoadCredential"]}


def unit_of(worker: WorkerRole) -> Path:
    return FOLDER / f"cutter-{worker}.service"


@pytest.mark.parametrize("worker", WorkerRole)
def test_a_worker_gets_the_passwords_of_its_own_roles_and_no_other(worker: WorkerRole) -> None:
    passwords = {name.removesuffix(".password") for name in credentials(unit_of(worker)) if name.endswith(".password")}
    assert passwords == set(workers.database_roles(worker))


@pytest.mark.parametrize("worker", WorkerRole)
def test_a_worker_s_credentials_are_all_that_its_key_needs(worker: WorkerRole, tmp_path: Path) -> None:
    """The files of a unit's credentials make the worker's home, and no other worker's."""
    (step,) = lines(unit_of(worker))["ExecStartPre"]
    role = KeyRole(re.fullmatch(r"/opt/cutter/bin/cutter keys import --role (\w+) %d", step)[1])  # type: ignore[index]
    assert role == workers.HOMES[worker]
    for each in (KeyRole.EXECUTOR, KeyRole.VERIFIER, KeyRole.BACKUP):
        keys.make_key(each, tmp_path / "made", expire="1d")
    handed = tmp_path / "handed"
    handed.mkdir()
    for name in credentials(unit_of(worker)):
        if not name.endswith(".password"):
            shutil.copy(tmp_path / "made" / name, handed)
    with short_folder() as homes:
        keys.install_key(role, handed, homes, tmp_path / "secrets")
        assert workers.foreign(homes, worker) == []
        subprocess.run(["gpgconf", "--homedir", str(homes / role), "--kill", "all"], check=True)


def test_the_unit_of_notifications_hands_over_the_secret_of_each_channel() -> None:
    """The guide's table of secrets names the files that channels read."""
    guide = (FOLDER.parents[1] / "docs" / "guides" / "notifications.md").read_text(encoding="utf-8")
    secrets = re.findall(r"^\| `(\S+)` \|", guide.partition("## Secrets")[2].partition("\n## ")[0], re.M)
    unit = FOLDER / "cutter-notify.service"
    assert credentials(unit) == {"cutter_operator.password", *secrets}
    assert {value.removesuffix(":missing") for value in lines(unit)["SetCredential"]} == {*secrets}


@every_unit
def test_each_process_has_a_user_of_its_own_that_sysusers_makes(unit: Path) -> None:
    made = re.findall(r"^u (\S+)", (FOLDER / "cutter.sysusers").read_text(encoding="utf-8"), re.M)
    assert lines(unit)["User"] == lines(unit)["Group"] == [unit.stem]
    assert sorted(made) == [unit.stem for unit in UNITS]


@every_unit
def test_each_command_of_cutter_exists(unit: Path) -> None:
    known = {entry.name.partition(" ")[0] for entry in COMMANDS}
    started = [line for key in ("ExecStartPre", "ExecStart") for line in lines(unit)[key]]
    assert started
    for line in started:
        program, first, *rest = line.split()
        assert program in ("/opt/cutter/bin/cutter", "/opt/cutter/bin/python")
        assert first in known or [first, *rest][:4] == ["-P", "-m", "worker", "--role"]


@every_unit
def test_each_variable_is_a_setting(unit: Path) -> None:
    given = [*lines(unit)["Environment"], *lines(COMMON)["Environment"], *lines(FOLDER / "cutter.env")]
    names = [assignment.partition("=")[0] for assignment in given if assignment.startswith("CUTTER_")]
    assert names
    assert {name.removeprefix("CUTTER_").lower() for name in names} <= set(Settings.model_fields)


@pytest.mark.parametrize("worker", WorkerRole)
def test_a_worker_may_finish_its_longest_gate(worker: WorkerRole) -> None:
    assert int(lines(unit_of(worker))["TimeoutStopSec"][0]) > LONGEST_CAP_SECONDS


@pytest.fixture
def verifiable(tmp_path: Path) -> Path:
    """The units with programs that exist, because systemd looks for them."""
    shutil.copytree(FOLDER, tmp_path / "units")
    for name in ("cutter", "python"):
        (tmp_path / name).symlink_to("/bin/true")
    for unit in (tmp_path / "units").glob("*.service"):
        unit.write_text(unit.read_text(encoding="utf-8").replace("/opt/cutter/bin", str(tmp_path)), encoding="utf-8")
    return tmp_path / "units"


def analyze(units: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "SYSTEMD_UNIT_PATH": f"{units}:/lib/systemd/system", "LC_ALL": "C"}
    command = [str(ANALYZE), "--no-pager", *arguments]
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=False, timeout=60)


@analyzed
def test_systemd_finds_no_mistake(verifiable: Path) -> None:
    done = analyze(verifiable, "verify", "--man=no", *map(str, sorted(verifiable.glob("*.service"))))
    assert (done.returncode, [line for line in done.stderr.splitlines() if str(verifiable) in line]) == (0, [])


@analyzed
def test_systemd_would_find_a_mistake(verifiable: Path) -> None:
    unit = verifiable / "cutter-exec.service"
    unit.write_text(unit.read_text(encoding="utf-8").replace("ExecStart=", "ExecStrat="), encoding="utf-8")
    assert analyze(verifiable, "verify", "--man=no", str(unit)).returncode != 0


@analyzed
@every_unit
def test_systemd_calls_each_unit_closed(unit: Path, verifiable: Path) -> None:
    closed = ("security", "--offline=true", f"--threshold={EXPOSURE_MAX}")
    done = analyze(verifiable, *closed, str(verifiable / unit.name))
    assert done.returncode == 0, done.stdout[-200:]
    shutil.rmtree(verifiable / COMMON.parent.name)
    assert analyze(verifiable, *closed, str(verifiable / unit.name)).returncode != 0
