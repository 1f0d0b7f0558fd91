"""Pure: the value that a request shows. Offsets are bytes of the snapshot, lines count from 1 and end at LF only."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import cached_property

from cutter.marking.law_title import law_title
from cutter.marking.result import Severity
from cutter.marking.revision import RevisionPlan

OF_ROWS = {"keep": "kept", "revise": "revised", "create": "created", "repeal": "repealed"}
"""What a revision does to the unit of a row."""

OUTSIDE = "outside_the_region"
"""Reason of the text before and after the profile's sentinels."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredUnit:
    """A unit as PostgreSQL holds it after leg A: the ids of its rows, and what is compared with the plan."""

    address: str
    unit_id: str
    version_id: str
    title: str
    parent_address: str | None
    content_hash: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """One invariant of a gate that passed."""

    name: str
    ok: bool
    observed: str
    expected: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SealedGate:
    """A gate between the two signatures, by its sealed receipt."""

    gate: str
    role: str
    receipt_hash: str
    checks: tuple[Check, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownFinding:
    """A finding with the text of its line; `because` is the reason of its acceptance, None without one."""

    severity: Severity
    code: str
    name: str
    line: int
    address: str | None
    message: str
    excerpt: str
    because: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class AcceptedFinding:
    """A red finding that a person accepted by name, with the reason."""

    name: str
    because: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownUnit:
    """A unit of the cut in the order of the text.

    `number` is the number of its heading as its address has it, None without one. `first_line` to `last_line` hold the
    body, `line` its heading. `findings` are places in the view's list. `stored` is None before leg A.
    """

    position: int
    address: str
    parent_address: str | None
    level: int
    unit_kind: str
    section_type: str
    publication_type: str | None
    owner: str
    title: str
    number: str | None
    start: int
    end: int
    first_line: int
    line: int
    last_line: int
    words: int
    excerpt: str
    body_sha256: str
    findings: tuple[int, ...]
    stored: StoredUnit | None = None

    @property
    def size(self) -> int:
        """Bytes of the body."""
        return self.end - self.start

    @property
    def number_not_in_title(self) -> str | None:
        """The number where the title does not say it, such as the `2~2` of a second Article 2."""
        if self.number is None or re.search(
            rf"(?<![^\W_]){re.escape(self.number)}(?![^\W_])", self.title, re.IGNORECASE
        ):
            return None
        return self.number


@dataclass(frozen=True, slots=True, kw_only=True)
class LeftOut:
    """A piece of the text that becomes no unit, with the reason; `blank` pieces hold nothing to read."""

    start: int
    end: int
    first_line: int
    last_line: int
    reason: str
    status_basis: str | None

    @property
    def size(self) -> int:
        """Bytes of the piece."""
        return self.end - self.start


@dataclass(frozen=True, slots=True, kw_only=True)
class Digests:
    """What the bytes, the profile, the cut and its assessment digest to."""

    snapshot_sha256: str
    profile_sha256: str
    region_sha: str
    mark_digest: str
    writer_digest: str
    findings_digest: str


@dataclass(frozen=True, kw_only=True)
class RequestView:
    """Everything that a request shows of a law. `data` is the pinned snapshot, of which all pieces are slices.

    `sealed` are the gates that wrote and verified, empty before leg A. `revision` is the difference to the law in
    force, None for a first cut. `effective_from` is the day that the source gives, and `reason` says why it changes
    the law.
    """

    data: bytes = field(repr=False)
    docprefix: str
    source_version_id: str
    profile_id: str
    digests: Digests
    units: tuple[ShownUnit, ...]
    left_out: tuple[LeftOut, ...]
    findings: tuple[ShownFinding, ...]
    accepted: tuple[AcceptedFinding, ...]
    sealed: tuple[SealedGate, ...] = ()
    revision: RevisionPlan | None = None
    effective_from: str | None = None
    reason: str | None = None

    def body(self, piece: ShownUnit | LeftOut) -> str:
        """The text of a piece; of a unit, exactly the bytes that `body_sha256` is the digest of."""
        return self.data[piece.start : piece.end].decode("utf-8")

    @cached_property
    def title(self) -> str | None:
        """What the law calls itself. It is for heads of pages: no digest holds it, except that of the source text."""
        return law_title(self.data)

    @cached_property
    def lines(self) -> tuple[str, ...]:
        """The lines of the whole source, without their line feeds; line n is at n - 1."""
        return tuple(self.data.decode("utf-8").split("\n"))

    @cached_property
    def pieces(self) -> tuple[ShownUnit | LeftOut, ...]:
        """Units and what is left out, in the order of the text; together they are the whole source."""
        return tuple(sorted((*self.units, *self.left_out), key=lambda piece: piece.start))

    @cached_property
    def children(self) -> dict[str | None, tuple[ShownUnit, ...]]:
        """The units below each address; those at the top below None."""
        below: dict[str | None, list[ShownUnit]] = {}
        for unit in self.units:
            below.setdefault(unit.parent_address, []).append(unit)
        return {address: tuple(units) for address, units in below.items()}

    @property
    def terms(self) -> tuple[tuple[str, str], ...]:
        """What the text does to the law in force, from which day, and why; nothing for a plain first cut."""
        plan = self.revision
        told: list[tuple[str, str | None]] = []
        if plan is not None:
            counts = ", ".join(f"{count} {OF_ROWS[name]}" for name, count in plan.counts.items())
            told = [
                ("operation", plan.base.operation_kind),
                ("rows", f"{counts}, {len(plan.moves)} of them moved"),
                ("base", f"{plan.base.source_version_id}, enacted by receipt {plan.base.receipt_hash}"),
            ]
        told += [("takes effect", self.effective_from), ("reason", self.reason)]
        return tuple((name, value) for name, value in told if value is not None)

    @property
    def accepted_findings(self) -> tuple[str, ...]:
        """The names that the signed statement lists."""
        return tuple(item.name for item in self.accepted)

    @property
    def stored_differences(self) -> tuple[str, ...]:
        """Addresses whose stored unit is missing or has another title, parent or body than the plan."""
        return tuple(unit.address for unit in self.units if self.sealed and not _is_as_planned(unit))


def _is_as_planned(unit: ShownUnit) -> bool:
    stored = unit.stored
    return stored is not None and (stored.title, stored.parent_address, stored.content_hash) == (
        unit.title,
        unit.parent_address,
        unit.body_sha256,
    )
