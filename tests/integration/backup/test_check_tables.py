"""A check of a segment leaves its empty tables to the next check, which uses only tables that are as they were made."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from typing import LiteralString

import pytest
from psycopg import sql

from cutter.backup.record import BackupRefusal, RefusalCode
from cutter.backup.scratch import schema_sql
from cutter.backup.segments.restore import SegmentReport
from cutter.backup.tables import SEGMENT_TABLES
from tests.integration.backup.segment_rig import Laws, laws
from tests.support import runs
from tests.support.database import Database, TestCluster

BACKUP = "cutter_backup"
LEAVE_A_ROW: LiteralString = """
do $$
declare
    needed record;
begin
    for needed in select attname as name from pg_attribute
        where attrelid = 'public.unit_version'::regclass and attnum > 0 and attnotnull
    loop
        execute format('alter table public.unit_version alter %I drop not null', needed.name);
    end loop;
end
$$;
insert into public.unit_version (backup_document) values ('ANOTHER');
"""


@pytest.fixture(scope="module")
def world(cluster: TestCluster, keys: runs.Keys) -> Iterator[Laws]:
    with laws(cluster, keys) as made:
        yield made


@pytest.fixture
def scratch(cluster: TestCluster) -> Iterator[Database]:
    """A scratch database of the test's own, whose tables it may change."""
    made = Database(server=cluster, name=f"scratch_{uuid.uuid4().hex[:12]}")
    name = sql.Identifier(made.name)
    cluster.maintain(sql.SQL("CREATE DATABASE {} OWNER {} TEMPLATE template0").format(name, sql.Identifier(BACKUP)))
    try:
        yield made
    finally:
        made.close()
        cluster.maintain(sql.SQL("DROP DATABASE {} WITH (FORCE)").format(name))


def checked(world: Laws, scratch: Database) -> SegmentReport:
    report = world.check(world.record(2), scratch_dsn=scratch.url(BACKUP))
    assert isinstance(report, SegmentReport), report
    return report


def tables_of(scratch: Database) -> dict[str, int]:
    """The identifier of each table, which is another one if the table was made again."""
    identifiers: dict[str, int] = scratch.value(
        "select jsonb_object_agg(c.oid::regclass, c.oid::bigint) from pg_class c"
        " where c.relkind = 'r' and c.relnamespace::regnamespace::text in ('public', 'cutter_governance')"
    )
    return identifiers


def test_the_next_check_finds_the_tables_without_rows(world: Laws, scratch: Database) -> None:
    first = checked(world, scratch)
    tables = tables_of(scratch)
    assert len(tables) == len(SEGMENT_TABLES)
    for table in tables:
        assert scratch.value(sql.SQL("select count(*) from {}").format(sql.SQL(table)).as_string()) == 0  # type: ignore[arg-type]
        assert scratch.value("select pg_relation_size(%s::regclass)", (table,)) == 0
    assert checked(world, scratch) == first
    assert tables_of(scratch) == tables


def test_a_row_that_was_left_is_not_compared(world: Laws, scratch: Database) -> None:
    first = checked(world, scratch)
    tables = tables_of(scratch)
    scratch.run(LEAVE_A_ROW, role=BACKUP)
    assert checked(world, scratch) == first
    assert tables_of(scratch) == tables


@pytest.mark.parametrize(
    "change",
    [
        "create function public.no() returns trigger language plpgsql as 'begin return null; end';"
        " create trigger no before insert on public.unit_version for each row execute function public.no()",
        "create rule no as on insert to public.unit_version do instead nothing",
        "alter table public.unit_version enable row level security, force row level security",
        "create unique index on public.unit_version (backup_document)",
        "drop table public.unit_version",
        "drop table public.unit_version; create view public.unit_version as select 1 as backup_document",
        "comment on schema cutter_governance is 'other statements'",
        "drop schema cutter_governance cascade",
    ],
)
def test_changed_tables_are_made_again(world: Laws, scratch: Database, change: LiteralString) -> None:
    first = checked(world, scratch)
    tables = tables_of(scratch)
    scratch.run(change, role=BACKUP)
    assert checked(world, scratch) == first
    assert not tables_of(scratch).items() & tables.items()


def test_tables_of_other_statements_are_made_again(world: Laws, scratch: Database) -> None:
    first = checked(world, scratch)
    tables = tables_of(scratch)
    later = schema_sql() + "\nselect 'the statements of another version';"
    assert world.check(world.record(2), scratch_dsn=scratch.url(BACKUP), schema_sql=later) == first
    assert not tables_of(scratch).items() & tables.items()


def test_a_refused_check_leaves_what_was_there(world: Laws, scratch: Database) -> None:
    def refused() -> object:
        with world.copied_store() as store:
            path = store / world.record(2).artifact_id
            path.write_bytes(path.read_bytes()[:-1])
            outcome = world.check(world.record(2), scratch_dsn=scratch.url(BACKUP), artifacts_url=store.as_uri())
        return isinstance(outcome, BackupRefusal) and outcome.code

    assert refused() is RefusalCode.ARTIFACT_DAMAGED
    assert tables_of(scratch) is None
    checked(world, scratch)
    tables = tables_of(scratch)
    assert refused() is RefusalCode.ARTIFACT_DAMAGED
    assert tables_of(scratch) == tables
