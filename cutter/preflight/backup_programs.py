"""IO: checks pg_dump and pg_restore, which only full backups need."""

from __future__ import annotations

import os
from pathlib import Path

from cutter.backup import programs
from cutter.backup.pipeline import answer
from cutter.catalogue import Role
from cutter.errors import CutterError
from cutter.preflight import checks
from cutter.preflight.checks import Check, bad, ok, unseen
from cutter.preflight.database import ENCRYPTED_MODES, sslmode
from cutter.settings import Settings
from cutter.stack.postgres_programs import backup_program
from cutter.storage.pools import session

PROGRAMS = ("pg_dump", "pg_restore")
SETTING = "CUTTER_PG_BIN_DIR"


def needed(settings: Settings) -> Check:
    """The programs that the form of new backups needs: none for segments, and pg_dump and pg_restore for full ones."""
    if settings.backup_form == "segments":
        return ok(checks.BACKUP_PROGRAMS, "none is needed: backups are segments, and only gpg makes them")
    try:
        versions = {name: programs.version(backup_program(settings, name)) for name in PROGRAMS}
        with session(settings, Role.BACKUP) as connection:
            server = programs.server_version(connection)
            encrypted = bool(connection.pgconn.ssl_in_use)
    except CutterError as problem:
        if getattr(problem, "what", "") == "database" and SETTING not in str(problem):
            return unseen(checks.BACKUP_PROGRAMS, "the database does not answer")
        return bad(checks.BACKUP_PROGRAMS, str(problem), f"set {SETTING} to a folder with both programs")
    return _judged(settings, versions, server, encrypted=encrypted)


def _judged(
    settings: Settings, versions: dict[str, tuple[int, str]], server: tuple[int, str], *, encrypted: bool
) -> Check:
    remedy = f"set {SETTING} to a folder with both programs of PostgreSQL {server[0]} or newer"
    for name, version in versions.items():
        if version[0] < server[0]:
            return bad(checks.BACKUP_PROGRAMS, f"{name} {version[1]} is older than PostgreSQL {server[1]}", remedy)
    # pg_restore only renders a script here and never connects, so only pg_dump needs TLS.
    if (encrypted or sslmode(settings) in ENCRYPTED_MODES) and not has_tls(backup_program(settings, "pg_dump")):
        text = f"pg_dump {versions['pg_dump'][1]} was built without TLS, which the database demands"
        return bad(checks.BACKUP_PROGRAMS, text, f"{remedy} (with TLS), or set CUTTER_BACKUP_FORM=segments")
    return ok(checks.BACKUP_PROGRAMS, ", ".join(f"{name} {version[1]}" for name, version in versions.items()))


def has_tls(pg_dump: Path) -> bool:
    """True if libpq of this pg_dump has TLS. The question names a socket folder that does not exist, so no server is
    asked.
    """
    asked = (str(pg_dump), "--no-password", "--dbname", "host=/nonexistent dbname=x user=x sslmode=require")
    done = answer(asked, {"PATH": os.environ.get("PATH", os.defpath), "LC_ALL": "C"})
    return "SSL support is not compiled in" not in done.stderr
