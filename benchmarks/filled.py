"""IO: a database with much enacted law or many finished runs, as if a deployment had been at work for years.

Two laws are cut in the ordinary way. Then SQL of the superuser copies all their rows, each copy as other documents. The
backups know every copied document: the tree of segments names it, and it was verified a moment ago.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial

from psycopg import sql

from benchmarks.document import Bench
from cutter.backup.artifacts import open_store
from cutter.backup.segments import pages, tree
from cutter.stack import postgres
from tests.support import grown
from tests.support.database import TEMPLATE, Connection, Database, TestCluster
from tests.support.processes import Stack

UNITS_OF_LAW = 1_000
"""Units of the law that is copied to get many units. So they come from few runs."""
UNITS_OF_RUN = 3
"""Units of each law that is copied to get many runs."""

SEALED = """
update cutter_governance.backup_coverage set sealed_changes = changes, changed_by = null, problem = null,
    artifact = coalesce(artifact, 'filled/' || document_id),
    verified_at = now(), sealed_at = coalesce(sealed_at, now()),
    sha256 = coalesce(sha256, encode(sha256(convert_to(document_id, 'UTF8')), 'hex')),
    fingerprint = coalesce(fingerprint, encode(sha256(convert_to(document_id, 'UTF8')), 'hex'))
"""
ENTRIES = "select document_id, artifact, sha256, fingerprint from cutter_governance.backup_coverage"
HEAD = "update cutter_governance.backup_head set tree = %s, documents = %s"
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
    """Cut a law of that many units, and a small one, whose backup seals the first one's segment."""
    bench.floor(units)
    bench.floor(UNITS_OF_RUN)


def fill(made: Stack, *, copies: int) -> Filled:
    """Copy everything that the two laws have left in the database."""
    began, database = time.monotonic(), database_of(made)
    if copies:
        with hurried(database):
            grown.fill(database, copies)
    with database.connect(postgres.SUPERUSER) as connection:
        with grown.without_triggers(connection):
            connection.execute(SEALED)
        _name_all(made, connection)
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


def _name_all(made: Stack, connection: Connection) -> None:
    """Write the tree that names every document, and make it the newest one."""
    store = open_store(made.settings.artifacts)
    entries = [
        tree.Entry(document=document, artifact=artifact, sha256=sha256, fingerprint=fingerprint)
        for document, artifact, sha256, fingerprint in connection.execute(ENTRIES)
    ]
    grown_tree = tree.updated(tree.EMPTY, entries, partial(pages.read, store))
    pages.put(store, grown_tree.pages)
    connection.execute(HEAD, (grown_tree.root, grown_tree.count))
    connection.commit()
