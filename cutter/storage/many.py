"""IO: runs one statement for many rows in one round trip."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from psycopg.rows import scalar_row

from cutter.storage.pools import Connection
from cutter.storage.queries import query

Executions = Sequence[Mapping[str, Any]]


def many(connection: Connection, name: str, rows: Executions) -> tuple[str, ...]:
    """Run one named query N times, and return the first column of each answer, in order.

    psycopg pipelines the calls.
    """
    if not rows:
        return ()
    answers: list[str] = []
    with connection.cursor(row_factory=scalar_row) as cursor:
        cursor.executemany(query(name), rows, returning=True)
        while True:
            answers.append(str(cursor.fetchone() or ""))
            if not cursor.nextset():
                return tuple(answers)
