"""IO: reads and registers runs in PostgreSQL as the operator. It needs neither Temporal nor the import of its SDK."""

from __future__ import annotations

import getpass
from dataclasses import asdict, dataclass

from psycopg.types.json import Jsonb

from cutter import limits
from cutter.catalogue import Role
from cutter.domain import ids
from cutter.domain.lanes import Lane, lanes_of
from cutter.domain.run_record import RunSidecar
from cutter.errors import NotFound
from cutter.messages import Mode
from cutter.registration import Registration, caps_of, mint_run_id
from cutter.settings import Settings
from cutter.storage import likely_names
from cutter.storage.answers import Drift
from cutter.storage.gate_transaction import call
from cutter.storage.pools import Connection, session
from cutter.storage.records import Rows, parsed, records, values
from cutter.storage.records import answer as value_of
from cutter.storage.run_evidence import SIDECAR
from cutter.types import Json


@dataclass(frozen=True, slots=True, kw_only=True)
class StillRun:
    """An open run that waits for no person, and the seconds since its last move."""

    run_id: str
    document_id: str
    state: str
    still_seconds: float


KNOWN: Rows[bool] = values("document_known")
LANES = parsed("lanes", lanes_of)
RUN_OF_DOCUMENT: Rows[str] = values("run_of_document")
OPEN_RUN: Rows[str] = values("open_run_of_document")
STILL = records("still_runs", StillRun)


def register_run(
    settings: Settings, document_id: str, mode: Mode, *, amends: str | None = None,
    priority: int = limits.PRIORITY_DEFAULT,
) -> str:  # fmt: skip
    """Make a run id and the run's row, before the workflow starts. An open live run of the document is a refusal."""
    run_id = mint_run_id()
    with session(settings, Role.OPERATOR) as connection:
        if not KNOWN.one(connection, {"document_id": ids.document_id(document_id)}):
            raise likely_names.unknown_document(connection, document_id)
        registration = call(
            connection,
            Registration.of,
            "select cutter_governance.fn_run_register(%s, %s, %s, %s, %s, null, null, %s)",
            (run_id, document_id, mode, getpass.getuser(), Jsonb(asdict(caps_of(settings))), amends),
        )
        if registration.status == "registered" and priority != limits.PRIORITY_DEFAULT:
            connection.execute("select cutter_governance.fn_run_prioritise(%s, %s)", (run_id, priority))
    return registration.require_run()


def sidecar(settings: Settings, run_id: str) -> RunSidecar:
    """All facts of a run from the database. Raises STOP_RUN_NOT_FOUND if the database has no such run."""
    with session(settings, Role.OPERATOR) as connection:
        return sidecar_of(connection, run_id)


def sidecar_of(connection: Connection, run_id: str) -> RunSidecar:
    """The same on an open connection."""
    record = SIDECAR.first(connection, {"run_id": ids.run_id(run_id)})
    if record is None:
        raise NotFound(f"no run {run_id}: see", then="cutter status", code="STOP_RUN_NOT_FOUND")
    return record


def lanes(settings: Settings) -> list[Lane]:
    """The lanes of leg A and of the enactment, with the run that holds each lane and the runs that wait for it."""
    with session(settings, Role.OPERATOR) as connection:
        return LANES.one(connection)


def drift(settings: Settings, run_id: str) -> Drift | None:
    """The present drift of a run that drift has stopped, and its fingerprint. None for any other run."""
    with session(settings, Role.OPERATOR) as connection:
        answer: Json | None = value_of(connection, "select cutter_governance.fn_drift_look(%s)", (ids.run_id(run_id),))
    return None if answer is None else Drift.of(answer)


def run_id_of(settings: Settings, name: str) -> str:
    """The run id for a name that a person types: a run id, or a document id.

    A document stands for its open run, else its newest run if that failed, else the run that enacted it, else its
    newest run.
    """
    if ids.is_run_id(name):
        return ids.run_id(name)
    with session(settings, Role.OPERATOR) as connection:
        return run_meant(connection, name)


def run_meant(connection: Connection, name: str) -> str:
    """The same on an open connection."""
    if ids.is_run_id(name):
        return ids.run_id(name)
    run_id = RUN_OF_DOCUMENT.first(connection, {"document_id": ids.document_id(name)})
    if run_id is None:
        raise likely_names.without_a_run(connection, name)
    return run_id


def open_run_of_document(settings: Settings, document_id: str) -> str | None:
    """The id of a document's open live run, or None."""
    with session(settings, Role.OPERATOR) as connection:
        return OPEN_RUN.first(connection, {"document_id": document_id})
