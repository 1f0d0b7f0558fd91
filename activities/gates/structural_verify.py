"""IO: IG_structural_verify: reads the stored rows and compares them with the plan."""

from __future__ import annotations

from dataclasses import dataclass
from uuid import UUID

from activities.gates.cutplan import plan_of
from activities.gates.pinned_source import pinned_in, pinned_read
from activities.gates.runner import Passed, Refusal, run_gate
from activities.worker.dependencies import Deps
from cutter.catalogue import BY_NAME
from cutter.gates import structural_verify as gate
from cutter.messages import GateInput, GateOutcome
from cutter.storage.gate_transaction import Attempt, Open, Read
from cutter.storage.records import Rows, records, values


@dataclass(frozen=True, slots=True, kw_only=True)
class Stored(gate.StoredUnit):
    """A stored unit with the ids of its rows."""

    unit_id: UUID
    version_id: UUID


UNITS = records("stored_units", Stored)
VERSIONS: Rows[int] = values("version_count")


def structural_verify(deps: Deps, input: GateInput) -> GateOutcome:
    """Evaluate the eleven structural booleans."""

    def body(opened: Open) -> Passed | Refusal:
        return Passed(report=gate.evaluate(structural_evidence(deps, opened)))

    return run_gate(deps, BY_NAME[gate.GATE], input, body, reads=structural_reads)


def structural_reads(attempt: Attempt) -> list[Read]:
    """The stored rows, and the snapshot from which they should come."""
    prefix = {"docprefix": attempt.pins.get("docprefix")}
    return [(UNITS, prefix), (VERSIONS, prefix), pinned_read(attempt)]


def structural_evidence(deps: Deps, opened: Open) -> gate.Evidence:
    """The stored rows and the plan. This role's own connection reads both."""
    pins = opened.attempt.pins
    _, plan = plan_of(deps, opened)
    stored: list[Stored] = opened.rows(UNITS)
    return gate.Evidence(
        docprefix=pins["docprefix"],
        units=tuple(stored),
        version_count=opened.row(VERSIONS) or 0,
        plan=plan,
        section_type_cardinality=pins["section_type_cardinality"],
        forbidden_ids=tuple(pinned_in(opened).forbidden_ids),
    )
