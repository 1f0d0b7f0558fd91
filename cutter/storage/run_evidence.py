"""IO: reads the facts of a run: evidence, sidecar, the text that it pins, backups, and documents that wait."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from cutter.domain.run_record import RunSidecar
from cutter.errors import Unavailable
from cutter.storage.records import Connection, Rows, parsed, records, values
from cutter.types import Json


@dataclass(frozen=True, slots=True, kw_only=True)
class Snapshot:
    """The bytes of a source version, with its registered profile and options."""

    data: bytes
    profile_body: str
    options: Json
    forbidden_ids: list[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class RegisteredText(Snapshot):
    """A source version with the first segment of its addresses: everything that decides how it is marked."""

    docprefix: str


def _sidecar_of(answer: Json | None) -> RunSidecar | None:
    """The run from an answer of `fn_run_sidecar`. None if the run is unknown."""
    return None if answer is None else RunSidecar.of(answer)


@dataclass(frozen=True, slots=True, kw_only=True)
class OneMoment:
    """The evidence and the sidecar of a run from one moment. Both are None if the run is unknown."""

    evidence: Json | None
    sidecar: RunSidecar | None

    @classmethod
    def of(cls, evidence: Json | None, sidecar: Json | None) -> OneMoment:
        return cls(evidence=evidence, sidecar=_sidecar_of(sidecar))


EVIDENCE: Rows[Json | None] = values("run_evidence")
"""The whole answer of `fn_run_evidence`, from which a bundle is made. None if the run is unknown."""
SIDECAR = parsed("run_sidecar", _sidecar_of)
BOTH = records("run_evidence_and_sidecar", OneMoment.of)


def sidecar_now(connection: Connection, run_id: str) -> RunSidecar:
    """The sidecar of a run that a workflow drives. Raises Unavailable if the database has no such run."""
    sidecar = SIDECAR.first(connection, {"run_id": run_id})
    if sidecar is None:
        raise Unavailable("the database answered nothing", what="database")
    return sidecar


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


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordedBackup:
    """A backup of a run: the artifact's name, its sha256, its age, and whether the gate's receipt has sealed it."""

    artifact: str
    sha256: str
    age_seconds: float
    sealed: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class ListedBackup:
    """A backup in the list, with the document whose rows it has, and the name of its restore point if it has one."""

    artifact: str
    sha256: str | None
    taken_utc: str | None
    size_bytes: str | None
    restore_point: str | None
    document_id: str


NEWEST_BACKUPS = records("newest_backups", RecordedBackup)
LISTED_BACKUPS = records("backups", ListedBackup)
