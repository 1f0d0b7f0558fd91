"""Files next to a law are data. No process of cutter imports a module from the folder in which a command is typed."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]


def run(words: Sequence[str], folder: Path) -> subprocess.CompletedProcess[str]:
    (folder / "numbers.py").write_text("raise SystemExit('a file of the folder was imported')\n", encoding="utf-8")
    return subprocess.run(words, cwd=folder, capture_output=True, text=True, timeout=60, check=False)


def test_the_command_imports_nothing_from_the_folder(tmp_path: Path) -> None:
    command = Path(sys.executable).with_name("cutter")
    if not command.exists():
        pytest.fail(f"{command} is missing: run scripts/venv")
    done = run([str(command), "--version"], tmp_path)
    assert (done.returncode, done.stderr) == (0, "")


def test_a_checkout_whose_folder_has_other_letters_works_in_the_locale_c(tmp_path: Path) -> None:
    checkout = tmp_path / "Ünï 法"
    checkout.mkdir()
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", ".venv"], cwd=checkout, check=True, timeout=60)
    (checkout / "cutter.py").write_text("", encoding="utf-8")
    installed = f"""eval "$(sed -n '/^install_checkout()/,/^}}/p' '{ROOT}/scripts/venv')"; install_checkout"""
    subprocess.run(["bash", "-euc", installed], cwd=checkout, check=True, timeout=60)
    python = checkout / ".venv" / "bin" / "python"
    done = subprocess.run(
        [str(python), "-c", "import cutter; print(cutter.__file__)"], cwd=tmp_path, env={"LC_ALL": "C"},
        capture_output=True, timeout=60, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, b"")
    assert done.stdout.decode().strip() == str(checkout / "cutter.py")
