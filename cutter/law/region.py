"""Pure: the text of a version put together again from its units and the pieces of the source between them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from cutter.domain.digests import sha256_hex
from cutter.errors import Conflict
from cutter.law.law_text import Unit


@dataclass(frozen=True, slots=True, kw_only=True)
class Piece:
    """A piece of the text: a unit's, or what the cut left out (`unit` is None)."""

    text: bytes
    unit: Unit | None


def pieces(region: bytes, units: Sequence[Unit]) -> tuple[Piece, ...]:
    """The region as its units in document order and what is between them; together they are the whole region.

    Each unit is at the first place after its predecessor where its text occurs: if any placement holds all units, this
    one does. Raises Conflict if a unit's text is not there.
    """
    parts: list[Piece] = []
    position = 0
    for unit in units:
        body = unit.body.encode()
        start = region.find(body, position)
        if start < 0:
            raise Conflict(
                f"{unit.address}: its stored text is not in the registered source; keep both and report this"
            )
        if start > position:
            parts.append(Piece(text=region[position:start], unit=None))
        parts.append(Piece(text=body, unit=unit))
        position = start + len(body)
    if position < len(region):
        parts.append(Piece(text=region[position:], unit=None))
    return tuple(parts)


def assembled(region: bytes, units: Sequence[Unit], region_sha256: str) -> tuple[Piece, ...]:
    """The same, proven: the pieces give back the bytes whose digest the approvers signed. Raises Conflict otherwise."""
    parts = pieces(region, units)
    digest = sha256_hex(b"".join(piece.text for piece in parts))
    if digest != region_sha256:
        raise Conflict(
            f"the text of the units and the source between them has the digest {digest[:12]}, and the approvers signed "
            f"{region_sha256[:12]}; keep the database and report this"
        )
    return parts
