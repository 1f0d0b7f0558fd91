"""A signature file is exactly one armored block with exactly one signature packet; a message names its recipients."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cutter import limits
from cutter.openpgp import SignatureForm, armor, dearmor, read_form, recipients
from cutter.types import Refusal
from tests.cases.approval_cases import signature_packet

PACKET = signature_packet()
FILE = armor(PACKET)


def code_of(file: bytes) -> str:
    form = read_form(file)
    assert isinstance(form, Refusal), form
    return form.code


def test_a_good_file_says_version_class_and_digest() -> None:
    assert read_form(FILE) == SignatureForm(version=4, signature_class="00", digest_algorithm=10)


def test_armor_and_dearmor_are_inverse() -> None:
    assert dearmor(FILE) == PACKET


def test_headers_and_windows_line_ends_of_the_armor_do_not_matter() -> None:
    headed = FILE.replace(b"SIGNATURE-----\n\n", b"SIGNATURE-----\nVersion: GnuPG v2\nComment: x\n\n", 1)
    assert isinstance(read_form(headed), SignatureForm)
    assert isinstance(read_form(FILE.replace(b"\n", b"\r\n")), SignatureForm)


def test_an_old_format_packet_is_read_too() -> None:
    content = PACKET[2:]
    for header in (bytes([0x88, len(content)]), bytes([0x89, 0, len(content)]), bytes([0x8A, 0, 0, 0, len(content)])):
        assert isinstance(read_form(armor(header + content)), SignatureForm)


def test_all_lengths_of_packets_are_read() -> None:
    content = PACKET[2:] + bytes(300 - len(PACKET[2:]))
    two_octets = bytes([0xC2, 192 + ((300 - 192) >> 8), (300 - 192) & 0xFF])
    five_octets = bytes([0xC2, 255]) + (300).to_bytes(4, "big")
    for header in (two_octets, five_octets):
        assert isinstance(read_form(armor(header + content)), SignatureForm)


def test_the_checksum_is_checked_and_may_be_left_out() -> None:
    checksum = FILE.split(b"\n=")[1].split(b"\n")[0]
    wrong = b"AAAA" if checksum != b"AAAA" else b"BBBB"
    assert code_of(FILE.replace(b"\n=" + checksum, b"\n=" + wrong)) == "signature_malformed"
    assert isinstance(read_form(FILE.replace(b"\n=" + checksum, b"")), SignatureForm)


@pytest.mark.parametrize(
    ("file", "code"),
    [
        (b"", "signature_not_armored"),
        (PACKET, "signature_not_armored"),
        (FILE + FILE, "signature_not_armored"),
        (FILE + b"and more\n", "signature_not_armored"),
        (b"before\n" + FILE, "signature_not_armored"),
        (FILE.replace(b"PGP SIGNATURE", b"PGP PUBLIC KEY BLOCK"), "signature_not_armored"),
        (b"-----BEGIN PGP SIGNED MESSAGE-----\n\nx\n" + FILE, "signature_inline"),
        (b"-----BEGIN PGP MESSAGE-----\n\nx\n-----END PGP MESSAGE-----\n", "signature_inline"),
        (armor(PACKET + PACKET), "signature_count"),
        (armor(PACKET + b"\xb4\x01x"), "signature_count"),
        (armor(b"\xcb" + PACKET[1:]), "signature_malformed"),
        (armor(PACKET[:-1]), "signature_malformed"),
        (armor(signature_packet(version=6)), "signature_malformed"),
        (armor(bytes([0xC2, 12]) + PACKET[2:6] + bytes([0, 9]) + PACKET[8:14]), "signature_malformed"),
        (armor(bytes([0xC2, 14]) + PACKET[2:6] + bytes([0, 2, 5, 0]) + bytes(6)), "signature_malformed"),
        (armor(bytes([0xC2, 10]) + PACKET[2:6] + bytes(6)), "signature_malformed"),
        (armor(b"\x02" + PACKET[1:]), "signature_malformed"),
        (armor(bytes([0x08, len(PACKET) - 2]) + PACKET[2:]), "signature_malformed"),
        (armor(b"\xc2"), "signature_malformed"),
        (armor(bytes([0x8B]) + PACKET[2:]), "signature_malformed"),
        (armor(bytes([0xC2, 0xE1]) + PACKET[2:]), "signature_malformed"),
        (FILE.replace(b"AAAA", b"AAAB", 1), "signature_malformed"),
        (FILE + b"\n" * limits.SIGNATURE_BYTES_MAX, "signature_too_large"),
        ("é".encode(), "signature_not_armored"),
    ],
)
def test_anything_else_is_refused(file: bytes, code: str) -> None:
    assert code_of(file) == code


def session_key(key_id: str, *, version: int = 3) -> bytes:
    body = bytes([version]) + bytes.fromhex(key_id) + b"\x12" + bytes(40)
    return bytes([0xC1, len(body)]) + body


DATA = b"\xd2\xed\x01" + bytes(40)


def test_recipients_are_read_in_order() -> None:
    message = session_key("AA" * 8) + session_key("BB" * 8) + DATA
    assert recipients(message) == ("AA" * 8, "BB" * 8)


def test_every_form_of_a_packets_length_is_read() -> None:
    body = bytes([3]) + bytes.fromhex("AB" * 8) + b"\x01" + bytes(300)
    size = len(body)
    two = bytes([0xC1, ((size - 192) >> 8) + 192, (size - 192) & 0xFF])
    old = bytes([0x85]) + size.to_bytes(2, "big")
    five = b"\xc1\xff" + size.to_bytes(4, "big")
    for header in (two, old, five):
        assert recipients(header + body + DATA) == ("AB" * 8,)


@pytest.mark.parametrize(
    "head",
    [
        b"",
        b"PGDMP\x01\x10\x00",
        session_key("AA" * 8),
        session_key("AA" * 8)[:-1] + DATA,
        session_key("AA" * 8, version=6) + DATA,
        session_key("AA" * 8) + b"\xc3\x04\x04\x07\x00\x02" + DATA,
        b"\xcb\x05b\x00\x00\x00\x00\x00",
        session_key("AA" * 8) + b"\xc9\x20" + bytes(32),
    ],
)
def test_what_another_secret_or_none_opens_names_nobody(head: bytes) -> None:
    """In turn: nothing, an archive, no data, cut, unknown version, a password too, a literal, no integrity."""
    assert recipients(head) is None


@given(st.binary(max_size=200))
def test_no_bytes_make_the_reader_of_packets_fail(head: bytes) -> None:
    key_ids = recipients(head)
    assert key_ids is None or all(re.fullmatch("[0-9A-F]{16}", key_id) for key_id in key_ids)
