"""A backup costs what changed: in a database with thousands of documents it reads the rows of the changed one."""

from __future__ import annotations

from cutter.backup.record import BackupRecord
from cutter.backup.segments.restore import SegmentReport
from cutter.backup.segments.tree import EMPTY
from tests.integration.backup.segment_rig import Laws, sealing
from tests.support import grown, runs
from tests.support.database import TestCluster
from tests.support.laws import law
from tests.support.reads import counted

COPIES = 1_000

ROWS_MAX = 200
"""Rows that the backup of one law of three units may read from one table by an index."""


def seal_everything(world: Laws) -> None:
    """Take a backup of every document, which consists of several artifacts."""
    units = 0
    for number in range(COPIES):
        record = world.take(f"everything-{number}.gpg")
        assert isinstance(record, BackupRecord)
        sealing(world, record)
        units += record.row_counts["public.information_unit"]
        if record.whole:
            break
    assert units > 3 * COPIES


def test_a_backup_reads_the_rows_of_the_changed_document_only(cluster: TestCluster, keys: runs.Keys) -> None:
    with cluster.database(prefix="grown") as database:
        with runs.deployment(database, keys) as made:
            runs.drive(made, law(3))
        database.close()
        grown.fill(database, COPIES)
        with runs.deployment(database, keys) as made:
            world = Laws(made=made, driven=[], at_the_end={})
            seal_everything(world)
            changed = runs.drive(made, law(3))
            # Without it, the index of the changed documents still lists those that were sealed a moment ago.
            database.run("vacuum (analyze)")
            made.close()
            with counted(database) as step:
                record = world.take("one.gpg")
            assert isinstance(record, BackupRecord)
            report = world.check(record)
        with database.connect("postgres") as connection:
            tables = grown.growing(connection)
    assert isinstance(report, SegmentReport)
    assert list(report.header.documents) == [changed.document_id]
    assert report.header.base != EMPTY
    wrong = {
        table: str(read)
        for table, read in step.reads.items()
        if table in tables and (read.in_order or read.by_index > ROWS_MAX)
    }
    assert wrong == {}
