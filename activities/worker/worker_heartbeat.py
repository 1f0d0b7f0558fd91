"""IO: reports a worker's state as heartbeats in the database (seed 004 "Worker"), and the waiting work as gauges.

Each process has one row, and each heartbeat is one SQL statement. Activities are only counted in the process, so an
activity costs no round trip. A worker is busy if any activity ran since its last heartbeat. If metrics are served, one
more statement for each heartbeat reads the gauges.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Any

import structlog
from psycopg.types.json import Jsonb
from temporalio.common import MetricMeter
from temporalio.worker import ActivityInboundInterceptor, ExecuteActivityInput, Interceptor

from cutter.errors import CutterError
from cutter.storage.pools import Pool, single
from cutter.storage.records import answer as value_of
from cutter.storage.records import records
from cutter.types import Json

log = structlog.get_logger()

INITIALIZING, IDLE, BUSY, SHUTDOWN = "initializing", "idle", "busy", "shutdown"


class Presence:
    """`slots` is the number of concurrent activities by task queue. Temporal knows the same `identity`."""

    def __init__(
        self, pool: Pool, *, identity: str, build_id: str, slots: Mapping[str, int], seconds: int,
        gauges: Gauges | None = None,
    ) -> None:  # fmt: skip
        self._pool = pool
        self._gauges = gauges
        self._identity = identity
        self._build_id = build_id
        self._slots = slots
        self._seconds = seconds
        self._times_given_up = 0
        self._used: Counter[str] = Counter()
        self._worked = False
        self._over = asyncio.Event()
        self.blocked: tuple[str, ...] = ()
        """The failed checks of the last preflight, each as one sentence with its remedy."""

    @property
    def worker_id(self) -> str:
        """The worker's id. A worker that was closed because of its silence comes back under another id."""
        return f"{self._identity}.{self._times_given_up}" if self._times_given_up else self._identity

    def counting(self, queue: str) -> Interceptor:
        """The interceptor that a worker of this task queue needs, so that its activities are counted."""
        return _Counting(self, queue)

    @contextmanager
    def at_work(self, queue: str) -> Iterator[None]:
        """Count an activity while it runs."""
        self._used[queue] += 1
        self._worked = True
        try:
            yield
        finally:
            self._used[queue] -= 1

    def busy(self) -> bool:
        """True while an activity runs here."""
        return self._used.total() > 0

    async def keep(self) -> None:
        """Send heartbeats until `end` is called."""
        while not self._over.is_set():
            worked, self._worked = self._worked, False
            await self.say(BUSY if worked or self.busy() else IDLE)
            with suppress(TimeoutError):
                await asyncio.wait_for(self._over.wait(), self._seconds)

    def end(self) -> None:
        """Report that nothing runs here any more."""
        self._over.set()

    async def say(self, state: str) -> None:
        """Send one heartbeat. If the database is unavailable, log that and report again later."""
        try:
            await asyncio.to_thread(self._say, state)
        except CutterError as problem:
            log.warning("worker.unheard", worker=self.worker_id, state=state, code=problem.code)

    def _say(self, state: str) -> None:
        if self._beat(state) == SHUTDOWN and state != SHUTDOWN:
            self._times_given_up += 1
            self._beat(INITIALIZING)
            self._beat(state)
        if self._gauges is not None:
            self._gauges.read()

    def _beat(self, state: str) -> str:
        queues: list[Json] = [
            {"queue": name, "slots": slots, "used": self._used[name]} for name, slots in self._slots.items()
        ]
        if self.blocked:
            queues[0]["blocked"] = list(self.blocked)
        with single(self._pool) as connection:
            recorded = value_of(
                connection,
                "select cutter_governance.fn_worker_beat(%s, %s, %s, %s, %s)",
                (self.worker_id, self._build_id, self._seconds, Jsonb(queues), state),
            )
            connection.execute("select cutter_governance.fn_sessions_end_overdue()")
        return str(recorded)


class _Counting(Interceptor):
    def __init__(self, presence: Presence, queue: str) -> None:
        self._presence, self._queue = presence, queue

    def intercept_activity(self, next: ActivityInboundInterceptor) -> ActivityInboundInterceptor:
        return _Counted(next, self._presence, self._queue)


class _Counted(ActivityInboundInterceptor):
    def __init__(self, next: ActivityInboundInterceptor, presence: Presence, queue: str) -> None:
        super().__init__(next)
        self._presence, self._queue = presence, queue

    async def execute_activity(self, input: ExecuteActivityInput) -> Any:
        with self._presence.at_work(self._queue):
            return await super().execute_activity(input)


NAMES = {
    "cutter_runs_open": "Runs that are not over, by state",
    "cutter_requests_open": "Requests that wait for a signature, by gate",
    "cutter_request_expires_timestamp_seconds": "When the next open request expires; 0 where none is open",
    "cutter_queue_entries": "Documents of batches that wait for a person, by queue",
    "cutter_outbox_waiting": "Documents that are not yet in the knowledge base",
    "cutter_workers": "Workers of the last week, by role and state",
}
"""Each gauge with its description. The query `gauges` gives (name, labels, value)."""

Labels = tuple[tuple[str, str], ...]
"""Pairs of a label and its value, sorted."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Gauge:
    """A value of a metric, by its labels."""

    name: str
    labels: Labels
    value: int

    @classmethod
    def of(cls, name: str, labels: Json, value: int) -> Gauge:
        """A row of the query `gauges`."""
        return cls(name=name, labels=tuple(sorted((key, str(label)) for key, label in labels.items())), value=value)


GAUGES = records("gauges", Gauge.of)


class Gauges:
    """A gauge keeps its last value, so a value that disappeared is set to zero."""

    def __init__(self, meter: MetricMeter, pool: Pool) -> None:
        self._pool = pool
        self._gauges = {name: meter.create_gauge(name, text) for name, text in NAMES.items()}
        self._told: set[tuple[str, Labels]] = set()

    def read(self) -> None:
        """Read the values and set the gauges. Raises the errors of `single`."""
        with single(self._pool) as connection:
            rows = GAUGES.all(connection)
        values = {(row.name, row.labels): row.value for row in rows}
        for key in self._told - set(values):
            values[key] = 0
        for (name, labels), value in values.items():
            self._gauges[name].set(value, dict(labels))
        self._told = set(values)
