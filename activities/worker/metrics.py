"""IO: what waits and for whom, as gauges of a worker's metrics: one statement a heartbeat, where metrics are served."""

from __future__ import annotations

from temporalio.common import MetricMeter

from cutter.storage.pools import Pool, single
from cutter.storage.queries import query

NAMES = {
    "cutter_runs_open": "Runs that are not over, by state",
    "cutter_requests_open": "Requests that wait for a signature, by gate",
    "cutter_request_expires_timestamp_seconds": "When the next open request expires; 0 where none is open",
    "cutter_queue_entries": "Documents of batches that wait for a person, by queue",
    "cutter_outbox_waiting": "Documents that are not yet in the knowledge base",
    "cutter_workers": "Workers of the last week, by role and state",
}
"""Each with what it says; the query `gauges` gives (name, labels, value)."""

Labels = tuple[tuple[str, str], ...]


class Gauges:
    """A gauge keeps its last value, so a value that disappeared is set to zero."""

    def __init__(self, meter: MetricMeter, pool: Pool) -> None:
        self._pool = pool
        self._gauges = {name: meter.create_gauge(name, text) for name, text in NAMES.items()}
        self._told: set[tuple[str, Labels]] = set()

    def read(self) -> None:
        """Read and tell. Raises what `single` raises."""
        with single(self._pool) as connection:
            rows = connection.execute(query("gauges")).fetchall()
        found = {(str(name), _labels(labels)): int(str(value)) for name, labels, value in rows}
        for key in self._told - set(found):
            found[key] = 0
        for (name, labels), value in found.items():
            self._gauges[name].set(value, dict(labels))
        self._told = set(found)


def _labels(found: object) -> Labels:
    return tuple(sorted((str(key), str(value)) for key, value in found.items())) if isinstance(found, dict) else ()
