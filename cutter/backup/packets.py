"""Pure: whom an OpenPGP message is encrypted for, read from its first packets (RFC 4880 §4.2, §5.1; RFC 9580 §5.1).

So that a worker which holds no private key still sees that the ciphertext it stored is for the pinned key and for
nobody else: gpg's configuration or a replaced gpg could add recipients silently.
"""

from __future__ import annotations

HEAD_BYTES = 4096
"""Bytes of a message that hold its session-key packets: a few hundred bytes each."""

_SESSION_KEY, _SYMMETRIC_SESSION_KEY = 1, 3
_PROTECTED_DATA = (18, 20)
"""Encrypted data with integrity protection, AEAD as GnuPG 2.3 and newer write it included."""

_KEY_ID = slice(1, 9)


def recipients(head: bytes) -> tuple[str, ...] | None:
    """Key ids (16 upper-case hex characters) of the message's recipients, in order.

    None when the head is no OpenPGP message with integrity protection, when a password would open it too, or when a
    session-key packet is of an unknown version: such a message is nobody's backup.
    """
    found: list[str] = []
    at = 0
    while True:
        packet = _packet(head, at)
        if packet is None:
            return None
        tag, start, end = packet
        if tag in _PROTECTED_DATA:
            return tuple(found)
        body = head[start:end]
        if tag != _SESSION_KEY or len(body) < 10 or body[0] != 3:
            return None
        found.append(body[_KEY_ID].hex().upper())
        at = end


def _packet(head: bytes, at: int) -> tuple[int, int, int] | None:
    """(tag, start of body, end of body); the end of a partial or indeterminate body is its start."""
    if at >= len(head) or not head[at] & 0x80:
        return None
    first = head[at]
    tag = first & 0x3F if first & 0x40 else (first >> 2) & 0x0F
    if tag in _PROTECTED_DATA:
        return tag, at + 1, at + 1
    length = _new_length(head, at + 1) if first & 0x40 else _old_length(head, at + 1, first & 0x03)
    if length is None:
        return None
    size, start = length
    return (tag, start, start + size) if start + size <= len(head) else None


def _new_length(head: bytes, at: int) -> tuple[int, int] | None:
    octets = head[at : at + 5]
    if octets and octets[0] < 192:
        return octets[0], at + 1
    if len(octets) >= 2 and octets[0] < 224:
        return ((octets[0] - 192) << 8) + octets[1] + 192, at + 2
    if len(octets) == 5 and octets[0] == 255:
        return int.from_bytes(octets[1:], "big"), at + 5
    return None


def _old_length(head: bytes, at: int, kind: int) -> tuple[int, int] | None:
    width = {0: 1, 1: 2, 2: 4}.get(kind)
    if width is None or at + width > len(head):
        return None
    return int.from_bytes(head[at : at + width], "big"), at + width
