"""The survey reads definitions only if a key of the catalogues is new, so each changed definition must change a key."""

from __future__ import annotations

import json
from typing import LiteralString

import pytest

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
            found: dict[str, str] = json.loads(row[0])
            return found

        pins, keys = answer(PINS), answer(KEYS)
        assert pins == answer(READ_NOW)
        connection.execute(statement)
        assert answer(KEYS)[dimension] != keys[dimension]
        assert answer(PINS)[dimension] != pins[dimension]
        assert answer(PINS) == answer(READ_NOW)
        connection.rollback()
