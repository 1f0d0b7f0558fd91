"""The survey sees rights, not how they are written: a restored dump and a grant that was taken back are no drift."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any, LiteralString

import pytest

from cutter.stack.postgres_programs import pg_bin
from tests.support.database import Database, TestCluster

PINS = "select cutter_governance.fn_definition_pins()"
FUNCTION = "public.fn_iu_apply_edit_draft(uuid, text)"


def pins(database: Database) -> Any:
    return database.value(PINS)


def test_a_database_restored_from_its_dump_surveys_as_before(
    database: Database, cluster: TestCluster, tmp_path: Path
) -> None:
    dump = tmp_path / "cutter.dump"
    with cluster.database(template="template0", prefix="restored") as restored:
        for command in (
            ["pg_dump", "--format=custom", f"--file={dump}", database.url("postgres")],
            ["pg_restore", "--exit-on-error", f"--dbname={restored.url('postgres')}", str(dump)],
        ):
            subprocess.run([pg_bin(command[0]), *command[1:]], check=True, timeout=120)
        assert pins(restored) == pins(database)


@pytest.mark.parametrize(
    ("privilege", "role"),
    [
        ("insert on public.unit_version", "cutter_read"),
        ("update (body) on public.unit_version", "cutter_exec"),
        ("usage on sequence cutter_governance.pin_seq", "cutter_exec"),
        (f"execute on function {FUNCTION}", "public"),
        ("create on schema public", "cutter_read"),
    ],
    ids=["table", "column", "sequence", "function", "schema"],
)
def test_a_grant_is_drift_until_it_is_taken_back(
    database: Database, privilege: LiteralString, role: LiteralString
) -> None:
    before = pins(database)
    database.run(f"grant {privilege} to {role}")
    assert pins(database) != before
    database.run(f"revoke {privilege} from {role}")
    assert pins(database) == before
