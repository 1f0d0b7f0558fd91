"""docs/internals/change-the-database.md: its example adds a gate to a database that is in use, and to a new one."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator
from importlib import resources
from pathlib import Path

import psycopg
import pytest

from cutter.catalogue import GATES, Sovereign
from cutter.storage import migrate, sql_files
from cutter.storage.sql_files import SchemaFiles
from tests.support.database import OWNER, Database, TestCluster

PAGE = Path(__file__).parents[3] / "docs" / "internals" / "change-the-database.md"
CHAIN = (
    "select array_agg(gate order by ordinal) from cutter_governance.gate_catalogue g"
    " where ordinal = (select count(*) from cutter_governance.gate_catalogue b where b.ordinal <= g.ordinal)"
)


@pytest.fixture
def files(tmp_path: Path) -> SchemaFiles:
    """The shipped files, and the example of the page as the next migration."""
    shutil.copytree(Path(str(resources.files("cutter.storage") / "sql")), tmp_path / "sql")
    (example,) = re.findall(r"```sql\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    number = len(sql_files.shipped().migrations) + 1
    (tmp_path / "sql" / "migrations" / f"{number:04}_peer_check.sql").write_text(example, encoding="utf-8")
    return sql_files.read(tmp_path / "sql")


@pytest.fixture(params=["in use", "new"])
def with_another(request: pytest.FixtureRequest, files: SchemaFiles) -> Iterator[Database]:
    """A database with the gate of the example."""
    if request.param == "in use":
        made: Database = request.getfixturevalue("database")
        migrate.migrate_url(made.url(OWNER), files)
        yield made
        return
    cluster: TestCluster = request.getfixturevalue("cluster")
    with cluster.database(template="template0", prefix="empty") as made:
        migrate.migrate_url(made.url(OWNER), files)
        yield made


def test_the_new_gate_is_in_its_place_and_the_ordinals_have_no_gap(with_another: Database) -> None:
    gates = with_another.value(CHAIN)
    assert (len(gates), gates[1:4]) == (len(GATES) + 1, ["IG_mark", "IG_peer_check", "IG_cutplan"])


def test_the_gate_after_the_new_one_waits_for_it(with_another: Database) -> None:
    rows = with_another.value(
        "select jsonb_agg(jsonb_build_array(g.from_state, b.to_state) order by g.ordinal)"
        " from cutter_governance.gate_catalogue g join cutter_governance.gate_catalogue b on b.ordinal = g.ordinal - 1"
        " where g.sovereign is null"
    )
    assert all(before == after for before, after in rows)
    sovereigns = with_another.value(
        "select jsonb_agg(cutter_governance.fn_gate_sovereign(gate) order by ordinal)"
        " from cutter_governance.gate_catalogue"
    )
    lifecycle = next(gate for gate in GATES if gate.sovereign is Sovereign.LIFECYCLE).number
    expected = ["SG_cut_authz"] * lifecycle + ["SG_lifecycle_authz"] * (len(GATES) + 1 - lifecycle)
    assert sovereigns == expected


@pytest.mark.parametrize("statement", ["update cutter_governance.gate_catalogue set ordinal = 99 where ordinal = 1",
                                       "delete from cutter_governance.gate_catalogue where ordinal = 11"])  # fmt: skip
def test_the_catalogue_is_append_only_again_afterwards(with_another: Database, statement: str) -> None:
    with pytest.raises(psycopg.Error, match="gate_catalogue is append-only"):
        with_another.connect("postgres").execute(statement)
