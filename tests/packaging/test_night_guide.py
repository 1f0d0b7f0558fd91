"""What the guide of the night gives to cron, systemd and Kubernetes is complete, and starts a command of cutter."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest
import yaml

from tests.packaging.test_chart import containers
from tests.packaging.test_units import EXPOSURE_MAX, analyze, analyzed, verifiable  # noqa: F401 — a fixture
from tests.unit.starter.test_next_step import typed

GUIDE = (Path(__file__).parents[2] / "docs" / "guides" / "overnight.md").read_text(encoding="utf-8")


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", GUIDE, re.M | re.S)


(CRONTAB,), UNITS, (CRON_JOB,) = blocks("crontab"), blocks("ini"), blocks("yaml")
(CONTAINER,) = yaml.safe_load(CRON_JOB)["spec"]["jobTemplate"]["spec"]["template"]["spec"]["containers"]
COMMANDS = {
    "cron": re.findall(r"/opt/cutter/bin/cutter (.*)", CRONTAB),
    "systemd": re.findall(r"^ExecStart=/opt/cutter/bin/cutter (.*)", UNITS[0], re.M),
    "kubernetes": [shlex.join(CONTAINER["args"])],
}


@pytest.mark.parametrize("starter", COMMANDS)
def test_each_of_them_starts_a_night(starter: str) -> None:
    """Seed 001 §7."""
    (command,) = COMMANDS[starter]
    typed(f"cutter {command}")
    assert re.fullmatch(r"orchestrate batch --queue \S*\bovernight\.yaml --nightly", command)


def test_cron_reads_its_line() -> None:
    zone, line = CRONTAB.splitlines()
    assert zone == "CRON_TZ=Europe/Berlin"
    assert re.fullmatch(r"0 22 \* \* \* [^%]+", line), "cron ends a command at a percent sign"


@analyzed
def test_systemd_reads_its_units_and_calls_the_service_closed(verifiable: Path) -> None:  # noqa: F811 — a fixture
    for unit in UNITS:
        name = unit.partition("\n")[0].removeprefix("# ")
        (verifiable / name).write_text(unit.replace("/opt/cutter/bin", str(verifiable.parent)), encoding="utf-8")
    service, timer = str(verifiable / "cutter-night.service"), str(verifiable / "cutter-night.timer")
    done = analyze(verifiable, "verify", "--man=no", service, timer)
    assert (done.returncode, [line for line in done.stderr.splitlines() if "cutter-night" in line]) == (0, [])
    done = analyze(verifiable, "security", "--offline=true", f"--threshold={EXPOSURE_MAX}", service)
    assert done.returncode == 0, done.stdout[-200:]


def test_the_pod_of_kubernetes_is_as_closed_as_those_of_the_chart() -> None:
    pod = yaml.safe_load(CRON_JOB)["spec"]["jobTemplate"]["spec"]["template"]["spec"]
    assert CONTAINER["securityContext"] == containers("setup")[0]["securityContext"]
    assert (pod["automountServiceAccountToken"], pod["enableServiceLinks"]) == (False, False)
    assert {mount["name"] for mount in CONTAINER["volumeMounts"]} == {volume["name"] for volume in pod["volumes"]}
