"""Pure: reads gpg's status lines, and OpenPGP files strictly, packet by packet, in addition to gpg's own judgement.

Status lines: the exit code and the messages on stderr do not count. gpg calls a SHA-1 signature and a signature by an
expired key "good", so the judge needs the records themselves (spec 03, step 3).

Signatures: gpg takes the first armored block of a file and any packets in it. This module requires exactly one armored
block with exactly one signature packet over a binary document, so the file can hide nothing else (RFC 4880, sections 4,
5.2 and 6).

Messages: the first packets name the keys that can open the message (RFC 4880, sections 4.2 and 5.1; RFC 9580, section
5.1). gpg's configuration, or a replaced gpg, could silently add recipients. So a worker without a private key checks
here that the stored ciphertext is for the pinned key and for no other key.
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum

from cutter import limits
from cutter.types import Refusal

_BLOCK = re.compile(
    r"-----BEGIN PGP SIGNATURE-----\n"
    r"(?:[A-Za-z]+: [ -~]*\n)*"
    r"\n"
    r"(?P<data>(?:[A-Za-z0-9+/]{1,76}={0,2}\n)+)"
    r"(?:=(?P<sum>[A-Za-z0-9+/]{4})\n)?"
    r"-----END PGP SIGNATURE-----\n*"
)
_OTHER_FORMS = re.compile(r"-----BEGIN PGP (SIGNED MESSAGE|MESSAGE)")
_SESSION_KEY, _SIGNATURE = 1, 2
_PROTECTED_DATA = (18, 20)
"""The tags of encrypted data with integrity protection, including AEAD as GnuPG 2.3 and newer write it."""

_VERSIONS = (4, 5)
"""The versions of signatures that GnuPG writes. Both have the same layout up to the signature's numbers."""

_KEY_ID = slice(1, 9)

STRONG_DIGESTS = frozenset((8, 9, 10))
"""SHA-256, SHA-384, SHA-512 (RFC 4880, section 9.4)."""

HEAD_BYTES = 4096
"""The first bytes of a message, which hold its session-key packets. Each packet has a few hundred bytes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SignatureForm:
    """The fields of the one packet: OpenPGP version, signature class (00 = binary document), digest algorithm."""

    version: int
    signature_class: str
    digest_algorithm: int


def read_form(signature: bytes) -> SignatureForm | Refusal:
    """The form of a `.asc` file, or the Refusal of a file with another form."""
    packets = dearmor(signature)
    if isinstance(packets, Refusal):
        return packets
    first = _packet(packets, 0)
    if first is None:
        return Refusal("signature_malformed", "the signature file holds no whole OpenPGP packet")
    tag, start, end = first
    content = packets[start:end]
    if end != len(packets):
        return Refusal("signature_count", "the signature file holds more than one packet; sign once, with one key")
    if tag != _SIGNATURE or not _is_signature(content):
        return Refusal("signature_malformed", "the signature file does not hold a signature of version 4 or 5")
    return SignatureForm(version=content[0], signature_class=f"{content[1]:02X}", digest_algorithm=content[3])


def _is_signature(content: bytes) -> bool:
    """True if the version and both subpacket areas fit the packet, so that gpg can judge it."""
    if len(content) < 8 or content[0] not in _VERSIONS:
        return False
    unhashed = 6 + int.from_bytes(content[4:6], "big")
    numbers = unhashed + 2 + int.from_bytes(content[unhashed : unhashed + 2], "big")
    # Two octets of the digest and at least one number follow the areas.
    return (
        _areas_end(content, 6, unhashed) and _areas_end(content, unhashed + 2, numbers) and numbers + 4 < len(content)
    )


def _areas_end(content: bytes, at: int, end: int) -> bool:
    """True if the subpackets from `at` fill the area up to `end` exactly."""
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
    """The packets of a file that is exactly one armored block, or the Refusal of any other file."""
    if len(signature) > limits.SIGNATURE_BYTES_MAX:
        return Refusal("signature_too_large", f"the signature file has more than {limits.SIGNATURE_BYTES_MAX} bytes")
    try:
        text = signature.decode("ascii").replace("\r\n", "\n")
    except UnicodeDecodeError:
        return Refusal("signature_not_armored", "the signature file is not armored; use gpg --detach-sign --armor")
    if _OTHER_FORMS.search(text):
        return Refusal("signature_inline", "the signature file is signed inline; use gpg --detach-sign --armor")
    block = _BLOCK.fullmatch(text if text.endswith("\n") else text + "\n")
    if block is None:
        return Refusal("signature_not_armored", "the signature file is not exactly one armored OpenPGP signature")
    try:
        data = base64.b64decode(block["data"].replace("\n", ""), validate=True)
    except binascii.Error:
        return Refusal("signature_malformed", "the signature file's base64 is broken")
    if block["sum"] is not None and base64.b64decode(block["sum"]) != _crc24(data):
        return Refusal("signature_malformed", "the signature file's checksum is wrong")
    return data


def armor(packets: bytes) -> bytes:
    """The `.asc` file of the packets, with its checksum."""
    lines = base64.b64encode(packets).decode()
    wrapped = "\n".join(lines[at : at + 64] for at in range(0, len(lines), 64))
    checksum = base64.b64encode(_crc24(packets)).decode()
    return f"-----BEGIN PGP SIGNATURE-----\n\n{wrapped}\n={checksum}\n-----END PGP SIGNATURE-----\n".encode()


def recipients(head: bytes) -> tuple[str, ...] | None:
    """The key ids (16 upper-case hex characters) of a message's recipients, in order, from its first `HEAD_BYTES`.

    None if the head is not an OpenPGP message with integrity protection, if a password also opens the message, or if a
    session-key packet has an unknown version. cutter makes no backup of this kind.
    """
    key_ids: list[str] = []
    at = 0
    while _tag(head, at) not in _PROTECTED_DATA:
        packet = _packet(head, at)
        if packet is None:
            return None
        tag, start, at = packet
        body = head[start:at]
        if tag != _SESSION_KEY or len(body) < 10 or body[0] != 3:
            return None
        key_ids.append(body[_KEY_ID].hex().upper())
    return tuple(key_ids)


def _tag(data: bytes, at: int) -> int | None:
    """The tag of the packet that begins at `at`. None if no packet can begin there."""
    if at >= len(data) or not data[at] & 0x80:
        return None
    return data[at] & 0x3F if data[at] & 0x40 else (data[at] >> 2) & 0x0F


def _packet(data: bytes, at: int) -> tuple[int, int, int] | None:
    """(tag, start of the content, end of the content) of the packet at `at`. None if the packet is not whole.

    Partial and indefinite lengths count as not whole.
    """
    tag = _tag(data, at)
    if tag is None:
        return None
    header = _new_length(data, at + 1) if data[at] & 0x40 else _old_length(data, at + 1, data[at] & 0x03)
    if header is None:
        return None
    start, length = header
    return (tag, start, start + length) if start + length <= len(data) else None


def _new_length(data: bytes, at: int) -> tuple[int, int] | None:
    octets = data[at : at + 5]
    if octets and octets[0] < 192:
        return at + 1, octets[0]
    if len(octets) >= 2 and octets[0] < 224:
        return at + 2, ((octets[0] - 192) << 8) + octets[1] + 192
    if len(octets) == 5 and octets[0] == 255:
        return at + 5, int.from_bytes(octets[1:], "big")
    return None


def _old_length(data: bytes, at: int, kind: int) -> tuple[int, int] | None:
    width = {0: 1, 1: 2, 2: 4}.get(kind)
    if width is None or at + width > len(data):
        return None
    return at + width, int.from_bytes(data[at : at + width], "big")


def _crc24(data: bytes) -> bytes:
    value = 0xB704CE
    for octet in data:
        value ^= octet << 16
        for _ in range(8):
            value <<= 1
            if value & 0x1000000:
                value ^= 0x1864CFB
    return (value & 0xFFFFFF).to_bytes(3, "big")


STATUS = "[GNUPG:] "
FINGERPRINT = re.compile(r"[0-9A-F]{40}|[0-9A-F]{64}")
"""A whole fingerprint. A short id or a name could mean another key."""


class Outcome(StrEnum):
    """gpg's result for one signature."""

    GOOD = "GOODSIG"
    SIGNATURE_EXPIRED = "EXPSIG"
    KEY_EXPIRED = "EXPKEYSIG"
    KEY_REVOKED = "REVKEYSIG"
    BAD = "BADSIG"
    ERROR = "ERRSIG"


_OUTCOMES = frozenset(Outcome)


@dataclass(frozen=True, slots=True, kw_only=True)
class SignatureRecord:
    """One signature. Times are UTC, and `signature_class` is hex. Without a VALIDSIG line, its fields are None."""

    outcomes: tuple[Outcome, ...]
    fingerprint: str | None = None
    primary_fingerprint: str | None = None
    created: datetime | None = None
    expires: datetime | None = None
    digest_algorithm: int | None = None
    signature_class: str | None = None
    key_missing: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class SignatureEvidence:
    """Everything that gpg reported. If gpg could not judge, `unverifiable` has the reason, and nothing is decided."""

    records: tuple[SignatureRecord, ...] = ()
    keywords: tuple[str, ...] = ()
    unverifiable: str | None = None


def status_words(lines: Iterable[str]) -> list[list[str]]:
    """The words of each status line (`[GNUPG:] KEYWORD …`). Other lines are ignored."""
    return [line.removeprefix(STATUS).split(" ") for line in lines if line.startswith(STATUS)]


def read_status(lines: Iterable[str]) -> SignatureEvidence:
    """The evidence in gpg's status lines about each signature, which a line NEWSIG begins."""
    words = status_words(lines)
    signatures: list[list[list[str]]] = []
    for line in words:
        if line[0] == "NEWSIG" or (not signatures and (line[0] in _OUTCOMES or line[0] == "VALIDSIG")):
            signatures.append([])
        if signatures:
            signatures[-1].append(line)
    return SignatureEvidence(records=tuple(map(_record, signatures)), keywords=tuple(line[0] for line in words))


def _record(lines: list[list[str]]) -> SignatureRecord:
    outcomes = tuple(Outcome(keyword) for keyword, *_ in lines if keyword in _OUTCOMES)
    valid = [words for keyword, *words in lines if keyword == "VALIDSIG"]
    # Two VALIDSIG lines for one signature prove neither of the two.
    if len(valid) != 1:
        return SignatureRecord(outcomes=outcomes, key_missing=any(line[0] == "NO_PUBKEY" for line in lines))
    # VALIDSIG <fpr> <date> <created> <expires> <version> <reserved> <key algorithm> <digest> <class> <primary fpr>
    words = valid[0]
    if len(words) < 10 or not (FINGERPRINT.fullmatch(words[0]) and FINGERPRINT.fullmatch(words[9])):
        return SignatureRecord(outcomes=outcomes)
    return SignatureRecord(
        outcomes=outcomes,
        fingerprint=words[0],
        primary_fingerprint=words[9],
        created=_moment(words[2]),
        expires=_moment(words[3]) if words[3] != "0" else None,
        digest_algorithm=int(words[7]) if words[7].isdecimal() else None,
        signature_class=words[8],
    )


def _moment(text: str) -> datetime | None:
    if text.isdecimal():
        return datetime.fromtimestamp(int(text), tz=UTC)
    try:
        return datetime.strptime(text, "%Y%m%dT%H%M%S").replace(tzinfo=UTC)
    except ValueError:
        return None
