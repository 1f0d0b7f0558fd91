"""IO: who runs PostgreSQL. It refuses to run as root, so root gives it an unprivileged system user and a way in.

As anyone but root nothing here does anything. As root: a system user without shell and home owns the cluster's folder;
where a folder above it, or above the server's binaries, is closed to that user, it gets the search bit for others (and
no read bit, so its names stay unlisted). A checkout under a 0700 temporary folder works by that.
"""

from __future__ import annotations

import os
import pwd
import shutil
import stat
import subprocess
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from cutter.errors import Unavailable

USER = "cutter-postgres"
FALLBACK = "nobody"
_OPEN = stat.S_IROTH
_SEARCH = stat.S_IXOTH


@dataclass(frozen=True, slots=True, kw_only=True)
class ServiceUser:
    """System user that a server process is started as."""

    uid: int
    gid: int


def service_user() -> ServiceUser | None:
    """The user to run as; None = the present user, which is not root."""
    if os.geteuid() != 0:
        return None
    entry = _entry(USER) or _made() or _entry(FALLBACK)
    if entry is None or entry.pw_uid == 0:
        raise Unavailable(
            f"PostgreSQL does not run as root and no system user could be made: type `useradd --system {USER}`, "
            "or run as another user",
            what="database",
        )
    return ServiceUser(uid=entry.pw_uid, gid=entry.pw_gid)


def own(folder: Path, user: ServiceUser | None) -> None:
    """Make `folder` (mode 0700) and let it belong to the service user, who can then reach it."""
    folder.mkdir(parents=True, exist_ok=True)
    folder.chmod(0o700)
    if user is not None:
        os.chown(folder, user.uid, user.gid)
        let_through(folder)


def give(path: Path, user: ServiceUser | None) -> None:
    if user is not None:
        os.chown(path, user.uid, user.gid)


def let_through(path: Path) -> None:
    """Let others search every folder above `path`; they may still not list them."""
    for folder in path.resolve().parents:
        _add(folder, _SEARCH)


def let_read(trees: Iterable[Path]) -> None:
    """Let others read an installed tree: an installation under umask 077 is closed to the service user."""
    for tree in trees:
        let_through(tree)
        for path in (tree, *tree.rglob("*")):
            if path.is_symlink():
                continue
            executable = path.is_dir() or path.stat().st_mode & stat.S_IXUSR
            _add(path, _OPEN | _SEARCH if executable else _OPEN)


def _add(path: Path, bits: int) -> None:
    mode = stat.S_IMODE(path.stat().st_mode)
    if mode & bits != bits:
        path.chmod(mode | bits)


def _entry(name: str) -> pwd.struct_passwd | None:
    try:
        return pwd.getpwnam(name)
    except KeyError:
        return None


def _made() -> pwd.struct_passwd | None:
    """Make the system user. Another process may have made it first, so only the result counts."""
    useradd = shutil.which("useradd", path=os.environ.get("PATH", "") + ":/usr/sbin:/sbin")
    if useradd is not None:
        subprocess.run(
            [useradd, "--system", "--no-create-home", "--shell", "/usr/sbin/nologin", USER],
            check=False,
            capture_output=True,
            stdin=subprocess.DEVNULL,
        )
    return _entry(USER)
