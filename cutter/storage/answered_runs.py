"""IO: runs that people have answered: their request is signed for, and the exec worker is what they wait for."""

from __future__ import annotations

from dataclasses import dataclass

from cutter.storage.pools import Connection
from cutter.storage.queries import query


@dataclass(frozen=True, slots=True, kw_only=True)
class Answered:
    """The run ids, and whether an exec worker beats that would take their gates."""

    runs: frozenset[str] = frozenset()
    exec_worker: bool = True


def answered(connection: Connection) -> Answered:
    """What the database says of all open requests."""
    runs = frozenset(str(row[0]) for row in connection.execute(query("answered_runs"), {}).fetchall())
    row = connection.execute(query("exec_worker_beats")).fetchone()
    return Answered(runs=runs, exec_worker=bool(row and row[0]))
