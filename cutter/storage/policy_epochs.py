"""IO: the epochs of the approver policy that the database records."""

from __future__ import annotations

from dataclasses import dataclass

from cutter.storage.records import records
from cutter.types import Json


@dataclass(frozen=True, slots=True, kw_only=True)
class EpochRecord:
    """An installed epoch: its file, and the values that the database needs from it."""

    sha256: str
    body: str
    thresholds: Json
    deployment_id: str


IN_FORCE = records("policy_in_force", EpochRecord)
"""The newest epoch. There is no row before the first epoch is installed."""
