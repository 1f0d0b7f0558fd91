"""IO: the database roles: the one-time work of the superuser, and the grants of grants.yaml.

A superuser makes the roles with passwords and limits, the two databases and the rights to connect, and revokes the
functions of PostgreSQL itself that no role may call. Migrations, which run as `cutter_owner`, make everything else.
The bootstrap works on the embedded cluster and, with a superuser's connection string, on any PostgreSQL 17 or newer.
A second bootstrap repairs what differs.
"""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any

import psycopg
import yaml
from psycopg import sql
from psycopg.conninfo import make_conninfo

from cutter import limits, versions
from cutter.catalogue import Role
from cutter.errors import Unavailable
from cutter.storage.pools import CONNECTIONS_MIN, PERCENT_OF_CONNECTIONS, translate
from cutter.storage.records import Connection, Rows, answer, records, values

READERS = (Role.DIRECTUS, Role.API, Role.DESK)
"""The roles that only read, and whose sessions are bounded more tightly."""

DATABASES = {"cutter": Role.OWNER, "cutter_scratch": Role.BACKUP}
"""Each database with its owner."""

MAY_CALL: dict[str, dict[Role, tuple[str, ...]]] = {
    "cutter": {Role.OWNER: ("pg_advisory_", "pg_try_advisory_", "pg_notify(")},
    "cutter_scratch": {},
}
"""For each database and role, the prefixes of the guarded functions that the role may call. Others may call none."""

SET_BY_THE_SUPERUSER: dict[Role, dict[str, str]] = {
    # Temporary files of one session. What the product sorts fits in memory.
    **{role: {"temp_file_limit": "256MB"} for role in Role if role is not Role.OWNER},
    **{
        role: {
            "temp_file_limit": f"{limits.READER_TEMP_FILES_MIB}MB",
            "statement_timeout": f"{limits.READER_SECONDS}s",
            "transaction_timeout": f"{limits.READER_SECONDS}s",
            "idle_in_transaction_session_timeout": f"{limits.IDLE_IN_TRANSACTION_SECONDS}s",
        }
        for role in READERS
    },
}
"""Settings of a role's sessions. A role can change only the timeouts, see sessions.sql."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GuardedFunction:
    """A function with its argument types, and whether every role may call it."""

    function: str
    open_to_all: bool


GUARDED = records("guarded_functions", GuardedFunction)
CONNECTIONS: Rows[int] = values("connections_there")


CONNECT = {"cutter": tuple(Role), "cutter_scratch": (Role.BACKUP,)}
PASSWORD_BYTES = 32
_LOCK = 6_117_205_001
"""The advisory lock of a bootstrap, because two bootstraps at once would update the same catalogue rows."""

_ATTRIBUTES = sql.SQL("LOGIN NOSUPERUSER NOINHERIT NOCREATEDB NOCREATEROLE NOREPLICATION NOBYPASSRLS")


def bootstrap(superuser_dsn: str, secrets_dir: Path, *, dedicated: bool = False) -> tuple[Role, ...]:
    """Make the missing roles, passwords and databases. Returns the roles that got a new password.

    The passwords are in `<secrets_dir>/<role>.password`, mode 0600. A role without a file gets a new password. If
    `dedicated` is true, the whole server belongs to cutter, so the roles may not connect to its maintenance databases
    either. `superuser_dsn` must name a database that stays, such as `postgres`. Raises Unavailable if it cannot
    connect, if the user is not a superuser, or if the server is too old.
    """
    try:
        with psycopg.connect(
            superuser_dsn, autocommit=True, connect_timeout=limits.DATABASE_CONNECT_SECONDS
        ) as connection:
            version = (connection.info.server_version // 10_000,)
            refusal = versions.too_old("PostgreSQL", version, versions.POSTGRES_MIN)
            if refusal is not None:
                raise Unavailable(refusal, what="database")
            if answer(connection, "SELECT rolsuper FROM pg_roles WHERE rolname = current_user") is not True:
                raise Unavailable(
                    f"{connection.info.user} is not a superuser: give --bootstrap a superuser's connection string",
                    what="database",
                )
            renewed = tuple(role for role in Role if not (secrets_dir / f"{role}.password").exists())
            passwords = {role: password_file(secrets_dir, role) for role in Role}
            connection.execute("SELECT pg_advisory_lock(%s)", (_LOCK,))
            room = CONNECTIONS.one(connection)
            for role, password in passwords.items():
                _make_role(connection, role, password, room)
            for database, owner in DATABASES.items():
                _make_database(connection, database, owner)
            if dedicated:
                connection.execute("REVOKE ALL ON DATABASE postgres, template1 FROM PUBLIC")
            for database in DATABASES:
                guard(make_conninfo(superuser_dsn, dbname=database), database)
    except psycopg.OperationalError as problem:
        raise Unavailable(
            f"the superuser cannot reach the database server: {str(problem).strip()}", what="database"
        ) from problem
    except psycopg.errors.ReadOnlySqlTransaction as problem:
        raise translate(problem) from None
    return renewed


def password_file(secrets_dir: Path, role: str, *, make: bool = True) -> str:
    """A role's password from its file. If `make` is true, a missing file is made (mode 0600 in a 0700 folder)."""
    path = secrets_dir / f"{role}.password"
    if make:
        secrets_dir.mkdir(parents=True, exist_ok=True, mode=0o700)
        _write_new(path, secrets.token_urlsafe(PASSWORD_BYTES))
    try:
        return path.read_text(encoding="ascii").strip()
    except FileNotFoundError:
        raise Unavailable(f"no password of {role} at {path}: put the file back (mode 0600)", what="secrets") from None


def _write_new(path: Path, text: str) -> None:
    """Write a whole new file or nothing, and never replace a file. So two commands at once get the same password."""
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


def _make_role(connection: Connection, role: Role, password: str, room: int) -> None:
    """Make a role with its settings and its share of `room` connections. No statement and no log shows its password."""
    name = sql.Identifier(role)
    if answer(connection, "SELECT 1 FROM pg_roles WHERE rolname = %s", (role,)) is None:
        connection.execute(sql.SQL("CREATE ROLE {}").format(name))
    verifier = connection.pgconn.encrypt_password(password.encode(), role.encode(), b"scram-sha-256").decode()
    connection.execute(sql.SQL("ALTER ROLE {} WITH {} PASSWORD {}").format(name, _ATTRIBUTES, sql.Literal(verifier)))
    most = max(CONNECTIONS_MIN, room * PERCENT_OF_CONNECTIONS[role] // 100)
    connection.execute(sql.SQL("ALTER ROLE {} CONNECTION LIMIT {}").format(name, sql.Literal(most)))
    for setting, value in SET_BY_THE_SUPERUSER.get(role, {}).items():
        connection.execute(
            sql.SQL("ALTER ROLE {} SET {} = {}").format(name, sql.Identifier(setting), sql.Literal(value))
        )


def guard(superuser_dsn: str, database: str) -> None:
    """Revoke the guarded functions from all roles in one database, and limit the sessions of the database cutter.

    `superuser_dsn` names the database to change, and `database` says which of cutter's databases it stands for. A dump
    contains these rights, and a superuser who restores the dump restores them too.
    """
    with psycopg.connect(superuser_dsn, connect_timeout=limits.DATABASE_CONNECT_SECONDS) as connection:
        for row in GUARDED.all(connection):
            signature = sql.SQL(row.function)
            everyone = sql.SQL(", ").join(map(sql.Identifier, Role))
            connection.execute(sql.SQL("REVOKE ALL ON FUNCTION {} FROM PUBLIC, {}").format(signature, everyone))
            for role, beginnings in MAY_CALL[database].items():
                if row.function.startswith(beginnings):
                    granted = sql.SQL("GRANT EXECUTE ON FUNCTION {} TO {}")
                    connection.execute(granted.format(signature, sql.Identifier(role)))
        if database == "cutter":
            text = (resources.files("cutter.storage") / "sql" / "sessions.sql").read_text(encoding="utf-8")
            connection.execute(text.encode())


def _make_database(connection: Connection, database: str, owner: Role) -> None:
    name = sql.Identifier(database)
    if answer(connection, "SELECT 1 FROM pg_database WHERE datname = %s", (database,)) is None:
        connection.execute(
            sql.SQL(
                "CREATE DATABASE {} OWNER {} TEMPLATE template0 ENCODING 'UTF8'"
                " LOCALE_PROVIDER builtin BUILTIN_LOCALE 'C.UTF-8' LOCALE 'C'"
            ).format(name, sql.Identifier(owner))
        )
    connection.execute(sql.SQL("REVOKE ALL ON DATABASE {} FROM PUBLIC").format(name))
    grantees = sql.SQL(", ").join(map(sql.Identifier, CONNECT[database]))
    connection.execute(sql.SQL("GRANT CONNECT ON DATABASE {} TO {}").format(name, grantees))


# --- the grants

TABLE_VERBS = ("SELECT", "INSERT", "UPDATE", "DELETE", "TRUNCATE", "REFERENCES", "TRIGGER")
PUBLIC = "PUBLIC"
EXECUTE = "EXECUTE"


@dataclass(frozen=True, slots=True, order=True)
class Cell:
    """One privilege: role, schema-qualified object, verb."""

    role: str
    object: str
    verb: str


@dataclass(frozen=True, slots=True)
class DeclaredGrants:
    """The declared grants: the roles in order, the schemas, and every granted cell."""

    roles: tuple[str, ...]
    schemas: tuple[str, ...]
    cells: frozenset[Cell]


@cache
def grants_text() -> str:
    return (resources.files("cutter.storage") / "grants.yaml").read_text(encoding="utf-8")


@cache
def declared_grants() -> DeclaredGrants:
    """The declared grants. A privilege that is not in grants.yaml is not granted."""
    document: dict[str, Any] = yaml.safe_load(grants_text())
    cells = {
        Cell(role, name, verb)
        for role, verbs in document["roles"].items()
        for verb, names in verbs.items()
        for name in _flat(names)
    }
    return DeclaredGrants(roles=tuple(document["roles"]), schemas=tuple(document["schemas"]), cells=frozenset(cells))


def _flat(names: Iterable[Any]) -> Iterable[str]:
    for name in names:
        if isinstance(name, list):
            yield from _flat(name)
        else:
            yield name


@dataclass(frozen=True, slots=True, kw_only=True)
class LiveGrants:
    """The privileges as the server has them.

    `cells` counts every cell (role, object, verb) of the database, and `sha256` is the digest of all of them, each with
    whether it is granted (facts-domain "grants snapshot"). `granted` has the cells that are granted.
    """

    cells: int
    sha256: str
    granted: Sequence[Sequence[str]]
    relations: Sequence[str]
    functions: Sequence[str]

    def exists(self, cell: Cell) -> bool:
        """Whether the database has an object of that name for which the verb has a meaning."""
        return cell.object in (self.functions if cell.verb == EXECUTE else self.relations)


def grants_asked() -> dict[str, list[str]]:
    """The parameters of the query `live_grants`. It answers for every cell, including those of PUBLIC."""
    matrix = declared_grants()
    return {"roles": [*matrix.roles, PUBLIC], "verbs": list(TABLE_VERBS), "schemas": list(matrix.schemas)}


def grant_differences(live: LiveGrants) -> tuple[str, ...]:
    """One sentence for each cell that differs from the declaration, in order. A missing declared cell differs too."""
    wanted = declared_grants().cells
    granted = {Cell(*row) for row in live.granted}
    sentences = [f"{cell.role} has {cell.verb} on {cell.object}, which is not declared" for cell in granted - wanted]
    for cell in wanted - granted:
        gone = "" if live.exists(cell) else ", which does not exist"
        sentences.append(f"{cell.role} lacks {cell.verb} on {cell.object}{gone}")
    return tuple(sorted(sentences))
