"""The demo from a wheel, as a person has it who has no checkout. `make nightly` runs it: it takes minutes."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from cutter.settings import Settings
from cutter.versions import build_id

ROOT = Path(__file__).resolve().parents[2]
UV = Path(sys.executable).parent / "uv"
NOT_NEEDED = ("git", "make")


@pytest.fixture(scope="module")
def commands(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the commands of an environment that holds the locked packages and the wheel, and nothing else."""
    folder = tmp_path_factory.mktemp("installed")
    built = subprocess.run([ROOT / "scripts" / "wheel", folder], capture_output=True, text=True, check=True)
    place = folder / "environment"
    _uv("venv", "--python", sys.executable, str(place))
    _uv("pip", "install", "--python", str(place), "--require-hashes", "-r", str(ROOT / "requirements.lock"))
    _uv("pip", "install", "--python", str(place), "--no-deps", "--offline", built.stdout.strip())
    _uv("pip", "check", "--python", str(place))
    return place / "bin"


def test_the_demo_runs_from_an_empty_folder(commands: Path) -> None:
    with TemporaryDirectory(prefix="cw") as empty:
        done = _cutter(commands, Path(empty), "demo")
        assert done.returncode == 0, done.stderr[-2000:]
        assert "state: closeout_reported" in done.stdout
        assert "batch state: batch_closeout" in done.stdout
        assert "amended law" in done.stdout
        logs = [file.read_text(encoding="utf-8") for file in Path(empty).rglob("logs/worker-*.log")]
        assert len(logs) == 3
        assert not [log for log in logs if str(ROOT) in log]


def test_doctor_asks_for_no_tool_of_a_checkout(commands: Path, tmp_path: Path) -> None:
    programs = tmp_path / "bin"
    programs.mkdir()
    for name in ("gpg", "gpgconf", "gpg-agent", "env", "sh"):
        (programs / name).symlink_to(str(shutil.which(name)))
    done = _cutter(commands, tmp_path, "doctor", "--json", env={"PATH": str(programs)})
    checks = {check["name"]: check["verdict"] for check in json.loads(done.stdout)["checks"]}
    assert {name: checks[name] for name in NOT_NEEDED} == dict.fromkeys(NOT_NEEDED, "optional")
    assert [name for name, verdict in checks.items() if verdict == "bad"] == []


def test_its_workers_have_the_build_id_of_the_checkout(commands: Path, tmp_path: Path) -> None:
    """The id is a digest of all code, SQL, profiles and templates, so none of them is missing or different."""
    program = "from cutter import build, settings; print(build.build_id(settings.Settings()))"
    output = subprocess.check_output([commands / "python", "-c", program], cwd=tmp_path, text=True)
    assert output.strip() == build_id(Settings(build_id=None))


def _cutter(
    commands: Path, folder: Path, *arguments: str, env: Mapping[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    """A command as a person types it who has activated nothing, and has no setting of ours."""
    kept = {name: os.environ[name] for name in ("PATH", "HOME", "LANG", "XDG_CACHE_HOME") if name in os.environ}
    return subprocess.run(
        [commands / "cutter", *arguments], cwd=folder, env={**kept, **(env or {})}, capture_output=True, text=True,
        check=False, timeout=280,
    )  # fmt: skip


def _uv(*arguments: str) -> None:
    done = subprocess.run([UV, "--quiet", *arguments], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
