"""IO: the user that runs PostgreSQL. PostgreSQL refuses to run as root, so root uses an unprivileged system user.

Without root's rights this module does nothing. As root, it makes a system user without shell and home. This user owns
the cluster's folder. If a folder above the cluster or above the server's programs is closed to this user, the module
gives the folder the search bit for others. It gives no read bit, so nobody can list the folder's names. So a checkout
under a 0700 temporary folder works too.
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
    """The system user that runs a server process."""

    uid: int
    gid: int


def service_user() -> ServiceUser | None:
    """The system user for the server, or None if the present user, who is not root, runs it."""
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
    """Make `folder` (mode 0700), owned by the service user, and make sure that this user can reach it."""
    folder.mkdir(parents=True, exist_ok=True)
    folder.chmod(0o700)
    if user is not None:
        os.chown(folder, user.uid, user.gid)
        let_through(folder)


def give(path: Path, user: ServiceUser | None) -> None:
    if user is not None:
        os.chown(path, user.uid, user.gid)


def let_through(path: Path) -> None:
    """Let others search every folder above `path`. They still may not list these folders."""
    for folder in path.resolve().parents:
        _add(folder, _SEARCH)


def let_read(trees: Iterable[Path]) -> None:
    """Let others read an installed tree, because an installation under umask 077 is closed to the service user."""
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
