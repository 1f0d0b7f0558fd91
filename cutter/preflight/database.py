"""IO: checks the law database as each role of the host: its address, version, TLS, schema, clock and archive."""

from __future__ import annotations

import stat
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import psycopg
from psycopg.conninfo import conninfo_to_dict

from cutter import limits, versions
from cutter.backup import archiver
from cutter.catalogue import Role
from cutter.errors import CutterError
from cutter.policy.rules import EffectPolicy
from cutter.preflight import checks
from cutter.preflight.checks import Check, Host, bad, ok, unseen, warned
from cutter.settings import Settings, embedded_url
from cutter.storage import policies
from cutter.storage.pools import (
    CLOCK,
    CROWDED,
    DIRECT,
    FEWER,
    POOLED,
    READ_ONLY,
    REMEDY,
    WRITABLE,
    check_direct,
    session,
)
from cutter.storage.records import Connection, Rows, answer, parsed, values
from cutter.storage.sql_files import shipped

SCHEMA_VERSION: Rows[int | None] = values("schema_version")

LOOPBACK = ("", "localhost", "127.0.0.1", "::1")
ADDRESS = "CUTTER_DATABASE_URL"
OTHERS = 0o077


def probe(settings: Settings, hosts: frozenset[Host]) -> Iterator[Check]:
    """The checks of the database that these hosts need, in their order."""
    roles = [role for host in Host if host in hosts for role in checks.ROLES.get(host, ())]
    yield passwords(settings, roles)
    try:
        for role in roles:
            check_direct(settings, role)
        with session(settings, roles[0]) as connection:
            if answer(connection, "select pg_is_in_recovery()"):
                yield bad(checks.DATABASE, f"{place(settings)}: {READ_ONLY}", WRITABLE)
            else:
                yield ok(checks.DATABASE, f"{place(settings)} accepts {', '.join(roles)}")
            yield version(connection)
            yield encrypted(settings, connection)
            if checks.MIGRATIONS.hosts & hosts:
                yield migrations(connection)
            yield clock(CLOCK.one(connection), datetime.now(UTC))
            if checks.POLICY.hosts & hosts:
                yield policy(connection)
    except (CutterError, psycopg.Error) as problem:
        yield bad(checks.DATABASE, first_line(problem), remedy_of(problem))
        for of_server in (checks.DATABASE_VERSION, checks.DATABASE_TLS, checks.MIGRATIONS, checks.CLOCK, checks.POLICY):
            if of_server.hosts & hosts:
                yield unseen(of_server, "the database does not answer")


def passwords(settings: Settings, roles: list[Role]) -> Check:
    """Each password of the host is a file that only our own account may read."""
    for role in roles:
        path = settings.secrets / f"{role}.password"
        if not path.is_file():
            remedy = "copy the file from the host where the roles were made, with mode 0600"
            return bad(checks.PASSWORDS, f"no {path}", remedy)
        if open_to_others(path):
            return bad(checks.PASSWORDS, f"other accounts may read {path}", f"chmod 600 {path}")
    return ok(checks.PASSWORDS, f"{', '.join(roles)} in {settings.secrets}")


def open_to_others(path: Path) -> bool:
    """True if another account may read or change the file or folder. A link counts as its target."""
    return bool(stat.S_IMODE(path.stat().st_mode) & OTHERS)


def version(connection: Connection) -> Check:
    """The server is at least as new as `cutter.versions` demands."""
    number = connection.info.server_version
    release = (number // 10_000, number % 10_000)
    shown = f"PostgreSQL {versions.text(release)}"
    refusal = versions.too_old("PostgreSQL", release, versions.POSTGRES_MIN)
    if refusal is not None:
        return bad(checks.DATABASE_VERSION, refusal, f"upgrade the server, or point {ADDRESS} at another")
    if versions.is_untested(release, versions.POSTGRES_TESTED):
        tested = versions.text(versions.POSTGRES_TESTED)
        return warned(checks.DATABASE_VERSION, shown, f"cutter is tested up to {tested}")
    return ok(checks.DATABASE_VERSION, shown)


def encrypted(settings: Settings, connection: Connection) -> Check:
    """A connection over a network is encrypted, and the server's certificate is verified."""
    if connection.info.host in LOOPBACK or connection.info.host.startswith("/"):
        return ok(checks.DATABASE_TLS, "the server is on this machine")
    mode = sslmode(settings)
    add = f"add sslmode=verify-full and sslrootcert=FILE to {ADDRESS}"
    if not connection.pgconn.ssl_in_use:
        return warned(checks.DATABASE_TLS, f"the connection to {connection.info.host} is not encrypted", add)
    if mode != "verify-full":
        return warned(checks.DATABASE_TLS, f"encrypted, but sslmode={mode} does not verify the server's name", add)
    return ok(checks.DATABASE_TLS, "encrypted, and the server's certificate is verified")


def sslmode(settings: Settings) -> str:
    """The TLS mode that the address asks for. libpq's own default is `prefer`."""
    return str(conninfo_to_dict(settings.database_url or "").get("sslmode") or "prefer")


def is_elsewhere(settings: Settings) -> bool:
    """True if the address of the database names another host."""
    named = str(conninfo_to_dict(settings.database_url or "").get("host") or "").split(",")
    return any(host not in LOOPBACK and not host.startswith("/") for host in named)


def migrations(connection: Connection) -> Check:
    """The schema has every migration of this version. A newer schema is good, as during a rolling upgrade."""
    try:
        there = SCHEMA_VERSION.first(connection) or 0
    except (psycopg.errors.UndefinedTable, psycopg.errors.InsufficientPrivilege):
        there = 0  # Nothing was migrated yet, so neither the table nor the right to read it exists.
    needed = len(shipped().migrations)
    if there < needed:
        return bad(checks.MIGRATIONS, f"the schema has version {there}, and {needed} is needed", "cutter migrate")
    return ok(checks.MIGRATIONS, f"schema version {there}")


def clock(theirs: datetime, ours: datetime) -> Check:
    """The clock of this host agrees with the database's clock, which decides about every deadline."""
    ahead = (ours - theirs).total_seconds()
    if abs(ahead) > limits.CLOCK_SKEW_SECONDS:
        way = "ahead of" if ahead > 0 else "behind"
        text = f"this host's clock is {abs(ahead):.0f} seconds {way} the database's"
        return bad(checks.CLOCK, text, "synchronise the clocks of both hosts (NTP, such as chrony)")
    return ok(checks.CLOCK, f"{abs(ahead):.1f} seconds from the database's")


def policy(connection: Connection) -> Check:
    """An effect policy is in force and can be read."""
    try:
        current = policies.in_force(connection)
    except psycopg.ProgrammingError:
        return unseen(checks.POLICY, "the schema does not have it yet")
    if isinstance(current, EffectPolicy):
        return ok(checks.POLICY, f"{len(current.rules)} rules, sha256 {current.sha256[:16]}")
    remedy = "cutter policy install" if current is policies.NONE else "cutter policy explain"
    return bad(checks.POLICY, str(current.problems[0]), remedy)


def place(settings: Settings) -> str:
    """The address of the database, without options."""
    return (settings.database_url or embedded_url(settings)).partition("?")[0]


def first_line(problem: BaseException) -> str:
    """The cause of a failed connection, without the advice of the commands for the local stack."""
    lines = str(problem).strip().splitlines() or [type(problem).__name__]
    line = lines[0].removeprefix("database: ").removesuffix(REMEDY)
    for remedy in (DIRECT, WRITABLE, FEWER):
        line = line.removesuffix(f": {remedy}")
    return line


def remedy_of(problem: BaseException, otherwise: str = f"start the server, or correct {ADDRESS}") -> str:
    """The setting or the command that mends a failed connection."""
    text = str(problem).lower()
    if POOLED.lower() in text:
        return DIRECT
    if READ_ONLY.lower() in text:
        return WRITABLE
    if any(words in text for words in CROWDED):
        return FEWER
    if "password of" in text:
        return "put the password file there, with mode 0600"
    if "certificate" in text or "ssl" in text:
        return f"correct sslmode and sslrootcert in {ADDRESS}"
    if "authentication" in text:
        return "copy the password files again from the host where the roles were made"
    return otherwise


ARCHIVER = parsed("archiver", archiver.Archive.of)


def restore_points(settings: Settings) -> Check:
    """The archive that a gate's restore point needs. A problem that can end by itself keeps no worker from serving."""
    if not settings.backup_restore_point:
        return ok(checks.RESTORE_POINTS, "none is asked for")
    try:
        with session(settings, Role.BACKUP) as connection:
            archive = ARCHIVER.one(connection, {"late_seconds": float(limits.ARCHIVER_LATE_SECONDS)})
    except CutterError:
        return unseen(checks.RESTORE_POINTS, "the database does not answer")
    problem = archive.problem
    if problem is None:
        until = f"{archive.archived_wal} at {archive.archived_utc}"
        return ok(checks.RESTORE_POINTS, f"the log is archived, up to {until}")
    judge = bad if problem.lasting else warned
    return judge(checks.RESTORE_POINTS, problem.found, problem.remedy)
