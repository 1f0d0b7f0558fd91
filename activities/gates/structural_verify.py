"""IO: IG_structural_verify: read the stored rows and hold them against the plan."""

from __future__ import annotations

from activities.gates.cutplan import plan_of
from activities.gates.pinned_source import pinned_in, pinned_read
from activities.gates.runner import Passed, Refusal, run_gate
from activities.worker.dependencies import Deps
from cutter.catalogue import BY_NAME
from cutter.gates import structural_verify as gate
from cutter.messages import GateInput, GateOutcome
from cutter.storage.gate_transaction import Attempt, Open, Read, Row

UNITS, VERSIONS = "stored_units", "version_count"


def structural_verify(deps: Deps, input: GateInput) -> GateOutcome:
    """The eleven structural booleans."""

    def body(opened: Open) -> Passed | Refusal:
        return Passed(report=gate.evaluate(structural_evidence(deps, opened)))

    return run_gate(deps, BY_NAME[gate.GATE], input, body, reads=structural_reads)


def structural_reads(attempt: Attempt) -> list[Read]:
    """The stored rows and the snapshot that they should come from."""
    prefix = {"docprefix": attempt.pins.get("docprefix")}
    return [(UNITS, prefix), (VERSIONS, prefix), pinned_read(attempt)]


def structural_evidence(deps: Deps, opened: Open) -> gate.Evidence:
    """The stored rows and the plan, both from this role's own connection."""
    pins = opened.attempt.pins
    versions = opened.row(VERSIONS)
    _, plan = plan_of(deps, opened)
    return gate.Evidence(
        docprefix=pins["docprefix"],
        units=tuple(_unit(row) for row in opened.rows(UNITS)),
        version_count=int(versions[0]) if versions else 0,
        plan=plan,
        section_type_cardinality=pins["section_type_cardinality"],
        forbidden_ids=pinned_in(opened).forbidden_ids,
    )


def _unit(row: Row) -> gate.StoredUnit:
    return gate.StoredUnit(
        address=row[0],
        section_type=str(row[1]),
        lifecycle=row[2],
        version_lifecycle=row[3],
        version_seq=row[4],
        body=row[5],
        content_hash=row[6],
        anchors_agree=bool(row[7]),
        parent_address=row[8],
    )
