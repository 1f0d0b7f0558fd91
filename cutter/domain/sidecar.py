"""Pure: state.json and transitions.jsonl as projections of what the database answers (seed 000 §5).

`fn_run_sidecar` gives everything in one answer; these functions only reshape it, so that the files can be rebuilt.
"""

from __future__ import annotations

import json
from typing import Any

from cutter.domain import recorded
from cutter.domain.digests import sha256_hex
from cutter.gates import phase_report
from cutter.gates.catalogue import BY_NAME, GATES
from cutter.lifecycle.events import lines
from cutter.lifecycle.history import run_events

SCHEMA_VERSION = 1

PASSED, FAILED, RUNNING = "passed", "failed", "running"

TRIED_AGAIN = frozenset({None, "unavailable", "lane_busy", "backup_stale", "approval_refused", "out_of_order", "ended"})
"""Outcomes of an attempt that another one follows; None is an attempt that is running, or died with its worker."""

HALTED = ("stopped_", "failed_", "voided_")

_PINS_OUT = frozenset({"section_type_cardinality"})


def state_json(sidecar: dict[str, Any]) -> dict[str, Any]:
    """The seed's top-level shape, schema_version 1."""
    sidecar = recorded.sidecar(sidecar)
    run = sidecar["run"]
    pins: dict[str, Any] = {}
    for receipt in sidecar["receipts"]:
        pins |= receipt["result"].get("pins") or {}
    return {
        "schema_version": SCHEMA_VERSION,
        "run_id": run["run_id"],
        "created_utc": run["created_at"],
        "created_by": run["starter"],
        "document_id": run["document_id"],
        "source_document_id": run["source_document_id"],
        "source_version_id": run["source_version_id"],
        "mode": run["mode"],
        "state": run["state"],
        "status": "success" if run["state"] == "closeout_reported" else run["outcome"],
        "phases": _phases(sidecar),
        "sovereign_approvals": _approvals(sidecar),
        "idempotency_keys": {BY_NAME[r["gate"]].phase: r["payload_sha256"] for r in sidecar["receipts"]},
        "context_pins": {key: value for key, value in pins.items() if key not in _PINS_OUT},
        "last_error": run["last_error"],
    }


def render_state(sidecar: dict[str, Any]) -> bytes:
    """state.json's bytes: the same for the same database state."""
    return (json.dumps(state_json(sidecar), indent=2, sort_keys=True, ensure_ascii=False) + "\n").encode()


def render_transitions(sidecar: dict[str, Any]) -> bytes:
    """transitions.jsonl's bytes: every transition of the run and of its views, one event a line (seed 004)."""
    return lines(run_events(sidecar))


def _phases(sidecar: dict[str, Any]) -> dict[str, Any]:
    receipts = {receipt["gate"]: receipt for receipt in sidecar["receipts"]}
    documents = {doc["subject"]: doc for doc in sidecar["documents"] if doc["kind"] == "gate_report"}
    phases: dict[str, Any] = {}
    for gate in GATES:
        attempts = [a for a in sidecar["attempts"] if a["gate"] == gate.name]
        receipt = receipts.get(gate.name)
        if receipt is None and not attempts:
            continue
        document = documents.get(gate.name)
        result = _result(sidecar["run"], receipt, attempts)
        phases[gate.phase] = {
            "phase": gate.phase,
            "started_utc": attempts[0]["started_at"] if attempts else receipt and receipt["opened_at"],
            "finished_utc": receipt["sealed_at"]
            if receipt
            else None
            if result == RUNNING
            else attempts[-1]["finished_at"],
            "result": result,
            "gate_invariants": {item["name"]: item["ok"] for item in _invariants(receipt, attempts)},
            "kb_doc_id": document["kb_id"] if document else None,
            "artifacts": _artifacts(sidecar["run"], receipt),
        }
    return phases


def _invariants(receipt: dict[str, Any] | None, attempts: list[dict[str, Any]]) -> list[dict[str, Any]]:
    report = receipt["result"] if receipt else attempts[-1].get("report")
    return list((report or {}).get("invariants") or [])


def _result(run: dict[str, Any], receipt: dict[str, Any] | None, attempts: list[dict[str, Any]]) -> str:
    """passed, failed or running (seed 000 §5). What is tried again by itself still runs, as long as the run goes on."""
    if receipt is not None:
        return PASSED
    outcome = attempts[-1]["outcome"]
    if outcome == "rehearsed":
        return PASSED
    return RUNNING if outcome in TRIED_AGAIN and not run["state"].startswith(HALTED) else FAILED


def _artifacts(run: dict[str, Any], receipt: dict[str, Any] | None) -> list[dict[str, str]]:
    """Files of the run folder that the phase left: its report, the backup, the evidence, as in the folder."""
    if receipt is None:
        return []
    report = phase_report.render(run, receipt)
    artifacts = [{"path": phase_report.file_name(receipt["gate"]), "sha256": sha256_hex(report)}]
    pins = receipt["result"].get("pins") or {}
    for kind in ("backup", "evidence"):
        if f"{kind}_artifact" in pins:
            path = str(pins[f"{kind}_artifact"]).removeprefix(f"{run['run_id']}/")
            artifacts.append({"path": path, "sha256": str(pins.get(f"{kind}_sha256"))})
    return artifacts


def _approvals(sidecar: dict[str, Any]) -> list[dict[str, Any]]:
    requests = {request["request_id"]: request for request in sidecar["requests"]}
    accepted = {verdict["approval_sha256"]: verdict for verdict in sidecar["verdicts"] if verdict["accepted"]}
    records = []
    for used in sidecar["consumptions"]:
        verdict = accepted[used["approval_sha256"]]
        records.append(
            {
                "gate": used["gate"],
                "requested_utc": requests[used["request_id"]]["requested_at"],
                "approval_kb_id": verdict["kb_id"],
                "review_decision_id": used["review_decision_id"],
                "validated_utc": verdict["recorded_at"],
            }
        )
    return records
