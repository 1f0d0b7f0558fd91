"""Root lets an unprivileged user run PostgreSQL, and opens no more than that needs."""

from __future__ import annotations

import os
import stat
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from cutter.stack import postgres_programs

as_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root gives up its rights")


@pytest.fixture
def closed() -> Iterator[Path]:
    """A folder in a folder that only we may enter."""
    with tempfile.TemporaryDirectory() as outer:
        inner = Path(outer) / "inner"
        inner.mkdir(mode=0o700)
        yield inner


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def reads(path: Path) -> bool:
    """Whether the service user can read the file."""
    user = postgres_programs.service_user()
    assert user is not None
    asked = subprocess.run(
        ["cat", str(path)], user=user.uid, group=user.gid, extra_groups=[], check=False, capture_output=True, cwd="/"
    )
    return asked.returncode == 0


@pytest.mark.skipif(os.geteuid() == 0, reason="root is the other case")
def test_anyone_but_root_runs_it_as_themselves(closed: Path) -> None:
    assert postgres_programs.service_user() is None
    postgres_programs.own(closed / "data", None)
    assert mode(closed) == 0o700


@as_root
def test_the_service_user_is_not_root_and_has_no_shell() -> None:
    import pwd

    user = postgres_programs.service_user()
    assert user is not None
    entry = pwd.getpwuid(user.uid)
    assert user.uid != 0
    assert entry.pw_shell.endswith(("nologin", "false"))


@as_root
def test_it_may_pass_through_closed_folders_but_not_list_them(closed: Path) -> None:
    folder = closed / "data"
    postgres_programs.own(folder, postgres_programs.service_user())
    assert mode(closed) == mode(closed.parent) == 0o701
    assert mode(folder) == 0o700


@as_root
def test_an_installation_under_a_closed_umask_becomes_readable(closed: Path) -> None:
    program, data = closed / "bin" / "program", closed / "share" / "data"
    for path, wanted in ((program, 0o700), (data, 0o600)):
        path.parent.mkdir(mode=0o700)
        path.write_text("x", encoding="ascii")
        path.chmod(wanted)
    assert not reads(program)
    postgres_programs.let_read([closed])
    assert reads(program)
    assert reads(data)
    assert (mode(program), mode(data)) == (0o705, 0o604)


@as_root
def test_what_lies_beside_stays_closed(closed: Path) -> None:
    secret = closed / "secret"
    secret.write_text("x", encoding="ascii")
    secret.chmod(0o600)
    postgres_programs.own(closed / "data", postgres_programs.service_user())
    assert not reads(secret)
