"""The files of the schema `api`: applied again when they change, dropped with their file, and watched by the survey."""

from __future__ import annotations

import pytest

from cutter.errors import Refused
from cutter.storage import migrate, roles, sql_files
from tests.integration.storage.test_definitions import Files, files
from tests.support.database import OWNER, Database, TestCluster

__all__ = ["files"]
LAW, VERSION = "api/law.sql", "api/law_version.sql"
OTHER_SIGNERS = """
create or replace view api.signature with (security_barrier) as
select v.document, v.version, 'executor' as role, 'x' as name, repeat('0', 40) as fingerprint, now() as signed_at,
    '' as statement_sha256
from api.law_version v
"""
PINS = "select cutter_governance.fn_definition_pins() ->> %s"


def column_names(database: Database, view: str) -> list[str]:
    columns: list[str] = database.value(
        "select array_agg(attname::text order by attnum) from pg_attribute"
        " where attrelid = %s::regclass and attnum > 0",
        (view,),
    )
    return columns


def test_a_column_is_added_at_the_end(files: Files) -> None:
    files.change(LAW, "as last_enacted_at\n", "as last_enacted_at, 'x' as extra\n")
    assert files.migrate().applied == (LAW,)
    assert column_names(files.database, "api.law")[-1] == "extra"


def test_a_view_whose_columns_change_is_made_again_with_the_views_that_read_it(files: Files) -> None:
    files.change(
        VERSION, "select d.doc_code as document, e.n as version,", "select e.n as version, d.doc_code as document,"
    )
    applied = files.migrate().applied
    assert VERSION in applied
    assert {LAW, "api/unit.sql"} <= set(applied)
    assert column_names(files.database, "api.law_version")[:2] == ["version", "document"]
    assert files.database.value("select count(*) from api.law", role="cutter_api") == 0


def test_a_view_is_dropped_with_its_file(files: Files) -> None:
    (files.folder / "api" / "signature.sql").unlink()
    grants_without = files.database.value("select to_regclass('api.signature')::text")
    assert grants_without == "api.signature"
    with pytest.raises(Exception, match=r"api\.signature.*does not exist"):
        files.migrate()  # grants.yaml still names it


def test_a_mistake_in_a_view_names_its_file_and_changes_nothing(files: Files) -> None:
    files.change(LAW, "d.source_url", "d.no_such_column")
    with pytest.raises(Refused, match=r"api/law\.sql, line \d+: column d\.no_such_column does not exist"):
        files.migrate()
    assert "source_url" in column_names(files.database, "api.law")


def test_a_file_of_another_form_is_refused(files: Files) -> None:
    files.write("api/more.sql", "-- Returns more.\ncreate or replace view api.less as select 1 as n;\n")
    with pytest.raises(ValueError, match=r"api/more\.sql: the file must hold one view or function"):
        sql_files.read(files.folder)


@pytest.mark.parametrize(
    ("dimension", "statement"),
    [
        ("tables", OTHER_SIGNERS),
        ("tables", "alter view api.unit_history reset (security_barrier)"),
        ("grants", "grant select on api.source to cutter_api"),
        (
            "functions",
            "alter function api.search(text, date, text, integer, integer, timestamptz, date) security invoker",
        ),
    ],
)  # fmt: skip
def test_the_survey_sees_a_changed_view(database: Database, dimension: str, statement: str) -> None:
    before = database.value(PINS, (dimension,))
    assert database.value(PINS, (dimension,)) == before
    database.run(statement)  # type: ignore[arg-type]
    assert database.value(PINS, (dimension,)) != before


def test_a_server_without_the_role_of_the_readers_is_refused_with_the_command(
    cluster: TestCluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An upgrade of a server that has no such role yet."""
    role = "  cutter_reader_of_tomorrow:\n    SELECT:\n      - *law\n"
    more = roles.grants_text().replace("  cutter_api:\n", f"{role}  cutter_api:\n")
    monkeypatch.setattr(roles, "grants_text", lambda: more)
    roles.declared_grants.cache_clear()
    try:
        with (
            cluster.database(template="template0", prefix="empty") as empty,
            pytest.raises(Refused, match=r"no role cutter_reader_of_tomorrow.*`cutter migrate --bootstrap URL`"),
        ):
            migrate.migrate_url(empty.url(OWNER))
    finally:
        monkeypatch.undo()
        roles.declared_grants.cache_clear()
