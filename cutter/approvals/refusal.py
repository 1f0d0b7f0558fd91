"""Pure: why a document was not taken, as a value."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Refusal:
    """`code` is stable snake_case, one per reason; `reason` is one sentence that names the field or line."""

    code: str
    reason: str
