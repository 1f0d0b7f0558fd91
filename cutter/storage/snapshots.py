"""Pure: the record of a registered snapshot."""

from __future__ import annotations

from dataclasses import dataclass

from cutter.types import Json


@dataclass(frozen=True, slots=True, kw_only=True)
class Snapshot:
    """The bytes of a source version, with its registered profile and options."""

    data: bytes
    profile_body: str
    options: Json
    forbidden_ids: list[str]
    source_document_ref: str
