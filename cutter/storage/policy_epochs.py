"""IO: the approver policy's epochs as the database records them."""

from __future__ import annotations

from dataclasses import dataclass

from cutter.storage.records import records
from cutter.types import Json


@dataclass(frozen=True, slots=True, kw_only=True)
class EpochRecord:
    """An installed epoch: its file and what the database needs of it."""

    sha256: str
    body: str
    thresholds: Json
    deployment_id: str


IN_FORCE = records("policy_in_force", EpochRecord)
"""The newest epoch; no row before the first one is installed."""
