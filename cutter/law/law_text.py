"""Pure: one version of an enacted law as values: what the views of the schema `api` answer, in document order."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from functools import cached_property
from typing import Any, Generic, TypeVar


@dataclass(frozen=True, slots=True, kw_only=True)
class PlacedUnit:
    """A unit in one version of its law. `order` is its place in the source, from 1."""

    address: str
    title: str
    unit_kind: str
    section_type: str
    parent: str | None
    order: int
    version: int
    content_sha256: str
    effective_from: date
    effective_until: date | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Unit(PlacedUnit):
    """A unit with its text."""

    body: str

    @property
    def words(self) -> int:
        """Words between white space, as the tree shows them."""
        return len(self.body.split())


@dataclass(frozen=True, slots=True, kw_only=True)
class OutlineUnit(PlacedUnit):
    """A unit without its text. `size` is the size of the text in bytes."""

    size: int


U = TypeVar("U", bound=PlacedUnit)


@dataclass(frozen=True, slots=True, kw_only=True)
class Signer:
    """A key that answers for a version: an approver's, the executor's or the verifier's."""

    role: str
    name: str
    fingerprint: str
    signed_at: datetime
    statement_sha256: str


@dataclass(frozen=True, slots=True, kw_only=True)
class LawVersion:
    """An enactment of a law, with the digests that its approvers signed. A repeal has no units."""

    document: str
    version: int
    title: str
    operation: str
    run_id: str
    change_set: str
    enacted_at: datetime
    effective_from: date
    effective_until: date | None
    source_sha256: str
    region_sha256: str
    writer_digest: str
    units: int
    status: str
    reason: str | None = None
    base_version: int | None = None


@dataclass(frozen=True, kw_only=True)
class UnitTree(Generic[U]):
    """A version with its units in document order."""

    version: LawVersion
    units: tuple[U, ...]

    @cached_property
    def below(self) -> dict[str | None, tuple[U, ...]]:
        """The units directly below each address; None gives the topmost. Each has document order."""
        present = {unit.address for unit in self.units}
        children: dict[str | None, list[U]] = {}
        for unit in self.units:
            children.setdefault(unit.parent if unit.parent in present else None, []).append(unit)
        return {parent: tuple(units) for parent, units in children.items()}

    def outline(self) -> Iterator[tuple[int, U]]:
        """Each unit with its depth (0 for the topmost), a parent before the units below it."""
        open_ = [(0, unit) for unit in reversed(self.below.get(None, ()))]
        while open_:
            depth, unit = open_.pop()
            yield depth, unit
            open_ += [(depth + 1, child) for child in reversed(self.below.get(unit.address, ()))]

    def branch(self, address: str) -> tuple[U, ...]:
        """A unit and everything below it, in document order; nothing for an unknown address."""
        inside = {address}
        for unit in self.units:
            if unit.parent in inside:
                inside.add(unit.address)
        return tuple(unit for unit in self.units if unit.address in inside)


@dataclass(frozen=True, kw_only=True)
class LawText(UnitTree[Unit]):
    """A version with the text of its units and the keys that answer for it."""

    signers: tuple[Signer, ...]


def addresses_meant(text: UnitTree[Any], name: str) -> Sequence[str]:
    """The addresses that a person can mean by a name: the whole address, or the part below the law's prefix."""
    wanted = name.strip("/").casefold()
    exact = [unit.address for unit in text.units if unit.address.casefold() == wanted]
    return exact or [unit.address for unit in text.units if unit.address.casefold().endswith(f"/{wanted}")]
