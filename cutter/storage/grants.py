"""Pure: reads the declared grants from grants.yaml and compares them with those of a database (spec 04 "Roles")."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Any

import yaml

TABLE_VERBS = ("SELECT", "INSERT", "UPDATE", "DELETE", "TRUNCATE", "REFERENCES", "TRIGGER")
PUBLIC = "PUBLIC"
EXECUTE = "EXECUTE"


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


@dataclass(frozen=True, slots=True, kw_only=True)
class Live:
    """The privileges as the server has them.

    `cells` counts every cell (role, object, verb) of the database, and `sha256` is the digest of all of them, each with
    whether it is granted (facts-domain "grants snapshot"). `granted` has the cells that are granted.
    """

    cells: int
    sha256: str
    granted: Sequence[Sequence[str]]
    relations: Sequence[str]
    functions: Sequence[str]

    def exists(self, cell: Cell) -> bool:
        """Whether the database has an object of that name for which the verb has a meaning."""
        return cell.object in (self.functions if cell.verb == EXECUTE else self.relations)


def asked() -> dict[str, list[str]]:
    """The parameters of the query `live_grants`. It answers for every cell, including those of PUBLIC."""
    matrix = declared()
    return {"roles": [*matrix.roles, PUBLIC], "verbs": list(TABLE_VERBS), "schemas": list(matrix.schemas)}


def differences(live: Live) -> tuple[str, ...]:
    """One sentence for each cell that differs from the declaration, in order. A missing declared cell differs too."""
    wanted = declared().cells
    granted = {Cell(*row) for row in live.granted}
    sentences = [f"{cell.role} has {cell.verb} on {cell.object}, which is not declared" for cell in granted - wanted]
    for cell in wanted - granted:
        gone = "" if live.exists(cell) else ", which does not exist"
        sentences.append(f"{cell.role} lacks {cell.verb} on {cell.object}{gone}")
    return tuple(sorted(sentences))
