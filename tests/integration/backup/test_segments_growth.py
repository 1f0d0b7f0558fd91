"""A backup costs what changed: in a database with thousands of documents it reads the rows of the changed one.

The commands about backups scan no table that grows either.
"""

from __future__ import annotations

from cutter.backup.record import BackupRecord
from cutter.backup.segments.restore import SegmentReport
from cutter.backup.segments.tree import EMPTY
from tests.integration.backup.segment_rig import Laws, cutter, sealing
from tests.support import grown, runs
from tests.support.database import TestCluster
from tests.support.laws import law
from tests.support.reads import counted

COPIES = 1_000

OF_A_BATCH = 30

ROWS_MAX = 200
"""Rows that the backup of a law of three units may read from one table by an index."""


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


def test_a_backup_reads_the_rows_of_the_changed_documents_only(cluster: TestCluster, keys: runs.Keys) -> None:
    with cluster.database(prefix="grown") as database:
        with runs.deployment(database, keys) as made:
            runs.drive(made, law(3))
        database.close()
        grown.fill(database, COPIES)
        with runs.deployment(database, keys) as made:
            world = Laws(made=made, driven=[], at_the_end={})
            seal_everything(world)
            changed = runs.drive(made, law(3)).document_id
            assert reads_too_much(world, [changed]) == {}
            assert reads_too_much(world, [changed, *changed_again(world)]) == {}
            assert scanned_by_commands(world, changed) == {}


def scanned_by_commands(world: Laws, changed: str) -> dict[str, list[str]]:
    """By command, the tables that grow and that it reads in order, without the table of the coverage itself.

    A segment here holds half of all documents, so PostgreSQL reads that table in order. It does not with a hundred
    thousand documents, as tests/integration/storage/test_grown_database.py proves.
    """
    commands = (("take",), ("scrub", "--documents", "3"), ("again", changed), ("take",), ("verify", "of-1.gpg"))
    reads_by_command = {}
    for words in commands:
        world.made.close()
        with counted(world.made.database) as step:
            cutter(world, *words, "--json")
        reads_by_command[" ".join(words)] = step.reads
    with world.made.database.connect("postgres") as connection:
        tables = set(grown.growing(connection)) - {"cutter_governance.backup_coverage"}
    scanned = {
        command: [table for table, read in reads.items() if table in tables and read.scans]
        for command, reads in reads_by_command.items()
    }
    return {command: names for command, names in scanned.items() if names}


def changed_again(world: Laws) -> list[str]:
    """As many documents as a batch changes, as if each of them had changed once more."""
    with world.made.database.connect("postgres") as connection:
        rows = connection.execute(
            "update cutter_governance.backup_coverage set changes = changes + 1"
            " where document_id in (select document_id from cutter_governance.backup_coverage"
            "   where document_id like 'G%%' order by document_id limit %s) returning document_id",
            (OF_A_BATCH,),
        )
        return [str(name) for (name,) in rows]


def reads_too_much(world: Laws, documents: list[str]) -> dict[str, str]:
    """Take a backup, which must hold these documents. By table, what it reads in order, or too much of by an index."""
    database = world.made.database
    # Without it, the index of the changed documents still lists those that were sealed a moment ago.
    database.run("vacuum (analyze)")
    world.made.close()
    with counted(database) as step:
        record = world.take(f"of-{len(documents)}.gpg")
    assert isinstance(record, BackupRecord)
    report = world.check(record)
    assert isinstance(report, SegmentReport)
    assert sorted(report.header.documents) == sorted(documents)
    assert report.header.base != EMPTY
    with database.connect("postgres") as connection:
        tables = grown.growing(connection)
    return {
        table: str(read)
        for table, read in step.reads.items()
        if table in tables and (read.in_order or read.by_index > ROWS_MAX * len(documents))
    }
