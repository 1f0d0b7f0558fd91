"""Pure: every digest of the product and the one canonical form that they use (facts-domain, "Digests and keys").

A digest is 64 lower-case hex characters of SHA-256. Canonical JSON is UTF-8, sorted keys, `,` and `:` as separators and
no floats, so that the same value has the same bytes on every machine.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Collection, Iterable, Mapping

HEX_DIGEST = re.compile(r"[0-9a-f]{64}")

UNIT_SEPARATOR = "\x1f"
"""Joins the fields of a writer line. No field may contain it."""

WRITER_VERSION_LINE = "writer/1"

_ENCODER = json.JSONEncoder(sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)


def sha256_hex(data: bytes | str) -> str:
    """SHA-256 of bytes, or of a text's UTF-8, as 64 hex characters."""
    return hashlib.sha256(data.encode() if isinstance(data, str) else data).hexdigest()


def is_digest(text: str) -> bool:
    """True for exactly 64 lower-case hex characters."""
    return HEX_DIGEST.fullmatch(text) is not None


def canonical_json(value: object) -> str:
    """The one text form of a JSON value that is hashed or signed. Raises TypeError on a float."""
    _refuse_floats(value)
    return _ENCODER.encode(value)


def canonical_digest(value: object) -> str:
    """SHA-256 of the canonical JSON of a value."""
    return sha256_hex(canonical_json(value))


_PLAIN = frozenset({str, int, bool, type(None)})
_TEXT = frozenset({str})


def _refuse_floats(value: object) -> None:
    if isinstance(value, dict | Mapping):
        if not (_TEXT.issuperset(map(type, value)) or all(isinstance(key, str) for key in value)):
            raise TypeError("keys of canonical JSON are strings")
        _refuse_floats_in(value.values())
    elif isinstance(value, list | tuple):
        _refuse_floats_in(value)
    elif isinstance(value, float):
        raise TypeError("a float has no canonical form; use an integer or a string")


def _refuse_floats_in(values: Collection[object]) -> None:
    # Nearly every value is a text or a number. Their types are compared all at once, because a law has 50,000 of them.
    if not _PLAIN.issuperset(map(type, values)):
        for value in values:
            if isinstance(value, list):
                _refuse_floats_in(value)
            elif type(value) not in _PLAIN:
                _refuse_floats(value)


def writer_line(
    *,
    address: str,
    unit_kind: str,
    section_type: str,
    publication_type: str | None,
    owner: str,
    title: str,
    body_sha256: str,
    parent_address: str | None,
) -> str:
    """One row of the writer digest. PostgreSQL builds the same line from the stored row (fn_writer_digest)."""
    fields = (
        address,
        unit_kind,
        section_type,
        publication_type or "",
        owner,
        title,
        body_sha256,
        parent_address or "",
    )
    line = UNIT_SEPARATOR.join(fields)
    if line.count(UNIT_SEPARATOR) != len(fields) - 1 or "\n" in line:
        raise ValueError("a field of a writer line may contain neither U+001F nor a line feed")
    return line


def writer_digest(lines: Iterable[str]) -> str:
    """The digest over writer lines, which are ordered by their bytes (address first)."""
    ordered = sorted(lines, key=lambda line: line.split(UNIT_SEPARATOR, 1)[0].encode())
    return sha256_hex("\n".join([WRITER_VERSION_LINE, *ordered]))


def chain(previous: str, body: str) -> str:
    """The next link of a hash chain: sha256 over the hex characters of the link before it, then the body."""
    return sha256_hex(previous + body)
