"""IO: versions of PostgreSQL's programs and server. pg_dump must be at least as new as the server."""

from __future__ import annotations

import os
import re
from pathlib import Path

from cutter.backup.connection import Connection
from cutter.backup.pipeline import answer
from cutter.backup.record import BackupRefusal, RefusalCode
from cutter.errors import Unavailable

_VERSION = re.compile(r"\(PostgreSQL\) ((\d+)\S*)")


def version(program: Path) -> tuple[int, str]:
    """(major, whole version) of a program, such as (18, "18.4").

    Raises Unavailable(what="backup") if the program does not report its version.
    """
    done = answer((str(program), "--version"), {"PATH": os.environ.get("PATH", os.defpath), "LC_ALL": "C"})
    match = _VERSION.search(done.stdout)
    if done.returncode != 0 or match is None:
        raise Unavailable(f"{program.name} does not report its version (exit code {done.returncode})", what="backup")
    return int(match[2]), match[1]


def server_version(connection: Connection) -> tuple[int, str]:
    """(major, whole version) of the connection's server."""
    number = connection.info.server_version
    return number // 10_000, f"{number // 10_000}.{number % 10_000}"


def too_old(dump: tuple[int, str], server: tuple[int, str]) -> BackupRefusal | None:
    """The refusal if this pg_dump is too old to read that server completely, otherwise None."""
    if dump[0] >= server[0]:
        return None
    return BackupRefusal(
        code=RefusalCode.PG_DUMP_TOO_OLD,
        message=f"pg_dump {dump[1]} cannot back up PostgreSQL {server[1]}: install a pg_dump of {server[0]} or newer",
        expected=f"pg_dump {server[0]} or newer",
        observed=f"pg_dump {dump[1]}, server {server[1]}",
    )
