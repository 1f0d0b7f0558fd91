"""IO: the documents about runs and batches that wait for the knowledge base."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from cutter.domain.run_record import RunSidecar
from cutter.storage.records import records
from cutter.types import Json


@dataclass(frozen=True, slots=True, kw_only=True)
class WaitingDocument:
    """A document about a batch that is not yet in the knowledge base."""

    batch_id: str
    kb_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class WaitingOfRun:
    """A document about a run that the session's role must put. A report without a body is rendered from its receipt."""

    kb_id: str
    kind: str
    subject: str
    body: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class RunAndClock:
    """All facts for a run's projections and waiting documents, or only the run if it moves and no document waits."""

    sidecar: RunSidecar
    now: datetime

    @classmethod
    def of(cls, sidecar: Json, now: datetime) -> RunAndClock:
        return cls(sidecar=RunSidecar.published(sidecar), now=now)


WAITING = records("waiting_run_documents", WaitingOfRun)
STATE = records("run_sidecar_now", RunAndClock.of)
WAITING_OF_BATCHES = records("waiting_batch_documents", WaitingDocument)
