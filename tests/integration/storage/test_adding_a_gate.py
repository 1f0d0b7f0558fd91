"""docs/internals/change-the-database.md: its example adds a gate to a database that is in use."""

from __future__ import annotations

import re
import shutil
from importlib import resources
from pathlib import Path

import psycopg
import pytest

from cutter.storage import migrate, sql_files
from tests.support.database import OWNER, Database

PAGE = Path(__file__).parents[3] / "docs" / "internals" / "change-the-database.md"
CHAIN = (
    "select array_agg(gate order by ordinal) from cutter_governance.gate_catalogue g"
    " where ordinal = (select count(*) from cutter_governance.gate_catalogue b where b.ordinal <= g.ordinal)"
)


@pytest.fixture
def with_a_twelfth(database: Database, tmp_path: Path) -> Database:
    """The database after the example of the page ran as its next migration."""
    shutil.copytree(Path(str(resources.files("cutter.storage") / "sql")), tmp_path / "sql")
    (example,) = re.findall(r"```sql\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    number = len(sql_files.shipped().migrations) + 1
    (tmp_path / "sql" / "migrations" / f"{number:04}_peer_check.sql").write_text(example, encoding="utf-8")
    migrate.migrate_url(database.url(OWNER), sql_files.read(tmp_path / "sql"))
    return database


def test_the_new_gate_is_in_its_place_and_the_ordinals_have_no_gap(with_a_twelfth: Database) -> None:
    gates = with_a_twelfth.value(CHAIN)
    assert (len(gates), gates[1:4]) == (12, ["IG_mark", "IG_peer_check", "IG_cutplan"])


def test_the_gate_after_the_new_one_waits_for_it(with_a_twelfth: Database) -> None:
    rows = with_a_twelfth.value(
        "select jsonb_agg(jsonb_build_array(g.from_state, b.to_state) order by g.ordinal)"
        " from cutter_governance.gate_catalogue g join cutter_governance.gate_catalogue b on b.ordinal = g.ordinal - 1"
        " where g.sovereign is null"
    )
    assert all(before == after for before, after in rows)
    sovereigns = with_a_twelfth.value(
        "select jsonb_agg(cutter_governance.fn_gate_sovereign(gate) order by ordinal)"
        " from cutter_governance.gate_catalogue"
    )
    assert sovereigns == ["SG_cut_authz"] * 10 + ["SG_lifecycle_authz"] * 2


@pytest.mark.parametrize("statement", ["update cutter_governance.gate_catalogue set ordinal = 99 where ordinal = 1",
                                       "delete from cutter_governance.gate_catalogue where ordinal = 12"])  # fmt: skip
def test_the_catalogue_is_append_only_again_afterwards(with_a_twelfth: Database, statement: str) -> None:
    with pytest.raises(psycopg.Error, match="gate_catalogue is append-only"):
        with_a_twelfth.connect("postgres").execute(statement)
