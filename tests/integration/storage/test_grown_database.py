"""Each index of migration 10 is needed: without it, the statement that it is for scans a table that grows."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from importlib import resources
from typing import Any, LiteralString

import pytest
from psycopg import sql

from cutter.storage.queries import queries
from tests.support import grown
from tests.support.database import Connection, Database
from tests.support.runs import Stage

COPIES = 1_000

KB_ID = "knowledge/dev/laws/icx-taken.md"


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """The statement that an index is for: a named query, or its text."""

    query: str = ""
    text: LiteralString = ""

    @property
    def statement(self) -> LiteralString:
        return self.text or queries()[self.query]


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
}

TABLE: LiteralString = "select indrelid::regclass::text from pg_index where indexrelid = %s::regclass"
COUNTERS: LiteralString = "select seq_scan, idx_tup_fetch from pg_stat_xact_user_tables where relid = %s::regclass"


@dataclass(frozen=True, slots=True, kw_only=True)
class Old:
    """A database with a thousand finished runs; nothing is committed there."""

    database: Database
    parameters: dict[str, Any]

    def reads_whole(self, index: str, *, dropped: bool) -> bool:
        """Whether the index's statement reads all of the index's table, with or without the index."""
        name = sql.Identifier("cutter_governance", index)
        with self.database.connect("postgres") as connection:
            (table,) = _row(connection, TABLE, (f"cutter_governance.{index}",))
            if dropped:
                connection.execute(sql.SQL("drop index {}").format(name))
            connection.execute(CASES[index].statement, self.parameters)
            scans, fetched = _row(connection, COUNTERS, (table,))
            connection.rollback()
        return bool(scans or fetched > COPIES // 2)


def _row(connection: Connection, statement: LiteralString, parameters: tuple[str, ...]) -> tuple[Any, ...]:
    row = connection.execute(statement, parameters).fetchone()
    assert row is not None
    return row


@pytest.fixture(scope="module")
def old(enacted_stage: Stage) -> Iterator[Old]:
    with enacted_stage.clone() as database:
        grown.add_rare_rows(database, enacted_stage.run_id, enacted_stage.document_id)
        grown.fill(database, COPIES)
        yield Old(database=database, parameters={
            "run_id": enacted_stage.run_id, "document_id": enacted_stage.document_id, "batch_id": grown.BATCH,
            "gate": "SG_cut_authz", "names": [KB_ID], "digests": [grown.DIGEST], "target": grown.DIGEST, "limit": 20,
            "kb_id": KB_ID, "entry_id": grown.BATCH, "envelope_id": grown.BATCH, "change_set_id": grown.BATCH,
        })  # fmt: skip


@pytest.mark.parametrize("index", sorted(CASES))
def test_a_statement_reads_its_whole_table_only_without_its_index(old: Old, index: str) -> None:
    assert not old.reads_whole(index, dropped=False)
    assert old.reads_whole(index, dropped=True)


def test_each_index_of_the_migration_has_its_statement() -> None:
    migration = resources.files("cutter.storage") / "sql" / "migrations" / "0010_indexes.sql"
    assert set(re.findall(r"^create index (\w+)", migration.read_text(encoding="utf-8"), re.MULTILINE)) == set(CASES)
