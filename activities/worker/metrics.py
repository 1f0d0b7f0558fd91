"""IO: gauges of waiting work in a worker's metrics. If metrics are served, one SQL statement for each heartbeat reads
them.
"""

from __future__ import annotations

from dataclasses import dataclass

from temporalio.common import MetricMeter

from cutter.storage.pools import Pool, single
from cutter.storage.records import records
from cutter.types import Json

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
