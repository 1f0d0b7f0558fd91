"""IO: a database with much enacted law or many finished runs, as if a deployment had been at work for years.

Two laws are cut in the ordinary way. Then SQL of the superuser copies all their rows, each copy as other documents.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from psycopg import sql

from benchmarks.document import Bench
from cutter.stack import postgres
from tests.support import grown
from tests.support.database import TEMPLATE, Database, TestCluster
from tests.support.processes import Stack

UNITS_OF_LAW = 1_000
"""Units of the law that is copied to get many units. So they come from few runs."""
UNITS_OF_RUN = 3
"""Units of each law that is copied to get many runs."""

COUNTS = """
select (select count(*) from public.information_unit where lifecycle_status = 'enacted'),
    (select count(*) from cutter_governance.run where ended_at is not null), pg_database_size(current_database())
"""


HURRIED = {
    "fsync": "off", "full_page_writes": "off", "max_wal_size": "8GB", "checkpoint_timeout": "1h",
    "maintenance_work_mem": "512MB", "autovacuum": "off",
}  # fmt: skip
"""Settings while the copies are written."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Filled:
    """What the database then has, and the seconds that this took."""

    units: int
    runs: int
    mib: int
    seconds: float


def seeds(bench: Bench, *, units: int) -> None:
    """Cut a law of that many units, and a small one."""
    bench.floor(units)
    bench.floor(UNITS_OF_RUN)


def fill(made: Stack, *, copies: int) -> Filled:
    """Copy everything that the two laws have left in the database."""
    began, database = time.monotonic(), database_of(made)
    if copies:
        with hurried(database):
            grown.fill(database, copies)
    with database.connect(postgres.SUPERUSER) as connection:
        counted = connection.execute(COUNTS).fetchone()
    database.close()
    database.run("vacuum analyze")
    assert counted is not None
    units, runs, size = counted
    return Filled(units=units, runs=runs, mib=size // 2**20, seconds=round(time.monotonic() - began, 1))


@contextmanager
def hurried(database: Database) -> Iterator[None]:
    """Inside, PostgreSQL does not wait for the disk and makes no checkpoints, so a crash would lose the database."""
    with database.connect(postgres.SUPERUSER, autocommit=True) as connection:
        for name, value in HURRIED.items():
            connection.execute(sql.SQL("alter system set {} = {}").format(sql.Identifier(name), sql.Literal(value)))
        connection.execute("select pg_reload_conf()")
        try:
            yield
        finally:
            for name in HURRIED:
                connection.execute(sql.SQL("alter system reset {}").format(sql.Identifier(name)))
            connection.execute("select pg_reload_conf()")
            connection.execute("checkpoint")


def database_of(made: Stack) -> Database:
    """The stack's database, as the helpers of the tests take it."""
    cluster = postgres.ensure_cluster(made.state)
    return Database(server=TestCluster(cluster=cluster, secrets=made.state / "secrets"), name=TEMPLATE)
