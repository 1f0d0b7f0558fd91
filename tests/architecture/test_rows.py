"""Rows are records: only the edge of the database takes what a cursor gives, and no module counts columns.

A query's columns have names in its `.sql` file, and `cutter.storage.records` makes a frozen record or one value of each
row. What a module then reads is a field with a type, so that the order of a select list is no contract.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PACKAGES = ("cutter", "temporal", "workflows", "activities", "starter")

EDGE = {
    "cutter/storage/records.py": "it makes records of rows",
    "cutter/storage/gate_transaction.py": "a gate's reads are sent with its opening, and taken after the pipeline",
    "cutter/storage/request_transaction.py": "a request's reads are sent with its opening",
    "cutter/projections/transitions_corpus.py": "rows of a temporary sqlite database, which has no records",
    "cutter/projections/transitions_file.py": "rows of a temporary sqlite database, which has no records",
}
"""What may take rows from a cursor, and why."""

FETCHES = frozenset({"fetchone", "fetchmany", "fetchall"})
FACTORIES = frozenset({"dict_row", "namedtuple_row"})


def untyped_rows(source: str) -> Iterator[str]:
    """Where a module takes a row that is no record, or a column by its number."""
    for node in ast.walk(ast.parse(source)):
        match node:
            case ast.Attribute(attr=name) if name in FETCHES:
                yield f"line {node.lineno}: {name}"
            case ast.alias(name=name) if name in FACTORIES:
                yield f"line {node.lineno}: {name}"
            case ast.Subscript(value=ast.Name(id="row"), slice=ast.Constant(value=int())):
                yield f"line {node.lineno}: {ast.unparse(node)}"
            case ast.For(iter=ast.Call(func=ast.Attribute(attr="execute")) as call):
                yield f"line {call.lineno}: rows of {ast.unparse(call)[:60]}"
            case ast.comprehension(iter=ast.Call(func=ast.Attribute(attr="execute")) as call):
                yield f"line {call.lineno}: rows of {ast.unparse(call)[:60]}"


def modules() -> dict[str, str]:
    files = [file for package in PACKAGES for file in (ROOT / package).rglob("*.py")]
    return {file.relative_to(ROOT).as_posix(): file.read_text(encoding="utf-8") for file in files}


def test_no_module_outside_the_edge_takes_a_row_that_is_no_record() -> None:
    untyped = {name: list(untyped_rows(source)) for name, source in modules().items()}
    assert {name: wrong for name, wrong in untyped.items() if wrong and name not in EDGE} == {}


def test_who_is_excepted_needs_it() -> None:
    sources = modules()
    assert {name for name in EDGE if not list(untyped_rows(sources[name]))} == set()


@pytest.mark.parametrize(
    "source",
    [
        "found = connection.execute(SQL).fetchone()",
        "cursor.fetchall()",
        "from psycopg.rows import dict_row",
        "name = row[0]",
        "for name, kind in connection.execute(SQL): ...",
        "names = [name for (name,) in connection.execute(SQL)]",
    ],
)
def test_a_row_by_its_place_is_seen(source: str) -> None:
    assert list(untyped_rows(source))


@pytest.mark.parametrize("source", ["KNOWN.one(connection)", "row = KNOWN.first(connection)\nrow.name", "names[0]"])
def test_a_record_is_no_row_by_its_place(source: str) -> None:
    assert not list(untyped_rows(source))
