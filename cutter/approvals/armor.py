"""Pure: the form of a detached signature file, read packet by packet, beside what gpg says of it.

gpg takes the first armored block of a file and any packets in it. Here the file is exactly one armored block that holds
exactly one signature packet over a binary document, so that nothing rides along (RFC 4880, sections 4, 5.2 and 6).
"""

from __future__ import annotations

import base64
import binascii
import re
from dataclasses import dataclass

from cutter import limits
from cutter.approvals.refusal import Refusal

_BLOCK = re.compile(
    r"-----BEGIN PGP SIGNATURE-----\n"
    r"(?:[A-Za-z]+: [ -~]*\n)*"
    r"\n"
    r"(?P<data>(?:[A-Za-z0-9+/]{1,76}={0,2}\n)+)"
    r"(?:=(?P<sum>[A-Za-z0-9+/]{4})\n)?"
    r"-----END PGP SIGNATURE-----\n*"
)
_OTHER_FORMS = re.compile(r"-----BEGIN PGP (SIGNED MESSAGE|MESSAGE)")
_SIGNATURE_TAG = 2
_VERSIONS = (4, 5)
"""The versions that GnuPG writes; both have the same layout up to the signature's numbers."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SignatureForm:
    """What the one packet says of itself: OpenPGP version, signature class (00 = binary document), digest algorithm."""

    version: int
    signature_class: str
    digest_algorithm: int


def read_form(signature: bytes) -> SignatureForm | Refusal:
    """The form of a `.asc` file, or the Refusal that says what else it is."""
    packets = dearmor(signature)
    if isinstance(packets, Refusal):
        return packets
    first = _packet(packets)
    if first is None:
        return _no("signature_malformed", "the signature file holds no whole OpenPGP packet")
    tag, content, size = first
    if size != len(packets):
        return _no("signature_count", "the signature file holds more than one packet; sign once, with one key")
    if tag != _SIGNATURE_TAG or not _is_signature(content):
        return _no("signature_malformed", "the signature file does not hold a signature of version 4 or 5")
    return SignatureForm(version=content[0], signature_class=f"{content[1]:02X}", digest_algorithm=content[3])


def _is_signature(content: bytes) -> bool:
    """True when version and both subpacket areas fit the packet, so that gpg has something to judge."""
    if len(content) < 8 or content[0] not in _VERSIONS:
        return False
    unhashed = 6 + int.from_bytes(content[4:6], "big")
    numbers = unhashed + 2 + int.from_bytes(content[unhashed : unhashed + 2], "big")
    # Two octets of the digest and at least one number follow the areas.
    return (
        _areas_end(content, 6, unhashed) and _areas_end(content, unhashed + 2, numbers) and numbers + 4 < len(content)
    )


def _areas_end(content: bytes, at: int, end: int) -> bool:
    """True when the subpackets from `at` fill the area up to `end` exactly."""
    if end > len(content):
        return False
    while at < end:
        first = content[at]
        if first < 192:
            at += 1 + first
        elif first < 255 and at + 1 < end:
            at += 2 + ((first - 192) << 8) + content[at + 1] + 192
        elif first == 255 and at + 4 < end:
            at += 5 + int.from_bytes(content[at + 1 : at + 5], "big")
        else:
            return False
    return at == end


def dearmor(signature: bytes) -> bytes | Refusal:
    """The packets of the one armored block that the file is."""
    if len(signature) > limits.SIGNATURE_BYTES_MAX:
        return _no("signature_too_large", f"the signature file has more than {limits.SIGNATURE_BYTES_MAX} bytes")
    try:
        text = signature.decode("ascii").replace("\r\n", "\n")
    except UnicodeDecodeError:
        return _no("signature_not_armored", "the signature file is not armored; use gpg --detach-sign --armor")
    if _OTHER_FORMS.search(text):
        return _no("signature_inline", "the signature file is signed inline; use gpg --detach-sign --armor")
    block = _BLOCK.fullmatch(text if text.endswith("\n") else text + "\n")
    if block is None:
        return _no("signature_not_armored", "the signature file is not exactly one armored OpenPGP signature")
    try:
        data = base64.b64decode(block["data"].replace("\n", ""), validate=True)
    except binascii.Error:
        return _no("signature_malformed", "the signature file's base64 is broken")
    if block["sum"] is not None and base64.b64decode(block["sum"]) != _crc24(data):
        return _no("signature_malformed", "the signature file's checksum is wrong")
    return data


def armor(packets: bytes) -> bytes:
    """The `.asc` file of some packets, with its checksum."""
    lines = base64.b64encode(packets).decode()
    wrapped = "\n".join(lines[at : at + 64] for at in range(0, len(lines), 64))
    checksum = base64.b64encode(_crc24(packets)).decode()
    return f"-----BEGIN PGP SIGNATURE-----\n\n{wrapped}\n={checksum}\n-----END PGP SIGNATURE-----\n".encode()


def _packet(data: bytes) -> tuple[int, bytes, int] | None:
    """(tag, content, size with its header) of the first packet; partial and indefinite lengths are not read."""
    if len(data) < 2 or not data[0] & 0x80:
        return None
    if data[0] & 0x40:
        tag, header = data[0] & 0x3F, _new_length(data)
    else:
        tag, header = (data[0] >> 2) & 0x0F, _old_length(data)
    if header is None:
        return None
    start, length = header
    if start + length > len(data):
        return None
    return tag, data[start : start + length], start + length


def _new_length(data: bytes) -> tuple[int, int] | None:
    first = data[1]
    if first < 192:
        return 2, first
    if first < 224 and len(data) > 2:
        return 3, ((first - 192) << 8) + data[2] + 192
    if first == 255 and len(data) > 5:
        return 6, int.from_bytes(data[2:6], "big")
    return None


def _old_length(data: bytes) -> tuple[int, int] | None:
    octets = {0: 1, 1: 2, 2: 4}.get(data[0] & 0x03)
    if octets is None or len(data) < 1 + octets:
        return None
    return 1 + octets, int.from_bytes(data[1 : 1 + octets], "big")


def _crc24(data: bytes) -> bytes:
    value = 0xB704CE
    for octet in data:
        value ^= octet << 16
        for _ in range(8):
            value <<= 1
            if value & 0x1000000:
                value ^= 0x1864CFB
    return (value & 0xFFFFFF).to_bytes(3, "big")


def _no(code: str, reason: str) -> Refusal:
    return Refusal(code=code, reason=reason)
