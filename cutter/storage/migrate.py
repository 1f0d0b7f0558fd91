"""IO: brings a database to this version's schema: migrations, functions, triggers, grants, drift baseline.

It runs as cutter_owner, in one transaction with one advisory lock, so it applies all or nothing. A migration runs once,
and a migration whose file changed after that is refused. If the file of a function or a trigger set changes, it is
applied again. If the file is deleted, the object is dropped (spec 04 "Migrations").
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from importlib import resources

import psycopg
from psycopg import sql
from psycopg.rows import tuple_row

from cutter.catalogue import Role
from cutter.domain.digests import sha256_hex
from cutter.errors import Conflict, Refused
from cutter.settings import Settings, dsn
from cutter.storage.pools import writing
from cutter.storage.records import Connection, Rows, answer, query, records, values
from cutter.storage.roles import declared_grants, grants_text
from cutter.storage.sql_files import Definition, Kind, Migration, SchemaFiles, Statement, line_of, shipped, statements

Key = tuple[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class AppliedDefinition:
    kind: str
    name: str
    sha256: str


APPLIED_DEFINITIONS = records("ledger_definitions", AppliedDefinition)
PRESENT: Rows[str] = values("functions_present")
SIGNATURES: Rows[str] = values("function_signatures")
CALLERS: Rows[str] = values("function_callers")
VIEW_READERS: Rows[str] = values("view_readers")
TRIGGERS: Rows[str] = values("triggers_of_table")


@dataclass(frozen=True, slots=True, kw_only=True)
class Changes:
    """The differences between the files and the database: the files to apply, and the objects without a file."""

    apply: tuple[Definition, ...]
    drop: tuple[Key, ...]


def differences(connection: Connection, wanted: Iterable[Definition]) -> Changes:
    """Compare the files with the ledger. A function that is missing from the database counts as changed."""
    ledger = {(row.kind, row.name): row.sha256 for row in APPLIED_DEFINITIONS.all(connection)}
    present = set(PRESENT.all(connection))
    apply = []
    for definition in wanted:
        recorded = ledger.pop(definition.key, None)
        if recorded != definition.sha256 or (definition.kind is not Kind.TRIGGERS and definition.name not in present):
            apply.append(definition)
    return Changes(apply=tuple(apply), drop=tuple(sorted(ledger)))


def apply_definitions(connection: Connection, wanted: tuple[Definition, ...]) -> Changes:
    """Make the database equal to the files, in their order. Return the changes."""
    difference = differences(connection, wanted)
    again = {definition.key for definition in difference.apply}
    done = []
    for definition in wanted:
        if definition.key in again:
            again |= _replace(connection, definition)
            connection.execute(
                query("ledger_record"),
                {"kind": definition.kind.value, "name": definition.name, "sha256": definition.sha256},
            )
            done.append(definition)
    for kind, name in difference.drop:
        if kind == Kind.TRIGGERS.value:
            _drop_triggers(connection, name)
    _drop_functions(connection, [name for kind, name in difference.drop if kind == Kind.FUNCTION.value])
    _drop_views(connection, [name for kind, name in difference.drop if kind == Kind.VIEW.value])
    for kind, name in difference.drop:
        connection.execute(query("ledger_forget"), {"kind": kind, "name": name})
    return Changes(apply=tuple(done), drop=difference.drop)


def run_file(connection: Connection, path: str, body: str) -> None:
    """Run the statements of a file one by one, so that an error names the file and the line."""
    for statement in statements(body):
        with _named(path, statement):
            connection.execute(statement.text.encode())


@contextmanager
def _named(path: str, statement: Statement) -> Iterator[None]:
    try:
        yield
    except psycopg.Error as problem:
        position = problem.diag.statement_position
        line = statement.line + (line_of(statement.text, int(position) - 1) - 1 if position else 0)
        reason = problem.diag.message_primary or str(problem).strip().split("\n")[0]
        raise Refused(
            f"{path}, line {line}: {reason}: nothing was applied; correct the file and type",
            then="cutter migrate",
            rest=" again",
            code="migration_failed",
        ) from problem


def _replace(connection: Connection, definition: Definition) -> set[Key]:
    """Apply one file. Return the keys of the dropped definitions, which must be applied again."""
    if definition.kind is Kind.TRIGGERS:
        _drop_triggers(connection, definition.name)
        run_file(connection, definition.path, definition.body)
        return set()
    try:
        with connection.transaction():
            run_file(connection, definition.path, definition.body)
            if definition.kind is Kind.VIEW or len(SIGNATURES.all(connection, {"name": definition.name})) == 1:
                return set()
            raise psycopg.Rollback
    except Refused as problem:
        if isinstance(problem.__cause__, psycopg.errors.InvalidTableDefinition):
            # The columns of a view changed: it is dropped, with the views that read it.
            readers = VIEW_READERS.all(connection, {"name": definition.name})
            _drop_views(connection, [definition.name, *readers])
            run_file(connection, definition.path, definition.body)
            return {(Kind.VIEW.value, name) for name in readers}
        if not isinstance(problem.__cause__, psycopg.errors.InvalidFunctionDefinition):
            raise
    # If the parameters or the result changed, PostgreSQL would keep the old function too, or refuse the new one.
    dropped = _drop_with_callers(connection, definition.name)
    run_file(connection, definition.path, definition.body)
    return {(Kind.FUNCTION.value, name) for name in dropped}


def _drop_with_callers(connection: Connection, name: str) -> set[str]:
    """Drop a function, and before it the functions whose parsed body calls it. Return the names of these callers."""
    dropped: set[str] = set()
    for caller in CALLERS.all(connection, {"name": name}):
        dropped |= {caller} | _drop_with_callers(connection, caller)
    _drop_functions(connection, [name])
    return dropped


def _drop_functions(connection: Connection, names: Iterable[str]) -> None:
    """Drop all functions in one statement, because they may depend on each other."""
    if signatures := [signature for name in names for signature in SIGNATURES.all(connection, {"name": name})]:
        statement = f"drop function {', '.join(signatures)}"
        with _named("the functions whose files are gone or changed", Statement(1, statement)):
            connection.execute(statement.encode())


def _drop_views(connection: Connection, names: Sequence[str]) -> None:
    """One statement for all of them, so that they may depend on each other."""
    if names:
        views = sql.SQL(", ").join(sql.Identifier(*name.split(".")) for name in names)
        connection.execute(sql.SQL("drop view if exists {}").format(views))


def _drop_triggers(connection: Connection, table: str) -> None:
    for trigger in TRIGGERS.all(connection, {"table": table}):
        connection.execute(
            sql.SQL("drop trigger {} on {}").format(sql.Identifier(trigger), sql.Identifier(*table.split(".")))
        )


_LOCK_KEY = 0x63757474


@dataclass(frozen=True, slots=True, kw_only=True)
class Applied:
    number: int
    name: str
    sha256: str


APPLIED = records("ledger_migrations", Applied)
REPLACED_AT: Rows[datetime] = values("ledger_set_replaced_at")
BASELINE_IS_RECORDED: Rows[bool] = values("baseline_is_recorded")
ROLES_MISSING: Rows[str] = values("roles_missing")
SEARCH_IS_HERE: Rows[bool] = values("search_is_here")
GRANTS_ARE_APPLIED: Rows[bool] = values("ledger_grants")


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """The result of `migrate`: the version now, and the names of all applied files and dropped objects."""

    version: int
    applied: tuple[str, ...] = ()
    dropped: tuple[str, ...] = ()


def migrate(settings: Settings) -> Outcome:
    """Bring the database of the settings to this version's schema. A second call does nothing."""
    return migrate_url(dsn(settings, Role.OWNER))


def migrate_url(url: str, files: SchemaFiles | None = None) -> Outcome:
    """Bring the database of a cutter_owner connection string to the schema of `files`, which only tests give."""
    files = files or shipped()
    with (
        writing(),
        psycopg.connect(url, autocommit=True, row_factory=tuple_row) as connection,
        _exclusive(connection),
        connection.transaction(),
    ):
        connection.execute("set local lock_timeout = '10s'")
        connection.execute("set local statement_timeout = '120s'")
        _make_ledger(connection)
        missing = _missing(connection, files)
        for migration in missing:
            _run(connection, migration)
        # No migration makes a schema of views alone, because it has nothing to migrate.
        for schema in declared_grants().schemas:
            connection.execute(sql.SQL("create schema if not exists {}").format(sql.Identifier(schema)))
        done = apply_definitions(connection, files.definitions)
        connection.execute(query("ledger_set_record"), {"sha256": files.set_sha256})
        version = {"version": len(files.migrations)}
        changed = bool(missing or done.apply or done.drop)
        if changed or not _grants_are_applied(connection) or not BASELINE_IS_RECORDED.one(connection, version):
            _apply_grants(connection)
            connection.execute(query("baseline_record"), version)
        if changed:
            # Law that was enacted before the index of the search is entered; a large corpus takes as long as it needs.
            connection.execute("set local statement_timeout = 0")
            if SEARCH_IS_HERE.one(connection):
                answer(connection, "select cutter_governance.fn_search_fill()")
        applied = (*(migration.name for migration in missing), *(definition.path for definition in done.apply))
        return Outcome(version=len(files.migrations), applied=applied, dropped=_dropped(done))


def check(settings: Settings, files: SchemaFiles | None = None) -> tuple[str, ...]:
    """The names of what `migrate` would apply or drop. Raises if an applied migration changed."""
    files = files or shipped()
    with (
        writing(),
        psycopg.connect(dsn(settings, Role.OWNER), autocommit=True, row_factory=tuple_row) as connection,
        connection.transaction(force_rollback=True),
    ):
        _make_ledger(connection)
        missing = [migration.name for migration in _missing(connection, files)]
        changes = differences(connection, files.definitions)
        granted = () if _grants_are_applied(connection) else ("grants.yaml",)
        return (*missing, *(definition.path for definition in changes.apply), *_dropped(changes), *granted)


@contextmanager
def _exclusive(connection: Connection) -> Iterator[None]:
    if not answer(connection, "select pg_try_advisory_lock(%s)", (_LOCK_KEY,)):
        raise Refused("another migration is running: wait for it, then type", then="cutter migrate", rest=" again")
    try:
        yield
    finally:
        connection.execute("select pg_advisory_unlock(%s)", (_LOCK_KEY,))


def _make_ledger(connection: Connection) -> None:
    connection.execute((resources.files("cutter.storage") / "sql" / "ledger.sql").read_bytes())


def _missing(connection: Connection, files: SchemaFiles) -> list[Migration]:
    """The migrations to apply. Raises Conflict if an applied one is unknown or changed, or the database is newer."""
    ledger = {row.number: row for row in APPLIED.all(connection)}
    missing = []
    for migration in files.migrations:
        applied = ledger.pop(migration.number, None)
        if applied is None:
            missing.append(migration)
        elif applied.name != migration.name:
            raise Conflict(
                f"the database was made by a version before 0.1, whose migrations ({applied.name}) no longer exist: "
                "create an empty database, name it in CUTTER_DATABASE_URL, and type",
                then="cutter migrate",
                rest=" again",
            )
        elif applied.sha256 != migration.sha256:
            raise Conflict(
                f"{migration.name} was applied as {applied.sha256[:12]} and is {migration.sha256[:12]} now: "
                "restore the file and put the change into a new migration"
            )
    if ledger:
        raise Conflict(f"the database has migration {max(ledger)}, which this version lacks: upgrade cutter")
    at = REPLACED_AT.first(connection, {"sha256": files.set_sha256})
    if at is not None:
        raise Conflict(
            f"a newer version replaced these functions and triggers at {at}: upgrade cutter. A version that goes "
            "back to them on purpose says so in a comment of one of their files"
        )
    return missing


def _run(connection: Connection, migration: Migration) -> None:
    run_file(connection, f"migrations/{migration.name}", migration.body)
    # The deferred checks of the migration's rows run now, because PostgreSQL cannot alter a table with pending checks.
    connection.execute("set constraints all immediate")
    connection.execute("set constraints all deferred")
    connection.execute(
        query("ledger_migration_record"),
        {"number": migration.number, "name": migration.name, "sha256": migration.sha256},
    )


def _dropped(changes: Changes) -> tuple[str, ...]:
    return tuple(f"{kind} {name}" for kind, name in changes.drop)


def _grants_are_applied(connection: Connection) -> bool:
    return GRANTS_ARE_APPLIED.one(connection, {"sha256": sha256_hex(grants_text())})


def _apply_grants(connection: Connection) -> None:
    matrix = declared_grants()
    # A server can lack a role, such as one that this version adds: only a superuser makes roles.
    without = ROLES_MISSING.all(connection, {"roles": list(matrix.roles)})
    if without:
        raise Refused(
            f"the database server has no role {', '.join(without)}: nothing was applied; type",
            then="cutter up",
            rest=" for the local stack, or `cutter migrate --bootstrap URL` with a superuser's URL for a server of "
            "your own",
            code="roles_missing",
        )
    grantees = sql.SQL(", ").join([sql.SQL("PUBLIC"), *(sql.Identifier(role) for role in matrix.roles)])
    for schema in matrix.schemas:
        name = sql.Identifier(schema)
        for kind in ("TABLES", "FUNCTIONS", "SEQUENCES"):
            connection.execute(
                sql.SQL("revoke all on all {} in schema {} from {}").format(sql.SQL(kind), name, grantees)
            )
        connection.execute(sql.SQL("revoke all on schema {} from {}").format(name, grantees))
        roles = sql.SQL(", ").join(sql.Identifier(role) for role in matrix.roles)
        connection.execute(sql.SQL("grant usage on schema {} to {}").format(name, roles))
    for cell in sorted(matrix.cells):
        on = sql.SQL("on function" if cell.verb == "EXECUTE" else "on table")
        name, role = sql.Identifier(*cell.object.split(".")), sql.Identifier(cell.role)
        connection.execute(sql.SQL("grant {} {} {} to {}").format(sql.SQL(cell.verb), on, name, role))
    sha256 = sha256_hex(grants_text())
    connection.execute(query("ledger_record"), {"kind": "grants", "name": "grants.yaml", "sha256": sha256})
