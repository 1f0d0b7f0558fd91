"""Pure: the first line of a segment. It names everything of which the backup consists.

A segment holds the rows of the documents that changed since their last segment. `base` is the tree of the segments with
all other documents. So the sha256 of one segment names the rows of every document at one moment.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from cutter.backup.tables import SEGMENT_TABLES
from cutter.domain.digests import canonical_digest, canonical_json, is_digest

HEADER_VERSION = "segment-header/1"

Columns = Mapping[str, tuple[tuple[str, str], ...]]
"""By table: its columns with their types, ordered by name."""


class HeaderRefused(ValueError):
    """The first line of an artifact is not the header of a segment."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Document:
    """A document in a segment: how often its rows had changed, their number, and the digest of all of them."""

    changes: int
    rows: int
    fingerprint: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Header:
    """The header of a segment: the root of its base tree, the columns of its tables, and its documents by id.

    If it is not `whole`, it is a part: it leaves out documents that changed, so it and its base are no backup.
    """

    base: str
    columns: Columns
    documents: Mapping[str, Document]
    whole: bool = True

    @property
    def columns_sha256(self) -> str:
        """The digest of the tables and their columns. Fingerprints with different columns cannot be compared."""
        return digest_of_columns(self.columns)

    @property
    def content_fingerprint(self) -> str:
        """One digest of the rows of every document, in this segment and in its base."""
        return canonical_digest(_plain(self))


def digest_of_columns(columns: Columns) -> str:
    """The digest of the tables and their columns."""
    return canonical_digest({table: [list(column) for column in named] for table, named in columns.items()})


def to_line(header: Header) -> bytes:
    """The header as the first line of a segment, in ASCII and with its line feed."""
    return f"-- {canonical_json(_plain(header))}\n".encode("ascii")


def from_line(line: bytes) -> Header:
    """The header that `to_line` wrote. Raises HeaderRefused for any other line."""
    try:
        value: Any = json.loads(line.decode("ascii").removeprefix("-- "))
        if not isinstance(value, dict) or value.pop("version", None) != HEADER_VERSION:
            raise HeaderRefused(f"the artifact begins with no header of version {HEADER_VERSION}")
        header = Header(
            base=value["base"],
            columns={table: tuple((name, kind) for name, kind in named) for table, named in value["columns"].items()},
            documents={name: Document(**document) for name, document in value["documents"].items()},
            whole="part" not in value,
        )
    except HeaderRefused:
        raise
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        raise HeaderRefused("the header of the segment is malformed") from None
    if not is_digest(header.base) or set(header.columns) != set(SEGMENT_TABLES):
        raise HeaderRefused("the header of the segment names no tree, or other tables")
    return header


def _plain(header: Header) -> dict[str, Any]:
    return ({} if header.whole else {"part": True}) | {
        "version": HEADER_VERSION,
        "base": header.base,
        "columns": {table: [list(column) for column in named] for table, named in header.columns.items()},
        "documents": {name: asdict(document) for name, document in header.documents.items()},
    }
