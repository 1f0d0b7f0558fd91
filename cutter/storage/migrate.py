"""IO: forward-only migrations with a sha256 ledger, the grants, and the drift baseline (spec 04 "Migrations").

Runs as cutter_owner. Each file is one transaction with lock and statement timeouts, all of it under one advisory lock;
a file that was applied and has changed since is refused.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import resources

import psycopg
from psycopg import sql
from psycopg.rows import tuple_row

from cutter.domain.digests import sha256_hex
from cutter.errors import Conflict, Refused, Unavailable
from cutter.settings import Settings, dsn
from cutter.storage.grants import declared

OWNER = "cutter_owner"
_LOCK_KEY = 0x63757474
_FILE = re.compile(r"(\d{4})_[a-z0-9_]+\.sql")

Connection = psycopg.Connection[tuple[object, ...]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Migration:
    """One numbered file and the digest of its bytes."""

    number: int
    name: str
    body: str

    @property
    def sha256(self) -> str:
        return sha256_hex(self.body)


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What `migrate` did: the version now, and the names that were applied."""

    version: int
    applied: tuple[str, ...]


def migrations() -> tuple[Migration, ...]:
    """Every migration in order; a gap in the numbers is our mistake."""
    folder = resources.files("cutter.storage") / "sql" / "migrations"
    found = []
    for file in sorted(folder.iterdir(), key=lambda item: item.name):
        if match := _FILE.fullmatch(file.name):
            found.append(Migration(number=int(match[1]), name=file.name, body=file.read_text(encoding="utf-8")))
    if [m.number for m in found] != list(range(1, len(found) + 1)):
        raise ValueError("migrations are numbered from 1 without a gap")
    return tuple(found)


def migrate(settings: Settings) -> Outcome:
    """Bring the database of the settings to the newest version; a second call does nothing."""
    return migrate_url(dsn(settings, OWNER))


def migrate_url(url: str) -> Outcome:
    """The same, for a connection string of cutter_owner."""
    try:
        connection = psycopg.connect(url, autocommit=True, row_factory=tuple_row)
    except psycopg.OperationalError as problem:
        raise Unavailable(f"the database does not answer: {_first_line(problem)}", what="database") from None
    with connection, _exclusive(connection):
        applied = _apply_missing(connection)
        if applied or not _baseline_stands(connection):
            with connection.transaction():
                _apply_grants(connection)
            connection.execute("select cutter_governance.fn_baseline_record(%s)", (len(migrations()),))
    return Outcome(version=len(migrations()), applied=applied)


def check(settings: Settings) -> tuple[str, ...]:
    """Names of the migrations that are missing; raises when an applied one has changed."""
    with psycopg.connect(dsn(settings, OWNER), autocommit=True, row_factory=tuple_row) as connection:
        return tuple(migration.name for migration in _missing(connection))


@contextmanager
def _exclusive(connection: Connection) -> Iterator[None]:
    got = connection.execute("select pg_try_advisory_lock(%s)", (_LOCK_KEY,)).fetchone()
    if not got or not got[0]:
        raise Refused("another migration is running: wait for it, then type `cutter migrate` again")
    try:
        yield
    finally:
        connection.execute("select pg_advisory_unlock(%s)", (_LOCK_KEY,))


def _missing(connection: Connection) -> list[Migration]:
    connection.execute("create schema if not exists cutter_ledger")
    connection.execute(
        "create table if not exists cutter_ledger.migration (number integer primary key, name text not null,"
        " sha256 text not null, applied_at timestamptz not null default clock_timestamp())"
    )
    rows = connection.execute("select number, sha256 from cutter_ledger.migration").fetchall()
    ledger = {int(str(number)): str(sha256) for number, sha256 in rows}
    missing = []
    for migration in migrations():
        recorded = ledger.pop(migration.number, None)
        if recorded is None:
            missing.append(migration)
        elif recorded != migration.sha256:
            raise Conflict(
                f"{migration.name} was applied as {str(recorded)[:12]} and is {migration.sha256[:12]} now: "
                "restore the file and put the change into a new migration"
            )
    if ledger:
        raise Conflict(
            f"the database has migration {max(map(int, map(str, ledger)))}, which this version lacks: upgrade cutter"
        )
    return missing


def _apply_missing(connection: Connection) -> tuple[str, ...]:
    missing = _missing(connection)
    for migration in missing:
        with connection.transaction():
            connection.execute("set local lock_timeout = '10s'")
            connection.execute("set local statement_timeout = '120s'")
            connection.execute(migration.body)
            connection.execute(
                "insert into cutter_ledger.migration (number, name, sha256) values (%s, %s, %s)",
                (migration.number, migration.name, migration.sha256),
            )
    return tuple(migration.name for migration in missing)


def _baseline_stands(connection: Connection) -> bool:
    row = connection.execute(
        "select count(*) from cutter_governance.schema_baseline where schema_version = %s", (len(migrations()),)
    ).fetchone()
    return bool(row and row[0])


def _apply_grants(connection: Connection) -> None:
    matrix = declared()
    grantees = sql.SQL(", ").join([sql.SQL("PUBLIC"), *(sql.Identifier(role) for role in matrix.roles)])
    for schema in matrix.schemas:
        name = sql.Identifier(schema)
        for kind in ("TABLES", "FUNCTIONS", "SEQUENCES"):
            connection.execute(
                sql.SQL("revoke all on all {} in schema {} from {}").format(sql.SQL(kind), name, grantees)
            )
        connection.execute(sql.SQL("revoke all on schema {} from {}").format(name, grantees))
        connection.execute(
            sql.SQL("grant usage on schema {} to {}").format(
                name, sql.SQL(", ").join(sql.Identifier(role) for role in matrix.roles)
            )
        )
    for cell in sorted(matrix.cells):
        kind = "function" if cell.verb == "EXECUTE" else "table"
        connection.execute(
            sql.SQL("grant {} on {} {} to {}").format(
                sql.SQL(cell.verb),
                sql.SQL(kind),
                sql.Identifier(*cell.object.split(".")),
                sql.Identifier(cell.role),
            )
        )


def _first_line(problem: BaseException) -> str:
    return str(problem).strip().split("\n")[0]
