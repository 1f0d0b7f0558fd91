"""The survey reads definitions only if a key of the catalogues is new, so each changed definition must change a key."""

from __future__ import annotations

import json
from typing import LiteralString

import pytest

from cutter.domain.digests import canonical_digest
from cutter.storage.roles import LiveGrants, grant_differences, grants_asked
from tests.support.database import Database

CHANGES: dict[str, tuple[str, LiteralString]] = {
    "a function replaced": (
        "functions",
        "create or replace function cutter_governance.fn_utc(p_at timestamptz) returns text"
        " language sql stable parallel safe return 'now'",
    ),
    "a function's owner": ("functions", "alter function cutter_governance.fn_utc owner to cutter_exec"),
    "a function's setting": ("functions", "alter function cutter_governance.fn_utc set work_mem = '1MB'"),
    "a function's privilege": ("functions", "grant execute on function cutter_governance.fn_utc to directus"),
    "a new function": ("functions", "create function public.fn_new() returns integer language sql return 1"),
    "a function written into the catalogue": (
        "functions", "update pg_proc set prosrc = prosrc || ' ' where proname = 'fn_iu_create'",
    ),
    "a trigger off": ("triggers", "alter table cutter_governance.run disable trigger trg_ab_form"),
    "a trigger gone": ("triggers", "drop trigger trg_run_notification on cutter_governance.run"),
    "a trigger off in the catalogue": (
        "triggers", "update pg_trigger set tgenabled = 'D' where tgname = 'trg_ab_form'",
    ),
    "a new column": ("tables", "alter table cutter_governance.batch add column more integer"),
    "a default": ("tables", "alter table cutter_governance.batch alter column lanes set default 3"),
    "not null": ("tables", "alter table cutter_governance.run alter column state drop not null"),
    "a check gone": ("tables", "alter table public.unit_version drop constraint unit_version_hash_of_body"),
    "an index gone": ("tables", "drop index cutter_governance.run_document"),
    "an index that is not valid": (
        "tables",
        "update pg_index set indisvalid = false where indexrelid = 'cutter_governance.run_document'::regclass",
    ),
    "row security": ("tables", "alter table cutter_governance.run enable row level security"),
    "a new table": ("tables", "create table cutter_governance.more (id integer)"),
    "a storage option": ("tables", "alter table cutter_governance.run set (fillfactor = 70)"),
    "a table's privilege": ("grants", "grant update on cutter_governance.run to cutter_read"),
    "a column's privilege": ("grants", "grant update (state) on cutter_governance.run to cutter_read"),
    "a sequence's privilege": ("grants", "grant usage on sequence cutter_governance.pin_seq to cutter_read"),
    "a schema's privilege": ("grants", "grant create on schema public to directus"),
    "a view's text": ("tables", """
        update pg_rewrite r set ev_action = o.ev_action from pg_rewrite o
        where r.ev_class = 'api.source'::regclass and o.ev_class = 'api.signature'::regclass
    """),
    "a privilege on the views' schema": ("grants", "grant create on schema api to directus"),
    "a role's right": ("grants", "alter role cutter_exec createdb"),
    "a role's name in a list": ("grants", "alter role directus rename to other"),
    "a membership": ("grants", "grant cutter_owner to cutter_exec"),
    "a setting of a role": ("grants", "alter role cutter_exec set session_replication_role = replica"),
    "a default privilege": ("grants", "alter default privileges in schema public grant select on tables to directus"),
}  # fmt: skip

PINS = "select cutter_governance.fn_definition_pins()::text"
KEYS = "select cutter_governance.fn_catalog_keys()::text"
READ_NOW: LiteralString = """
select jsonb_build_object(
    'functions', cutter_governance.fn_digest(cutter_governance.fn_function_definitions()::text),
    'triggers', cutter_governance.fn_digest(cutter_governance.fn_trigger_definitions()::text),
    'tables', cutter_governance.fn_digest(cutter_governance.fn_table_definitions()::text),
    'grants', cutter_governance.fn_digest(cutter_governance.fn_grant_definitions()::text))::text
"""


@pytest.mark.parametrize("change", CHANGES)
def test_a_changed_definition_has_another_key_and_another_pin(database: Database, change: str) -> None:
    dimension, statement = CHANGES[change]
    with database.connect("postgres") as connection:

        def answer(query: LiteralString) -> dict[str, str]:
            row = connection.execute(query).fetchone()
            assert row is not None
            digests: dict[str, str] = json.loads(row[0])
            return digests

        pins, keys = answer(PINS), answer(KEYS)
        assert pins == answer(READ_NOW)
        connection.execute(statement)
        assert answer(KEYS)[dimension] != keys[dimension]
        assert answer(PINS)[dimension] != pins[dimension]
        assert answer(PINS) == answer(READ_NOW)
        connection.rollback()


GRANTS: dict[str, LiteralString] = {
    name: statement
    for name, (dimension, statement) in CHANGES.items()
    if dimension in ("functions", "grants") and name != "a role's name in a list"  # No one can ask about that role.
} | {
    "a table's owner": "alter table cutter_governance.run owner to cutter_read",
    "a new function": "create function public.fn_new() returns integer language sql return 1",
    "an object gone": "drop view api.change",
    "a member that inherits no more": "grant cutter_exec to cutter_read with inherit false",
    "a role that is a superuser": "alter role cutter_desk superuser",
    "a privilege written into the catalogue": (
        "update pg_class set relacl = null where oid = 'cutter_governance.run'::regclass"
    ),
}
MATRIX: LiteralString = "select cutter_governance.fn_grant_matrix(%(roles)s, %(verbs)s, %(schemas)s)"
MATRIX_NOW: LiteralString = "select cutter_governance.fn_grant_matrix_read(%(roles)s, %(verbs)s, %(schemas)s)"


@pytest.mark.parametrize("change", GRANTS)
def test_the_grant_matrix_is_read_again_after_a_change(database: Database, change: str) -> None:
    with database.connect("postgres") as connection:

        def matrix(query: LiteralString) -> object:
            row = connection.execute(query, grants_asked()).fetchone()
            assert row is not None
            return row[0]

        before = matrix(MATRIX)
        assert matrix(MATRIX) == before == matrix(MATRIX_NOW)
        connection.execute(GRANTS[change])
        assert matrix(MATRIX) == matrix(MATRIX_NOW)
        connection.rollback()


EVERY_CELL: LiteralString = """
select r.role, c.relnamespace::regnamespace::text || '.' || c.relname, v.verb,
    r.role <> 'PUBLIC' and (has_table_privilege(nullif(r.role, 'PUBLIC'), c.oid, v.verb)
        or has_any_column_privilege(nullif(r.role, 'PUBLIC'), c.oid, v.verb))
from unnest(%(roles)s::text[]) as r (role) cross join pg_class c
cross join unnest(%(verbs)s::text[]) as v (verb)
where c.relkind in ('r', 'p', 'v', 'm', 'f') and c.relnamespace = any (%(schemas)s::regnamespace[])
    and v.verb in ('SELECT', 'INSERT', 'UPDATE', 'REFERENCES')
union all
select r.role, c.relnamespace::regnamespace::text || '.' || c.relname, v.verb,
    r.role <> 'PUBLIC' and has_table_privilege(nullif(r.role, 'PUBLIC'), c.oid, v.verb)
from unnest(%(roles)s::text[]) as r (role) cross join pg_class c
cross join unnest(%(verbs)s::text[]) as v (verb)
where c.relkind in ('r', 'p', 'v', 'm', 'f') and c.relnamespace = any (%(schemas)s::regnamespace[])
    and v.verb not in ('SELECT', 'INSERT', 'UPDATE', 'REFERENCES')
union all
select r.role, p.pronamespace::regnamespace::text || '.' || p.proname, 'EXECUTE',
    r.role <> 'PUBLIC' and has_function_privilege(nullif(r.role, 'PUBLIC'), p.oid, 'EXECUTE')
from unnest(%(roles)s::text[]) as r (role) cross join pg_proc p where p.pronamespace = any (%(schemas)s::regnamespace[])
"""


def test_the_digest_of_the_matrix_covers_every_cell(database: Database) -> None:
    with database.connect("postgres") as connection:
        row = connection.execute(MATRIX, grants_asked()).fetchone()
        cells = connection.execute(EVERY_CELL, grants_asked()).fetchall()
    assert row is not None
    live = LiveGrants(**row[0])
    assert live.sha256 == canonical_digest(sorted(map(list, cells)))
    assert live.cells == len(cells)
    assert {tuple(cell) for cell in live.granted} == {cell[:3] for cell in cells if cell[3]}


def test_a_granted_cell_too_many_and_one_too_few_are_named(database: Database) -> None:
    with database.connect("postgres") as connection:
        connection.execute("grant delete on cutter_governance.run to cutter_read")
        connection.execute("revoke select on cutter_governance.run from cutter_read")
        connection.execute("drop view api.change")
        row = connection.execute(MATRIX, grants_asked()).fetchone()
        connection.rollback()
    assert row is not None
    assert {
        "cutter_read has DELETE on cutter_governance.run, which is not declared",
        "cutter_read lacks SELECT on cutter_governance.run",
        "cutter_api lacks SELECT on api.change, which does not exist",
    } <= set(grant_differences(LiveGrants(**row[0])))
