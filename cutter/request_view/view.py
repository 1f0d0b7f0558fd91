"""Pure: the value that a request shows, and what the text changes in a law in force, by word.

Offsets count bytes of the snapshot. Lines count from 1 and end only at LF.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Final, Literal

from cutter import limits
from cutter.domain.digests import sha256_hex
from cutter.domain.word_diff import Piece, brief, word_diff
from cutter.errors import ProgrammingError
from cutter.marking.result import Severity
from cutter.marking.revision import RevisionPlan, UnitTextInForce
from cutter.marking.titles import law_title

Change = Literal["revised", "created", "repealed", "moved"]

_OF_OPERATION: Final[dict[str, Change]] = {"revise": "revised", "create": "created", "repeal": "repealed"}
_OTHER_FIELDS: Final = ("title", "parent_address", "unit_kind", "section_type", "publication_type", "owner")


@dataclass(frozen=True, slots=True, kw_only=True)
class UnitDifference:
    """A unit that the text changes, with both texts by word. `before` is the address that a moved unit had.

    `other_fields` names what differs apart from the text.
    """

    change: Change
    address: str
    title: str
    before: str | None
    other_fields: tuple[str, ...]
    words: tuple[Piece, ...]


def difference(plan: RevisionPlan) -> Iterator[UnitDifference]:
    """Every unit that is not kept, in document order. A moved unit appears once, at its new address."""
    left = {before for before, _ in plan.moves}
    units = {unit.address: unit for unit in plan.base.units}
    # Five million pairs of words take a few seconds. If a unit needs more than its share, all words between its first
    # and its last difference count as replaced.
    pairs = min(limits.WORD_PAIRS_COMPARED_MAX, 5_000_000 // max(plan.counts["revise"], 1))
    for row in plan.rows:
        if row.operation != "keep" and not (row.new is None and row.address in left):
            old = units[row.continues] if row.continues is not None else row.old
            body = ""
            if old is not None:
                # The digest is signed, so a text with another digest is never shown.
                if not isinstance(old, UnitTextInForce) or sha256_hex(old.body) != old.body_sha256:
                    raise ProgrammingError(f"{old.address}: the text in force is not the one that was enacted")
                body = old.body
            shown = row.new or row.old
            assert shown is not None
            both = row.new is not None and old is not None
            others = (name for name in _OTHER_FIELDS if both and getattr(row.new, name) != getattr(old, name))
            yield UnitDifference(
                change=_OF_OPERATION[row.operation] if row.continues is None else "moved", address=row.address,
                title=shown.title, before=row.continues, other_fields=tuple(others),
                words=word_diff(body, row.new.body if row.new else "", pairs=pairs),
            )  # fmt: skip


def fitting(changes: Sequence[UnitDifference], room: int) -> tuple[list[UnitDifference], int]:
    """The changes in up to so many characters of words, and how many changes are not shown whole."""
    shown: list[UnitDifference] = []
    for place, change in enumerate(changes):
        words: list[Piece] = []
        for piece in brief(change.words, limits.DIFF_CONTEXT_CHARACTERS):
            if len(piece.text) > room:
                words.append(Piece(kind=piece.kind, text=f"{piece.text[:room]}…"))
                return [*shown, replace(change, words=tuple(words))], len(changes) - place
            words.append(piece)
            room -= len(piece.text)
        shown.append(replace(change, words=tuple(words)))
    return shown, 0


OF_ROWS = {"keep": "kept", "revise": "revised", "create": "created", "repeal": "repealed"}
"""What a revision does to the unit of a row."""

OUTSIDE = "outside_the_region"
"""The reason of the text outside the profile's two sentinels."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredUnit:
    """A unit as PostgreSQL holds it after leg A: the ids of its rows, and the values to compare with the plan."""

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
    """A gate that passed between the two signatures, with its sealed receipt."""

    gate: str
    role: str
    receipt_hash: str
    checks: tuple[Check, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownFinding:
    """A finding with the text of its line. `because` is the reason of its acceptance, or None if nobody accepted it."""

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
    """A red finding that a person accepted by its name, with the person's reason."""

    name: str
    because: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownUnit:
    """A unit of the cut. `position` counts in the order of the text.

    `number` is the heading's number as the address has it, or None. The body is on the lines `first_line` to
    `last_line`, and its heading on `line`. `findings` are positions in the view's list of findings. `stored` is None
    before leg A.
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
        """The size of the body in bytes."""
        return self.end - self.start

    @property
    def number_not_in_title(self) -> str | None:
        """The number if the title does not contain it, such as `2~2` for a second Article 2. Otherwise None."""
        if self.number is None or re.search(
            rf"(?<![^\W_]){re.escape(self.number)}(?![^\W_])", self.title, re.IGNORECASE
        ):
            return None
        return self.number


@dataclass(frozen=True, slots=True, kw_only=True)
class LeftOut:
    """A piece of the text that becomes no unit, with the reason. A piece with reason `blank` has nothing to read."""

    start: int
    end: int
    first_line: int
    last_line: int
    reason: str
    status_basis: str | None

    @property
    def size(self) -> int:
        """The size of the piece in bytes."""
        return self.end - self.start


@dataclass(frozen=True, slots=True, kw_only=True)
class Digests:
    """The digests of the bytes, the profile, the cut, and the assessment of the cut."""

    snapshot_sha256: str
    profile_sha256: str
    region_sha: str
    mark_digest: str
    writer_digest: str
    findings_digest: str


@dataclass(frozen=True, kw_only=True)
class RequestView:
    """Everything that a request shows of a law. `data` is the pinned snapshot. Every piece is a slice of `data`.

    `sealed` holds the gates that wrote and verified the rows. It is empty before leg A. `revision` is the difference to
    the law in force, None for a first cut. `effective_from` is the day that the source gives, and `reason` says why it
    changes the law.
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
    newer: str | None = None
    """That a newer version is registered than the pinned one. No digest covers it, because it can change while the
    request waits.
    """
    registered: str | None = None
    """Who registered the text, and when, such as `by anna on 2026-11-23`. The request document shows it where a person
    accepted a finding. No digest of the law covers it.
    """

    removed_pages: str | None = None
    """What was removed as the remains of pages when the text was registered."""

    @property
    def accepted_when(self) -> str:
        """How the red findings of a text were accepted: with its registration."""
        by = f", {self.registered}" if self.registered else ""
        return f"Accepted when the text was registered{by}"

    def body(self, piece: ShownUnit | LeftOut) -> str:
        """The text of a piece. For a unit, `body_sha256` is the digest of exactly these bytes."""
        return self.data[piece.start : piece.end].decode("utf-8")

    @cached_property
    def title(self) -> str | None:
        """The law's own title, for the head of a page. A repeal has the title of the law that ends."""
        return law_title(self.data) or (self.revision.base.title if self.revision else None)

    @property
    def repeals(self) -> bool:
        return self.revision is not None and self.revision.base.operation_kind == "repeal"

    @cached_property
    def difference(self) -> tuple[UnitDifference, ...]:
        """Every unit that the text changes in the law in force, by word; nothing for a first cut."""
        return tuple(difference(self.revision)) if self.revision else ()

    @cached_property
    def lines(self) -> tuple[str, ...]:
        """The lines of the whole source, without line feeds. Line n is at index n - 1."""
        return tuple(self.data.decode("utf-8").split("\n"))

    @cached_property
    def pieces(self) -> tuple[ShownUnit | LeftOut, ...]:
        """The units and the left-out pieces, in the order of the text. Together they are the whole source."""
        return tuple(sorted((*self.units, *self.left_out), key=lambda piece: piece.start))

    @cached_property
    def children(self) -> dict[str | None, tuple[ShownUnit, ...]]:
        """The units below each address. The key None has the units at the top."""
        below: dict[str | None, list[ShownUnit]] = {}
        for unit in self.units:
            below.setdefault(unit.parent_address, []).append(unit)
        return {address: tuple(units) for address, units in below.items()}

    @property
    def terms(self) -> tuple[tuple[str, str], ...]:
        """What the text does to the law in force, from which day, and why, and what was removed from its pages; nothing
        for a plain first cut.
        """
        plan = self.revision
        pairs: list[tuple[str, str | None]] = []
        if plan is not None:
            counts = ", ".join(f"{count} {OF_ROWS[name]}" for name, count in plan.counts.items())
            pairs = [
                ("operation", plan.base.operation_kind),
                ("rows", f"{counts}, {len(plan.moves)} of them moved"),
                ("base", f"{plan.base.source_version_id}, enacted by receipt {plan.base.receipt_hash}"),
            ]
        pairs += [("takes effect", self.effective_from), ("reason", self.reason)]
        pairs.append(("removed as parts of pages", self.removed_pages))
        return tuple((name, value) for name, value in pairs if value is not None)

    @property
    def accepted_findings(self) -> tuple[str, ...]:
        """The names that the signed statement lists."""
        return tuple(item.name for item in self.accepted)

    @property
    def stored_differences(self) -> tuple[str, ...]:
        """Addresses whose stored unit is missing or has another title, parent or body than the plan."""
        return tuple(
            unit.address
            for unit in self.units
            if self.sealed
            and (
                unit.stored is None
                or (unit.stored.title, unit.stored.parent_address) != (unit.title, unit.parent_address)
                or unit.stored.content_hash != unit.body_sha256
            )
        )
