"""Pure: the first line of a companion, and the record with it.

A companion holds every row that no segment holds: runs, receipts, sources, approvals, the audit chain and the rest. Its
first line names the backup of the same moment. So the sha256 of one companion names every row of the database.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from cutter.backup.segments.header import HeaderRefused
from cutter.domain.digests import canonical_json, is_digest
from cutter.errors import InvalidInput

HEADER_VERSION = "companion-header/1"
RECORD_VERSION = "companion/1"


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """A table in a companion: its columns with their types, the number of its rows, and the digest of all of them."""

    columns: tuple[tuple[str, str], ...]
    rows: int
    digest: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Header:
    """The header of a companion: the backup of the same moment, the tables, and the last value of each sequence."""

    artifact: str
    sha256: str
    tables: Mapping[str, Table]
    sequences: Mapping[str, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class CompanionRecord:
    """The record of a companion. `sha256` and `size_bytes` are those of the ciphertext. `backup` is the artifact of the
    backup to which it belongs.
    """

    artifact_id: str
    backup: str
    sha256: str
    size_bytes: int
    taken_utc: str
    recipient: str
    version: str = RECORD_VERSION


def to_line(header: Header) -> bytes:
    """The header as the first line of a companion, in ASCII and with its line feed."""
    return f"-- {canonical_json({'version': HEADER_VERSION} | asdict(header))}\n".encode("ascii")


def from_line(line: bytes) -> Header:
    """The header that `to_line` wrote. Raises HeaderRefused for any other line."""
    try:
        value: Any = json.loads(line.decode("ascii").removeprefix("-- "))
        if value.pop("version", None) != HEADER_VERSION or not is_digest(value["sha256"]):
            raise HeaderRefused(f"the artifact begins with no header of version {HEADER_VERSION}")
        tables = {name: _table(**table) for name, table in value.pop("tables").items()}
        return Header(tables=tables, **value)
    except HeaderRefused:
        raise
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        raise HeaderRefused("the header of the companion is malformed") from None


def _table(*, columns: list[list[str]], rows: int, digest: str) -> Table:
    return Table(columns=tuple((name, kind) for name, kind in columns), rows=rows, digest=digest)


def to_json(record: CompanionRecord) -> str:
    """The record as canonical JSON. This text is stored with the artifact."""
    return canonical_json(asdict(record))


def from_json(text: str) -> CompanionRecord:
    """The record that `to_json` wrote. Raises InvalidInput for any other text."""
    try:
        record = CompanionRecord(**json.loads(text))
    except (ValueError, TypeError, RecursionError):
        raise InvalidInput("the record of a companion is one JSON object") from None
    texts = (record.artifact_id, record.backup, record.sha256, record.taken_utc, record.recipient)
    if record.version != RECORD_VERSION or not all(isinstance(text, str) for text in texts):
        raise InvalidInput(f"not the record of a companion of version {RECORD_VERSION}")
    if not is_digest(record.sha256) or type(record.size_bytes) is not int:
        raise InvalidInput(f"not the record of a companion of version {RECORD_VERSION}")
    return record
