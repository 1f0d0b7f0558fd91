"""Pure: the small types that many modules share."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

Json = dict[str, Any]
"""A JSON object, as it is read from the database, from Temporal or from a file."""


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why a document was not taken, as a value.

    `code` is stable snake_case, one per reason; `reason` is one sentence that names the field or line.
    """

    code: str
    reason: str
