"""Migrations: from empty, once, one at a time, never changed afterwards; tests/golden/schema.txt has its digests."""

from __future__ import annotations

import importlib
import pkgutil
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psycopg
import pytest
from psycopg import sql

from cutter.catalogue import GATES, Role
from cutter.errors import Conflict, Refused
from cutter.policy.command import write_of
from cutter.storage import migrate, sql_files
from cutter.storage.records import Rows, queries, queries_in
from cutter.storage.sql_files import Migration, SchemaFiles
from tests.architecture.test_glossary import TABLES
from tests.support.database import OWNER, Database, TestCluster
from tests.support.schema import changed, dump_schema, objects

ROOT = Path(__file__).parents[3]
READ, EXEC, VERIFY = "cutter_read", "cutter_exec", "cutter_verify"
USERS = {
    **dict.fromkeys(("approval_facts", "approval_document_facts", "units_were_written"), (READ, EXEC)),
    **dict.fromkeys(("source_of_document", "vocabulary", "runs_with_same_digest", "units_enacted_last"), (READ,)),
    **dict.fromkeys(("max_writes", "tenant_rooms", "epoch_of_verdict"), (READ,)),
    **dict.fromkeys(("snapshot_of_version",), (READ, EXEC, VERIFY)),
    **dict.fromkeys(("stored_units", "version_count"), (READ, EXEC, VERIFY)),
    **dict.fromkeys(
        ("rows_under_prefix", "create_unit", "units_written", "enact_unit", "revise_unit", "keep_units"), (EXEC,)
    ),
    **dict.fromkeys(
        ("units_read_back", "revision_written", "drafts_beside", "planned_rows", "units_to_enact"), (EXEC,)
    ),
    **dict.fromkeys(("drafted_units", "revision_rows"), (READ, EXEC, VERIFY)),
    "law_in_force": (READ, EXEC, VERIFY, "cutter_operator"),
    **dict.fromkeys(("law_enacted", "units_continued"), ("cutter_operator",)),
    "terms_of_run": (READ, "cutter_operator"),
    **dict.fromkeys(("request_open", "request_facts", "request_snapshot"), (READ,)),
    **dict.fromkeys(("units_stored", "gates_sealed_between"), (READ, "cutter_operator")),
    **dict.fromkeys(("waiting_run_documents", "run_sidecar_now"), (READ, EXEC, VERIFY)),
    "newest_backups": (READ, EXEC),
    "run_limits": (READ,),
    "policy_context": (READ,),
    **dict.fromkeys(("run_sidecar",), (READ, "cutter_backup")),
    **dict.fromkeys(("enactment_counts", "approved_decision", "open_request", "orders_taken"), (EXEC,)),
    **dict.fromkeys(("change_set_to_verify", "verify_signature", "verify_result", "verify_rows"), (VERIFY,)),
    "live_grants": (READ,),
    "run_evidence": (READ, "cutter_operator"),
    "run_evidence_and_sidecar": ("cutter_operator",),
    "policy_in_force": (READ, "cutter_operator", OWNER),
    "database_clock": (OWNER,),
    **dict.fromkeys(("archiver", "restore_point"), ("cutter_backup",)),
    **dict.fromkeys(("waiting_batch_documents", "batches_not_ended", "runs_with_waiting_documents"), (READ,)),
    **dict.fromkeys(("batch_state", "batch_outbox", "cancel_stopped_run"), (READ,)),
    "judge_workers": (READ, "cutter_operator"),
    **dict.fromkeys(("ledger_migrations", "ledger_migration_record", "ledger_definitions", "ledger_grants"), (OWNER,)),
    **dict.fromkeys(("ledger_record", "ledger_forget", "ledger_set_record", "ledger_set_replaced_at"), (OWNER,)),
    **dict.fromkeys(("functions_present", "function_signatures", "view_readers", "roles_missing"), (OWNER,)),
    **dict.fromkeys(("function_callers", "triggers_of_table", "baseline_is_recorded", "baseline_record"), (OWNER,)),
    "search_is_here": (OWNER,),
    "gauges": (READ,),
}
"""Roles that send each query. Of the others, leg B's are the executor's, a gate's are cutter_read's, and the rest are a
person's (cutter_operator)."""
OF_GATES = queries_in("cutter.storage", "sql/queries/gates.sql")


def users_of(name: str) -> tuple[str, ...]:
    others = (EXEC,) if name.startswith("leg_b_") else (READ,) if name in OF_GATES else ("cutter_operator",)
    return USERS.get(name, others)


@contextmanager
def empty_database(cluster: TestCluster) -> Iterator[str]:
    """Connection string of the owner for a database in which nothing was ever migrated."""
    with cluster.database(template="template0", prefix="empty") as made:
        yield made.url(OWNER)


@pytest.mark.promise
def test_an_empty_database_gets_everything_at_once(cluster: TestCluster) -> None:
    with empty_database(cluster) as url:
        outcome = migrate.migrate_url(url)
        files = sql_files.shipped()
        assert set(outcome.applied) == {*(m.name for m in files.migrations), *(d.path for d in files.definitions)}
        assert (outcome.version, outcome.dropped) == (len(files.migrations), ())


def test_a_second_migration_does_nothing(database: Database) -> None:
    before = database.value("select count(*) from cutter_governance.schema_baseline")
    assert migrate.migrate_url(database.url(OWNER)).applied == ()
    assert database.value("select count(*) from cutter_governance.schema_baseline") == before


@pytest.mark.promise
def test_the_schema_that_was_dumped_last_is_the_present_one(database: Database) -> None:
    dumped = dump_schema(database.url(OWNER))
    assert changed(dumped) == {}, "type `python -m tests.support.schema`"
    assert len(objects(dumped)) > 500


def test_each_table_and_column_of_the_glossary_exists(database: Database) -> None:
    assert len(TABLES) > 30
    columns = set(database.value(
        "select array_agg(distinct name) from information_schema.columns c, lateral (values"
        " (case table_schema when 'public' then 'public.' else '' end || table_name),"
        " (case table_schema when 'public' then 'public.' else '' end || table_name || '.' || column_name)) as n (name)"
        " where table_schema in ('public', 'cutter_governance')", role=OWNER
    ))  # fmt: skip
    assert [name for name in TABLES if name not in columns] == []


def test_a_changed_a_new_and_a_lost_object_of_the_schema_are_named(database: Database) -> None:
    dumped = dump_schema(database.url(OWNER))
    other = dumped.replace("CREATE TABLE public.unit_version (", "CREATE TABLE public.other (")
    other = other.replace("    LANGUAGE sql STABLE\n", "    LANGUAGE sql VOLATILE\n", 1)
    named = changed(other)
    assert named["CREATE TABLE public.unit_version"] == ""
    assert named["CREATE TABLE public.other"].startswith("CREATE TABLE public.other (")
    assert len(named) == 3


def test_an_applied_file_that_changed_is_refused(database: Database) -> None:
    database.run("update cutter_ledger.migration set sha256 = repeat('0', 64) where number = 3", role=OWNER)
    with pytest.raises(Conflict, match=r"0003_approvals\.sql was applied as 000000000000"):
        migrate.migrate_url(database.url(OWNER))


def test_a_database_of_a_newer_version_is_refused(database: Database) -> None:
    database.run("insert into cutter_ledger.migration (number, name, sha256) values (99, 'x', 'y')", role=OWNER)
    with pytest.raises(Conflict, match="migration 99, which this version lacks"):
        migrate.migrate_url(database.url(OWNER))


def test_a_migration_that_runs_keeps_a_second_one_out(cluster: TestCluster) -> None:
    with empty_database(cluster) as url, psycopg.connect(url, autocommit=True) as other:
        other.execute("select pg_advisory_lock(%s)", (migrate._LOCK_KEY,))
        with pytest.raises(Refused, match="another migration is running"):
            migrate.migrate_url(url)
        assert other.execute("select to_regclass('public.information_unit')").fetchone() == (None,)


def test_a_migration_that_fails_leaves_nothing_and_names_its_line(cluster: TestCluster) -> None:
    bad = Migration(
        number=1, name="0001_bad.sql", body="create table public.half ();\n\n-- no such thing\nselect 1 / 0;"
    )
    with empty_database(cluster) as url:
        with pytest.raises(Refused, match=r"migrations/0001_bad\.sql, line 4: division by zero: nothing was applied"):
            migrate.migrate_url(url, SchemaFiles(migrations=(bad,), definitions=()))
        with psycopg.connect(url) as connection:
            row = connection.execute(
                "select to_regclass('public.half'), to_regclass('cutter_ledger.migration')"
            ).fetchone()
    assert row == (None, None)


def test_a_database_of_the_migrations_before_they_were_squashed_is_refused_with_a_remedy(database: Database) -> None:
    database.run("update cutter_ledger.migration set name = '0001_law.sql' where number = 1", role=OWNER)
    with pytest.raises(Conflict, match=r"\(0001_law\.sql\) no longer exist: create an empty database"):
        migrate.migrate_url(database.url(OWNER))


def test_the_catalogue_in_the_database_is_the_product_s_own(database: Database) -> None:
    rows = (
        database.connect("cutter_read")
        .execute(
            "select gate, ordinal, phase, from_state, to_state, role, effect, report, sovereign, writes"
            " from cutter_governance.gate_catalogue order by ordinal"
        )
        .fetchall()
    )
    assert rows == [
        (
            gate.name, gate.number, gate.phase, gate.from_state.value, gate.to_state.value, gate.role.value,
            gate.effect.value, gate.report, gate.sovereign.value if gate.sovereign else None,
            write.name if (write := write_of(gate.name)) else None,
        )
        for gate in GATES
    ]  # fmt: skip


def test_what_the_gate_functions_ask_of_a_gate_is_said_by_its_row_and_by_no_ordinal(database: Database) -> None:
    """Lane, rehearsal and the pinned source are columns; no function compares an ordinal with a number."""
    rows = database.value(
        "select jsonb_agg(jsonb_build_array(gate, lane, rehearsable, pins_source) order by ordinal)"
        " from cutter_governance.gate_catalogue where lane is not null or rehearsable or pins_source"
    )
    assert rows == [
        [GATES[0].name, None, False, True],
        ["IG_cut_leg_a_execute", "write", True, False],
        ["IG_lifecycle_enact_execute", "enact", False, False],
    ]
    bodies = "\n".join(definition.body for definition in sql_files.shipped().definitions)
    assert re.findall(r"ordinal\s*(?:[<>=+-]+|not in|in|between)\s*\(?\d", bodies) == []


def test_the_vocabulary_has_the_families_of_the_original(database: Database) -> None:
    rows: dict[str, list[str]] = dict(
        database.connect("cutter_read")
        .execute("select family, array_agg(code order by code) from public.vocabulary group by 1")
        .fetchall()
    )
    assert rows["section_type"] == [
        "appendix", "article", "changelog", "checklist", "definition", "governance_process", "heading",
        "instruction_block", "paragraph", "principle", "process", "section", "technical_spec",
    ]  # fmt: skip
    assert rows["lifecycle"] == ["draft", "enacted", "retired", "superseded"]
    assert rows["unit_kind"] == ["law_unit"]
    assert rows["review_decision_type"] == ["cut", "lifecycle_enactment"]


@pytest.fixture(scope="module")
def shared(cluster: TestCluster) -> Iterator[Database]:
    """One database for all that only prepare statements. A session keeps a prepared one, so each test has its own."""
    with cluster.database() as made:
        yield made


def prepared(connection: psycopg.Connection[Any], name: str) -> dict[str, int]:
    """Prepare a named query as `probe`; its parameters with their numbers."""
    positions: dict[str, int] = {}

    def numbered(match: re.Match[str]) -> str:
        return f"${positions.setdefault(match[1], len(positions) + 1)}"

    statement = re.sub(r"%\((\w+)\)s", numbered, queries()[name]).replace("%%", "%")
    connection.execute(sql.SQL("prepare probe as ") + sql.SQL(statement))
    return positions


def every_rows() -> dict[str, tuple[str, Rows[Any]]]:
    """What each module of the product reads by a named query, by module and constant."""
    constants: dict[str, tuple[str, Rows[Any]]] = {}
    for package in ("cutter", "temporal", "activities", "starter"):
        for module in pkgutil.walk_packages([str(ROOT / package)], f"{package}."):
            if not module.name.endswith("__main__"):
                for constant, value in vars(importlib.import_module(module.name)).items():
                    if isinstance(value, Rows) and value.name in queries():
                        constants[f"{module.name}.{constant}"] = (value.name, value)
    return constants


@pytest.mark.parametrize(("name", "rows"), every_rows().values(), ids=every_rows())
@pytest.mark.promise
def test_the_columns_of_a_query_are_the_fields_of_its_record(shared: Database, name: str, rows: Rows[Any]) -> None:
    with shared.connect("postgres") as connection:
        prepared(connection, name)
        described = connection.pgconn.describe_prepared(b"probe")
    columns = [str((described.fname(number) or b"").decode()) for number in range(described.nfields)]
    assert len(columns) == 1 if rows.columns is None else sorted(columns) == sorted(rows.columns)


@pytest.mark.parametrize(("name", "role"), sorted((name, role) for name in queries() for role in users_of(name)))
@pytest.mark.promise
def test_every_named_query_prepares_as_the_roles_that_use_it(shared: Database, name: str, role: str) -> None:
    with shared.connect(role) as connection:
        positions = prepared(connection, name)
        given = sql.SQL(", ").join([sql.SQL("null")] * len(positions))
        # Privileges are checked when a plan starts; EXPLAIN starts it and runs nothing.
        connection.execute(sql.SQL("explain execute probe({})").format(given) if positions else "explain execute probe")


def test_every_function_of_ours_has_its_search_path_pinned_with_temporary_objects_last(database: Database) -> None:
    """Without pg_temp at the end a temporary table named like a type would be found first."""
    loose = database.value(
        "select array_agg(p.oid::regprocedure::text) from pg_proc p"
        " where p.pronamespace in ('public'::regnamespace, 'cutter_governance'::regnamespace)"
        " and not exists (select from unnest(p.proconfig) c where c ~ '^search_path=pg_catalog(, public)?, pg_temp$')"
    )
    assert loose is None


def test_public_executes_nothing_and_every_object_is_the_owner_s(database: Database) -> None:
    executable = database.value(
        "select array_agg(p.oid::regprocedure::text) from pg_proc p,"
        " aclexplode(coalesce(p.proacl, acldefault('f', p.proowner))) a"
        " where p.pronamespace in ('public'::regnamespace, 'cutter_governance'::regnamespace) and a.grantee = 0"
    )
    foreign = database.value(
        "select array_agg(c.relname) from pg_class c where c.relnamespace in ('public'::regnamespace,"
        " 'cutter_governance'::regnamespace) and c.relowner <> 'cutter_owner'::regrole"
    )
    assert (executable, foreign) == (None, None)


@pytest.mark.parametrize("role", Role)
def test_no_role_may_make_temporary_objects_or_set_what_switches_triggers_off(database: Database, role: str) -> None:
    row = database.value(
        "select array[has_database_privilege(%s, current_database(), 'TEMPORARY'),"
        " has_parameter_privilege(%s, 'session_replication_role', 'SET')]",
        (role, role),
    )
    assert row == [role == OWNER, False]
