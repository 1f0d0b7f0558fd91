"""Pure: the plan of a revision: the difference between a new cut and the law in force.

Each unit of either side is one row, in document order. A row is kept if nothing about it differs, and revised if only
its address stays. Otherwise it is created or repealed. A created unit whose body is exactly that of a repealed one
continues it: people see a move. The plan writes nothing itself and holds no time and no row id.
"""

from __future__ import annotations

from collections import Counter, defaultdict, deque
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cached_property
from operator import attrgetter
from typing import Final, Literal

from cutter.domain.digests import UNIT_SEPARATOR, sha256_hex
from cutter.errors import ProgrammingError
from cutter.marking.plan import CutPlan, PlanRow
from cutter.marking.result import HashedUnit

REVISION_VERSION_LINE: Final = "writer/2"

Operation = Literal["keep", "revise", "create", "repeal"]
OPERATIONS: Final[tuple[Operation, ...]] = ("keep", "revise", "create", "repeal")

_FIELDS: Final = attrgetter(
    "address", "unit_kind", "section_type", "publication_type", "owner", "title", "body_sha256", "parent_address"
)
"""The fields of a writer line. Units with the same fields have the same line, and most units of a revision have."""


@dataclass(frozen=True, slots=True, kw_only=True)
class UnitInForce(HashedUnit):
    """One unit of the base, as its version in force says it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class UnitTextInForce(UnitInForce):
    """The same with its text. Only a request needs it, and the gates do not read it."""

    body: str = field(repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Base:
    """The law that a revision changes, with its units in document order. Only a request shows its `title`."""

    operation_kind: str
    source_version_id: str
    receipt_hash: str
    units: tuple[UnitInForce, ...]
    title: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RevisionRow:
    """One row of the plan. `new` is None for a repealed unit, `old` for a created one. `continues` is the address of
    the repealed unit with the same body.
    """

    address: str
    operation: Operation
    new: PlanRow | None
    old: UnitInForce | None
    continues: str | None = None


@dataclass(frozen=True, kw_only=True)
class RevisionPlan:
    """All rows in document order, with the digest that approvals bind."""

    cut: CutPlan
    base: Base
    rows: tuple[RevisionRow, ...]
    writer_digest: str

    @cached_property
    def counts(self) -> dict[str, int]:
        """Rows of each operation, also of those without a row."""
        totals = Counter(row.operation for row in self.rows)
        return {operation: totals[operation] for operation in OPERATIONS}

    @cached_property
    def changing(self) -> int:
        """Rows that begin or end a version."""
        return sum(row.operation != "keep" for row in self.rows)

    @cached_property
    def operations(self) -> dict[str, Operation]:
        return {row.address: row.operation for row in self.rows}

    @cached_property
    def moves(self) -> tuple[tuple[str, str], ...]:
        """Old and new address of each moved unit, in document order."""
        return tuple((row.continues, row.address) for row in self.rows if row.continues is not None)


def plan_revision(cut: CutPlan, base: Base) -> RevisionPlan:
    """The rows that turn the base into the new cut; equal inputs give equal plans."""
    in_force = {unit.address: unit for unit in base.units}
    if len(in_force) != len(base.units):
        raise ProgrammingError("two units in force share an address")
    planned = {row.address for row in cut.rows}
    repealed: defaultdict[str, deque[str]] = defaultdict(deque)
    followers: defaultdict[str | None, list[RevisionRow]] = defaultdict(list)
    anchor = None
    for unit in base.units:
        if unit.address in planned:
            anchor = unit.address
        else:
            repealed[unit.body_sha256].append(unit.address)
            followers[anchor].append(RevisionRow(address=unit.address, operation="repeal", new=None, old=unit))
    # The new cut in its order. A repealed unit follows the unit that it followed in the base.
    rows = followers[None]
    for new in cut.rows:
        old = in_force.get(new.address)
        if old is None:
            # A created unit continues a repealed one with the same body. They are paired in document order.
            gone = repealed[new.body_sha256]
            continues = gone.popleft() if gone else None
            row = RevisionRow(address=new.address, operation="create", new=new, old=None, continues=continues)
        else:
            same = _FIELDS(new) == _FIELDS(old) or new.digest_line == old.digest_line
            row = RevisionRow(address=new.address, operation="keep" if same else "revise", new=new, old=old)
        rows += [row, *followers[new.address]]
    digest = revision_digest(base, rows)
    return RevisionPlan(cut=cut, base=base, rows=tuple(rows), writer_digest=digest)


def revision_digest(base: Base, rows: Iterable[RevisionRow]) -> str:
    """The digest over the operation, the base and every row, ordered by address; SQL computes the same value."""
    lines = []
    for row in rows:
        shown = row.new or row.old
        if shown is None:
            raise ProgrammingError(f"{row.address}: a row has a unit")
        line, ended = shown.digest_line, ""
        if row.old is not None:
            ended = sha256_hex(line if _FIELDS(shown) == _FIELDS(row.old) else row.old.digest_line)
        lines.append(UNIT_SEPARATOR.join((line, row.operation, ended, row.continues or "")))
    lines.sort(key=lambda line: line.split(UNIT_SEPARATOR, 1)[0].encode())
    head = UNIT_SEPARATOR.join((base.operation_kind, base.source_version_id, base.receipt_hash))
    return sha256_hex("\n".join((REVISION_VERSION_LINE, head, *lines)))


def rebuild_revision_digest(new_lines: Iterable[str], base: Base) -> str:
    """The same digest from a second, independent comparison: of sets of writer lines in any order."""
    fresh = {line.split(UNIT_SEPARATOR, 1)[0]: line for line in new_lines}
    stale = {unit.address: unit.digest_line for unit in base.units}
    body = 6  # the place of the body's digest in a line
    gone: defaultdict[str, list[str]] = defaultdict(list)
    for unit in base.units:
        if unit.address not in fresh:
            gone[stale[unit.address].split(UNIT_SEPARATOR)[body]].append(unit.address)
    came: defaultdict[str, list[str]] = defaultdict(list)
    for address, line in fresh.items():
        if address not in stale:
            came[line.split(UNIT_SEPARATOR)[body]].append(address)
    moved = {new: old for digest, news in came.items() for new, old in zip(news, gone[digest], strict=False)}
    lines = []
    for address in sorted(fresh.keys() | stale.keys(), key=str.encode):
        new, old = fresh.get(address), stale.get(address)
        operation = "repeal" if new is None else "create" if old is None else "keep" if new == old else "revise"
        ended = "" if old is None else sha256_hex(old)
        lines.append(UNIT_SEPARATOR.join((new or old or "", operation, ended, moved.get(address, ""))))
    head = UNIT_SEPARATOR.join((base.operation_kind, base.source_version_id, base.receipt_hash))
    return sha256_hex("\n".join((REVISION_VERSION_LINE, head, *lines)))
