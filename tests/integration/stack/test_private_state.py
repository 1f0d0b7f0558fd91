"""What the stack keeps is its owner's alone, whatever the umask is; what it needs for a moment does not stay."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from cutter.settings import Settings
from tests.integration.stack.conftest import ROOT, Checkout
from tests.support.database import short_folder
from tests.support.runs import Keys, keyring

pytestmark = pytest.mark.xdist_group("stack")


def others_may(path: Path) -> int:
    """Bits that group and others have; a folder's search bit alone lets nobody see what is in it."""
    mode = stat.S_IMODE(path.lstat().st_mode) & 0o077
    return mode & ~0o011 if path.is_dir() else mode


def test_an_open_umask_opens_nothing_of_the_stack(checkout: Checkout) -> None:
    before = os.umask(0o000)
    try:
        checkout.up()
    finally:
        os.umask(before)
    mine = [path for path in [checkout.state, *checkout.state.rglob("*")] if not path.is_symlink()]
    ours = [path for path in mine if "workers" not in path.parts or path.suffix == ".password"]
    assert [str(path) for path in ours if others_may(path)] == []


def test_a_process_that_ends_leaves_no_keyring_behind() -> None:
    # A short folder: behind a long path a keyring has a second one, the link that its agent's sockets need.
    with keyring() as keys, short_folder() as folder:
        ended = subprocess.run(
            [sys.executable, "-c", LOADS, str(keys.folder / "approvers"), digest(keys)],
            env={**os.environ, "TMPDIR": str(folder), "PYTHONPATH": str(ROOT)},
            capture_output=True,
            text=True,
            check=False,
        )
        assert (ended.returncode, ended.stdout.strip()) == (4, "1"), ended.stderr
        assert list(folder.iterdir()) == []


LOADS = """
import os, sys
from pathlib import Path
from cutter.approvals import approver_store
from starter import cli
approver_store.load_current(Path(sys.argv[1]), sys.argv[2])
print(len(list(Path(os.environ["TMPDIR"]).iterdir())))
cli._leave(4)
"""


def digest(keys: Keys) -> str:
    from cutter.approvals import approver_store

    return approver_store.read_epoch(Settings(state_dir=keys.folder).approvers, 1).sha256
