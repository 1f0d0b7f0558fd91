"""The graph of our packages: it has no cycle, and no package imports one above it."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
LAYERS = {"cutter": 0, "temporal": 1, "workflows": 2, "activities": 2, "starter": 3, "worker": 3}
"""The top level from the bottom up; equal numbers import neither way."""


def modules() -> dict[str, Path]:
    """Each module of the product by its dotted name."""
    paths = {"worker": ROOT / "worker.py"}
    for top in LAYERS:
        for path in (ROOT / top).rglob("*.py"):
            paths[".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")] = path
    return paths


MODULES = modules()


def package(module: str) -> str:
    """A package of `cutter`, `activities` or `starter`; elsewhere the top level."""
    top, _, rest = module.partition(".")
    return f"{top}.{rest.partition('.')[0]}" if rest and top in ("cutter", "activities", "starter") else top


def imports_of(source: str) -> Iterator[str]:
    """Our modules that a module imports, also inside functions and for its types alone."""
    for node in ast.walk(ast.parse(source)):
        names = []
        if isinstance(node, ast.ImportFrom) and node.module:
            names = [f"{node.module}.{alias.name}" for alias in node.names]
        elif isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        for name in names:
            ours = next((candidate for candidate in (name, name.rpartition(".")[0]) if candidate in MODULES), None)
            if ours is not None:
                yield ours


def graph() -> dict[str, set[str]]:
    """Each package with those that it imports."""
    edges: dict[str, set[str]] = {}
    for module, path in MODULES.items():
        for taken in imports_of(path.read_text(encoding="utf-8")):
            # The bare name of a top level holds its version and its docstring only.
            if package(taken) not in (package(module), "cutter", "activities", "starter"):
                edges.setdefault(package(module), set()).add(package(taken))
    return edges


def cycle(edges: dict[str, set[str]]) -> list[str]:
    """The packages of one cycle, in order; empty when there is none."""
    try:
        TopologicalSorter(edges).prepare()
    except CycleError as problem:
        return list(problem.args[1])
    return []


def test_no_packages_import_each_other_in_a_cycle() -> None:
    assert cycle(graph()) == []


def test_no_package_imports_one_above_it() -> None:
    edges = [
        (importer.partition(".")[0], taken.partition(".")[0])
        for importer, imported in graph().items()
        for taken in imported
    ]
    assert [
        (importer, taken) for importer, taken in edges if importer != taken and LAYERS[taken] >= LAYERS[importer]
    ] == []


def test_the_worker_does_not_import_the_command_line() -> None:
    reached, open_ = set(), ["worker"]
    while open_:
        module = open_.pop()
        reached.add(module)
        open_ += [name for name in imports_of(MODULES[module].read_text(encoding="utf-8")) if name not in reached]
    assert sorted(name for name in reached if name.startswith("starter")) == []


@pytest.mark.parametrize(
    ("edges", "wanted"),
    [({"a": {"b"}, "b": {"c"}}, 0), ({"a": {"b"}, "b": {"a"}}, 3), ({"a": {"b"}, "b": {"c"}, "c": {"a"}}, 4)],
)
def test_the_search_sees_a_cycle(edges: dict[str, set[str]], wanted: int) -> None:
    assert len(cycle(edges)) == wanted


MAY_USE_CAMPAIGNS = {
    "tests/replay/record.py": "it records the histories that the forgeries and resets of P13 and P14 make",
    "tests/architecture/test_guards.py": "it is about the table of P24",
    "tests/support/promises.py": "`make test` runs the tests that this table names",
}


def test_no_other_test_needs_a_campaign() -> None:
    """What a campaign and a test share is in tests/cases or tests/support."""
    files = {file.relative_to(ROOT).as_posix(): file.read_text(encoding="utf-8") for file in ROOT.glob("tests/**/*.py")}
    users = {
        name for name, text in files.items()
        if "\nfrom tests.campaigns" in text and not name.startswith("tests/campaigns/")
    }  # fmt: skip
    assert users == set(MAY_USE_CAMPAIGNS)
