"""Pure: shows people the workers of the task queues: their own heartbeats, and the pollers of the queues.

The pollers come from Temporal: {queue: [identity]}, or None if it did not answer.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from datetime import datetime

from cutter.domain import recorded_values
from cutter.domain.timestamps import utc
from cutter.types import Json

Pollers = Mapping[str, Sequence[str]] | None

LIVE = ("idle", "busy")
WITH_RUNS = ("current", "ramping", "draining")
UNREGISTERED = "unregistered"
START = "cutter up"


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkerQueue:
    """A queue of a worker, with the number of its slots and of the used ones, or None if nobody knows them. `polls` is
    None if this is unknown or the worker has ended. `others` are further fields of the heartbeat.
    """

    queue: str
    slots: int | None
    used: int | None
    polls: bool | None = None
    others: Mapping[str, object] = field(default_factory=dict)

    @classmethod
    def all_of(cls, claim: object) -> tuple[WorkerQueue, ...]:
        """The queues that a worker's heartbeat names, in any form."""
        return tuple(
            cls(
                queue=item["queue"], slots=item["slots"], used=item["used"],
                others={name: value for name, value in item.items() if name not in ("queue", "slots", "used")},
            )
            for item in recorded_values.queues(claim)
        )  # fmt: skip

    def as_json(self) -> Json:
        return {**self.others, "queue": self.queue, "slots": self.slots, "used": self.used, "polls": self.polls}


@dataclass(frozen=True, slots=True, kw_only=True)
class Heartbeat:
    """A row of the query `workers`. `queues` are what the worker claims. `silent`: three heartbeats were missed."""

    worker_id: str
    role: str
    state: str
    build_id: str
    queues: object
    started_at: datetime
    seen_at: datetime
    beat_seconds: int
    age_seconds: int
    silent: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownWorker:
    """A worker, or a poller that never registered, of which little is known. `slots` and `used` are sums."""

    worker_id: str
    role: str
    state: str
    queues: tuple[WorkerQueue, ...]
    slots: int | None = None
    used: int | None = None
    build_id: str = ""
    started_utc: str | None = None
    seen_utc: str | None = None
    age_seconds: int | None = None

    @property
    def live(self) -> bool:
        """True if the worker serves its queues."""
        return self.state in LIVE

    def as_json(self) -> Json:
        return {**asdict(self), "queues": [queue.as_json() for queue in self.queues]}


@dataclass(frozen=True, slots=True, kw_only=True)
class ServedQueue:
    """A queue with the number of live workers that serve it."""

    queue: str
    workers: int


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkerReport:
    """Workers, queues and problems. `builds`: the status of pinned builds. `unavailable`: why pollers are unknown."""

    workers: tuple[ShownWorker, ...]
    queues: tuple[ServedQueue, ...]
    builds: Mapping[str, str]
    unserved: tuple[str, ...]
    unresponsive: tuple[str, ...]
    next: str | None
    unavailable: str | None = None

    def as_json(self) -> Json:
        workers, queues = [worker.as_json() for worker in self.workers], [asdict(queue) for queue in self.queues]
        return {**asdict(self), "workers": workers, "queues": queues}


def worker_report(
    heartbeats: Iterable[Heartbeat], pollers: Pollers, queues: Sequence[str], builds: Mapping[str, str] | None = None
) -> WorkerReport:
    """The workers and their problems. Each of the pinned `builds` that still has runs needs workers of every queue."""
    builds = builds or {}
    known = list(heartbeats)
    workers = [_worker(heartbeat, pollers) for heartbeat in known] + _strangers(known, pollers)
    serving = {
        queue: sum(worker.live and any(its.queue == queue for its in worker.queues) for worker in workers)
        for queue in queues
    }
    missing = [queue for queue, count in serving.items() if not count]
    unserved = list(missing)
    served = {(worker.build_id, its.queue) for worker in workers if worker.live for its in worker.queues}
    for build, status in builds.items():
        needed = queues if status in WITH_RUNS else ()
        unserved += [f"{queue} of build {build}" for queue in needed if (build, queue) not in served]
    return WorkerReport(
        workers=tuple(workers),
        queues=tuple(ServedQueue(queue=queue, workers=count) for queue, count in serving.items()),
        builds=builds,
        unserved=tuple(unserved),
        unresponsive=tuple(worker.worker_id for worker in workers if worker.state == "unresponsive"),
        next=START if missing else None,  # The local stack starts no workers of pinned builds.
    )


def identity(worker_id: str) -> str:
    """The name of a worker in Temporal: its id without the number of times that it was closed and returned."""
    return worker_id.partition(".")[0]


def _worker(heartbeat: Heartbeat, pollers: Pollers) -> ShownWorker:
    silent = heartbeat.state == "initializing" and heartbeat.silent
    state = "unresponsive" if silent else heartbeat.state
    ended = state == "shutdown"
    polled = None if ended or pollers is None else pollers
    name = identity(heartbeat.worker_id)
    queues = WorkerQueue.all_of(heartbeat.queues)
    return ShownWorker(
        worker_id=heartbeat.worker_id,
        role=heartbeat.role,
        state=state,
        queues=tuple(
            replace(its, polls=None if polled is None else name in polled.get(its.queue, ())) for its in queues
        ),
        slots=sum(its.slots or 0 for its in queues),
        used=0 if ended else sum(its.used or 0 for its in queues),
        build_id=heartbeat.build_id,
        started_utc=utc(heartbeat.started_at),
        seen_utc=utc(heartbeat.seen_at),
        age_seconds=heartbeat.age_seconds,
    )


def _strangers(heartbeats: Sequence[Heartbeat], pollers: Pollers) -> list[ShownWorker]:
    """Pollers of our queues that never registered: foreign programs, or workers that do not reach the database."""
    known = {identity(heartbeat.worker_id) for heartbeat in heartbeats}
    queues_of: dict[str, list[str]] = {}
    for queue, names in (pollers or {}).items():
        for name in names:
            if name not in known:
                queues_of.setdefault(name, []).append(queue)
    return [
        ShownWorker(
            worker_id=name, role="", state=UNREGISTERED,
            queues=tuple(WorkerQueue(queue=queue, slots=None, used=None, polls=True) for queue in queues),
        )
        for name, queues in sorted(queues_of.items())
    ]  # fmt: skip
