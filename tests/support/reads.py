"""IO: how many rows the statements of a step read from each table, by PostgreSQL's own counters."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from time import monotonic, sleep
from typing import LiteralString

from tests.support.database import Database

COUNTERS = """
select jsonb_object_agg(t.schemaname || '.' || t.relname, jsonb_build_object(
    'scans', t.seq_scan,
    'in_order', t.seq_tup_read,
    'by_index', greatest(t.idx_tup_fetch, (
        select sum(i.idx_tup_read) from pg_stat_user_indexes i where i.relid = t.relid))))
from pg_stat_user_tables t
"""
"""Scans, what they read in order, and what was read by an index, for each table; null where nothing was."""

SESSIONS = """
select count(*) from pg_stat_activity
where datname = current_database() and pid <> pg_backend_pid() and backend_type = 'client backend'
"""

CLEANERS = """
select count(*) from pg_stat_activity where datname = current_database() and backend_type = 'autovacuum worker'
"""

FLUSHED_SECONDS = 30.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Read:
    """Rows that a step read from one table: in order, by that many scans of the table, and by an index."""

    scans: int = 0
    in_order: int = 0
    by_index: int = 0

    def __str__(self) -> str:
        return f"{self.in_order:,} rows in order by {self.scans:,} scans, and {self.by_index:,} by an index"


@dataclass(slots=True, kw_only=True)
class Step:
    """What one step read, by table; filled when the step is over."""

    reads: dict[str, Read] = field(default_factory=dict)


@contextmanager
def counted(database: Database) -> Iterator[Step]:
    """Count what is read meanwhile. The step ends every session that it begins: an open one keeps its counts back.

    What the test itself has kept open to look for something is closed.
    """
    step, before = Step(), _counters(database)
    yield step
    after = _counters(database)
    for table, numbers in after.items():
        old = before.get(table, Read())
        step.reads[table] = Read(
            scans=numbers.scans - old.scans,
            in_order=numbers.in_order - old.in_order,
            by_index=numbers.by_index - old.by_index,
        )


@contextmanager
def without_autovacuum(database: Database) -> Iterator[None]:
    """No autovacuum inside: while it analyses a table, a look-up also reads the index entries of old row versions."""
    _set(database, "alter system set autovacuum = off")
    try:
        end = monotonic() + FLUSHED_SECONDS
        while database.value(CLEANERS):
            assert monotonic() < end, "an autovacuum is still at work, so the counts would be too high"
            sleep(0.1)
        yield
    finally:
        _set(database, "alter system reset autovacuum")


def _set(database: Database, statement: LiteralString) -> None:
    database.run(statement)
    database.run("select pg_reload_conf()")


def _counters(database: Database) -> dict[str, Read]:
    end = monotonic() + FLUSHED_SECONDS
    database.close()
    while database.value(SESSIONS):
        assert monotonic() < end, "a session of the step is still open, so its counts are not there"
        sleep(0.02)
    counts = database.value(COUNTERS)
    return {
        name: Read(**{counter: number or 0 for counter, number in numbers.items()}) for name, numbers in counts.items()
    }
