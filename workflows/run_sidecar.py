"""Pure: the answer of the query `sidecar`: seed 000 §5's schema, with what the workflow knows.

The database's sidecar (state.json, `cutter status`) is complete. The workflow gets only the data that it needs. So this
answer has every key, but it lacks the names of invariants and the idempotency keys, and its times come from the
workflow.
"""

from __future__ import annotations

from cutter.catalogue import BY_NAME, GATES, Sovereign
from cutter.domain.run_state import RunState
from cutter.projections import phase_report
from cutter.projections.state_file import FAILED, PASSED, RUNNING, SCHEMA_VERSION
from cutter.types import Json
from workflows.run_display import RunDisplay


def sidecar(display: RunDisplay) -> Json:
    """The top level. `status` has the same values as in state.json."""
    pins: Json = dict(display.facts)
    if display.request is not None and display.request.review_decision_id:
        pins["review_decision_id"] = display.request.review_decision_id
    # A run's id has its time: `ictr-<YYYYMMDDTHHMMSSZ>-<uuid7>`.
    stamp = display.run_id.split("-")[1] if display.run_id.count("-") > 1 else ""
    created = f"{stamp[:4]}-{stamp[4:6]}-{stamp[6:11]}:{stamp[11:13]}:{stamp[13:]}"
    reached = {*display.passed, *display.began}
    return {
        "schema_version": SCHEMA_VERSION,
        "run_id": display.run_id,
        "created_utc": created if len(stamp) == len("20261121T090000Z") else None,
        "created_by": display.created_by,
        "document_id": display.document_id,
        "source_document_id": display.facts.get("source_document_id"),
        "source_version_id": display.facts.get("source_version_id"),
        "mode": display.mode,
        "state": display.state,
        "status": display.outcome or None,
        "phases": {gate.phase: _phase(display, gate.name) for gate in GATES if gate.name in reached},
        "sovereign_approvals": [*display.used, *waiting(display)],
        "idempotency_keys": {},
        "context_pins": pins,
        "last_error": display.error or None,
    }


def waiting(display: RunDisplay) -> list[Json]:
    """The ApprovalRecords of the open request: one for each accepted approval, or a single one without an approval."""
    request = display.request
    if request is None:
        return []
    about = {"gate": request.gate, "requested_utc": display.requested_utc,
             "review_decision_id": (request.review_decision_id or None)
             if request.gate == Sovereign.LIFECYCLE else None}  # fmt: skip
    return [
        {**about, "approval_kb_id": kb_id or None, "validated_utc": display.validated.get(kb_id)}
        for kb_id in display.accepted.values() or [""]
    ]


def _phase(display: RunDisplay, gate: str) -> Json:
    passed = gate in display.passed
    failed = not passed and (RunState(display.state).halted or bool(display.ended.get(gate)))
    document = display.documents.get(gate) or (display.documents.get("SG_failure_escalation") if failed else None)
    digest = display.digests.get(gate)
    return {
        "phase": BY_NAME[gate].phase,
        "started_utc": display.began.get(gate),
        "finished_utc": display.ended.get(gate),
        "result": PASSED if passed else FAILED if failed else RUNNING,
        "gate_invariants": {},
        "kb_doc_id": document,
        "artifacts": [{"path": phase_report.file_name(gate), "sha256": digest}] if digest else [],
        "additional": {"gate_invariants": {}, "probe_names": {}},
    }
