"""IO: collects what the documents about a failed run of a batch show (seed 001 §6, §10)."""

from __future__ import annotations

from cutter.batch import triage, ways
from cutter.batch.disposition import Failure, disposition
from cutter.batch.triage import Triage
from cutter.domain.run_state import RunState
from cutter.marking import PROFILES
from cutter.projections.state_file import render_state
from cutter.storage.pools import Connection
from cutter.storage.queries import query
from cutter.types import Json

LEG_A, ENACTMENT = "IG_cut_leg_a_execute", "IG_lifecycle_enact_execute"
BY_PEOPLE = ("stopped_stop", "stopped_cancel")
"""Stops without a fault: such a run is never quarantined."""


def quarantined(connection: Connection, run: Json) -> bool:
    """True for a run of a batch that sets failed documents aside: its one document is then the STOP of quarantine."""
    if run["batch_id"] is None or run["state"] in BY_PEOPLE or RunState(run["state"]).voided:
        return False
    row = connection.execute(query("batch_policy"), {"batch_id": run["batch_id"]}).fetchone()
    return row is not None and row[0] == "quarantine"


def case_of(connection: Connection, sidecar: Json, *, max_candidates: int, code: str = "") -> Triage:
    """What is known of the run's failure. Without a `code` it is the seeds' word for its state.

    `max_candidates`: the units that the workers allow, so that the printed command asks for at most as many.
    """
    run, error = sidecar["run"], sidecar["run"]["last_error"] or {}
    last = sidecar["attempts"][-1] if sidecar["attempts"] else {}
    sealed = {one["gate"] for one in sidecar["receipts"]}
    failure = Failure(
        state=run["state"], code=code_of(error), wrote=LEG_A in sealed, enacted=ENACTMENT in sealed
    )  # fmt: skip
    item = {
        **{name: run[name] for name in ("run_id", "document_id", "state", "outcome")},
        "latched": bool((sidecar["latch"] or {}).get("stopped")), "wrote": failure.wrote, "enacted": failure.enacted,
        "included": False, "corrected": False,
    }  # fmt: skip
    remedy = ways.item_step(run["batch_id"], item)
    assert remedy is not None
    reproduction = triage.reproduction(
        run_id=run["run_id"], document_id=run["document_id"], state=run["state"],
        source=_source(connection, run["run_id"], max_candidates),
    )  # fmt: skip
    return Triage(
        run_id=run["run_id"], document_id=run["document_id"], state=run["state"],
        gate=error.get("gate") or last.get("gate", ""), code=code or triage.seed_code(run["state"]), error=error,
        sidecar=render_state(sidecar).decode(), advice=disposition(failure), reproduction=reproduction, remedy=remedy,
    )  # fmt: skip


def code_of(error: Json) -> str:
    """The reason code of a run's last error: the first violated invariant, or what its reason begins with."""
    invariants = (error.get("report") or {}).get("invariants") or []
    violated = [one for one in invariants if not one.get("ok")]
    return str(violated[0]["name"]) if violated else str(error.get("reason") or "").partition(":")[0]


def _source(connection: Connection, run_id: str, max_candidates: int) -> Json | None:
    """How the run's text was registered; None where its profile is no shipped one."""
    row = connection.execute(query("marked_by"), {"run_id": run_id}).fetchone()
    if row is None or row[0] not in PROFILES:
        return None
    options: Json = row[2] or {}  # type: ignore[assignment]
    if "max_candidates" in options:
        options = {**options, "max_candidates": min(options["max_candidates"], max_candidates)}
    return {"profile": row[0], "docprefix": row[1], "options": options, "forbidden": row[3] or ()}
