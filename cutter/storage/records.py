"""IO: named queries with typed rows. A row is a frozen dataclass with the query's columns as fields, or one value."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import cache
from importlib import resources
from importlib.resources.abc import Traversable
from inspect import signature
from typing import Any, Generic, LiteralString, TypeVar

import psycopg
from psycopg.rows import RowFactory, args_row, kwargs_row, scalar_row

from cutter.errors import ProgrammingError

_NAME = re.compile(r"^-- name: ([a-z0-9_]+)$", re.MULTILINE)
_CONTRACT = re.compile(r"\A(?:\s*--[^\n]*\n)+")


@cache
def queries() -> dict[str, LiteralString]:
    """Every named block of every file in sql/queries. A repeated name is a programmer's mistake."""
    folder = resources.files("cutter.storage") / "sql" / "queries"
    files = [file for file in folder.iterdir() if file.name.endswith(".sql")]
    return _blocks(sorted(files, key=lambda file: file.name))


@cache
def queries_in(package: str, file: str) -> dict[str, LiteralString]:
    """The named blocks of one `.sql` file that belongs to a package."""
    return _blocks([resources.files(package) / file])


def query(name: str) -> LiteralString:
    """The SQL of that name. A KeyError is a programmer's mistake."""
    return queries()[name]


def _blocks(files: list[Traversable]) -> dict[str, LiteralString]:
    blocks: dict[str, LiteralString] = {}
    for file in files:
        parts = _NAME.split(file.read_text(encoding="utf-8"))
        for name, body in zip(parts[1::2], parts[2::2], strict=True):
            if name in blocks:
                raise ValueError(f"query {name} is duplicated")
            blocks[name] = _CONTRACT.sub("", body).strip()
    return blocks


T = TypeVar("T")
Connection = psycopg.Connection[tuple[object, ...]]
Parameters = Mapping[str, Any] | None
Named = Callable[[str], LiteralString]
"""A function that gives the SQL of a name."""

NONE: Parameters = {}


@dataclass(frozen=True, slots=True)
class Rows(Generic[T]):
    """A named query with the type of its rows. Make it with `records`, `values` or `parsed`."""

    name: str
    factory: RowFactory[T]
    named: Named
    columns: tuple[str, ...] | None
    """The names of the columns. None means one column with any name."""

    def sent(self, connection: Connection, parameters: Parameters = NONE) -> psycopg.Cursor[T]:
        """Send the query. Inside a pipeline, its rows arrive at the end of the pipeline."""
        return connection.cursor(row_factory=self.factory).execute(self.named(self.name), parameters)

    def all(self, connection: Connection, parameters: Parameters = NONE) -> list[T]:
        return self.sent(connection, parameters).fetchall()

    def first(self, connection: Connection, parameters: Parameters = NONE) -> T | None:
        return self.sent(connection, parameters).fetchone()

    def one(self, connection: Connection, parameters: Parameters = NONE) -> T:
        """The only row of a query that always has one."""
        return the_row(self.name, self.sent(connection, parameters))


def records(name: str, kind: Callable[..., T], *, named: Named = query) -> Rows[T]:
    """A query whose columns are the parameters of `kind`. If one does not fit, psycopg's error names it."""
    columns = tuple(signature(kind).parameters)
    return Rows(name, kwargs_row(kind), named, columns)


def values(name: str, *, named: Named = query) -> Rows[Any]:
    """A query with one column. Annotate the constant with the column's type, such as `Rows[int]`."""
    return Rows(name, scalar_row, named, None)


def parsed(name: str, of: Callable[[Any], T], *, named: Named = query) -> Rows[T]:
    """A query with one column. `of` makes a record from each value. If it can answer None, read the row by `first`."""
    return Rows(name, args_row(of), named, None)


def parameters(record: Any) -> dict[str, Any]:
    """The fields of a frozen record as the parameters of a query."""
    return {field.name: getattr(record, field.name) for field in fields(record)}


def together(connection: Connection, reads: Sequence[tuple[Rows[Any], Mapping[str, Any]]]) -> list[list[Any]]:
    """The rows of each query, all of them sent in one round trip."""
    with connection.pipeline():
        cursors = [asked.sent(connection, parameters) for asked, parameters in reads]
    return [cursor.fetchall() for cursor in cursors]


def many(connection: Connection, name: str, rows: Sequence[Mapping[str, Any]]) -> tuple[str, ...]:
    """Run one named query N times, pipelined, and return the first column of each answer, in order."""
    if not rows:
        return ()
    answers: list[str] = []
    with connection.cursor(row_factory=scalar_row) as cursor:
        cursor.executemany(query(name), rows, returning=True)
        while True:
            answers.append(str(cursor.fetchone() or ""))
            if not cursor.nextset():
                return tuple(answers)


def the_row(name: str, cursor: psycopg.Cursor[T]) -> T:
    """The row of a query that always has one."""
    row = cursor.fetchone()
    if row is None:
        raise ProgrammingError(f"{name} answered nothing")
    return row


def answer(connection: Connection, statement: LiteralString, parameters: Sequence[Any] = ()) -> Any:
    """The one value of a statement, such as a call of a function. None if the statement gives no row."""
    return connection.cursor(row_factory=scalar_row).execute(statement, parameters).fetchone()
