"""Pure: one OpenPGP signature for many statements, and the proof that a statement is one of them.

The signature is over the head of the list: its version, the number of statements, and the root of a Merkle tree over
their bytes. A statement's signature file names the statement's place, the digests on the way to the root, and the
signature. A reader computes the head from the statement and this proof, and asks gpg about it. So a statement that is
not in the list gives another head, which nobody has signed. A leaf and a node are hashed differently, as in RFC 9162,
section 2.1.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from dataclasses import dataclass

from cutter import limits
from cutter.errors import InvalidInput
from cutter.types import Refusal

FILE_VERSION = "cutter-list-signature/1"
_HEAD = "cutter-signed-list/1\nI sign each statement of this list.\nstatements: {count}\nroot: {root}\n"
_FILE = re.compile(
    rf"{FILE_VERSION}\nplace: (?P<place>[1-9][0-9]{{0,5}}) of (?P<count>[1-9][0-9]{{0,5}})\n"
    r"(?P<path>(?:sibling: [0-9a-f]{64}\n){0,17})\n(?P<openpgp>.*)",
    re.DOTALL,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """A statement's place in a list, from 0, and the siblings on its way to the root, from the leaf on."""

    index: int
    count: int
    siblings: tuple[bytes, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class SignatureFile:
    """The parts of a statement's signature file. Without a place, the signature is over the statement itself."""

    openpgp: bytes
    place: Place | None = None


def head_and_places(bodies: Sequence[bytes]) -> tuple[bytes, list[Place]]:
    """The head of a list of statements, which a person signs, and each statement's place.

    Raises InvalidInput for an empty list and for one of more than `LIST_STATEMENTS_MAX` statements.
    """
    count = len(bodies)
    if not 0 < count <= limits.LIST_STATEMENTS_MAX:
        raise InvalidInput(f"a list has 1 to {limits.LIST_STATEMENTS_MAX} statements, and not {count}: sign a part")
    root, ways = _tree([_leaf(body) for body in bodies])
    return _head(count, root), [Place(index=n, count=count, siblings=way) for n, way in enumerate(ways)]


def render_signature(place: Place, openpgp: bytes) -> bytes:
    """The signature file of the statement at this place, from the armored signature of the head."""
    lines = [FILE_VERSION, f"place: {place.index + 1} of {place.count}"]
    lines += [f"sibling: {sibling.hex()}" for sibling in place.siblings]
    return "\n".join([*lines, "", ""]).encode() + openpgp


def read_signature(file: bytes) -> SignatureFile | Refusal:
    """The parts of a signature file, or the Refusal of a malformed one."""
    if not file.startswith(b"cutter-"):
        return SignatureFile(openpgp=file)
    malformed = Refusal("signature_malformed", f"the signature file does not have the form {FILE_VERSION}")
    match = _FILE.fullmatch(file.decode("latin-1"))
    if match is None:
        return malformed
    place = Place(
        index=int(match["place"]) - 1,
        count=int(match["count"]),
        siblings=tuple(map(bytes.fromhex, re.findall(r"[0-9a-f]{64}", match["path"]))),
    )
    if place.index >= place.count or len(place.siblings) != _depth(place):
        return malformed
    return SignatureFile(openpgp=match["openpgp"].encode("latin-1"), place=place)


def signed_bytes(body: bytes, place: Place | None) -> bytes:
    """The bytes that the signature must be over: the statement, or the head of the list with it at this place."""
    if place is None:
        return body
    return _head(place.count, _root(_leaf(body), place.index, place.count, place.siblings))


def _head(count: int, root: bytes) -> bytes:
    return _HEAD.format(count=count, root=root.hex()).encode()


def _tree(leaves: Sequence[bytes]) -> tuple[bytes, list[tuple[bytes, ...]]]:
    """The root over these leaves, and for each leaf the siblings on its way to the root."""
    if len(leaves) == 1:
        return leaves[0], [()]
    middle = _middle(len(leaves))
    (left, lefts), (right, rights) = _tree(leaves[:middle]), _tree(leaves[middle:])
    return _node(left, right), [*((*way, right) for way in lefts), *((*way, left) for way in rights)]


def _root(leaf: bytes, index: int, count: int, siblings: tuple[bytes, ...]) -> bytes:
    """The root of the tree that has the leaf at this place."""
    if count == 1:
        return leaf
    middle = _middle(count)
    if index < middle:
        return _node(_root(leaf, index, middle, siblings[:-1]), siblings[-1])
    return _node(siblings[-1], _root(leaf, index - middle, count - middle, siblings[:-1]))


def _depth(place: Place) -> int:
    """The number of digests that a place in a tree of this size has."""
    index, count, depth = place.index, place.count, 0
    while count > 1:
        middle = _middle(count)
        index, count = (index, middle) if index < middle else (index - middle, count - middle)
        depth += 1
    return depth


def _middle(count: int) -> int:
    """The leaves of the left half: the largest power of two below their number."""
    return 1 << (count - 1).bit_length() - 1


def _leaf(body: bytes) -> bytes:
    return hashlib.sha256(b"\0" + body).digest()


def _node(left: bytes, right: bytes) -> bytes:
    return hashlib.sha256(b"\1" + left + right).digest()
