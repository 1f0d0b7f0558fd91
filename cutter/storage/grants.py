"""Pure: reads the declared grants from grants.yaml and compares them with those of a database (spec 04 "Roles")."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Any

import yaml

from cutter.domain.digests import canonical_digest

TABLE_VERBS = ("SELECT", "INSERT", "UPDATE", "DELETE", "TRUNCATE", "REFERENCES", "TRIGGER")
PUBLIC = "PUBLIC"


@dataclass(frozen=True, slots=True, order=True)
class Cell:
    """One privilege: role, schema-qualified object, verb."""

    role: str
    object: str
    verb: str


@dataclass(frozen=True, slots=True)
class Declared:
    """The declared grants: the roles in order, the schemas, and every granted cell."""

    roles: tuple[str, ...]
    schemas: tuple[str, ...]
    cells: frozenset[Cell]


@cache
def text() -> str:
    """The text of grants.yaml."""
    return (resources.files("cutter.storage") / "grants.yaml").read_text(encoding="utf-8")


@cache
def declared() -> Declared:
    """The declared grants. A privilege that is not in grants.yaml is not granted."""
    document: dict[str, Any] = yaml.safe_load(text())
    cells = {
        Cell(role, name, verb)
        for role, verbs in document["roles"].items()
        for verb, names in verbs.items()
        for name in _flat(names)
    }
    return Declared(roles=tuple(document["roles"]), schemas=tuple(document["schemas"]), cells=frozenset(cells))


def _flat(names: Iterable[Any]) -> Iterable[str]:
    for name in names:
        if isinstance(name, list):
            yield from _flat(name)
        else:
            yield name


def matrix_digest(cells: Iterable[tuple[str, str, str, bool]]) -> str:
    """The sha256 of the sorted (role, object, verb, bool) cells (facts-domain "grants snapshot")."""
    return canonical_digest(sorted([role, name, verb, granted] for role, name, verb, granted in cells))


def asked() -> dict[str, list[str]]:
    """The parameters of the query `live_grants`, which gives every cell of the database, including those of PUBLIC."""
    matrix = declared()
    return {"roles": [*matrix.roles, PUBLIC], "verbs": list(TABLE_VERBS), "schemas": list(matrix.schemas)}


def differences(live: Iterable[tuple[str, str, str, bool]]) -> tuple[str, ...]:
    """One sentence for each cell that differs from the declaration, in order. A missing declared cell differs too."""
    wanted = set(declared().cells)
    found = []
    seen = set()
    for role, name, verb, granted in live:
        cell = Cell(role, name, verb)
        seen.add(cell)
        if granted and cell not in wanted:
            found.append(f"{role} has {verb} on {name}, which is not declared")
        elif not granted and cell in wanted:
            found.append(f"{role} lacks {verb} on {name}")
    found += [f"{cell.role} lacks {cell.verb} on {cell.object}, which does not exist" for cell in wanted - seen]
    return tuple(sorted(found))
