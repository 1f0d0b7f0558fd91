"""scripts/venv and make: a missing prerequisite is one line that says what and how."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
TOOLS = (
    "bash",
    "env",
    "dirname",
    "id",
    "cat",
    "cksum",
    "head",
    "python3",
    "gpg",
    "gpg-agent",
    "git",
    "rm",
    "flock",
    "echo",
)


@pytest.fixture
def machine(tmp_path: Path) -> Path:
    """A checkout's scripts on a machine whose PATH holds only what is linked there."""
    (tmp_path / "bin").mkdir()
    for tool in TOOLS:
        program = shutil.which(tool)
        if program is not None:
            (tmp_path / "bin" / tool).symlink_to(program)
    (tmp_path / "scripts").mkdir()
    shutil.copy(ROOT / "scripts" / "venv", tmp_path / "scripts" / "venv")
    (tmp_path / "requirements-dev.lock").write_text("", encoding="ascii")
    return tmp_path


def run(machine: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [machine / "scripts" / "venv"],
        env={"PATH": str(machine / "bin"), "HOME": str(machine)},
        capture_output=True,
        text=True,
        check=False,
    )


def write(path: Path, body: str) -> None:
    path.unlink(missing_ok=True)
    path.write_text(f"#!/bin/sh\n{body}\n", encoding="utf-8")
    path.chmod(0o755)


@pytest.mark.parametrize("tool", ["gpg", "git"])
def test_a_missing_tool_is_one_line_that_says_what_and_how(machine: Path, tool: str) -> None:
    (machine / "bin" / tool).unlink()
    process = run(machine)
    assert process.returncode == 5
    assert len(process.stderr.splitlines()) == 1
    assert process.stderr.startswith(f"{tool} is missing: install")


def test_a_python_that_is_too_old_is_one_line(machine: Path) -> None:
    write(machine / "bin" / "python3", "exit 1")
    process = run(machine)
    assert process.returncode == 5
    assert process.stderr.splitlines()[-1].startswith("Python 3.11 or newer is missing: install it")


@pytest.mark.skipif(os.geteuid() != 0, reason="only root installs")
def test_on_debian_as_root_gpg_is_installed(machine: Path) -> None:
    (machine / "bin" / "gpg").unlink()
    (machine / "bin" / "git").unlink()  # so that it ends right behind
    write(
        machine / "bin" / "apt-get",
        f'echo "$@" >>{machine}/asked; echo "#!/bin/sh" >{machine}/bin/gpg; /bin/chmod 755 {machine}/bin/gpg',
    )
    process = run(machine)
    assert (machine / "asked").read_text().split() == ["install", "-y", "-qq", "gnupg"]
    assert process.stderr.splitlines() == ["installing gnupg", process.stderr.splitlines()[-1]]
    assert process.stderr.splitlines()[-1].startswith("git is missing")


def test_one_made_from_this_lock_is_left_alone(machine: Path) -> None:
    python = machine / ".venv" / "bin" / "python"
    python.parent.mkdir(parents=True)
    write(python, f"echo looked >>{machine}/looked")
    sums = subprocess.run(
        "cat requirements-dev.lock scripts/venv | cksum",
        shell=True,
        cwd=machine,
        capture_output=True,
        text=True,
        check=True,
    )
    (machine / ".venv" / "made-from").write_text(f"{machine}\n{sums.stdout}", encoding="ascii")
    process = run(machine)
    assert (process.returncode, process.stderr) == (0, "")
    assert (machine / "looked").read_text() == "looked\n"


def test_make_alone_lists_every_target() -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    (declared,) = re.findall(r"^\.PHONY: (.*)$", makefile, re.MULTILINE)
    make = subprocess.run(
        ["make", "-C", str(ROOT)], capture_output=True, text=True, check=True, env={"PATH": os.defpath}
    )
    listed = re.findall(r"^  make ([a-z-]+)", make.stdout, re.MULTILINE)
    assert sorted(listed) == sorted(declared.split())
    assert {"demo", "up", "down", "test", "test-fast", "check", "bench", "campaign", "lock", "clean"} <= set(listed)


def test_the_ci_runs_style_types_contracts_and_the_test_command() -> None:
    ci = (ROOT / ".ci" / "run").read_text(encoding="utf-8")
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    assert re.findall(r"^make (\S+)$", ci, re.MULTILINE) == ["lint", "test"]
    for step in ("ruff check", "ruff format --check", "mypy", "lint-imports"):
        assert f"$(BIN)/{step}" in makefile
    assert os.access(ROOT / ".ci" / "run", os.X_OK)
