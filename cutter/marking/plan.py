"""Pure: the rows that a cut writes, and their digests (spec 01 "cutplan", spec 04 "writer_digest").

A plan has no timestamps and no random ids. So every machine gets the same digests from the same bytes.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, fields

from cutter.domain.digests import canonical_digest, sha256_hex, writer_digest
from cutter.errors import ProgrammingError
from cutter.marking.result import HashedUnit, Marking

PLAN_VERSION = "cut-plan/1"
KEY_VERSION = "unit-key/1"


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanRow(HashedUnit):
    """One unit to write; `body` is the exact slice of the pinned snapshot."""

    body: str
    idempotency_key: str


@dataclass(frozen=True, slots=True, kw_only=True)
class CutPlan:
    """All rows, parents first in document order, with the digests that approvals bind."""

    docprefix: str
    source_version_id: str
    rows: tuple[PlanRow, ...]
    writer_digest: str
    cut_plan_digest: str

    def __post_init__(self) -> None:
        if len({row.idempotency_key for row in self.rows}) != len(self.rows):
            raise ProgrammingError("two rows of a plan share an idempotency key")

    @property
    def section_type_cardinality(self) -> dict[str, int]:
        """Rows of each section_type, sorted by name."""
        return dict(sorted(Counter(row.section_type for row in self.rows).items()))


def build_plan(data: bytes, marking: Marking, *, docprefix: str, source_version_id: str) -> CutPlan:
    """The rows to write for a marking. Raises ProgrammingError if the marking is not of exactly these bytes."""
    marking.prove(data)
    rows: list[PlanRow] = []
    for unit in marking.candidates:
        if not unit.address.startswith(f"{docprefix}/"):
            raise ProgrammingError(f"{unit.address} is not under {docprefix}/")
        body = data[unit.start : unit.end].decode("utf-8")
        content_hash = sha256_hex(body)
        rows.append(PlanRow(
            address=unit.address, title=unit.title, body=body, body_sha256=content_hash, unit_kind=unit.unit_kind,
            section_type=unit.section_type, publication_type=unit.publication_type, owner=unit.owner,
            parent_address=unit.parent_address,
            idempotency_key=unit_key(source_version_id, unit.address, content_hash),
        ))  # fmt: skip
    return CutPlan(
        docprefix=docprefix, source_version_id=source_version_id, rows=tuple(rows),
        writer_digest=writer_digest(row.digest_line for row in rows),
        cut_plan_digest=cut_plan_digest(rows),
    )  # fmt: skip


def unit_key(source_version_id: str, address: str, content_hash: str) -> str:
    """The idempotency key of one unit. It does not contain the run id, so that a rehearsal and the live run agree."""
    named = {"source_version_id": source_version_id, "canonical_address": address, "content_hash": content_hash}
    return canonical_digest({"v": KEY_VERSION, **named})


def cut_plan_digest(rows: Iterable[PlanRow]) -> str:
    """The digest of the plan's rows with their idempotency keys. A body enters as its sha256."""
    names = [field.name for field in fields(PlanRow) if field.name != "body"]
    return canonical_digest({"v": PLAN_VERSION, "rows": [{name: getattr(row, name) for name in names} for row in rows]})


def rebuild_digest_reversed(data: bytes, marking: Marking, *, docprefix: str) -> str:
    """writer_digest of a second, independent build, which shares only the framing of a line with `build_plan`."""
    return writer_digest(rebuild_lines_reversed(data, marking, docprefix=docprefix))


def rebuild_lines_reversed(data: bytes, marking: Marking, *, docprefix: str) -> list[str]:
    """The writer lines of that second build, the last unit first."""
    view = memoryview(data)
    lines: list[str] = []
    below = marking.region_end
    for unit in reversed(marking.candidates):
        if unit.end > below:
            raise ProgrammingError(f"line {unit.line}: {unit.address} reaches into the next unit")
        below = unit.start
        if unit.address.split("/", 1)[0] != docprefix:
            raise ProgrammingError(f"{unit.address} is not under {docprefix}/")
        lines.append(unit.writer_line(sha256_hex(bytes(view[unit.start : unit.end]))))
    return lines
