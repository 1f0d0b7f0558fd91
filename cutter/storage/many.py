"""IO: one statement for many rows, in one round trip however many rows there are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from cutter.errors import ProgrammingError
from cutter.storage.gate_transaction import Read, Row
from cutter.storage.pools import Connection
from cutter.storage.queries import query

Rows = Sequence[Mapping[str, Any]]


def many(connection: Connection, name: str, rows: Rows) -> tuple[str, ...]:
    """The first column of each of N executions of one named query, in their order (psycopg pipelines them)."""
    if not rows:
        return ()
    answers: list[str] = []
    with connection.cursor() as cursor:
        cursor.executemany(query(name), rows, returning=True)
        while True:
            row = cursor.fetchone()
            answers.append(str(row[0]) if row else "")
            if not cursor.nextset():
                return tuple(answers)


def many_then(connection: Connection, name: str, rows: Rows, then: Read) -> tuple[tuple[str, ...], Row]:
    """The same, and the first row of a query after them."""
    answers = many(connection, name, rows)
    last = connection.execute(query(then[0]), then[1]).fetchone()
    if last is None:
        raise ProgrammingError(f"{then[0]} answered nothing")
    return answers, last
