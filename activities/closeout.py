"""IO: IG_closeout: look at everything that the run should have left."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from psycopg.types.json import Jsonb

from activities.deps import Deps
from activities.gate import Passed, Refusal, run_gate
from activities.publish import publish
from cutter.domain.digests import chain, sha256_hex
from cutter.errors import NotFound, Unavailable
from cutter.gates import closeout as gate
from cutter.gates.catalogue import BY_NAME, Role
from cutter.messages import GateInput, GateOutcome
from cutter.storage import run_folder
from cutter.storage.gate_transaction import Attempt, Open, Read, Row
from cutter.storage.pools import single
from cutter.storage.queries import query

Json = dict[str, Any]

CHAIN, SIDECAR = "audit_chain", "run_sidecar"


def closeout(deps: Deps, input: GateInput) -> GateOutcome:
    """Check documents, units, receipts, approvals and the chain; then the run is closed."""

    def prepare(attempt: Attempt) -> tuple[()]:
        publish(deps, Role.READ, attempt.run_id)
        return ()

    def body(opened: Open) -> Passed | Refusal:
        sidecar = _sidecar(opened.row(SIDECAR), input.run_id)
        evidence = gate.Evidence(
            documents=tuple(_document(deps, entry) for entry in sidecar["documents"]),
            units_enacted=opened.attempt.pins["units_enacted"],
            units_planned=opened.attempt.pins["candidate_count"],
            receipts_sealed=len(sidecar["receipts"]),
            approvals_consumed=frozenset(used["gate"] for used in sidecar["consumptions"]),
            audit_head=sidecar["audit_head"],
            chain_intact=chain_intact(opened.rows(CHAIN), input.run_id),
        )
        return Passed(report=gate.evaluate(evidence))

    outcome = run_gate(deps, BY_NAME[gate.GATE], input, body, prepare=prepare, reads=_reads)
    if outcome.status == "passed":
        _finish(deps, input.run_id)
    return outcome


def _reads(attempt: Attempt) -> list[Read]:
    return [(SIDECAR, {"run_id": attempt.run_id}), (CHAIN, {"chain": attempt.run_id})]


def _sidecar(row: Row | None, run_id: str) -> Json:
    if row is None:
        raise NotFound(f"no run {run_id}: see `cutter status`", code="STOP_RUN_NOT_FOUND")
    sidecar: Json = row[0]
    return sidecar


def chain_intact(rows: Sequence[Row], chain_name: str) -> bool:
    """Recompute the audit chain of a run from its stored (previous hash, body, hash)."""
    head = sha256_hex(chain_name)
    for previous, body, stored in rows:
        if previous != head or chain(head, str(body)) != stored:
            return False
        head = str(stored)
    return bool(rows)


def _document(deps: Deps, entry: Json) -> gate.KbDocument:
    try:
        found: str | None = sha256_hex(deps.kb.get(entry["kb_id"]))
    except NotFound:
        found = None
    return gate.KbDocument(
        kb_id=entry["kb_id"], kind=entry["kind"], subject=entry["subject"], recorded_sha256=entry["sha256"],
        found_sha256=found,
    )  # fmt: skip


def _finish(deps: Deps, run_id: str) -> None:
    """What can only be done after COMMIT: the runs index; then that, state.json and the outbox are read back."""
    with single(deps.pool(Role.READ)) as connection:
        sidecar = _sidecar(connection.execute(query(SIDECAR), {"run_id": run_id}).fetchone(), run_id)
    kb_id, line = index_entry(sidecar)
    deps.kb.put(kb_id, line)
    with single(deps.pool(Role.READ)) as connection:
        connection.execute(query("action_record"), {
            "run_id": run_id, "gate": gate.GATE, "connector": "kb", "operation": "index", "target": kb_id,
            "sha256": sha256_hex(line), "request": Jsonb({"kind": "runs_index"}),
            "response": Jsonb({"size_bytes": len(line)}), "reversible": False, "how": "write-once",
        })  # fmt: skip
    state = run_folder.read_state(deps.settings.runs, run_id)
    report = gate.finished(
        gate.Finish(
            run_id=run_id,
            sidecar_run_id=state.get("run_id"),
            sidecar_status=state.get("status"),
            index_line=line,
            index_line_found=deps.kb.get(kb_id),
            documents_waiting=sum(one["sha256"] is None for one in sidecar["documents"]),
        )
    )
    if not report.passed:
        what = "run_folder" if report.violations[0].name == "sidecar_finalized" else "kb"
        raise Unavailable(f"the run is closed, but {report.reason()}", what=what)


def index_entry(sidecar: Json) -> tuple[str, bytes]:
    """(KB id, bytes) of a closed run's line in the runs index, from its sealed receipt: the same at every try."""
    run = sidecar["run"]
    receipt = next(one for one in sidecar["receipts"] if one["gate"] == gate.GATE)
    line = gate.index_line(
        run_id=run["run_id"],
        document_id=run["document_id"],
        audit_head=receipt["result"]["pins"]["audit_head"],
        sealed_utc=receipt["sealed_at"],
    )
    return gate.index_id(run["run_id"]), line
