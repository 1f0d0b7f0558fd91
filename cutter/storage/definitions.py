"""IO: applies changed functions, views and trigger sets, and drops those without file, in the caller's transaction."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

import psycopg
from psycopg import sql

from cutter.errors import Refused
from cutter.storage.queries import query
from cutter.storage.records import Rows, records, values
from cutter.storage.sql_files import Definition, Kind
from cutter.storage.sql_text import Statement, line_of, statements

Connection = psycopg.Connection[tuple[object, ...]]
Key = tuple[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Applied:
    kind: str
    name: str
    sha256: str


APPLIED = records("ledger_definitions", Applied)
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


def changes(connection: Connection, wanted: Iterable[Definition]) -> Changes:
    """Compare the files with the ledger. A function that is missing from the database counts as changed."""
    ledger = {(row.kind, row.name): row.sha256 for row in APPLIED.all(connection)}
    present = set(PRESENT.all(connection))
    apply = []
    for definition in wanted:
        recorded = ledger.pop(definition.key, None)
        if recorded != definition.sha256 or (definition.kind is not Kind.TRIGGERS and definition.name not in present):
            apply.append(definition)
    return Changes(apply=tuple(apply), drop=tuple(sorted(ledger)))


def apply(connection: Connection, wanted: tuple[Definition, ...]) -> Changes:
    """Make the database equal to the files, in their order. Return the changes."""
    difference = changes(connection, wanted)
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


def run(connection: Connection, path: str, body: str) -> None:
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
        run(connection, definition.path, definition.body)
        return set()
    try:
        with connection.transaction():
            run(connection, definition.path, definition.body)
            if definition.kind is Kind.VIEW or len(SIGNATURES.all(connection, {"name": definition.name})) == 1:
                return set()
            raise psycopg.Rollback
    except Refused as problem:
        if isinstance(problem.__cause__, psycopg.errors.InvalidTableDefinition):
            # The columns of a view changed: it is dropped, with the views that read it.
            readers = VIEW_READERS.all(connection, {"name": definition.name})
            _drop_views(connection, [definition.name, *readers])
            run(connection, definition.path, definition.body)
            return {(Kind.VIEW.value, name) for name in readers}
        if not isinstance(problem.__cause__, psycopg.errors.InvalidFunctionDefinition):
            raise
    # If the parameters or the result changed, PostgreSQL would keep the old function too, or refuse the new one.
    dropped = _drop_with_callers(connection, definition.name)
    run(connection, definition.path, definition.body)
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
