"""Each index of migrations 10 and later is needed: without it, the statement that it is for scans a table that grows.

The indexes of the search are those of migration 11. tests/integration/storage/test_search_growth.py has them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from importlib import resources
from typing import Any, LiteralString

import pytest
from psycopg import sql
from psycopg.types.json import Jsonb

from cutter.backup.segments.rows import columns, live_rows, query_of
from cutter.storage.queries import queries
from tests.integration.storage.test_search_growth import INDEXES as OF_THE_SEARCH
from tests.support import grown
from tests.support.database import Connection, Database
from tests.support.runs import Stage

COPIES = 1_000

KB_ID = "knowledge/dev/laws/icx-taken.md"


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """The statement that an index is for: a named query, one of backups, or its text."""

    query: str = ""
    of_backups: str = ""
    text: LiteralString = ""
    schema: str = "cutter_governance"

    def execute(self, connection: Connection, parameters: dict[str, Any]) -> None:
        if self.of_backups == ROWS:
            live = live_rows(connection, columns(connection))
            assert live.described({parameters["document_id"]: 1}).row_counts["public.information_unit"] == 3
            return
        statement = query_of(self.of_backups) if self.of_backups else self.text or queries()[self.query]
        connection.execute(statement, parameters)


ROWS = "the rows of one document"


CASES = {
    "approval_verdict_of_run": Case(query="run_sidecar"),
    "approval_verdict_of_document": Case(query="approval_document_facts"),
    "approval_consumption_of_request": Case(query="approved_decision"),
    "approval_request_document": Case(
        text="update cutter_governance.approval_request set kb_id = kb_id where kb_id = %(kb_id)s"
    ),
    "order_consumption_of_run": Case(text="select cutter_governance.fn_evidence_approvals(%(run_id)s, now())"),
    "drift_acknowledgement_of_run": Case(text="select cutter_governance.fn_expected_pins(%(run_id)s)"),
    "message_refusal_of_run": Case(query="refusals_of_run"),
    "decision_backlog_entry_of_run": Case(query="leg_b_rows"),
    "action_receipt_target": Case(query="approval_document_facts"),
    "action_receipt_payload": Case(query="approval_document_facts"),
    "action_receipt_backups": Case(query="backups"),
    "gate_receipt_backup": Case(query="backups"),
    "outbox_content": Case(query="approval_document_facts"),
    "batch_newest": Case(query="batch_names"),
    "batch_open": Case(query="batches_not_ended"),
    "batch_queue_of_item": Case(query="queue_entries_before"),
    "run_newest": Case(query="newest_runs"),
    "backup_coverage_changed": Case(of_backups="changed_documents"),
    "backup_coverage_verified": Case(of_backups="due_artifacts"),
    "backup_coverage_problem": Case(of_backups="head"),
    "backup_coverage_artifact": Case(of_backups="documents_of_artifact"),
    "information_unit_withdrawn": Case(of_backups=ROWS, schema="public"),
    "iu_lifecycle_log_unit": Case(of_backups=ROWS, schema="public"),
}

COVERED = 100_000
"""Documents in segments."""

COVER: LiteralString = """
insert into cutter_governance.backup_coverage (document_id, changes) select 'S-' || n, 1
from generate_series(1, %(covered)s) n;
update cutter_governance.backup_coverage set sealed_changes = changes, fingerprint = %(digest)s, sha256 = %(digest)s,
    artifact = document_id || '/pre_write.gpg', sealed_at = now(), verified_at = now() - random() * interval '9 days';
update cutter_governance.backup_coverage set changes = changes + 1 where document_id = %(document)s;
update cutter_governance.backup_head set tree = %(digest)s, columns_sha256 = %(digest)s,
    documents = (select count(*) from cutter_governance.backup_coverage)
"""

TABLE: LiteralString = "select indrelid::regclass::text from pg_index where indexrelid = %s::regclass"
COUNTERS: LiteralString = "select seq_scan, idx_tup_fetch from pg_stat_xact_user_tables where relid = %s::regclass"


@dataclass(frozen=True, slots=True, kw_only=True)
class Old:
    """A database with a thousand finished runs; nothing is committed there."""

    database: Database
    parameters: dict[str, Any]

    def reads_whole(self, index: str, *, dropped: bool) -> bool:
        """Whether the index's statement reads all of the index's table, with or without the index."""
        schema = CASES[index].schema
        name = sql.Identifier(schema, index)
        with self.database.connect("postgres") as connection:
            (table,) = _row(connection, TABLE, (f"{schema}.{index}",))
            if dropped:
                connection.execute(sql.SQL("drop index {}").format(name))
            CASES[index].execute(connection, self.parameters)
            scans, fetched = _row(connection, COUNTERS, (table,))
            connection.rollback()
        return bool(scans or fetched > COPIES // 2)


def _row(connection: Connection, statement: LiteralString, parameters: tuple[str | int, ...]) -> tuple[Any, ...]:
    row = connection.execute(statement, parameters).fetchone()
    assert row is not None
    return row


@pytest.fixture(scope="module")
def old(enacted_stage: Stage) -> Iterator[Old]:
    with enacted_stage.clone() as database:
        grown.add_rare_rows(database, enacted_stage.run_id, enacted_stage.document_id)
        grown.fill(database, COPIES)
        with database.connect("postgres") as connection, grown.without_triggers(connection):
            of_batch: LiteralString = "update cutter_governance.run set batch_id = %s where run_id = %s"
            connection.execute(of_batch, (grown.BATCH, enacted_stage.run_id))
        with database.connect("postgres") as connection:
            for statement in COVER.split(";"):
                connection.execute(statement.encode(), {
                    "covered": COVERED, "digest": grown.DIGEST, "document": enacted_stage.document_id,
                })  # fmt: skip
        database.run("vacuum analyze cutter_governance.backup_coverage")
        yield Old(database=database, parameters={
            "run_id": enacted_stage.run_id, "document_id": enacted_stage.document_id, "batch_id": grown.BATCH,
            "gate": "SG_cut_authz", "names": [KB_ID], "digests": [grown.DIGEST], "target": grown.DIGEST, "limit": 20,
            "artifact_id": "S-7/pre_write.gpg", "sha256": grown.DIGEST, "documents": ["S-7"],
            "kb_id": KB_ID, "entry_id": grown.BATCH, "envelope_id": grown.BATCH, "change_set_id": grown.BATCH,
        })  # fmt: skip


@pytest.mark.parametrize("index", sorted(CASES))
def test_a_statement_reads_its_whole_table_only_without_its_index(old: Old, index: str) -> None:
    assert not old.reads_whole(index, dropped=False)
    assert old.reads_whole(index, dropped=True)


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
        found = connection.execute(queries()[query], full.parameters).fetchall()
        scans, fetched = _row(connection, COUNTERS, ("public.information_unit",))
    assert len(found) == (1 if query == "units_held" else 3)
    assert scans == 0
    assert fetched < 10


def test_a_document_of_a_batch_reads_only_recent_backups(old: Old) -> None:
    """A backup was taken every five minutes, and those of half an hour count."""
    with old.database.connect("postgres") as connection:
        asked = (old.parameters["run_id"], grown.BATCH, 1800)
        (pins,) = _row(connection, "select cutter_governance.fn_wave_backup(%s, %s, %s)", asked)
        scans, fetched = _row(connection, COUNTERS, ("cutter_governance.action_receipt",))
    assert pins["backup_artifact"]
    assert scans == 0
    assert 0 < fetched < 10


def test_each_index_of_the_migration_has_its_statement() -> None:
    migrations = resources.files("cutter.storage") / "sql" / "migrations"
    made = {
        name
        for migration in migrations.iterdir()
        if migration.name >= "0010"
        for name in re.findall(r"^create index (\w+)", migration.read_text(encoding="utf-8"), re.MULTILINE)
    }
    assert made - set(OF_THE_SEARCH) == set(CASES)


def test_a_backup_and_a_scrub_read_the_coverage_of_their_own_documents(old: Old) -> None:
    """What the worker asks and records for one document, by the role that does it."""
    one = {"changes": 1, "fingerprint": grown.DIGEST, "sha256": grown.DIGEST, "problem": None}
    seal = {
        "before": grown.DIGEST, "after": "6" * 64, "columns_sha256": grown.DIGEST, "artifact": "new.gpg",
        "sha256": grown.DIGEST, "documents": Jsonb({"S-7": one}),
    }  # fmt: skip
    steps: dict[str, dict[str, Any]] = {
        "head": {}, "changed_documents": {"limit": 501}, "every_document": {"limit": 501},
        "sealed_changes": {"documents": ["S-7"]}, "seal": seal, "due_artifacts": {"limit": 20},
        "documents_of_artifact": {"artifact_id": "S-8/pre_write.gpg", "sha256": grown.DIGEST},
        "verified": {"documents": Jsonb({"S-8": one})}, "again": {"document": "S-9"},
    }  # fmt: skip
    read = {}
    for step, parameters in steps.items():
        with old.database.connect("cutter_backup") as connection:
            connection.execute(query_of(step), parameters)
            scans, fetched = _row(connection, COUNTERS, ("cutter_governance.backup_coverage",))
            read[step] = (scans, fetched)
            connection.rollback()
    assert {step: scans for step, (scans, _) in read.items() if scans} == {}
    assert {step: rows for step, (_, rows) in read.items() if rows > parameters_limit(steps[step])} == {}


def parameters_limit(parameters: dict[str, Any]) -> int:
    """Rows that a step may read: those for which it asks, and a few by each of its other parts."""
    return int(parameters.get("limit", 0)) + 10
