"""IO: collects the content of the documents about a failed run of a batch (seed 001 §6, §10)."""

from __future__ import annotations

from dataclasses import dataclass

from cutter.batch import triage, ways
from cutter.batch.disposition import disposition
from cutter.batch.triage import Source, Triage
from cutter.domain.run_record import RunRecord, RunSidecar
from cutter.domain.run_state import RunState
from cutter.marking import PROFILES
from cutter.projections.state_file import render_state
from cutter.storage.records import Connection, Rows, records, values
from cutter.types import Json


@dataclass(frozen=True, slots=True, kw_only=True)
class MarkedBy:
    """The profile and options with which a run's version is marked."""

    profile: str
    docprefix: str
    options: Json | None
    forbidden_ids: list[str] | None


POLICY: Rows[str] = values("batch_policy")
MARKED_BY = records("marked_by", MarkedBy)


def quarantined(connection: Connection, run: RunRecord) -> bool:
    """True for a run of a batch that sets failed documents aside. Then the entry in the quarantine queue is the only
    document about its failure.
    """
    state = RunState(run.state)
    if run.batch_id is None or state.on_order or state.voided:
        return False
    return POLICY.first(connection, {"batch_id": run.batch_id}) == "quarantine"


def case_of(connection: Connection, sidecar: RunSidecar, *, max_candidates: int, code: str = "") -> Triage:
    """The known facts about the run's failure. Without a `code`, the code is the seeds' word for the run's state.

    `max_candidates` is the number of units that the workers allow. The printed command asks for at most as many.
    """
    run, error = sidecar.run, sidecar.run.error
    last = sidecar.attempts[-1].gate if sidecar.attempts else ""
    # How the run's text was registered. Nobody can reproduce a profile that is not a shipped one.
    marked = MARKED_BY.first(connection, {"run_id": run.run_id})
    source: Source | None = None
    if marked is not None and marked.profile in PROFILES:
        options = marked.options or {}
        if "max_candidates" in options:
            options = {**options, "max_candidates": min(options["max_candidates"], max_candidates)}
        source = Source(
            profile=marked.profile, docprefix=marked.docprefix, options=options,
            forbidden=tuple(marked.forbidden_ids or ()),
        )  # fmt: skip
    reproduction = triage.reproduction(run_id=run.run_id, document_id=run.document_id, state=run.state, source=source)
    return Triage(
        run_id=run.run_id, document_id=run.document_id, state=run.state,
        gate=error.get("gate") or last, code=code or RunState(run.state).stop_code or run.state, error=error,
        sidecar=render_state(sidecar).decode(), reproduction=reproduction,
        advice=disposition(sidecar.step_facts, code_of(error)),
        remedy=ways.run_step(run.batch_id or "", sidecar.step_facts),
    )  # fmt: skip


def code_of(error: Json) -> str:
    """The reason code of a run's last error: the first violated invariant, or else the beginning of its reason."""
    invariants = (error.get("report") or {}).get("invariants") or []
    violated = [invariant for invariant in invariants if not invariant.get("ok")]
    return str(violated[0]["name"]) if violated else str(error.get("reason") or "").partition(":")[0]
