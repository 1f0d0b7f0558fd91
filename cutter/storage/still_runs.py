"""IO: open runs that wait for nobody and have not moved for a while."""

from __future__ import annotations

from dataclasses import dataclass

from cutter.storage.records import records


@dataclass(frozen=True, slots=True, kw_only=True)
class StillRun:
    """A run without a move, and for how many seconds."""

    run_id: str
    document_id: str
    state: str
    still_seconds: float


STILL = records("still_runs", StillRun)
