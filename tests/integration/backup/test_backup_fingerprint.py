"""The content fingerprint changes with every row and with nothing else."""

from __future__ import annotations

import psycopg
import pytest

from cutter.backup.fingerprint import content_fingerprint, contents
from cutter.backup.tables import BACKUP_TABLES
from tests.integration.backup import rig as parts
from tests.integration.backup.rig import Rig


def fingerprint(rig: Rig, *before: str) -> str:
    with psycopg.connect(rig.server.dsn(parts.ROLE, rig.database)) as connection:
        for statement in before:
            connection.execute(statement)
        return content_fingerprint(connection)


_EDITS = {
    "cutter_governance.cut_change_set": "emitted_by = 'x'",
    "cutter_governance.cut_change_set_affected_row": "content_hash = 'x'",
    "cutter_governance.dot_pair_signature": "signature = 'x'",
    "cutter_governance.manifest_envelope": "reviewer = 'x'",
    "cutter_governance.manifest_unit_block": "span_sha256 = span_sha256 || ' '",
    "cutter_governance.review_decision": "findings = '[1]'",
    "public.information_unit": "identity_profile = identity_profile || '{\"x\": null}'",
    "public.iu_lifecycle_log": "reason = ''",
    "public.unit_version": "created_at = created_at + interval '1 microsecond'",
}


def test_every_table_is_edited_below() -> None:
    assert set(_EDITS) == set(BACKUP_TABLES)


@pytest.mark.parametrize("table", BACKUP_TABLES)
def test_one_changed_value_in_one_row_changes_it(own: Rig, table: str) -> None:
    before = fingerprint(own)
    one_row = f"ctid = (SELECT min(ctid) FROM {table})"
    own.server.run(f"UPDATE {table} SET {_EDITS[table]} WHERE {one_row}", database=own.database)
    assert fingerprint(own) != before


@pytest.mark.parametrize("table", BACKUP_TABLES)
def test_one_missing_row_changes_it_and_the_count(own: Rig, table: str) -> None:
    with psycopg.connect(own.server.dsn(parts.ROLE, own.database)) as connection:
        before = contents(connection)
    own.server.run(f"DELETE FROM {table} WHERE ctid = (SELECT min(ctid) FROM {table})", database=own.database)
    with psycopg.connect(own.server.dsn(parts.ROLE, own.database)) as connection:
        after = contents(connection)
    assert after.fingerprint != before.fingerprint
    assert after.row_counts == {**before.row_counts, table: before.row_counts[table] - 1}


def test_empty_text_and_no_text_differ(own: Rig) -> None:
    own.server.run("UPDATE cutter_governance.manifest_envelope SET reviewer = ''", database=own.database)
    empty = fingerprint(own)
    own.server.run("UPDATE cutter_governance.manifest_envelope SET reviewer = NULL", database=own.database)
    assert fingerprint(own) != empty


def test_physical_order_does_not_count(own: Rig) -> None:
    before = fingerprint(own)
    own.server.run("UPDATE public.unit_version SET body = body WHERE version_seq % 2 = 1", database=own.database)
    own.server.run("CLUSTER public.unit_version USING unit_version_pkey", database=own.database)
    own.server.run("UPDATE public.information_unit SET id = id", database=own.database)
    assert fingerprint(own) == before


def test_the_order_in_which_columns_were_added_does_not_count_but_their_types_do(own: Rig) -> None:
    before = fingerprint(own)
    own.server.run(
        "ALTER TABLE cutter_governance.cut_change_set RENAME emitted_by TO old;"
        "ALTER TABLE cutter_governance.cut_change_set ADD emitted_by text;"
        "UPDATE cutter_governance.cut_change_set SET emitted_by = old;"
        "ALTER TABLE cutter_governance.cut_change_set DROP old",
        database=own.database,
    )
    assert fingerprint(own) == before
    own.server.run(
        "ALTER TABLE cutter_governance.cut_change_set ALTER emitted_by TYPE varchar(99)", database=own.database
    )
    assert fingerprint(own) != before


def test_settings_of_the_session_do_not_count_and_stay_as_they_were(own: Rig) -> None:
    before = fingerprint(own)
    odd = ("SET DateStyle = 'German'", "SET TimeZone = 'Asia/Ho_Chi_Minh'", "SET bytea_output = 'escape'")
    assert fingerprint(own, *odd) == before
    with psycopg.connect(own.server.dsn(parts.ROLE, own.database)) as connection:
        for statement in odd:
            connection.execute(statement)
        content_fingerprint(connection)
        row = connection.execute("SELECT current_setting('TimeZone'), current_setting('search_path')").fetchone()
    assert row == ("Asia/Ho_Chi_Minh", '"$user", public')


def test_other_tables_do_not_count(own: Rig) -> None:
    before = fingerprint(own)
    own.server.run("INSERT INTO public.vocabulary VALUES ('owner', 'another')", database=own.database)
    assert fingerprint(own) == before
