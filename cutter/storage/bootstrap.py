"""IO: the superuser's part, done once: the roles, their passwords, the two databases, and who may connect.

Everything else is made by migrations as `cutter_owner`. Works on the embedded cluster and, with a superuser's
connection string, on any PostgreSQL 17 or newer. Repeating it repairs and changes nothing else.
"""

from __future__ import annotations

import os
import secrets
from pathlib import Path

import psycopg
from psycopg import sql

from cutter.errors import Unavailable

OWNER = "cutter_owner"
BACKUP = "cutter_backup"
ROLES = (OWNER, "cutter_read", BACKUP, "cutter_exec", "cutter_verify", "directus", "cutter_operator")
DATABASES = {"cutter": OWNER, "cutter_scratch": BACKUP}
"""Database → its owner."""

CONNECT = {"cutter": ROLES, "cutter_scratch": (BACKUP,)}
VERSION_MIN = 17
PASSWORD_BYTES = 32
_LOCK = 6_117_205_001
"""Advisory lock of a bootstrap: two at once would update the same catalogue rows."""

_ATTRIBUTES = sql.SQL("LOGIN NOSUPERUSER NOINHERIT NOCREATEDB NOCREATEROLE NOREPLICATION NOBYPASSRLS")


def bootstrap(superuser_dsn: str, secrets_dir: Path, *, dedicated: bool = False) -> None:
    """Make what is missing. Passwords are `<secrets_dir>/<role>.password`, mode 0600, made at the first call only.

    `dedicated`: the whole server is ours, so its maintenance databases are closed to the roles too.
    `superuser_dsn` must name a database that stays (`postgres`). Raises Unavailable when it cannot connect, is not
    a superuser or the server is too old.
    """
    passwords = {role: password_file(secrets_dir, role) for role in ROLES}
    try:
        with psycopg.connect(superuser_dsn, autocommit=True, connect_timeout=10) as connection:
            _check(connection)
            connection.execute("SELECT pg_advisory_lock(%s)", (_LOCK,))
            for role, password in passwords.items():
                _make_role(connection, role, password)
            for database, owner in DATABASES.items():
                _make_database(connection, database, owner)
            if dedicated:
                connection.execute("REVOKE ALL ON DATABASE postgres, template1 FROM PUBLIC")
    except psycopg.OperationalError as problem:
        raise Unavailable(
            f"the superuser cannot reach the database server: {str(problem).strip()}", what="database"
        ) from problem


def password_file(secrets_dir: Path, role: str, *, make: bool = True) -> str:
    """A role's password from its file; made (mode 0600 in a 0700 folder) when `make` and missing."""
    path = secrets_dir / f"{role}.password"
    if make:
        secrets_dir.mkdir(parents=True, exist_ok=True, mode=0o700)
        _write_new(path, secrets.token_urlsafe(PASSWORD_BYTES))
    try:
        return path.read_text(encoding="ascii").strip()
    except FileNotFoundError:
        raise Unavailable(f"no password of {role} at {path}: put the file back (mode 0600)", what="secrets") from None


def _write_new(path: Path, text: str) -> None:
    """Whole or not at all, and never over another's: two commands that start together end with one password."""
    if path.exists():
        return
    draft = path.with_name(f".{path.name}.{os.getpid()}")
    descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(descriptor, "w", encoding="ascii") as file:
        file.write(text + "\n")
        file.flush()
        os.fsync(file.fileno())
    try:
        os.link(draft, path)
    except FileExistsError:
        pass
    finally:
        draft.unlink()


def _check(connection: psycopg.Connection[tuple[object, ...]]) -> None:
    version = connection.info.server_version // 10_000
    if version < VERSION_MIN:
        raise Unavailable(f"PostgreSQL {version} is too old: {VERSION_MIN} or newer is needed", what="database")
    row = connection.execute("SELECT rolsuper FROM pg_roles WHERE rolname = current_user").fetchone()
    if row is None or row[0] is not True:
        raise Unavailable(
            f"{connection.info.user} is not a superuser: give --bootstrap a superuser's connection string",
            what="database",
        )


def _make_role(connection: psycopg.Connection[tuple[object, ...]], role: str, password: str) -> None:
    """The password goes over as a SCRAM verifier, so that no statement and no log carries it."""
    name = sql.Identifier(role)
    found = connection.execute("SELECT 1 FROM pg_roles WHERE rolname = %s", (role,)).fetchone()
    if found is None:
        connection.execute(sql.SQL("CREATE ROLE {}").format(name))
    verifier = connection.pgconn.encrypt_password(password.encode(), role.encode(), b"scram-sha-256").decode()
    connection.execute(sql.SQL("ALTER ROLE {} WITH {} PASSWORD {}").format(name, _ATTRIBUTES, sql.Literal(verifier)))


def _make_database(connection: psycopg.Connection[tuple[object, ...]], database: str, owner: str) -> None:
    name = sql.Identifier(database)
    found = connection.execute("SELECT 1 FROM pg_database WHERE datname = %s", (database,)).fetchone()
    if found is None:
        connection.execute(
            sql.SQL(
                "CREATE DATABASE {} OWNER {} TEMPLATE template0 ENCODING 'UTF8'"
                " LOCALE_PROVIDER builtin BUILTIN_LOCALE 'C.UTF-8' LOCALE 'C'"
            ).format(name, sql.Identifier(owner))
        )
    connection.execute(sql.SQL("REVOKE ALL ON DATABASE {} FROM PUBLIC").format(name))
    grantees = sql.SQL(", ").join(map(sql.Identifier, CONNECT[database]))
    connection.execute(sql.SQL("GRANT CONNECT ON DATABASE {} TO {}").format(name, grantees))
