"""IO: IG_structural_verify: reads the stored rows and compares them with the plan."""

from __future__ import annotations

from dataclasses import dataclass
from uuid import UUID

from activities.gates.cutplan import is_revision, law_read, plan_of, revision_of
from activities.gates.pinned_source import pinned_in, pinned_read
from activities.gates.runner import GatePassed, GateRefused, run_gate
from activities.worker.dependencies import Deps
from cutter.catalogue import BY_NAME
from cutter.gates import structural_verify as gate
from cutter.messages import GateInput, GateOutcome
from cutter.storage.gate_transaction import Attempt, OpenGate, Read
from cutter.storage.records import Rows, records, values


@dataclass(frozen=True, slots=True, kw_only=True)
class Stored(gate.StoredUnit):
    """A stored unit with the ids of its rows."""

    unit_id: UUID
    version_id: UUID


UNITS = records("stored_units", Stored)
VERSIONS: Rows[int] = values("version_count")
DRAFTED = records("drafted_units", Stored)
ROWS = records("revision_rows", gate.StoredRow)


def structural_verify(deps: Deps, input: GateInput) -> GateOutcome:
    """Evaluate the eleven structural booleans."""

    def body(opened: OpenGate) -> GatePassed | GateRefused:
        return GatePassed(report=gate.evaluate(structural_evidence(deps, opened)))

    return run_gate(deps, BY_NAME[gate.GATE], input, body, reads=structural_reads)


def structural_reads(attempt: Attempt) -> list[Read]:
    """The stored rows, and the snapshot from which they should come."""
    shared = [pinned_read(attempt), law_read(attempt)]
    if is_revision(attempt.pins):
        own = {"run_id": attempt.run_id}
        return [(DRAFTED, own), (ROWS, own), *shared]
    prefix = {"docprefix": attempt.pins.get("docprefix")}
    return [(UNITS, prefix), (VERSIONS, prefix), *shared]


def structural_evidence(deps: Deps, opened: OpenGate) -> gate.Evidence:
    """The stored rows and the plan. This role's own connection reads both."""
    pins = opened.attempt.pins
    _, plan = plan_of(deps, opened)
    revision = revision_of(opened, plan)
    stored: list[Stored] = opened.rows(DRAFTED if revision else UNITS)
    return gate.Evidence(
        docprefix=pins["docprefix"],
        units=tuple(stored),
        version_count=len({unit.version_id for unit in stored}) if revision else opened.row(VERSIONS) or 0,
        plan=plan,
        section_type_cardinality=pins["section_type_cardinality"],
        forbidden_ids=tuple(pinned_in(opened).forbidden_ids),
        revision=gate.StoredRevision(plan=revision, rows=tuple(opened.rows(ROWS))) if revision else None,
    )
