"""Pure: finds out which bytes the OpenPGP signature in a signature file must be over."""

from __future__ import annotations

import hashlib
import re

LIST_FILE = re.compile(
    rb"cutter-list-signature/1\nplace: ([1-9]\d*) of ([1-9]\d*)\n((?:sibling: [0-9a-f]{64}\n)*)\n(.*)", re.DOTALL
)
LIST_HEAD = "cutter-signed-list/1\nI sign each statement of this list.\nstatements: %d\nroot: %s\n"


def signed_over(statement: bytes, file: bytes) -> tuple[bytes, bytes]:
    """These bytes, and the signature. They are the statement, or the head of a list that the statement is in.

    A head names the root of a Merkle tree, which is computed here from the statement and its siblings.
    Raises ValueError for a malformed file.
    """
    if not file.startswith(b"cutter-"):
        return statement, file
    match = LIST_FILE.fullmatch(file)
    if match is None:
        raise ValueError("a signature file does not have the form cutter-list-signature/1")
    place, count = int(match[1]), int(match[2])
    siblings = [bytes.fromhex(line.split(" ")[1]) for line in match[3].decode().splitlines()]
    root = climbed(hashlib.sha256(b"\0" + statement).digest(), place - 1, count, siblings)
    return (LIST_HEAD % (count, root.hex())).encode(), match[4]


def climbed(leaf: bytes, index: int, count: int, siblings: list[bytes]) -> bytes:
    """The root over so many leaves, of which one is at this index. `siblings` begins next to the leaf."""
    if not 0 <= index < count or (count == 1) != (not siblings):
        raise ValueError("a signature file names a place that its list does not have")
    if count == 1:
        return leaf
    half = 1 << (count - 1).bit_length() - 1
    if index < half:
        return hashlib.sha256(b"\1" + climbed(leaf, index, half, siblings[:-1]) + siblings[-1]).digest()
    return hashlib.sha256(b"\1" + siblings[-1] + climbed(leaf, index - half, count - half, siblings[:-1])).digest()
