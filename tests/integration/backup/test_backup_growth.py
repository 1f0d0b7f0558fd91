"""A backup reads what its own document has, however many other documents there are."""

from __future__ import annotations

import psycopg

from cutter.backup.record import RestoreReport
from tests.integration.backup.rig import Rig

OTHERS = range(1, 9)


def test_a_backup_reads_the_rows_of_its_document_only(own: Rig) -> None:
    for number in OTHERS:
        own.server.fill(own.database, units=1000, number=number)
    own.server.run("ANALYZE", database=own.database)
    before = read(own)
    record = own.taken_record()
    assert isinstance(own.check(record), RestoreReport)
    # Each row of the document is read once or twice: by its own query, and by the check of a key.
    assert read(own) - before < 20 * sum(record.row_counts.values())


def read(own: Rig) -> int:
    """The rows that every table of the database has given so far."""
    with psycopg.connect(own.server.cluster.superuser_dsn(own.database), autocommit=True) as connection:
        connection.execute("SELECT pg_stat_force_next_flush(), pg_sleep(0.2)")
        connection.execute("SELECT pg_stat_clear_snapshot()")
        row = connection.execute("SELECT sum(seq_tup_read + coalesce(idx_tup_fetch, 0)) FROM pg_stat_user_tables")
        return int((row.fetchone() or (0,))[0])
