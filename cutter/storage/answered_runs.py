"""IO: finds the runs whose open request has all signatures, so that they wait only for the exec worker."""

from __future__ import annotations

from dataclasses import dataclass

from cutter.storage.pools import Connection
from cutter.storage.records import Rows, values

ANSWERED: Rows[str] = values("answered_runs")
BEATS: Rows[bool] = values("exec_worker_beats")


@dataclass(frozen=True, slots=True, kw_only=True)
class Answered:
    """The ids of these runs, and whether an exec worker that can run their gates has a fresh heartbeat."""

    runs: frozenset[str] = frozenset()
    exec_worker: bool = True


def answered(connection: Connection) -> Answered:
    """The database's answer about all open requests."""
    return Answered(runs=frozenset(ANSWERED.all(connection)), exec_worker=BEATS.one(connection))
