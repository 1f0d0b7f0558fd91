"""Measures the code: its size, the ways through it, and what people can type.

    scripts/house

`LIMITS` has the most that each row may be. A row that becomes smaller lowers its limit.
"""

from __future__ import annotations

import ast
import re
import statistics
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

from starter.cli import app
from tests.architecture.test_package_graph import MODULES, ROOT, imports_of

GATE = "activities.gates.mark"
"""A gate that only reads."""

Function = ast.FunctionDef | ast.AsyncFunctionDef

LIMITS: dict[str, int] = {
    "product Python, lines": 56_400,
    "SQL, lines": 9_000,
    "modules behind a reading gate": 58,
    "private helpers with one caller, per mille of all functions": 150,
    "SQL functions with at most one caller": 42,
    "commands": 55,
    "options": 103,
    "settings": 45,
    "function length, p90": 30,
    "function length, longest": 70,
}


def table() -> dict[str, int]:
    """Each row with its present number."""
    functions = [node for path in MODULES.values() for node in functions_of(tree(path))]
    lengths = sorted((node.end_lineno or node.lineno) - node.lineno + 1 for node in functions)
    helpers = sum(len(helpers_with_one_caller(path)) for path in MODULES.values())
    return {
        "product Python, lines": sum(text(path).count("\n") for path in MODULES.values()),
        "SQL, lines": sum(text(path).count("\n") for path in sql_files()),
        "modules behind a reading gate": len(behind(GATE)),
        "private helpers with one caller, per mille of all functions": 1000 * helpers // len(functions),
        "SQL functions with at most one caller": len(sql_functions_with_one_caller()),
        "commands": len(list(commands_of(app()))),
        "options": sum(text(path).count("typer.Option(") for path in MODULES.values()),
        "settings": text(ROOT / "cutter" / "settings.py").count("Field("),
        "function length, p90": int(statistics.quantiles(lengths, n=10)[-1]),
        "function length, longest": lengths[-1],
    }


@cache
def text(path: Path) -> str:
    return path.read_text(encoding="utf-8")


@cache
def tree(path: Path) -> ast.Module:
    return ast.parse(text(path))


def functions_of(node: ast.AST) -> Iterator[Function]:
    """The functions and methods of a module, without those inside others."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, Function):
            yield child
        elif isinstance(child, ast.ClassDef):
            yield from functions_of(child)


def helpers_with_one_caller(path: Path) -> list[str]:
    """The private functions whose name occurs twice in their module: where it is defined, and where it is used."""
    names = [node.name for node in functions_of(tree(path)) if re.match(r"_[^_]", node.name)]
    return [name for name in names if len(re.findall(rf"\b{name}\b", text(path))) == 2]


def behind(module: str) -> set[str]:
    """The modules that are imported with a module, and the module itself."""
    reached, waiting = set[str](), [module]
    while waiting:
        name = waiting.pop()
        if name not in reached:
            reached.add(name)
            waiting += imported_with(name)
    return reached


@cache
def imported_with(name: str) -> tuple[str, ...]:
    """Without what is imported for types alone."""
    kept = ast.parse(text(MODULES[name]))
    for node in ast.walk(kept):
        if isinstance(node, ast.If) and ast.unparse(node.test).endswith("TYPE_CHECKING"):
            node.body = [ast.Pass()]
    return tuple(imports_of(ast.unparse(kept)))


def sql_files() -> list[Path]:
    return sorted((ROOT / "cutter" / "storage" / "sql").rglob("*.sql"))


def sql_functions_with_one_caller() -> list[str]:
    """The SQL functions that at most one other SQL function calls, and nothing else.

    A function that Python, a query, a view or a trigger names is an entry point, which cannot be inlined.
    """
    functions = [path for path in sql_files() if "functions" in path.parts]
    words = {path: set(re.findall(r"\bfn_\w+", _sql(path))) for path in (*sql_files(), *MODULES.values())}
    entries = set[str]().union(*(names for path, names in words.items() if path not in functions))
    callers = {file: sum(file.stem in words[path] for path in functions if path != file) for file in functions}
    return [file.stem for file, number in callers.items() if number <= 1 and file.stem not in entries]


def _sql(path: Path) -> str:
    """The text without the comments of SQL, which may name a function that they do not call."""
    return re.sub(r"--.*", "", text(path)) if path.suffix == ".sql" else text(path)


def commands_of(command: Any) -> Iterator[Any]:
    """The commands that people can type, at any depth."""
    if not hasattr(command, "list_commands"):
        yield command
        return
    context = command.context_class(command)
    for name in command.list_commands(context):
        below = command.get_command(context, name)
        if below is not None:
            yield from commands_of(below)


if __name__ == "__main__":
    for row, number in table().items():
        print(f"{row:<62} {number:>7,}  at most {LIMITS[row]:>7,}")
