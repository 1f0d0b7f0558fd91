"""IO: IG_leg_b_record: writes the governance rows of a cut once, signed by the executor."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from activities.gates.cut_leg_a import TOOL
from activities.gates.cutplan import is_revision, plan_of
from activities.gates.pinned_source import pinned_read
from activities.gates.runner import GatePassed, GateRefused, run_gate
from activities.gates.structural_verify import UNITS
from activities.worker.dependencies import Deps
from cutter.catalogue import BY_NAME
from cutter.domain import ids
from cutter.domain.digests import canonical_json, sha256_hex
from cutter.domain.run_record import PinnedCounts, RunRecord
from cutter.gates import leg_b_record as gate
from cutter.messages import GateInput, GateOutcome
from cutter.storage.gate_transaction import Attempt, OpenGate, Read
from cutter.storage.records import parameters, query, records, the_row
from cutter.types import Json


@dataclass(frozen=True, slots=True, kw_only=True)
class Counted:
    """Counts of the rows that leg B and the verifier wrote for a run: by table, by distinct unit, and by id."""

    tables: dict[str, int]
    units_in_blocks: int
    units_affected: int
    change_sets: int
    verifier_signatures: int


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedRow:
    """A row of the plan with the version that is to hold (None if the unit ends) and the one that it ends."""

    address: str
    operation: str
    document_order: int
    unit_id: UUID
    version_id: UUID | None
    base_version_id: UUID | None
    content_hash: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RowIds:
    """The ids of a run's governance rows. Every try gives the same ids."""

    run_id: str
    entry_id: str
    history_id: str
    envelope_id: str
    decision_id: str
    signature_id: str
    change_set_id: str

    @classmethod
    def of(cls, run_id: str) -> RowIds:
        return cls(
            run_id=run_id,
            entry_id=str(ids.derived(run_id, "backlog_entry")),
            history_id=str(ids.derived(run_id, "backlog_history")),
            envelope_id=str(ids.derived(run_id, "manifest_envelope")),
            decision_id=str(ids.derived(run_id, "cut_decision")),
            signature_id=str(ids.derived(run_id, "executor_signature")),
            change_set_id=str(ids.derived(run_id, "change_set")),
        )


ROWS = records("leg_b_rows", Counted)
PLANNED = records("planned_rows", PlannedRow)

REPEALED = "none"
"""The span of a unit that is not in the new text."""


def leg_b_record(deps: Deps, input: GateInput) -> GateOutcome:
    """2N + 6 rows: entry, history, envelope, N blocks, decision, signature, change set, N affected rows."""

    def body(opened: OpenGate) -> GatePassed | GateRefused:
        counts, own = PinnedCounts.of(opened.attempt.pins), RowIds.of(opened.attempt.run_id)
        before = opened.row(ROWS)
        after = _insert(deps, opened, own)
        evidence = gate.Evidence(
            change_set_id=own.change_set_id,
            manifest_envelope_id=own.envelope_id,
            executor_signature_id=own.signature_id,
            rows_before=before.tables if before else {},
            rows_after=after.tables,
            change_sets=after.change_sets,
            units_in_blocks=after.units_in_blocks,
            units_affected=after.units_affected,
            units=counts.planned,
            changing=counts.changing,
            executor_tool_revision=deps.tool_revision,
            verifier_tool_revision=verifier_revision(deps.tool_revision),
            verifier_signatures=after.verifier_signatures,
        )
        return GatePassed(report=gate.evaluate(evidence))

    return run_gate(deps, BY_NAME[gate.GATE], input, body, reads=_reads)


def _reads(attempt: Attempt) -> list[Read]:
    return [
        (ROWS, parameters(RowIds.of(attempt.run_id))),
        (PLANNED, {"run_id": attempt.run_id})
        if is_revision(attempt.pins)
        else (UNITS, {"docprefix": attempt.pins.get("docprefix")}),
        pinned_read(attempt),
    ]


def signature_payload(subject: str, writer_digest: str, units: int, tool_revision: str) -> str:
    """What executor and verifier sign: the id of the change set or verify result, digest, N, tool revision."""
    return canonical_json(
        {"subject": subject, "writer_digest": writer_digest, "units": units, "tool_revision": tool_revision}
    )


def verifier_revision(executor_revision: str) -> str:
    """The tool revision that the verifier must show: the same build, but another principal."""
    return executor_revision.replace("+exec", "+verify")


def _values(deps: Deps, run: RunRecord, pins: Json, own: RowIds) -> Mapping[str, Any]:
    slug = ids.slug(pins["docprefix"])
    payload = signature_payload(own.change_set_id, pins["writer_digest"], pins["candidate_count"], deps.tool_revision)
    signer = deps.signer()
    return {
        **parameters(own),
        "document_id": run.document_id,
        "source_doc_ref": run.document_id,
        "operation_kind": pins.get("operation_kind", "first_cut"),
        "manifest_version": pins["writer_digest"],
        "manifest_digest": pins["manifest_digest"],
        "region_sha": pins["region_sha"],
        "executor_tool_revision": deps.tool_revision,
        "verifier_tool_revision": verifier_revision(deps.tool_revision),
        "rollback_key": f"rbk:canonical:{slug}:{pins['writer_digest'][:16]}:{own.change_set_id}",
        "idempotency_key": f"ick:canonical:{slug}:{pins['writer_digest']}:{own.run_id}",
        "actor": f"cutter_exec/{TOOL}/{slug}-cut",
        "dot_id": TOOL,
        "fingerprint": signer.fingerprint,
        "payload": payload,
        "payload_hash": sha256_hex(payload),
        "signature": signer.gpg.sign_detached(payload.encode(), signer.fingerprint).decode(),
    }


def _insert(deps: Deps, opened: OpenGate, own: RowIds) -> Counted:
    """Write all rows, then count them. The number of round trips does not depend on the number of units."""
    connection, attempt = opened.connection, opened.attempt
    values = _values(deps, attempt.run, attempt.pins, own)
    marking, plan = plan_of(deps, opened)
    spans = {unit.address: f"{unit.start}-{unit.end}" for unit in marking.candidates}
    if is_revision(attempt.pins):
        rows = opened.rows(PLANNED)
    else:
        stored = {unit.address: unit for unit in opened.rows(UNITS)}
        rows = [
            PlannedRow(
                address=row.address, operation="create", document_order=number, unit_id=stored[row.address].unit_id,
                version_id=stored[row.address].version_id, base_version_id=None, content_hash=row.body_sha256,
            )
            for number, row in enumerate(plan.rows, 1)
            if row.address in stored
        ]  # fmt: skip
    with connection.pipeline():
        for name in ("leg_b_entry", "leg_b_history", "leg_b_envelope"):
            connection.execute(query(name), values)
        connection.execute(query("leg_b_blocks"), _blocks(own, rows, spans))
        for name in ("leg_b_decision", "leg_b_signature", "leg_b_change_set"):
            connection.execute(query(name), values)
        changing = [
            {
                "affected_row_id": str(ids.derived(own.run_id, f"affected/{row.address}")),
                "change_set_id": own.change_set_id,
                "unit_id": row.unit_id,
                "version_id": row.version_id,
                "content_hash": row.content_hash,
                "operation": row.operation,
                "ended_version_id": row.base_version_id,
            }
            for row in rows
            if row.operation != "keep"
        ]
        connection.cursor().executemany(query("leg_b_affected"), changing)
        counted = ROWS.sent(connection, values)
    return the_row(ROWS.name, counted)


def _blocks(own: RowIds, rows: Sequence[PlannedRow], spans: Mapping[str, str]) -> Mapping[str, Any]:
    """The blocks by column, so that one statement writes them: a kept unit needs a block, but no call of its own."""
    return {
        "envelope_id": own.envelope_id,
        "entry_id": own.entry_id,
        "local_ids": [f"r{row.document_order}" for row in rows],
        "roles": ["origin" if row.operation == "repeal" else "result" for row in rows],
        "spans": [spans.get(row.address, REPEALED) for row in rows],
        "span_sha256s": [row.content_hash for row in rows],
        "places": [row.document_order for row in rows],
        "unit_ids": [row.unit_id for row in rows],
        "addresses": [row.address for row in rows],
        "operations": [row.operation for row in rows],
        "version_ids": [row.version_id or row.base_version_id for row in rows],
    }
