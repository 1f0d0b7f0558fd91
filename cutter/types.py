"""Pure: the small types that many modules share."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

Json = dict[str, Any]
"""A JSON object at the edge: an answer before it is a record, or a document (docs/internals/adr/0029)."""


@dataclass(frozen=True, slots=True)
class Refusal:
    """The refusal of a document, as a value.

    `code` is a stable snake_case word, one for each kind of refusal. `reason` is one sentence with the field or line.
    """

    code: str
    reason: str
