"""Pure: the commands whose code can reach a signature with a person's key, as the sources say.

The walk follows names: a function that mentions another one may call it, and a method may be that of any class that has
one of this name. So it finds a command too many rather than one too few.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from typer import Typer

from starter.command_table import COMMANDS

SIGNS = "sign_detached"
"""The one method that makes a signature."""

ROOT = Path(__file__).parents[2]

Place = tuple[str, str]
"""A module, and a function in it."""


@dataclass(frozen=True, slots=True)
class Source:
    """One module of `starter`: its functions with their syntax, and what each imported name is."""

    name: str
    functions: dict[str, ast.AST] = field(default_factory=dict)
    methods: dict[str, ast.AST] = field(default_factory=dict)
    imported: dict[str, str] = field(default_factory=dict)


@cache
def sources() -> dict[str, Source]:
    """Every module of `starter`."""
    return {source.name: source for source in map(_source, sorted((ROOT / "starter").rglob("*.py")))}


def _source(path: Path) -> Source:
    source = Source(".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__"))
    for node in ast.walk(tree := ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module:
            source.imported.update({name.asname or name.name: f"{node.module}.{name.name}" for name in node.names})
        elif isinstance(node, ast.ClassDef):
            source.methods.update({each.name: each for each in node.body if _is_function(each)})  # type: ignore[attr-defined]
    source.functions.update({each.name: each for each in tree.body if _is_function(each)})  # type: ignore[attr-defined]
    return source


def _is_function(node: ast.AST) -> bool:
    return isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)


def signing_commands() -> set[str]:
    """What a person types for each command that can reach a signature."""
    return {typed for typed, place in _commands() if signs(place)}


def _commands() -> Iterator[tuple[str, Place]]:
    for command in COMMANDS:
        loaded = command.load()
        for each in loaded.registered_commands if isinstance(loaded, Typer) else ():
            name = each.name or each.callback.__name__.replace("_", "-")
            yield f"{command.name} {name}", (each.callback.__module__, each.callback.__name__)
        if not isinstance(loaded, Typer):
            yield command.name, (loaded.__module__, loaded.__name__)


def signs(start: Place) -> bool:
    """Whether the code of a function can reach a signature."""
    places, waiting = {start}, [start]
    while waiting:
        module, name = waiting.pop()
        source = sources()[module]
        node = source.functions.get(name) or source.methods[name]
        if any(isinstance(each, ast.Attribute) and each.attr == SIGNS for each in ast.walk(node)):
            return True
        following = set(_mentioned(source, node)) - places
        places |= following
        waiting += following
    return False


def _mentioned(source: Source, node: ast.AST) -> Iterator[Place]:
    for each in ast.walk(node):
        if isinstance(each, ast.Name):
            yield from _function(source.imported.get(each.id, f"{source.name}.{each.id}"))
        elif isinstance(each, ast.Attribute):
            yield from ((other.name, each.attr) for other in sources().values() if each.attr in other.methods)
            if isinstance(each.value, ast.Name):
                yield from _function(f"{source.imported.get(each.value.id, '')}.{each.attr}")


def _function(path: str) -> Iterator[Place]:
    """The function with this path. A package may have it from one of its modules."""
    module, _, name = path.rpartition(".")
    source = sources().get(module)
    if source is None:
        return
    if name in source.functions:
        yield module, name
    elif name in source.imported:
        yield from _function(source.imported[name])


SIGNERS = (("starter.approver.signing_desk", "sign"), ("starter.approver.signing_desk", "sign_and_upload"),
           ("starter.approver.orders", "sign"))  # fmt: skip
"""The functions through which nearly all commands sign."""


def signing_places() -> set[str]:
    """Every function of `starter` that signs itself or calls one of `SIGNERS`."""
    return {
        f"{source.name.removeprefix('starter.')}.{name}"
        for source in sources().values()
        for name, node in {**source.methods, **source.functions}.items()
        if (source.name, name) not in SIGNERS and _signs_here(source, node)
    }


def _signs_here(source: Source, node: ast.AST) -> bool:
    itself = any(isinstance(each, ast.Attribute) and each.attr == SIGNS for each in ast.walk(node))
    return itself or not set(SIGNERS).isdisjoint(_mentioned(source, node))
