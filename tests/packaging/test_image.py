"""The image: its steps run on any Debian, it runs as nobody's user, and its packages are those that are tested."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from cutter.settings import Settings

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "deploy" / "image"
CONTAINERFILE = (FOLDER / "Containerfile").read_text(encoding="utf-8")
STEPS = (FOLDER / "steps").read_text(encoding="utf-8")
LOCKED = re.compile(r"^([a-z0-9._-]+)==([^ ]+)", re.M)


def test_no_base_image_is_taken_without_its_digest() -> None:
    assert re.search(r"^ARG BASE$", CONTAINERFILE, re.M)
    assert re.findall(r"^FROM (\S+)", CONTAINERFILE, re.M) == ["${BASE}", "${BASE}"]
    for base in ("debian:13-slim", "debian@sha256:12", "debian:latest@sha256:" + "g" * 64):
        done = subprocess.run([FOLDER / "build", base, "cutter"], capture_output=True, text=True, check=False)
        assert (done.returncode, "with its digest" in done.stderr) == (2, True)


def test_it_runs_as_the_user_that_its_steps_make() -> None:
    (user,) = re.findall(r"^USER (.+)$", CONTAINERFILE, re.M)
    (made,) = re.findall(r"^readonly USER_ID=(\d+)$", STEPS, re.M)
    assert user == f"{made}:{made}"
    assert int(made) > 0


def test_its_variables_are_settings() -> None:
    names = re.findall(r"CUTTER_([A-Z_]+)=", CONTAINERFILE)
    assert {"STATE_DIR", "KEYS_DIR"} <= set(names)
    assert {name.lower() for name in names} <= set(Settings.model_fields)


def test_every_package_is_installed_by_its_hash() -> None:
    installs = re.findall(r"pip install [^\n]*(?:\\\n[^\n]*)*", STEPS)
    assert len(installs) == 2
    assert all("--require-hashes" in install or "--no-index" in install for install in installs)


@pytest.mark.parametrize("name", ["build", "context", "sbom", "try"])
def test_its_scripts_can_be_read_by_bash(name: str) -> None:
    subprocess.run(["bash", "-n", FOLDER / name], check=True)


def test_the_image_has_the_versions_that_are_tested() -> None:
    """The lock of a deployment differs from that of the tests only by the packages of its extras."""
    tested, deployed = (
        dict(LOCKED.findall((ROOT / f"{name}.lock").read_text(encoding="utf-8")))
        for name in ("requirements", "requirements-deploy")
    )
    assert tested.items() <= deployed.items()
