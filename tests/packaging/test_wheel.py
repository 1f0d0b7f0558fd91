"""The wheel holds every tracked file of the product and nothing else, under the names that the programs look for."""

from __future__ import annotations

import re
import subprocess
from configparser import ConfigParser
from pathlib import Path
from zipfile import ZipFile

import pytest

from cutter import __version__

ROOT = Path(__file__).resolve().parents[2]
PRODUCT = ("activities", "cutter", "starter", "temporal", "workflows", "worker.py")


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> ZipFile:
    folder = tmp_path_factory.mktemp("wheel")
    done = subprocess.run([ROOT / "scripts" / "wheel", folder], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    built = Path(done.stdout.strip())
    assert built.name == f"cutter-{__version__}-py3-none-any.whl"
    return ZipFile(built)


def test_it_holds_every_file_of_the_product_as_it_is_and_no_other(wheel: ZipFile) -> None:
    expected = {name: (ROOT / name).read_bytes() for name in _tracked(*PRODUCT)}
    members = {name: wheel.read(name) for name in wheel.namelist() if not name.startswith("cutter-")}
    assert sorted(members) == sorted(expected)
    assert [name for name in expected if members[name] != expected[name]] == []
    assert {Path(name).suffix for name in members} >= {".py", ".sql", ".yaml", ".j2", ".css", ".js", ".tcss", ".md"}


def test_both_commands_are_the_command_line(wheel: ZipFile) -> None:
    scripts = ConfigParser()
    scripts.read_string(_metadata(wheel, "entry_points.txt"))
    assert dict(scripts["console_scripts"]) == dict.fromkeys(("cutter", "temporal-cutter"), "starter.cli:main")


def test_no_metadata_names_a_registry(wheel: ZipFile) -> None:
    metadata = _metadata(wheel, "METADATA")
    assert "Requires-Dist: temporalio" in metadata
    assert " @ " not in metadata


def test_no_text_tells_people_to_install_the_package_of_that_name_from_pypi() -> None:
    """It is another project's, so `pip install cutter[desk]` would run a stranger's code."""
    by_name = re.compile(rb"(?:pip3?|uv tool) install '?cutter\b(?!-)")
    warned = "docs/guides/install-wheel.md"
    files = [name for name in _tracked(*PRODUCT, "docs") if name != warned]
    assert [name for name in files if by_name.search((ROOT / name).read_bytes())] == []


def _tracked(*places: str) -> list[str]:
    listed = subprocess.run(["git", "ls-files", "-z", "--", *places], cwd=ROOT, capture_output=True, check=True)
    return [name for name in listed.stdout.decode().split("\0") if name]


def _metadata(wheel: ZipFile, name: str) -> str:
    return wheel.read(f"cutter-{__version__}.dist-info/{name}").decode("utf-8")
