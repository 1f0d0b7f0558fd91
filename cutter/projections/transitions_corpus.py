"""IO: gives every transition of a database as one stream in the order of time (seed 004 "Event Schema").

It needs constant memory. It reads each run, batch and worker separately in one snapshot of the database. A temporary
database on disk sorts their events, and disappears with the process.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import psycopg
from psycopg.rows import scalar_row

from cutter import limits
from cutter.lifecycle.declarations import BATCH, DOCUMENT_RUN, TASK, WORKER
from cutter.lifecycle.events import Event, instant, timed
from cutter.lifecycle.history import batch_events, of_audit, run_events
from cutter.storage import batch_views
from cutter.storage.records import Rows, query, records, values
from cutter.storage.runs import sidecar_of

Connection = psycopg.Connection[Any]

_SPOOL = """
pragma journal_mode = off;
pragma synchronous = off;
pragma cache_size = -8192;
create table event (at text not null, line text not null);
"""


class Spool:
    """Takes events in any order. `ordered` gives their lines by time. Lines of the same time keep their order.

    With `once`, an event that comes again is ignored.
    """

    def __init__(self, *, once: bool = False) -> None:
        self._rows = sqlite3.connect("")
        self._rows.executescript(_SPOOL)
        if once:
            self._rows.execute("create unique index once on event (at, line)")

    def add(self, events: Iterable[Event]) -> None:
        rows = ((instant(event.timestamp), event.line()) for event in events)
        self._rows.executemany("insert or ignore into event values (?, ?)", rows)

    def between(self, after: str, until: str) -> Iterator[str]:
        """The lines by time, from `after` on and earlier than `until`."""
        asked = "select line from event where at >= ? and at < ? order by at, rowid"
        for (line,) in self._rows.execute(asked, (after, until)):
            yield line

    def ordered(self) -> Iterator[str]:
        self._rows.execute("create index by_time on event (at)")
        for (line,) in self._rows.execute("select line from event order by at, rowid"):
            yield line

    def close(self) -> None:
        self._rows.close()


def gathered(connection: Connection) -> Spool:
    """Collect every transition of the database. The connection's transaction must have one snapshot."""
    spool = Spool()
    for run_id in _each(connection, "all_run_ids"):
        spool.add(_of_run(connection, run_id))
    for batch_id in _each(connection, "all_batch_ids"):
        spool.add(_of_batch(connection, batch_id))
    spool.add(_of_workers(connection))
    return spool


@dataclass(frozen=True, slots=True, kw_only=True)
class Chain:
    """The audit chain of a run, a batch or the workers. `version` grows with its transitions."""

    chain: str
    version: int
    kind: str
    batch_id: str | None


CHAINS = records("transition_chains", Chain)
COMPLETE_UNTIL: Rows[str] = values("transitions_complete_until")


class Follower:
    """Gives the transitions of a database as they come, in the order of time. Each look has a snapshot of its own."""

    def __init__(self) -> None:
        self.spool = Spool(once=True)
        self._known: dict[str, int] = {}
        self._told = ""

    def look(self, connection: Connection) -> Iterator[str]:
        """The lines since the last look. A transition waits until no earlier one can come."""
        until = instant(COMPLETE_UNTIL.one(connection, {"margin": limits.TRANSITIONS_MARGIN_SECONDS}))
        changed = [chain for chain in CHAINS.all(connection) if self._known.get(chain.chain) != chain.version]
        self._known |= {chain.chain: chain.version for chain in changed}
        for chain in changed:
            if chain.kind != "batch":
                self.spool.add(_of_run(connection, chain.chain) if chain.kind == "run" else _of_workers(connection))
        for batch_id in {chain.batch_id for chain in changed if chain.batch_id is not None}:
            self.spool.add(_of_batch(connection, batch_id))
        yield from self.spool.between(self._told, until)
        self._told = max(self._told, until)

    def close(self) -> None:
        self.spool.close()


def _each(connection: Connection, name: str) -> Iterator[Any]:
    """The values of a query with one column, fetched some at a time."""
    with connection.cursor(name=name, row_factory=scalar_row) as cursor:
        # Rows that `cutter transitions export` holds in memory at once.
        cursor.itersize = 500
        cursor.execute(query(name))
        yield from cursor


def _of_run(connection: Connection, run_id: str) -> Iterator[Event]:
    sidecar = sidecar_of(connection, run_id)
    run = sidecar.run
    events = run_events(sidecar)
    if run.batch_id is not None:
        # The batch of the run gives the same transitions of the task, and also names the task's workstream.
        events = [event for event in events if event.event_type != TASK.event_type]
    return timed(events, {(DOCUMENT_RUN.event_type, run_id): instant(run.created_at)})


def _of_batch(connection: Connection, batch_id: str) -> Iterator[Event]:
    facts = batch_views.facts(connection, batch_id)
    created = instant(facts.view.batch.created_at)
    return timed(batch_events(facts), {(BATCH.event_type, batch_id): created})


def _of_workers(connection: Connection) -> Iterator[Event]:
    since: dict[tuple[str, str], str] = {}
    for body in _each(connection, "worker_events"):
        event = of_audit(json.dumps(body) if isinstance(body, dict) else str(body))
        if event is None:
            continue  # The audit export shows malformed rows.
        yield from timed([event], since)
        if WORKER.is_terminal(event.to_state):
            since.pop((event.event_type, event.entity_id), None)
