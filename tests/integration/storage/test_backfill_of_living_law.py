"""A database of before revisions, with an enacted law and drafts: after its migration, it is as if written today.

The rows of a present database are copied into the tables of migration 0008, so that the present values of the columns
that came later say what the migration must fill in.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, LiteralString

import psycopg
import pytest

from activities.run.course import void_run
from cutter.approvals import schema
from cutter.catalogue import WorkerRole
from cutter.messages import VoidInput
from cutter.storage import migrate, sql_files
from starter.commands.evidence import checks, exported, failed
from tests.integration.living_law.texts import FIRST, SECOND
from tests.support.database import OWNER, Database, TestCluster
from tests.support.policies import put_in_force
from tests.support.runs import Deployment, Keys, deployment, drive, law

BEFORE = 8
"""The last migration of before revisions."""

GATEWAY_BLOCKED = "CU001"

TABLES: LiteralString = """
select c.oid::regclass::text as name,
    string_agg(quote_ident(a.attname), ', ' order by a.attnum) as columns
from pg_class c join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
where c.relnamespace in ('public'::regnamespace, 'cutter_governance'::regnamespace) and c.relkind = 'r'
    and a.attgenerated = ''
group by c.oid
"""

OF_THEN = {"cutter_governance.notification": "where kind <> 'enacted'"}
"""Which rows a table could have at migration 0008, if it has others now."""

SEQUENCES: LiteralString = """
select quote_ident(schemaname) || '.' || quote_ident(sequencename), last_value from pg_sequences
where schemaname in ('public', 'cutter_governance') and last_value is not null
"""

FILLED: dict[str, LiteralString] = {
    "versions": """
        select jsonb_agg(to_jsonb(v) - array['document_order', 'withdrawn_at'] || jsonb_build_object(
            'place', case when v.lifecycle_status = 'enacted' then v.document_order end,
            'withdrawn', v.withdrawn_at - u.deleted_at < interval '1 second') order by v.id)
        from public.unit_version v join public.information_unit u on u.id = v.unit_id
    """,
    "enactments": "select jsonb_agg(to_jsonb(e) - 'enacted_at' order by e.run_id) from public.enactment e",
    "law in force": "select jsonb_agg(to_jsonb(u) order by u.address) from api.unit u",
    "runs": "select jsonb_agg(to_jsonb(r) order by r.run_id) from cutter_governance.run r",
    "sources": "select jsonb_agg(to_jsonb(s) order by s.id) from public.source_version s",
}
"""What was filled in. A draft has no place of its own before its manifest is written."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Old:
    """The present database that was copied, and the copy at migration 0008."""

    present: Database
    copy: Database
    enacted: str

    def migrate(self) -> None:
        migrate.migrate_url(self.copy.url(OWNER))


def written(made: Deployment) -> str:
    """An enacted law, a draft that waits for its enactment, and a withdrawn draft; the enacted document."""
    enacted = drive(made, FIRST)
    drive(made, law(3), until="IG_write_verify")
    withdrawn = drive(made, law(2), until="IG_write_verify")
    kb_id, gate = made.sign_order(withdrawn.run_id, schema.VOID)
    assert made.judge(withdrawn.run_id, gate, kb_id).accepted
    order = VoidInput(run_id=withdrawn.run_id, kb_id=kb_id)
    assert void_run(made.deps[WorkerRole.EXEC], order).code == "voided"
    return enacted.document_id


def make_tables(copy: Database) -> None:
    """The tables of migration 0008, empty, and its ledger."""
    with psycopg.connect(copy.url(OWNER)) as connection:
        migrate._make_ledger(connection)
        for migration in sql_files.shipped().migrations[:BEFORE]:
            migrate._run(connection, migration)


def copy_rows(present: Database, copy: Database) -> None:
    """Every row that migration 0008 could have, of the tables and by the columns that it had."""
    with psycopg.connect(present.url("postgres")) as source, psycopg.connect(copy.url("postgres")) as target:
        target.execute("set session_replication_role = replica")
        tables: list[tuple[str, str]] = target.execute(TABLES).fetchall()
        target.execute(f"truncate {', '.join(name for name, _ in tables)}".encode())
        for name, columns in tables:
            with (
                source.cursor().copy(
                    f"copy (select {columns} from {name} {OF_THEN.get(name, '')}) to stdout".encode()
                ) as rows,
                target.cursor().copy(f"copy {name} ({columns}) from stdin".encode()) as into,
            ):
                for row in rows:
                    into.write(row)
        for name, value in source.execute(SEQUENCES).fetchall():
            # Without an effect for a sequence of a later table.
            target.execute("select setval(to_regclass(%s), %s)", (name, value))


def guard_versions(copy: Database) -> None:
    """The triggers of unit_version, which the migration must pass and leave in force."""
    functions = {"fn_iu_gateway_guard", "fn_enacted_immutable", "fn_check_gate_of_row"}
    with psycopg.connect(copy.url(OWNER)) as connection:
        for definition in sql_files.shipped().definitions:
            if definition.name.rpartition(".")[2] in functions or definition.path == "triggers/unit_version.sql":
                migrate.run_file(connection, definition.path, definition.body)


@contextmanager
def old_database(cluster: TestCluster, keys: Keys) -> Iterator[Old]:
    with (
        cluster.database(prefix="present") as present,
        cluster.database(template="template0", prefix="old") as copy,
    ):
        with deployment(present, keys) as made:
            enacted = written(made)
        make_tables(copy)
        copy_rows(present, copy)
        guard_versions(copy)
        yield Old(present=present, copy=copy, enacted=enacted)


@pytest.fixture(scope="module")
def old(cluster: TestCluster, keys: Keys) -> Iterator[Old]:
    with old_database(cluster, keys) as made:
        assert refused_change(made.copy) == GATEWAY_BLOCKED
        made.migrate()
        yield made


def refused_change(database: Database) -> str:
    """The code of the error of a change of enacted text by the owner of the tables."""
    try:
        database.run("update public.unit_version set body = body || '!' where lifecycle_status = 'enacted'", role=OWNER)
    except psycopg.Error as problem:
        return str(problem.sqlstate)
    return "changed"


@pytest.mark.parametrize("what", FILLED)
def test_the_migration_fills_in_what_a_run_of_today_writes(old: Old, what: str) -> None:
    rows: Any = old.copy.value(FILLED[what])
    assert rows
    assert rows == old.present.value(FILLED[what])


def test_the_triggers_of_versions_hold_again_after_the_migration(old: Old) -> None:
    assert refused_change(old.copy) == GATEWAY_BLOCKED
    state = (
        "select jsonb_object_agg(tgname, tgenabled) from pg_trigger"
        " where tgrelid = 'public.unit_version'::regclass and not tgisinternal"
    )
    assert old.copy.value(state) == old.present.value(state)


@pytest.mark.thorough
def test_a_law_that_was_enacted_before_the_migration_is_revised_after_it(old: Old, keys: Keys) -> None:
    old.copy.close()
    with old.copy.server.database(template=old.copy.name, prefix="revised") as database:
        with deployment(database, keys) as made:
            put_in_force(made.settings)  # the old database had no effect policy
            made.register(SECOND, document_id=old.enacted)
            run = drive(made, document_id=old.enacted)
            assert run.state == "closeout_reported"
            bundle, sealed, _ = exported(made.settings, run.run_id)
            assert sealed
            assert not failed(checks(bundle.data, head=bundle.head, sha256=bundle.sha256))
        kinds = "select jsonb_agg(operation_kind order by n) from public.enactment where source_document_ref = %s"
        assert database.value(kinds, (old.enacted,)) == ["first_cut", "revision"]
        counts = "select jsonb_object_agg(operation, n) from (select operation, count(*) as n from"
        counts += " cutter_governance.revision_row where run_id = %s group by 1) as rows"
        assert database.value(counts, (run.run_id,)) == {"keep": 3, "revise": 1, "create": 2, "repeal": 2}
