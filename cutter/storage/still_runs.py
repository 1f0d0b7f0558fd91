"""IO: finds the open runs that wait for no person and have not moved for a while."""

from __future__ import annotations

from dataclasses import dataclass

from cutter.storage.records import records


@dataclass(frozen=True, slots=True, kw_only=True)
class StillRun:
    """A run, and the seconds since its last move."""

    run_id: str
    document_id: str
    state: str
    still_seconds: float


STILL = records("still_runs", StillRun)
