"""IO: IG_leg_b_record: writes the governance rows of a cut once, signed by the executor."""

from __future__ import annotations

from dataclasses import dataclass
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
from cutter.domain.run_record import RunRecord
from cutter.gates import leg_b_record as gate
from cutter.marking.plan import CutPlan
from cutter.messages import GateInput, GateOutcome
from cutter.storage.gate_transaction import Attempt, OpenGate, Read
from cutter.storage.queries import query
from cutter.storage.records import records, the_row
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


ROWS = records("leg_b_rows", Counted)
PLANNED = records("planned_rows", PlannedRow)

REPEALED = "none"
"""The span of a unit that is not in the new text."""


def leg_b_record(deps: Deps, input: GateInput) -> GateOutcome:
    """2N + 6 rows: entry, history, envelope, N blocks, decision, signature, change set, N affected rows."""

    def body(opened: OpenGate) -> GatePassed | GateRefused:
        pins = opened.attempt.pins
        values = _values(deps, opened.attempt.run_id, opened.attempt.run, pins)
        before = opened.row(ROWS)
        rows = _unit_rows(deps, opened, values)
        after = _insert(opened, values, rows)
        evidence = gate.Evidence(
            change_set_id=values["change_set_id"],
            manifest_envelope_id=values["envelope_id"],
            executor_signature_id=values["signature_id"],
            rows_before=before.tables if before else {},
            rows_after=after.tables,
            change_sets=after.change_sets,
            units_in_blocks=after.units_in_blocks,
            units_affected=after.units_affected,
            units=rows_planned(pins),
            changing=rows_changing(pins),
            executor_tool_revision=values["executor_tool_revision"],
            verifier_tool_revision=values["verifier_tool_revision"],
            verifier_signatures=after.verifier_signatures,
        )
        return GatePassed(report=gate.evaluate(evidence))

    return run_gate(deps, BY_NAME[gate.GATE], input, body, reads=_reads)


def _reads(attempt: Attempt) -> list[Read]:
    return [
        (ROWS, _ids(attempt.run_id)),
        (PLANNED, {"run_id": attempt.run_id})
        if is_revision(attempt.pins)
        else (UNITS, {"docprefix": attempt.pins.get("docprefix")}),
        pinned_read(attempt),
    ]


def _ids(run_id: str) -> Json:
    """The ids of a run's governance rows. Every try gives the same ids."""
    roles = {
        "entry_id": "backlog_entry", "history_id": "backlog_history", "envelope_id": "manifest_envelope",
        "decision_id": "cut_decision", "signature_id": "executor_signature", "change_set_id": "change_set",
    }  # fmt: skip
    return {"run_id": run_id, **{name: str(ids.derived(run_id, role)) for name, role in roles.items()}}


def signature_payload(subject: str, writer_digest: str, units: int, tool_revision: str) -> str:
    """The payload that the executor and the verifier sign: id of the change set or of the verify result, digest, N,
    tool revision (facts-domain).
    """
    return canonical_json(
        {"subject": subject, "writer_digest": writer_digest, "units": units, "tool_revision": tool_revision}
    )


def verifier_revision(executor_revision: str) -> str:
    """The tool revision that the verifier must show: the same build, but another principal."""
    return executor_revision.replace("+exec", "+verify")


def _values(deps: Deps, run_id: str, run: RunRecord, pins: Json) -> Json:
    slug = ids.slug(pins["docprefix"])
    minted = _ids(run_id)
    change_set = minted["change_set_id"]
    payload = signature_payload(change_set, pins["writer_digest"], pins["candidate_count"], deps.tool_revision)
    signer = deps.signer()
    return {
        **minted,
        "document_id": run.document_id,
        "source_doc_ref": run.document_id,
        "operation_kind": pins.get("operation_kind", "first_cut"),
        "manifest_version": pins["writer_digest"],
        "manifest_digest": pins["manifest_digest"],
        "region_sha": pins["region_sha"],
        "executor_tool_revision": deps.tool_revision,
        "verifier_tool_revision": verifier_revision(deps.tool_revision),
        "rollback_key": f"rbk:canonical:{slug}:{pins['writer_digest'][:16]}:{change_set}",
        "idempotency_key": f"ick:canonical:{slug}:{pins['writer_digest']}:{run_id}",
        "actor": f"cutter_exec/{TOOL}/{slug}-cut",
        "dot_id": TOOL,
        "fingerprint": signer.fingerprint,
        "payload": payload,
        "payload_hash": sha256_hex(payload),
        "signature": signer.gpg.sign_detached(payload.encode(), signer.fingerprint).decode(),
    }


def rows_planned(pins: Json) -> int:
    """Rows of the plan: every unit of a first cut, or every row of a revision."""
    return sum(pins["revision_rows"].values()) if "revision_rows" in pins else int(pins["candidate_count"])


def rows_changing(pins: Json) -> int:
    """Rows of the plan that begin or end a version."""
    return rows_planned(pins) - (pins["revision_rows"]["keep"] if "revision_rows" in pins else 0)


def _insert(opened: OpenGate, values: Json, rows: list[Json]) -> Counted:
    """Write all rows, then count them. The number of round trips does not depend on the number of units."""
    connection = opened.connection
    changing = [row for row in rows if row["operation"] != "keep"]
    with connection.pipeline():
        for name in ("leg_b_entry", "leg_b_history", "leg_b_envelope"):
            connection.execute(query(name), values)
        connection.execute(query("leg_b_blocks"), _blocks(values, rows))
        for name in ("leg_b_decision", "leg_b_signature", "leg_b_change_set"):
            connection.execute(query(name), values)
        connection.cursor().executemany(query("leg_b_affected"), changing)
        counted = ROWS.sent(connection, values)
    return the_row(ROWS.name, counted)


def _blocks(values: Json, rows: list[Json]) -> Json:
    """The blocks by column, so that one statement writes them: a kept unit needs a block, but no call of its own."""
    columns = {
        "local_ids": "local_id", "roles": "role", "spans": "span", "span_sha256s": "span_sha256", "places": "order",
        "unit_ids": "unit_id", "addresses": "address", "operations": "operation",
    }  # fmt: skip
    held = [row["version_id"] or row["ended_version_id"] for row in rows]
    shared = {name: values[name] for name in ("envelope_id", "entry_id")}
    return {**shared, "version_ids": held, **{many: [row[column] for row in rows] for many, column in columns.items()}}


def _unit_rows(deps: Deps, opened: OpenGate, values: Json) -> list[Json]:
    marking, plan = plan_of(deps, opened)
    spans = {unit.address: f"{unit.start}-{unit.end}" for unit in marking.candidates}
    shared = {name: values[name] for name in ("envelope_id", "entry_id", "change_set_id")}
    rows = opened.rows(PLANNED) if is_revision(opened.attempt.pins) else _first_rows(opened, plan)
    return [
        {
            **shared,
            "local_id": f"r{row.document_order}",
            "order": row.document_order,
            "role": "origin" if row.operation == "repeal" else "result",
            "operation": row.operation,
            "span": spans.get(row.address, REPEALED),
            "span_sha256": row.content_hash,
            "address": row.address,
            "unit_id": row.unit_id,
            "version_id": row.version_id,
            "ended_version_id": row.base_version_id,
            "content_hash": row.content_hash,
            **(
                {"affected_row_id": str(ids.derived(opened.attempt.run_id, f"affected/{row.address}"))}
                if row.operation != "keep"
                else {}
            ),
        }
        for row in rows
    ]


def _first_rows(opened: OpenGate, plan: CutPlan) -> list[PlannedRow]:
    """The rows of a first cut, with the stored versions of the planned units."""
    stored = {unit.address: unit for unit in opened.rows(UNITS)}
    return [
        PlannedRow(
            address=row.address, operation="create", document_order=number, unit_id=stored[row.address].unit_id,
            version_id=stored[row.address].version_id, base_version_id=None, content_hash=row.body_sha256,
        )
        for number, row in enumerate(plan.rows, 1)
        if row.address in stored
    ]  # fmt: skip
