"""One change to an approval of a signed list, which must make it unacceptable: to its statement, its place, the digests
on its way to the root, or the signature of the list.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from cutter.approvals.signed_list import Place, SignatureFile, head_and_places, read_signature, render_signature
from cutter.approvals.verdict import ApprovalDocument
from tests.cases.approval_cases import World
from tests.cases.trials import Dice

SIZE_MAX = 9


@dataclass(frozen=True, slots=True, kw_only=True)
class Listed:
    """A document of a signed list, its place and the signature of the list, and the other documents."""

    document: ApprovalDocument
    place: Place
    openpgp: bytes
    others: tuple[ApprovalDocument, ...]

    def at(self, place: Place) -> ApprovalDocument:
        """The document with another place and the same signature."""
        return replace(self.document, signature=render_signature(place, self.openpgp))


def listed(world: World, body: bytes, *, by: str, dice: Dice) -> Listed:
    """A statement in a list of two to `SIZE_MAX` random ones, at a random place."""
    bodies = [b"Another statement " + dice.bytes(8).hex().encode() for _ in range(dice.between(1, SIZE_MAX - 1))]
    at = dice.below(len(bodies) + 1)
    bodies.insert(at, body)
    documents = world.sign_list(bodies, by=by)
    file = read_signature(documents[at].signature)
    assert isinstance(file, SignatureFile)
    assert file.place is not None
    others = tuple(documents[:at] + documents[at + 1 :])
    return Listed(document=documents[at], place=file.place, openpgp=file.openpgp, others=others)


def mutate_listed(world: World, approval: Listed, *, by: str, dice: Dice) -> tuple[str, ApprovalDocument]:
    """What was changed, and the document after it."""
    document, place = approval.document, approval.place
    body, siblings = document.body, place.siblings
    other = dice.choose(approval.others)
    at, bit = dice.below(len(siblings)), 1 << dice.below(8)
    flipped = bytearray(siblings[at])
    flipped[dice.below(32)] ^= bit
    changed = bytearray(body)
    changed[dice.below(len(body))] ^= bit
    elsewhere = [index for index in range(place.count) if index != place.index]
    head, _ = head_and_places([body, *(other.body for other in approval.others)])
    makers: dict[str, Callable[[], ApprovalDocument]] = {
        "statement": lambda: replace(document, body=bytes(changed)),
        "statement that is not in the list": lambda: replace(document, body=body + b"\n"),
        "index": lambda: approval.at(replace(place, index=dice.choose(elsewhere))),
        "count": lambda: approval.at(replace(place, count=place.count + dice.between(1, 99))),
        "bit of a sibling": lambda: approval.at(_with(place, (*siblings[:at], bytes(flipped), *siblings[at + 1 :]))),
        "sibling missing": lambda: approval.at(_with(place, siblings[:at] + siblings[at + 1 :])),
        "sibling more": lambda: approval.at(_with(place, (*siblings, dice.bytes(32)))),
        "leaf as its own sibling": lambda: approval.at(_with(place, (dice.bytes(32), *siblings[1:]))),
        "place of another statement": lambda: replace(document, signature=other.signature),
        "no place": lambda: replace(document, signature=approval.openpgp),
        "signature of the statement alone": lambda: replace(
            document, signature=render_signature(place, world.sign(body, by=by).signature)
        ),
        "signature of another list": lambda: replace(
            document, signature=render_signature(place, listed(world, body + b"x", by=by, dice=dice).openpgp)
        ),
        "signature of a list with the same statements": lambda: replace(
            document, signature=render_signature(place, world.people.sign_detached(head + b"\n", by))
        ),
        "signature of a stranger": lambda: replace(
            document, signature=listed(world, body, by=world.mallory, dice=dice).document.signature
        ),
        "head as a statement": lambda: world.sign(head, by=by),
        "file twice": lambda: replace(document, signature=document.signature * 2),
        "file in a file": lambda: replace(document, signature=render_signature(place, document.signature)),
        "other version": lambda: replace(document, signature=document.signature.replace(b"/1", b"/2", 1)),
        "line more": lambda: replace(document, signature=document.signature.replace(b"\n", b"\n\n", 1)),
    }  # fmt: skip
    how = dice.choose(sorted(makers))
    return how, makers[how]()


def _with(place: Place, siblings: tuple[bytes, ...]) -> Place:
    return replace(place, siblings=siblings)
