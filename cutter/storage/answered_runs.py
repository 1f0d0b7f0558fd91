"""IO: runs that people have answered: their request is signed for, and the exec worker is what they wait for."""

from __future__ import annotations

from dataclasses import dataclass

from cutter.storage.pools import Connection
from cutter.storage.records import Rows, values

ANSWERED: Rows[str] = values("answered_runs")
BEATS: Rows[bool] = values("exec_worker_beats")


@dataclass(frozen=True, slots=True, kw_only=True)
class Answered:
    """The run ids, and whether an exec worker beats that would take their gates."""

    runs: frozenset[str] = frozenset()
    exec_worker: bool = True


def answered(connection: Connection) -> Answered:
    """What the database says of all open requests."""
    return Answered(runs=frozenset(ANSWERED.all(connection)), exec_worker=BEATS.one(connection))
