"""Pure: the difference by word between a law in force and the text that changes it, as a request shows it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final, Literal

from cutter import limits
from cutter.domain.digests import sha256_hex
from cutter.domain.word_diff import Piece, brief, word_diff
from cutter.errors import ProgrammingError
from cutter.marking.revision import RevisionPlan, UnitTextInForce

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
