"""Pure: shows people the workers of the task queues: their own heartbeats, and the pollers of the queues.

The rows are those of worker_heartbeat with `age_seconds` (since the last heartbeat) and `silent` (three were missed).
The pollers come from Temporal: {queue: [identity]}, or None if it did not answer.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from cutter.types import Json

Pollers = Mapping[str, Sequence[str]] | None

LIVE = ("idle", "busy")
WITH_RUNS = ("current", "ramping", "draining")
UNREGISTERED = "unregistered"
START = "cutter up"


def crew(
    rows: Iterable[Json], pollers: Pollers, queues: Sequence[str], builds: Mapping[str, str] | None = None
) -> Json:
    """Workers, queues, and problems: `unserved` queues, `unresponsive` workers, and the `next` command or None.

    `builds` are the builds to which runs are pinned, with their status. A queue must be served for each build that
    still has runs.
    """
    builds = builds or {}
    rows = list(rows)
    workers = [_worker(row, pollers) for row in rows] + _strangers(rows, pollers)
    serving = {
        queue: sum(
            worker["state"] in LIVE and any(its["queue"] == queue for its in worker["queues"]) for worker in workers
        )
        for queue in queues
    }
    unserved = [queue for queue, count in serving.items() if not count]
    served = {
        (worker["build_id"], its["queue"]) for worker in workers if worker["state"] in LIVE for its in worker["queues"]
    }
    for build, status in builds.items():
        needed = queues if status in WITH_RUNS else ()
        unserved += [f"{queue} of build {build}" for queue in needed if (build, queue) not in served]
    unresponsive = [worker["worker_id"] for worker in workers if worker["state"] == "unresponsive"]
    return {
        "workers": workers,
        "queues": [{"queue": queue, "workers": count} for queue, count in serving.items()],
        "builds": dict(builds),
        "unserved": unserved,
        "unresponsive": unresponsive,
        "next": START if unserved else None,
    }


def identity(worker_id: str) -> str:
    """The name of a worker in Temporal: its id without the number of times that it was closed and returned."""
    return worker_id.partition(".")[0]


def _worker(row: Json, pollers: Pollers) -> Json:
    state = "unresponsive" if row["state"] == "initializing" and row["silent"] else row["state"]
    ended = state == "shutdown"
    return {
        "worker_id": row["worker_id"],
        "role": row["role"],
        "state": state,
        "queues": [{**its, "polls": None if ended else _polls(row, its["queue"], pollers)} for its in row["queues"]],
        "slots": sum(its["slots"] for its in row["queues"]),
        "used": 0 if ended else sum(its["used"] for its in row["queues"]),
        "build_id": row["build_id"],
        "started_utc": row["started_at"],
        "seen_utc": row["seen_at"],
        "age_seconds": row["age_seconds"],
    }


def _polls(row: Json, queue: str, pollers: Pollers) -> bool | None:
    return None if pollers is None else identity(row["worker_id"]) in pollers.get(queue, ())


def _strangers(rows: Sequence[Json], pollers: Pollers) -> list[Json]:
    """Pollers of our queues that never registered: foreign programs, or workers that do not reach the database."""
    known = {identity(row["worker_id"]) for row in rows}
    queues_of: dict[str, list[str]] = {}
    for queue, names in (pollers or {}).items():
        for name in names:
            if name not in known:
                queues_of.setdefault(name, []).append(queue)
    return [
        {
            "worker_id": name, "role": "", "state": UNREGISTERED, "slots": None, "used": None, "build_id": "",
            "queues": [{"queue": queue, "slots": None, "used": None, "polls": True} for queue in queues],
            "started_utc": None, "seen_utc": None, "age_seconds": None,
        }
        for name, queues in sorted(queues_of.items())
    ]  # fmt: skip
