"""Keys work in a folder with a long path, also in the processes that come after the one that made them."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from cutter import gpg as gpg_module
from cutter.backup.encryption import home_of_backups
from cutter.catalogue import WorkerRole
from cutter.errors import Unavailable
from cutter.gpg import Gpg, find_binary
from cutter.preflight import files
from cutter.preflight.checks import Verdict
from cutter.settings import Settings

ROOT = Path(__file__).parents[3]

KEYS = """
import sys
from pathlib import Path
from cutter import gpg
from cutter.settings import Settings
from starter.commands.keys import ensure_throwaway_keys
ensure_throwaway_keys(Settings(state_dir=Path(sys.argv[1])))
gpg.remove_folders()
"""


def long_folder(above: Path) -> Path:
    """A new folder whose path has 200 bytes or more, with spaces and letters outside ASCII."""
    folder = above
    while len(os.fsencode(folder)) < 200:
        folder /= "Gesetze und Verträge 法律"
    folder.mkdir(parents=True)
    return folder


@pytest.fixture
def state() -> Iterator[Path]:
    above = Path(tempfile.mkdtemp(prefix="cw-"))
    folder = long_folder(above)
    yield folder
    for name in ("executor", "verifier", "backup"):
        Gpg(folder / "keys" / name).stop_agent()
    shutil.rmtree(above)


def made_by_another_process(state: Path, temporary: str) -> None:
    subprocess.run(
        [sys.executable, "-c", KEYS, str(state)], check=True, cwd=ROOT, env={**os.environ, "TMPDIR": temporary}
    )


def test_the_keys_of_another_process_sign_and_open_backups(state: Path) -> None:
    made_by_another_process(state, tempfile.gettempdir())
    settings = Settings(state_dir=state)
    for role in WorkerRole:
        check = files.key(settings, role)
        assert check.verdict is Verdict.OK, check.found
    executor = Gpg(state / "keys" / "executor")
    (fingerprint,) = executor.primary_fingerprints(secret=True)
    evidence = executor.verify_detached(b"text", executor.sign_detached(b"text", fingerprint))
    assert evidence.unverifiable is None
    home_of_backups(state / "keys" / "backup", find_binary()).start_agent()


def test_a_long_folder_for_temporary_files_is_not_in_the_way(state: Path) -> None:
    long_one = state / "tmp"
    long_one.mkdir()
    made_by_another_process(state, str(long_one))
    assert files.key(Settings(state_dir=state), WorkerRole.EXEC).verdict is Verdict.OK
    assert list(long_one.iterdir()) == []


@pytest.mark.parametrize("length", [79, 80, 81, 84, 88, 96])
def test_a_home_of_each_length_makes_keys(length: int) -> None:
    above = Path(tempfile.mkdtemp(prefix="cw-"))
    home = Gpg(above / ("h" * (length - len(str(above)) - 1)))
    try:
        assert len(home.generate_key("executor")) == 40
        assert len(Gpg(home.home).primary_fingerprints(secret=True)) == 1
    finally:
        home.stop_agent()
        shutil.rmtree(above)


def test_a_relative_home_is_measured_as_a_whole(state: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(state)
    assert len(Gpg(Path("keys/executor")).generate_key("executor")) == 40
    assert len(Gpg(state / "keys" / "executor").primary_fingerprints(secret=True)) == 1


def test_a_removed_link_is_made_again_and_a_foreign_one_is_refused(state: Path) -> None:
    home = Gpg(state / "keys" / "executor")
    home.generate_key("executor")
    link = gpg_module._link_of(state / "keys" / "executor")
    link.unlink()
    assert len(home.primary_fingerprints(secret=True)) == 1
    home.stop_agent()
    assert not link.is_symlink()
    link.symlink_to(tempfile.gettempdir())
    try:
        with pytest.raises(Unavailable, match=f"{link} does not lead to"):
            home.sign_detached(b"text", "A" * 40)
    finally:
        link.unlink()
