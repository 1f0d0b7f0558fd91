"""A call of a named query gives exactly the parameters that its SQL names, wherever the call writes them out.

Only the database would notice otherwise, and only in the state in which the call is made.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from typing import Any

import pytest

from cutter.storage.records import queries
from tests.architecture.test_rows import modules

MAKERS = frozenset({"records", "values", "parsed"})
METHODS = frozenset({"sent", "all", "first", "one"})
PARAMETER = re.compile(r"%\(([a-z0-9_]+)\)s")


def queries_of(tree: ast.Module) -> Iterator[tuple[str, str]]:
    """Each constant of a module that is a named query, with the query's name."""
    for statement in tree.body:
        match statement:
            case (
                ast.AnnAssign(target=ast.Name(id=constant), value=ast.Call() as call)
                | ast.Assign(targets=[ast.Name(id=constant)], value=ast.Call() as call)
            ):
                match call:
                    case ast.Call(func=ast.Name(id=maker), args=[ast.Constant(value=str(name)), *_]) if maker in MAKERS:
                        yield constant, name


def imported_queries(tree: ast.Module, known: dict[str, dict[str, str]]) -> Iterator[tuple[str, str]]:
    """Each name that a module imports from another one and that is a named query there."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module in known:
            for alias in node.names:
                if alias.name in known[node.module]:
                    yield alias.asname or alias.name, known[node.module][alias.name]


def calls(tree: ast.Module, constants: dict[str, str]) -> Iterator[tuple[int, str, set[str]]]:
    """Line, query and parameters of each call that writes its parameters out or gives none."""
    for node in ast.walk(tree):
        match node:
            case ast.Call(
                func=ast.Attribute(value=ast.Name(id=constant), attr=method), args=[_, *given], keywords=[]
            ) if constant in constants and method in METHODS:
                names = keys_of(given)
                if names is not None:
                    yield node.lineno, constants[constant], names


def keys_of(given: list[ast.expr]) -> set[str] | None:
    """The parameters' names, or None if the call does not write them out."""
    match given:
        case []:
            return set()
        case [ast.Dict(keys=keys)] if all(isinstance(key, ast.Constant) for key in keys):
            return {str(key.value) for key in keys if isinstance(key, ast.Constant)}
    return None


def wrong_calls(sources: dict[str, str], sql: dict[str, Any]) -> tuple[list[str], int]:
    """The calls that give other parameters than their query names, and the number of calls that were compared."""
    trees = {name.removesuffix(".py").replace("/", "."): ast.parse(source) for name, source in sources.items()}
    known = {name: dict(queries_of(tree)) for name, tree in trees.items()}
    wrong, compared = [], 0
    for name, tree in trees.items():
        for line, query, given in calls(tree, {**dict(imported_queries(tree, known)), **known[name]}):
            compared += query in sql
            if query in sql and given != set(PARAMETER.findall(sql[query])):
                wrong.append(f"{name} line {line}: {query} takes {sorted(set(PARAMETER.findall(sql[query])))}")
    return wrong, compared


def test_every_call_gives_the_parameters_that_its_query_names() -> None:
    wrong, compared = wrong_calls(modules(), dict(queries()))
    assert wrong == []
    assert compared > 120, "the calls are written otherwise than this test can read"


KNOWN = 'KNOWN = values("document_known")\n'


@pytest.mark.parametrize(
    "call",
    ["KNOWN.one(connection)", 'KNOWN.first(connection, {})', 'KNOWN.all(connection, {"document_id": 1, "limit": 2})'],
)  # fmt: skip
def test_a_call_with_other_parameters_is_found(call: str) -> None:
    sql = {"document_known": "select %(document_id)s"}
    sources = {"a.py": KNOWN, "b.py": f"from a import KNOWN\n{call}\n", "c.py": KNOWN + call}
    assert (len(wrong_calls(sources, sql)[0]), wrong_calls(sources, sql)[1]) == (2, 2)
    right = {"c.py": KNOWN + 'KNOWN.one(connection, {"document_id": 1})'}
    assert wrong_calls(right, sql) == ([], 1)
