"""The files below sql/: their form, their order, and what each must begin with."""

from __future__ import annotations

import re
from importlib import resources
from pathlib import Path

import pytest

from cutter.storage import sql_files
from cutter.storage.sql_files import Definition, Kind, Statement, functions_named, statements
from docs.law_api import leading_comment

SQL = Path(str(resources.files("cutter.storage") / "sql"))
DEFINITIONS = sql_files.shipped().definitions

LINES_MAX = 70
"""Of a function, without its leading comment: what can be read without turning a page."""


def defined(name: str, body: str = "select 1", language: str = "sql") -> Definition:
    text = f"create or replace function public.{name}() returns integer\nlanguage {language}\nas $$ {body} $$;"
    return Definition(kind=Kind.FUNCTION, name=f"public.{name}", path=f"{name}.sql", body=text)


def test_statements_have_the_line_of_their_first_word_and_semicolons_in_quotes_do_not_end_them() -> None:
    text = "-- one; two\nselect ';' as \"a;b\";\n\n/* ; */ do $x$ begin; end $x$;\n"
    assert list(statements(text)) == [Statement(2, "select ';' as \"a;b\""), Statement(4, "do $x$ begin; end $x$")]


def test_names_in_comments_are_not_references() -> None:
    assert functions_named("-- public.fn_a()\nselect public.fn_b(cutter_governance.fn_c())") == {
        "public.fn_b", "cutter_governance.fn_c",
    }  # fmt: skip


def test_sql_functions_come_after_those_they_name_and_the_others_in_the_order_of_their_names() -> None:
    functions = sql_files.in_order([defined("fn_a", "select public.fn_c()"), defined("fn_b"), defined("fn_c")])
    assert [function.name for function in functions] == ["public.fn_b", "public.fn_c", "public.fn_a"]


def test_sql_functions_that_need_each_other_are_refused_and_named() -> None:
    with pytest.raises(ValueError, match=r"need each other: public\.fn_\w → public\.fn_\w → public\.fn_\w"):
        sql_files.in_order([defined("fn_a", "select public.fn_b()"), defined("fn_b", "select public.fn_a()")])


def test_plpgsql_functions_may_need_each_other() -> None:
    pair = [defined("fn_a", "select public.fn_b()", "plpgsql"), defined("fn_b", "select public.fn_a()", "plpgsql")]
    assert [function.name for function in sql_files.in_order(pair)] == ["public.fn_a", "public.fn_b"]


def test_a_function_in_two_files_is_refused() -> None:
    with pytest.raises(ValueError, match=r"public\.fn_a is already defined in fn_a\.sql"):
        sql_files.in_order([defined("fn_a"), defined("fn_a")])


@pytest.mark.parametrize(
    ("path", "text", "problem"),
    [
        ("functions/x/fn_a.sql", "select 1;", "only one `create or replace function`"),
        ("functions/x/fn_a.sql", defined("fn_b").body, "only one `create or replace function`"),
        ("functions/x/fn_a.sql", defined("fn_a").body * 2, "only one `create or replace function`"),
        ("functions/x/fn_a.sql", defined("fn_a").body + " select 1", "the statement has no semicolon"),
        ("triggers/run.sql", "select 1;", "only triggers, of the table"),
        ("triggers/run.sql", "create trigger t before insert on public.batch execute function public.fn_a();",
         "only triggers, of the table"),
        ("migrations/0009_gap.sql", "select 1;", "numbered from 1 without a gap"),
    ],
)  # fmt: skip
def test_a_file_of_another_form_is_refused(tmp_path: Path, path: str, text: str, problem: str) -> None:
    for folder in ("functions/x", "triggers", "migrations"):
        (tmp_path / folder).mkdir(parents=True)
    (tmp_path / path).write_text(text, encoding="utf-8")
    with pytest.raises(ValueError, match=problem):
        sql_files.read(tmp_path)


@pytest.mark.parametrize("definition", DEFINITIONS, ids=lambda definition: definition.path)
def test_each_definition_begins_with_a_sentence_that_states_its_contract(definition: Definition) -> None:
    assert re.match(r"[A-Z][^.]{15,}[.:]", leading_comment(definition.body)), definition.path


def test_no_function_is_longer_than_a_page() -> None:
    lengths = {
        definition.path: sum(not line.startswith("--") for line in definition.body.splitlines())
        for definition in DEFINITIONS
        if definition.kind is Kind.FUNCTION
    }
    assert {path: lines for path, lines in lengths.items() if lines > LINES_MAX} == {}


QUERIES = [*(SQL / "queries").glob("*.sql"), *(SQL.parents[1] / "backup").rglob("*.sql")]


@pytest.mark.parametrize("path", sorted(QUERIES), ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_each_query_begins_with_a_sentence_that_states_its_contract(path: Path) -> None:
    _, *parts = re.split(r"^-- name: (\w+)\n", path.read_text(encoding="utf-8"), flags=re.MULTILINE)
    without = [
        name
        for name, text in zip(parts[::2], parts[1::2], strict=True)
        if not re.match(r"[A-Z][a-z]+s [^.]{8,}[.:]", leading_comment(text))
    ]
    assert without == []


def test_migrations_hold_tables_and_data_only() -> None:
    routines = [
        (migration.name, statement.line)
        for migration in sql_files.shipped().migrations
        for statement in statements(migration.body)
        if re.match(r"create\s+(or\s+replace\s+)?(constraint\s+)?(function|trigger|view|procedure)", statement.text)
    ]
    assert routines == []


def test_every_sql_file_is_a_migration_a_definition_a_query_or_one_of_the_two_that_stand_alone() -> None:
    known = {
        *(f"migrations/{migration.name}" for migration in sql_files.shipped().migrations),
        *(definition.path for definition in DEFINITIONS),
        *("ledger.sql", "sessions.sql"),
    }
    files = {str(path.relative_to(SQL)) for path in SQL.rglob("*.sql") if path.parent.name != "queries"}
    assert files == known
