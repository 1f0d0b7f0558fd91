"""IO: what PostgreSQL knows of runs, asked as the operator; nothing here needs Temporal, nor waits for its import."""

from __future__ import annotations

import getpass
from dataclasses import asdict

from psycopg.types.json import Jsonb

from cutter import limits
from cutter.domain import ids, recorded_values
from cutter.domain.lanes import Lane, lanes_of
from cutter.errors import NotFound
from cutter.messages import Mode
from cutter.registration import caps_of, mint_run_id, registered
from cutter.settings import Settings
from cutter.storage import likely_names
from cutter.storage.gate_transaction import call
from cutter.storage.pools import OPERATOR, session
from cutter.storage.records import Rows, values
from cutter.storage.records import answer as value_of
from cutter.types import Json

KNOWN: Rows[bool] = values("document_known")
LANES: Rows[list[Json]] = values("lanes")
"""What `lanes_of` makes records of."""
RUN_OF_DOCUMENT: Rows[str] = values("run_of_document")
ENACTING: Rows[str] = values("enacting_run")
OPEN_RUN: Rows[str] = values("open_run_of_document")


def register_run(
    settings: Settings, document_id: str, mode: Mode, *, amends: str | None = None,
    priority: int = limits.PRIORITY_DEFAULT,
) -> str:  # fmt: skip
    """Mint a run id and make the run's row, before any workflow knows of it; a live run that is open refuses."""
    run_id = mint_run_id()
    with session(settings, OPERATOR) as connection:
        if not KNOWN.one(connection, {"document_id": ids.document_id(document_id)}):
            raise likely_names.unknown_document(connection, document_id)
        answer = call(
            connection,
            "select cutter_governance.fn_run_register(%s, %s, %s, %s, %s, null, null, %s)",
            (run_id, document_id, mode, getpass.getuser(), Jsonb(asdict(caps_of(settings))), amends),
        )
        if answer["status"] == "registered" and priority != limits.PRIORITY_DEFAULT:
            connection.execute("select cutter_governance.fn_run_prioritise(%s, %s)", (run_id, priority))
    return registered(answer)


def sidecar(settings: Settings, run_id: str) -> Json:
    """Everything the database says of a run; STOP_RUN_NOT_FOUND when it knows none."""
    with session(settings, OPERATOR) as connection:
        found: Json | None = value_of(connection, "select cutter_governance.fn_run_sidecar(%s)", (ids.run_id(run_id),))
    if found is None:
        raise NotFound(f"no run {run_id}: see `cutter status`", code="STOP_RUN_NOT_FOUND")
    return recorded_values.sidecar(found)


def lanes(settings: Settings) -> list[Lane]:
    """The lanes of leg A and of the enactment: who holds them, and which runs wait."""
    with session(settings, OPERATOR) as connection:
        return lanes_of(LANES.one(connection))


def drift(settings: Settings, run_id: str) -> Json | None:
    """What differs now under a run that drift has stopped, and the fingerprint of it; None for any other run."""
    with session(settings, OPERATOR) as connection:
        found: Json | None = value_of(connection, "select cutter_governance.fn_drift_look(%s)", (ids.run_id(run_id),))
    return found


def run_of_document(settings: Settings, document_id: str) -> str:
    """Run id of a document's open run, else of its newest if that failed, else of the one that made the law, else of
    the newest."""
    with session(settings, OPERATOR) as connection:
        run_id = RUN_OF_DOCUMENT.first(connection, {"document_id": ids.document_id(document_id)})
        if run_id is None:
            raise likely_names.without_a_run(connection, document_id)
    return run_id


def run_id_of(settings: Settings, name: str) -> str:
    """A run id from what a person types: a run id, or a document id (see `run_of_document`)."""
    return ids.run_id(name) if ids.is_run_id(name) else run_of_document(settings, name)


def enacting_run(settings: Settings, document_id: str) -> str | None:
    """Run id of the run that made the document law, or None."""
    with session(settings, OPERATOR) as connection:
        return ENACTING.first(connection, {"document_id": document_id})


def open_run_of_document(settings: Settings, document_id: str) -> str | None:
    """Run id of a document's open live run, or None."""
    with session(settings, OPERATOR) as connection:
        return OPEN_RUN.first(connection, {"document_id": document_id})
