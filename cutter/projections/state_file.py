"""Pure: makes state.json, transitions.jsonl and the gates' reports from an answer of the database (seed 000 §5).

`fn_run_sidecar` gives all facts in one answer. These functions only change their form, so the files can be rebuilt, and
every try gives the same bytes.
"""

from __future__ import annotations

import json
from typing import Any

from cutter.catalogue import BY_NAME, GATES
from cutter.domain.digests import sha256_hex
from cutter.domain.markdown import cell, code, escape, prose
from cutter.domain.run_record import AttemptRecord, Receipt, RequestRecord, RunRecord, RunSidecar, VerdictRecord
from cutter.domain.run_state import RunState
from cutter.gates.report import PROBE, PROBED, parted
from cutter.lifecycle.events import lines
from cutter.lifecycle.history import run_events

_MUTATION = {"IG_cut_leg_a_execute": "UNITS CREATED (draft)", "IG_leg_b_record": "GOVERNANCE ROWS",
             "IG_write_verify": "VERIFY RESULT", "IG_lifecycle_enact_execute": "UNITS ENACTED"}  # fmt: skip


def file_name(gate: str) -> str:
    """The name of a gate's report in the run folder (seed 000 §5, phase_report_paths)."""
    return f"phase-{BY_NAME[gate].number:02d}.md"


def render_failed(run: RunRecord, attempt: AttemptRecord, kb_id: str | None) -> bytes:
    """The report of a failed phase, from its last attempt. `kb_id` is the KB id of the stop-route report."""
    gate = BY_NAME[attempt.gate]
    lines = [
        f"# {run.document_id} · {gate.name} · {gate.number} of {len(GATES)}",
        "",
        f"phase: {gate.phase}  ",
        f"outcome: FAIL ({prose(_said(attempt.outcome or 'no answer'))})  ",
        "production_mutation: NONE  ",
        f"run_id: {run.run_id}  ",
        f"state: {gate.from_state.value} → {run.state}  ",
        f"attempt: {attempt.n}, {attempt.started_at} to {attempt.finished_at or 'no end'}  ",
        f"reason: {escape(_said(attempt.reason or 'none given'))}",
        "",
        *_table(invariants_of(attempt.report)),
        "",
        f"Stop-route report: {kb_id or 'not written yet'}",
        "",
        f"Next: `cutter status {run.run_id}` shows the command that continues the run",
        "",
    ]
    return "\n".join(lines).encode()


def invariants_of(report: object) -> list[dict[str, Any]]:
    """The invariants of a gate's report. If the report is malformed, only those that are readable."""
    invariants = report.get("invariants") if isinstance(report, dict) else None
    listed = invariants if isinstance(invariants, list) else []
    return [invariant for invariant in listed if isinstance(invariant, dict) and isinstance(invariant.get("name"), str)]


def render_gate(run: RunRecord, receipt: Receipt) -> bytes:
    """The report as Markdown: n of m, outcome, ids, expected and observed values, next gate (facts-domain "Report
    style").
    """
    gate = BY_NAME[receipt.gate]
    follows = GATES[gate.number].name if gate.number < len(GATES) else "nothing: the run is closed"
    notes = receipt.result["notes"]
    lines = [
        f"# {run.document_id} · {gate.name} · {gate.number} of {len(GATES)}",
        "",
        f"phase: {gate.phase}  ",
        "outcome: PASS  ",
        f"production_mutation: {_MUTATION.get(gate.name, 'NONE')}  ",
        f"run_id: {run.run_id}  ",
        f"state: {gate.from_state.value} → {gate.to_state.value}  ",
        f"sealed: {receipt.sealed_at} by {receipt.role}, attempt {receipt.attempt}  ",
        f"receipt: {receipt.receipt_hash}",
        "",
        *_table(receipt.result["invariants"]),
        "",
        "## Pins",
        "",
        *(f"- {prose(name)}: {code(_said(value))}" for name, value in sorted(receipt.pins.items())),
        *(["", "## Notes", "", *(f"- {prose(_said(note))}" for note in notes)] if notes else []),
        "",
        f"Next: {follows}",
        "",
    ]
    return "\n".join(lines).encode()


def _table(invariants: list[dict[str, Any]]) -> list[str]:
    return [
        "## Invariants",
        "",
        "| invariant | observed | expected | match |",
        "| --- | --- | --- | --- |",
        *(
            f"| {cell(item['name'])} | {cell(_said(item.get('observed')))} | {cell(_said(item.get('expected')))}"
            f" | {'✓' if item.get('ok') is True else '✗'} |"
            for item in invariants
        ),
    ]


def _said(value: object) -> str:
    """A value on one line, with plain quotation marks around commands."""
    return str(value).replace("\n", " ").replace("`", "'")


SCHEMA_VERSION = 1

PASSED, FAILED, RUNNING = "passed", "failed", "running"

TRIED_AGAIN = frozenset({None, "unavailable", "lane_busy", "backup_stale", "approval_refused", "out_of_order", "ended"})
"""The outcomes after which another attempt follows.

None is an attempt that still runs, or that died with its worker.
"""

_PINS_OUT = frozenset({"section_type_cardinality"})


def state_json(sidecar: RunSidecar) -> dict[str, Any]:
    """The content of state.json in the shape of the seed, schema_version 1."""
    run = sidecar.run
    # A request to enact adds its review decision's id to the pins of the sealed gates, even before people decide.
    reviews = [request.review_decision_id for request in sidecar.requests if request.review_decision_id]
    pins = ({"review_decision_id": reviews[-1]} if reviews else {}) | sidecar.pins
    return {
        "schema_version": SCHEMA_VERSION,
        "run_id": run.run_id,
        "created_utc": run.created_at,
        "created_by": run.starter,
        "document_id": run.document_id,
        "source_document_id": run.source_document_id,
        "source_version_id": run.source_version_id,
        "mode": run.mode,
        "state": run.state,
        "status": "success" if run.state == "closeout_reported" else run.outcome,
        "phases": _phases(sidecar),
        "sovereign_approvals": _approvals(sidecar),
        "idempotency_keys": {BY_NAME[receipt.gate].phase: receipt.payload_sha256 for receipt in sidecar.receipts},
        "context_pins": {name: value for name, value in pins.items() if name not in _PINS_OUT},
        "last_error": run.last_error,
    }


def render_state(sidecar: RunSidecar) -> bytes:
    """The bytes of state.json. The same state of the database gives the same bytes."""
    return (json.dumps(state_json(sidecar), indent=2, sort_keys=True, ensure_ascii=False) + "\n").encode()


def render_transitions(sidecar: RunSidecar) -> bytes:
    """The bytes of transitions.jsonl: every transition of the run and of its views, one event a line (seed 004)."""
    return lines(run_events(sidecar))


def phase_reports(sidecar: RunSidecar) -> dict[str, bytes]:
    """The files phase-<NN>.md of the run folder by name: for each sealed gate, and for the gate that failed."""
    run = sidecar.run
    reports = {file_name(receipt.gate): render_gate(run, receipt) for receipt in sidecar.receipts}
    sealed = sidecar.sealed
    last = {attempt.gate: attempt for attempt in sidecar.attempts if attempt.gate not in sealed}
    for gate, attempt in last.items():
        if _result(run, None, [attempt]) == FAILED:
            reports[file_name(gate)] = render_failed(run, attempt, _stop_route(sidecar))
    return reports


def _stop_route(sidecar: RunSidecar) -> str | None:
    """The KB id of the newest stop-route report, which is the knowledge base's document about a failed phase."""
    return next((document.kb_id for document in reversed(sidecar.documents) if document.kind == "stop_route"), None)


def _phases(sidecar: RunSidecar) -> dict[str, Any]:
    reports = phase_reports(sidecar)
    receipts = {receipt.gate: receipt for receipt in sidecar.receipts}
    documents = {document.subject: document for document in sidecar.documents if document.kind == "gate_report"}
    phases: dict[str, Any] = {}
    for gate in GATES:
        attempts = [attempt for attempt in sidecar.attempts if attempt.gate == gate.name]
        receipt = receipts.get(gate.name)
        if receipt is None and not attempts:
            continue
        document = documents.get(gate.name)
        result = _result(sidecar.run, receipt, attempts)
        invariants = invariants_of(receipt.result if receipt else attempts[-1].report)
        seeds, ours = parted(gate.name, [(item["name"], item.get("ok") is True) for item in invariants])
        probe = {name: list(names) for name, names in PROBE.items()} if gate.name == PROBED else {}
        phases[gate.phase] = {
            "phase": gate.phase,
            "started_utc": attempts[0].started_at if attempts else receipt and receipt.opened_at,
            "finished_utc": receipt.sealed_at if receipt else None if result == RUNNING else attempts[-1].finished_at,
            "result": result,
            "gate_invariants": seeds,
            "kb_doc_id": document.kb_id if document else _stop_route(sidecar) if result == FAILED else None,
            "artifacts": _artifacts(sidecar.run, gate.name, receipt, reports),
            # Facts without a field in the seed's PhaseRecord: our own invariants, and the seed's names of the probe.
            "additional": {"gate_invariants": ours, "probe_names": probe},
        }
    return phases


def _result(run: RunRecord, receipt: Receipt | None, attempts: list[AttemptRecord]) -> str:
    """`passed`, `failed` or `running` (seed 000 §5). A gate that will be tried again is running while the run
    continues.
    """
    if receipt is not None:
        return PASSED
    outcome = attempts[-1].outcome
    if outcome == "rehearsed":
        return PASSED
    return RUNNING if outcome in TRIED_AGAIN and not RunState(run.state).halted else FAILED


def _artifacts(run: RunRecord, gate: str, receipt: Receipt | None, reports: dict[str, bytes]) -> list[dict[str, str]]:
    """The files of a phase in the run folder: its report, and the backup or the evidence."""
    name = file_name(gate)
    artifacts = [{"path": name, "sha256": sha256_hex(reports[name])}] if name in reports else []
    pins = receipt.pins if receipt else {}
    for kind in ("backup", "evidence"):
        if f"{kind}_artifact" in pins:
            path = str(pins[f"{kind}_artifact"]).removeprefix(f"{run.run_id}/")
            artifacts.append({"path": path, "sha256": str(pins.get(f"{kind}_sha256"))})
    return artifacts


def _approvals(sidecar: RunSidecar) -> list[dict[str, Any]]:
    """The seed's ApprovalRecords: first each consumed approval, then the approvals of an open request."""
    requests = {request.request_id: request for request in sidecar.requests}
    accepted = {verdict.approval_sha256: verdict for verdict in sidecar.verdicts if verdict.accepted}
    records = [_approval(requests[used.request_id], accepted[used.approval_sha256]) for used in sidecar.consumptions]
    for request in sidecar.requests:
        if request.status == "requested":
            asked = (request.gate, "approve")
            mine = [
                verdict
                for verdict in accepted.values()
                # A pre-batched approval names no challenge.
                if (verdict.gate, verdict.decision) == asked and verdict.challenge in (request.challenge, None)
            ]
            records += [_approval(request, verdict) for verdict in mine] or [_approval(request, None)]
    return records


def _approval(request: RequestRecord, verdict: VerdictRecord | None) -> dict[str, Any]:
    """One ApprovalRecord. Before anyone has approved, its approval and its time of validation are None."""
    return {
        "gate": request.gate,
        "requested_utc": request.requested_at,
        "approval_kb_id": verdict.kb_id if verdict else None,
        "review_decision_id": request.review_decision_id,
        "validated_utc": verdict.recorded_at if verdict else None,
    }
