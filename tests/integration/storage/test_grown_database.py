"""Each index of a growing table is needed: without it, the statement that it is for scans a table that grows.

An index counts unless it is unique and no statement looks rows up by it: then it only refuses a second row. The indexes
of the search are in tests/integration/storage/test_search_growth.py.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, LiteralString

import pytest
from psycopg import sql

from cutter.backup.rows import Tally, lines_of
from cutter.storage.records import queries
from tests.cases.needed_indexes import CASES, REFUSES, Case
from tests.integration.storage.test_search_growth import INDEXES as OF_THE_SEARCH
from tests.support import grown
from tests.support.database import Connection, Database
from tests.support.runs import Stage

COPIES = 1_000

KB_ID = "knowledge/dev/laws/icx-taken.md"

CHANNEL = "old"

GATE = "SG_lifecycle_authz"

DELIVERED: LiteralString = """
insert into cutter_governance.notification_channel (name) values (%(channel)s);
insert into cutter_governance.notification_delivery (notification_id, channel, card, reference, done_at, outcome)
select id, %(channel)s, 'card', 'r', created_at, 'delivered' from cutter_governance.notification
"""

AT_WORK: LiteralString = """
update cutter_governance.run set batch_id = %(batch)s where run_id = %(run)s;
update cutter_governance.approval_request set status = 'requested' where run_id = %(run)s and gate = %(gate)s;
update cutter_governance.policy_epoch set body = body || %(optional)s,
    sha256 = encode(sha256(convert_to(body || %(optional)s, 'UTF8')), 'hex');
update cutter_governance.run set batch_id = %(batch)s || '-dryrun', document_id = %(document)s, mode = 'dryrun',
    outcome = 'rehearsed' where document_id like 'G7-%%'
"""
"""The newest run is of a batch and asks again, after a rehearsal in which nobody needs to sign."""

FACTS: LiteralString = """
select jsonb_build_object('envelope_id', c.manifest_id, 'change_set_id', c.change_set_id, 'request', q.request_id,
    'entry_id', c.decision_backlog_entry_id, 'verify_result_id', v.verify_result_id,
    'signature_id', v.verifier_signature_id,
    'rehearsal', (select run_id from cutter_governance.run where mode = 'dryrun'))
from cutter_governance.cut_change_set c
join cutter_governance.verify_result v on v.change_set_id = c.change_set_id
join cutter_governance.approval_request q on q.run_id = c.run_id and q.status = 'requested'
where c.run_id = %(run)s
"""

INDEXES: LiteralString = """
select i.relname, n.nspname, t.relname, x.indisunique, exists (
    select from pg_constraint c where c.conindid = i.oid and c.contype in ('p', 'u')) as constrains
from pg_index x
join pg_class i on i.oid = x.indexrelid
join pg_class t on t.oid = x.indrelid
join pg_namespace n on n.oid = t.relnamespace
where n.nspname || '.' || t.relname = any (%s)
"""

COUNTERS: LiteralString = """
select schemaname || '.' || relname, seq_scan, coalesce(greatest(idx_tup_fetch, (
    select sum(pg_stat_get_xact_tuples_returned(x.indexrelid)) from pg_index x where x.indrelid = relid)), 0)::bigint
from pg_stat_xact_user_tables
"""
"""By table: the transaction's scans, and what it read by an index: rows, or more entries of the index."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Index:
    """An index of a growing table. PostgreSQL drops the index of a constraint only with the constraint."""

    name: str
    schema: str
    table: str
    unique: bool
    constrains: bool

    def drop(self, connection: Connection) -> None:
        drop = "alter table {table} drop constraint {name} cascade" if self.constrains else "drop index {index}"
        connection.execute(sql.SQL(drop).format(
            table=sql.Identifier(self.schema, self.table), name=sql.Identifier(self.name),
            index=sql.Identifier(self.schema, self.name),
        ))  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Old:
    """A database with a thousand finished runs; nothing is committed there."""

    database: Database
    parameters: dict[str, Any]
    tables: frozenset[str] = frozenset()
    """Those that grow."""

    def indexes(self) -> dict[str, Index]:
        """By name, those of the tables that grow."""
        with self.database.connect("postgres") as connection:
            rows = connection.execute(INDEXES, (list(self.tables),)).fetchall()
        made = [Index(name=name, schema=schema, table=table, unique=unique, constrains=constrains)
                for name, schema, table, unique, constrains in rows]  # fmt: skip
        return {index.name: index for index in made}

    def read_whole(self, case: Case, *, without: Index | None = None) -> list[str]:
        """The growing tables that the statement reads whole, with or without an index."""
        with self.database.connect("postgres") as connection:
            if without is not None:
                without.drop(connection)
            self._execute(connection, case)
            reads = _reads(connection)
            connection.rollback()
        return [name for name, (scans, rows) in reads.items() if name in self.tables and (scans or rows > COPIES // 2)]

    def _execute(self, connection: Connection, case: Case) -> None:
        if case.backup:
            tally, document = Tally(), self.parameters["document_id"]
            list(lines_of(connection, document, document, tally))
            assert tally.digests().row_counts["public.information_unit"] == 3
            return
        connection.execute(case.text or queries()[case.query], self.parameters)


def _reads(connection: Connection) -> dict[str, tuple[int, int]]:
    return {name: (scans, rows) for name, scans, rows in connection.execute(COUNTERS).fetchall()}


def _execute_each(connection: Connection, statements: LiteralString, parameters: dict[str, Any]) -> None:
    for statement in statements.strip().split(";\n"):
        connection.execute(statement.encode(), parameters)


@pytest.fixture(scope="module")
def old(enacted_stage: Stage) -> Iterator[Old]:
    given = {
        "run": enacted_stage.run_id, "document": enacted_stage.document_id, "batch": grown.BATCH, "channel": CHANNEL,
        "gate": GATE, "optional": "\nsigning: optional",
    }  # fmt: skip
    with enacted_stage.clone() as database:
        grown.add_rare_rows(database, enacted_stage.run_id, enacted_stage.document_id)
        with database.connect("postgres") as connection, grown.without_triggers(connection):
            _execute_each(connection, DELIVERED, given)
        grown.fill(database, COPIES)
        with database.connect("postgres") as connection, grown.without_triggers(connection):
            _execute_each(connection, AT_WORK, given)
        with database.connect("postgres") as connection:
            tables = frozenset(grown.growing(connection))
        yield Old(database=database, tables=tables, parameters={
            **_parameters(enacted_stage.run_id, enacted_stage.document_id),
            **database.value(FACTS, {"run": enacted_stage.run_id}),
        })  # fmt: skip


def _parameters(run_id: str, document_id: str) -> dict[str, Any]:
    """Those of every statement, by their names."""
    now = datetime.now(UTC)
    return {
        "run_id": run_id, "run_ids": [run_id], "chain": run_id, "document_id": document_id, "document": document_id,
        "docprefix": document_id, "batch_id": grown.BATCH, "gate": GATE, "kb_id": KB_ID, "names": [KB_ID],
        "digest": grown.DIGEST, "digests": [grown.DIGEST], "target": grown.DIGEST, "sha256": grown.DIGEST,
        "channel": CHANNEL, "kinds": ["finished"],
        "since": now - timedelta(hours=1), "recorded": now, "version": 1, "limit": 20, "most": 20, "triggers": [],
    }  # fmt: skip


@pytest.mark.parametrize("index", sorted(CASES))
def test_a_statement_reads_a_whole_table_only_without_its_index(old: Old, index: str) -> None:
    assert old.read_whole(CASES[index]) == []
    assert old.read_whole(CASES[index], without=old.indexes()[index]) != []


ASKED_AGAIN: LiteralString = """
update cutter_governance.approval_request set status = 'requested', kb_id = null, request_sha256 = null
where run_id = %s and gate = 'SG_lifecycle_authz'
"""


@pytest.fixture(scope="module")
def full(enacted_stage: Stage) -> Iterator[Old]:
    """A database with 60,000 units, because the planner reads all of a smaller table only if it must."""
    with enacted_stage.clone() as database:
        grown.fill(database, 20_000, tables=["public.information_unit"])
        with database.connect("postgres") as connection, grown.without_triggers(connection):
            connection.execute(ASKED_AGAIN, (enacted_stage.run_id,))
        yield Old(database=database, parameters={"run_id": enacted_stage.run_id, "gate": "SG_lifecycle_authz"})


@pytest.mark.parametrize("query", ["units_stored", "units_enacted_last", "units_to_enact", "units_held"])
def test_the_units_of_a_run_are_found_by_their_addresses(full: Old, query: str) -> None:
    """The planner does not know the run's prefix when it decides how to find the units below it."""
    with full.database.connect("postgres") as connection:
        rows = connection.execute(queries()[query], full.parameters).fetchall()
        scans, fetched = _reads(connection)["public.information_unit"]
    assert len(rows) == (1 if query == "units_held" else 3)
    assert scans == 0
    assert fetched < 10


def test_each_index_of_a_growing_table_has_its_statement_or_only_refuses_rows(old: Old) -> None:
    indexes = old.indexes()
    assert set(indexes) == {*CASES, *REFUSES, *OF_THE_SEARCH}
    assert [name for name in sorted(REFUSES) if not indexes[name].unique] == []
    assert set(CASES) & REFUSES == set()
