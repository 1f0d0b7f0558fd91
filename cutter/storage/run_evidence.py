"""IO: reads all facts of a run from the database, as its evidence and as its sidecar."""

from __future__ import annotations

from dataclasses import dataclass

from cutter.storage.records import Rows, records, values
from cutter.types import Json


@dataclass(frozen=True, slots=True, kw_only=True)
class OneMoment:
    """The evidence and the sidecar of a run from one moment. Both are None if the run is unknown."""

    evidence: Json | None
    sidecar: Json | None


EVIDENCE: Rows[Json | None] = values("run_evidence")
SIDECAR: Rows[Json | None] = values("run_sidecar")
BOTH = records("run_evidence_and_sidecar", OneMoment)
