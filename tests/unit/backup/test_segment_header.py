"""The header of a segment: what was written is read again, and anything else is refused."""

from __future__ import annotations

from dataclasses import replace

import pytest

from cutter.backup.segments.header import Document, Header, HeaderRefused, from_line, to_line
from cutter.backup.segments.tree import EMPTY
from cutter.backup.tables import SEGMENT_TABLES
from cutter.domain.digests import sha256_hex

HEADER = Header(
    base=EMPTY,
    columns=dict.fromkeys(SEGMENT_TABLES, (("id", "uuid"), ("text", "text"))),
    documents={"ICX-1": Document(changes=2, rows=7, fingerprint=sha256_hex("rows"))},
)


def test_a_header_is_read_as_it_was_written() -> None:
    line = to_line(HEADER)
    assert line.startswith(b"-- {")
    assert line.count(b"\n") == 1
    assert from_line(line) == HEADER


@pytest.mark.parametrize(
    "line",
    [
        b"",
        b"COPY public.unit_version (id) FROM stdin;\n",
        b"-- {}\n",
        b"-- []\n",
        to_line(HEADER).replace(b"segment-header/1", b"segment-header/2"),
        to_line(HEADER).replace(EMPTY.encode(), b"none"),
        to_line(HEADER).replace(b"public.enactment", b"public.another"),
        to_line(HEADER).replace(b'"rows":7', b'"lines":7'),
    ],
)
def test_another_line_is_refused(line: bytes) -> None:
    with pytest.raises(HeaderRefused):
        from_line(line)


def test_the_content_fingerprint_names_the_base_and_every_document() -> None:
    other = Document(changes=2, rows=7, fingerprint=sha256_hex("other rows"))
    assert HEADER.content_fingerprint != replace(HEADER, base=sha256_hex("another tree")).content_fingerprint
    assert HEADER.content_fingerprint != replace(HEADER, documents={"ICX-1": other}).content_fingerprint
    assert HEADER.content_fingerprint != replace(HEADER, documents={}).content_fingerprint
