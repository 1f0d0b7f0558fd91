"""Functions and trigger sets: applied again when their file changes, in the order of their needs, dropped with it."""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from importlib import resources
from pathlib import Path

import pytest

from cutter.errors import Conflict, Refused
from cutter.storage import migrate, sql_files
from tests.support.database import OWNER, Database

DIGEST = "functions/survey/fn_digest.sql"
UTC = "functions/audit/fn_utc.sql"
RUN = "triggers/run.sql"
VERSION = len(sql_files.shipped().migrations)
NEXT = f"{VERSION + 1:04}_more.sql"


@dataclass(frozen=True, slots=True)
class Files:
    """A copy of sql/ that a test changes, and the database that it is applied to."""

    folder: Path
    database: Database

    def write(self, path: str, text: str) -> None:
        (self.folder / path).parent.mkdir(exist_ok=True)
        (self.folder / path).write_text(text, encoding="utf-8")

    def change(self, path: str, old: str, new: str) -> None:
        text = (self.folder / path).read_text(encoding="utf-8")
        assert text.count(old) == 1
        self.write(path, text.replace(old, new))

    def migrate(self) -> migrate.Outcome:
        return migrate.migrate_url(self.database.url(OWNER), sql_files.read(self.folder))

    def signatures(self, name: str) -> list[str]:
        names: list[str] | None = self.database.value(
            "select array_agg(oid::regprocedure::text order by oid) from pg_proc where proname = %s", (name,)
        )
        return names or []


@pytest.fixture
def files(database: Database, tmp_path: Path) -> Files:
    shutil.copytree(Path(str(resources.files("cutter.storage") / "sql")), tmp_path / "sql")
    return Files(tmp_path / "sql", database)


def function(name: str, body: str, *, parameters: str = "", result: str = "integer") -> str:
    """A function whose body PostgreSQL reads at once."""
    return (
        f"-- Returns a number.\ncreate or replace function cutter_governance.{name}({parameters}) returns {result}\n"
        f"language sql stable\nset search_path = pg_catalog, pg_temp\nreturn {body};\n"
    )


def baselines(database: Database) -> int:
    count: int = database.value("select count(*) from cutter_governance.schema_baseline")
    return count


def test_files_that_did_not_change_are_not_applied_again(files: Files) -> None:
    before = baselines(files.database), files.database.value("select array_agg(xmin::text order by oid) from pg_proc")
    assert files.migrate() == migrate.Outcome(version=VERSION)
    after = baselines(files.database), files.database.value("select array_agg(xmin::text order by oid) from pg_proc")
    assert after == before


@pytest.mark.promise
def test_a_function_whose_file_changed_is_applied_again_alone_with_grants_and_a_new_baseline(files: Files) -> None:
    before = baselines(files.database)
    files.change(UTC, "to_char(p_at at time zone 'UTC'", "to_char(p_at at time zone 'utc'")
    assert files.migrate().applied == (UTC,)
    assert "'utc'" in files.database.value("select pg_get_functiondef('cutter_governance.fn_utc'::regproc)")
    assert baselines(files.database) == before + 1
    assert files.migrate().applied == ()


def test_the_baseline_of_the_changed_function_is_the_one_that_surveys_expect(files: Files) -> None:
    files.change(UTC, "to_char(p_at at time zone 'UTC'", "to_char(p_at at time zone 'utc'")
    files.migrate()
    drift = files.database.value(
        "select cutter_governance.fn_drift(("
        " select pins from cutter_governance.schema_baseline order by id desc limit 1),"
        " cutter_governance.fn_definition_pins())"
    )
    assert drift is None


def test_a_new_function_is_nobody_s_to_call_until_it_is_granted(files: Files) -> None:
    files.write("functions/audit/fn_new.sql", function("fn_new", "1"))
    files.migrate()
    allowed = files.database.value(
        "select array_agg(r.rolname::text) from pg_roles r where r.rolname like 'cutter\\_%%' and r.rolname <> %s"
        " and has_function_privilege(r.oid, 'cutter_governance.fn_new()', 'execute')",
        (OWNER,),
    )
    assert allowed is None


def test_a_function_whose_file_is_gone_is_dropped_and_named(files: Files) -> None:
    for name, body in (("fn_one", "1"), ("fn_two", "cutter_governance.fn_one()")):
        files.write(f"functions/audit/{name}.sql", function(name, body))
    files.migrate()
    for name in ("fn_one", "fn_two"):
        (files.folder / f"functions/audit/{name}.sql").unlink()
    files.write("functions/audit/fn_three.sql", function("fn_three", "1"))
    outcome = files.migrate()
    assert outcome.dropped == ("function cutter_governance.fn_one", "function cutter_governance.fn_two")
    assert (files.signatures("fn_one"), files.signatures("fn_two")) == ([], [])
    assert files.migrate() == migrate.Outcome(version=VERSION)


def test_a_function_that_others_still_need_is_not_dropped_and_nothing_else_is_applied(files: Files) -> None:
    (files.folder / "functions/audit/fn_append_only.sql").unlink()
    files.change(UTC, "to_char(p_at at time zone 'UTC'", "to_char(p_at at time zone 'utc'")
    with pytest.raises(Refused, match=r"files are gone or changed.*other objects depend on it: nothing was applied"):
        files.migrate()
    assert files.signatures("fn_append_only") == ["cutter_governance.fn_append_only()"]
    assert "'utc'" not in files.database.value("select pg_get_functiondef('cutter_governance.fn_utc'::regproc)")


def test_functions_are_applied_after_those_that_they_need_whatever_their_names(files: Files) -> None:
    needs = {"fn_a": "cutter_governance.fn_c() + 1", "fn_b": "cutter_governance.fn_a() + 1", "fn_c": "1"}
    for name, body in needs.items():
        files.write(f"functions/audit/{name}.sql", function(name, body))
    assert [path.split("/")[-1] for path in files.migrate().applied] == ["fn_c.sql", "fn_a.sql", "fn_b.sql"]
    assert files.database.value("select cutter_governance.fn_b()") == 3


@pytest.mark.parametrize(
    ("parameters", "result", "body"),
    [
        pytest.param("p_n integer", "integer", "p_n", id="another parameter"),
        pytest.param("p_n bigint default 2", "integer", "p_n::integer", id="another type of a parameter"),
        pytest.param("", "text", "'1'", id="another result"),
    ],
)
def test_a_function_with_another_signature_takes_the_old_one_s_place(
    files: Files, parameters: str, result: str, body: str
) -> None:
    files.write("functions/audit/fn_one.sql", function("fn_one", "1", parameters="p_m integer default 1"))
    files.write("functions/audit/fn_two.sql", function("fn_two", "cutter_governance.fn_one(1)"))
    files.migrate()
    files.write("functions/audit/fn_one.sql", function("fn_one", body, parameters=parameters, result=result))
    arguments = parameters and "1"
    files.write(
        "functions/audit/fn_two.sql", function("fn_two", f"cutter_governance.fn_one({arguments})", result=result)
    )
    files.migrate()
    assert len(files.signatures("fn_one")) == len(files.signatures("fn_two")) == 1
    assert str(files.database.value("select cutter_governance.fn_two()")) == "1"


def test_a_caller_that_did_not_change_itself_is_made_again_when_its_function_had_to_be_dropped(files: Files) -> None:
    files.write("functions/audit/fn_one.sql", function("fn_one", "1"))
    files.write("functions/audit/fn_two.sql", function("fn_two", "cutter_governance.fn_one()"))
    files.migrate()
    files.write("functions/audit/fn_one.sql", function("fn_one", "p_n", parameters="p_n integer default 5"))
    assert files.migrate().applied == ("functions/audit/fn_one.sql", "functions/audit/fn_two.sql")
    assert files.database.value("select cutter_governance.fn_two()") == 5


def test_a_trigger_set_whose_file_changed_replaces_the_table_s_triggers(files: Files) -> None:
    text = (files.folder / RUN).read_text(encoding="utf-8")
    kept = "create trigger trg_new before delete on cutter_governance.run\n"
    files.write(RUN, f"-- One trigger.\n{kept}    for each row execute function cutter_governance.fn_append_only();\n")
    assert "trg_run_batch_notify" in text
    assert files.migrate().applied == (RUN,)
    assert triggers(files.database, "run") == ["trg_new"]
    assert files.migrate().applied == ()
    (files.folder / RUN).unlink()
    assert files.migrate().dropped == ("triggers cutter_governance.run",)
    assert triggers(files.database, "run") == []


def triggers(database: Database, table: str) -> list[str]:
    names: list[str] | None = database.value(
        "select array_agg(tgname::text order by tgname) from pg_trigger t join pg_class c on c.oid = t.tgrelid"
        " where not tgisinternal and c.relname = %s",
        (table,),
    )
    return names or []


@pytest.mark.parametrize(
    ("path", "old", "new", "message"),
    [
        pytest.param(UTC, "to_char(", "to_chra(", r"fn_utc\.sql, line 5: function to_chra\(", id="a parsed body"),
        pytest.param(
            "functions/gates/fn_receipt_immutable.sql", "    return new;", "    retrun new;",
            r"fn_receipt_immutable\.sql, line \d+: syntax error at or near \"retrun\"", id="a quoted body",
        ),
        pytest.param(
            RUN, "update of state, ended_at", "update of stat, ended_at",
            r"run\.sql, line \d: column \"stat\" of relation", id="a trigger",
        ),
    ],
)  # fmt: skip
def test_a_file_that_fails_rolls_everything_back_and_is_named_with_its_line(
    files: Files, path: str, old: str, new: str, message: str
) -> None:
    files.write("functions/audit/fn_first.sql", function("fn_first", "1"))
    files.write(f"migrations/{NEXT}", "create table cutter_governance.more (n integer);\n")
    files.change(path, old, new)
    with pytest.raises(Refused, match=message) as refused:
        files.migrate()
    assert refused.value.code == "migration_failed"
    row = files.database.value(
        "select array[to_regclass('cutter_governance.more')::text, to_regproc('cutter_governance.fn_first')::text,"
        " (select max(number) from cutter_ledger.migration)::text]"
    )
    assert row == [None, None, str(VERSION)]


def test_a_migration_s_rows_are_checked_before_the_triggers_are_replaced(files: Files) -> None:
    """A table with deferred checks that wait cannot be altered."""
    files.write(
        f"migrations/{NEXT}",
        "create table cutter_governance.one (n integer primary key references cutter_governance.one"
        " deferrable initially deferred);\ninsert into cutter_governance.one values (1);\n",
    )
    files.write(
        "triggers/one.sql",
        "-- The table is append-only.\ncreate trigger trg_one before update on cutter_governance.one\n"
        "    for each row execute function cutter_governance.fn_append_only();\n"
        "alter table cutter_governance.one enable always trigger trg_one;\n",
    )
    assert files.migrate().applied == (NEXT, "triggers/one.sql")


def test_an_older_version_puts_no_function_back_and_drops_none_that_it_does_not_know(files: Files) -> None:
    files.write("functions/audit/fn_new.sql", function("fn_new", "1"))
    files.migrate()
    with pytest.raises(Conflict, match=r"a newer version replaced these functions and triggers at .*: upgrade cutter"):
        migrate.migrate_url(files.database.url(OWNER))
    assert files.signatures("fn_new") == ["cutter_governance.fn_new()"]


def test_a_version_that_goes_back_on_purpose_differs_in_a_comment(files: Files) -> None:
    files.write("functions/audit/fn_new.sql", function("fn_new", "1"))
    files.migrate()
    (files.folder / "functions/audit/fn_new.sql").unlink()
    files.change(UTC, "\ncreate", "\n-- Without fn_new again.\ncreate")
    assert files.migrate().dropped == ("function cutter_governance.fn_new",)


def test_check_names_what_would_be_applied_or_dropped_and_changes_nothing(
    files: Files, tmp_path: Path, database: Database
) -> None:
    files.write(f"migrations/{NEXT}", "create table cutter_governance.more (n integer);\n")
    files.change(UTC, "to_char(p_at at time zone 'UTC'", "to_char(p_at at time zone 'utc'")
    (files.folder / RUN).unlink()
    names = migrate.check(database.settings(tmp_path / "state"), sql_files.read(files.folder))
    assert names == (NEXT, UTC, "triggers cutter_governance.run")
    assert triggers(database, "run") != []


def test_grants_that_were_changed_in_their_file_are_applied_without_any_migration(database: Database) -> None:
    database.run("grant select on cutter_governance.lane to cutter_read")
    database.run("update cutter_ledger.definition set sha256 = repeat('0', 64) where kind = 'grants'")
    assert migrate.migrate_url(database.url(OWNER)).applied == ()
    assert not database.value("select has_table_privilege('cutter_read', 'cutter_governance.lane', 'select')")


def test_a_function_that_somebody_dropped_is_made_again(database: Database) -> None:
    database.run("drop function cutter_governance.fn_archiver(double precision)")
    assert migrate.migrate_url(database.url(OWNER)).applied == ("functions/backups/fn_archiver.sql",)
