"""IO: IG_lifecycle_enact_execute: enacts every unit of a verified cut in one transaction."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from activities.gates.cut_leg_a import TOOL
from activities.gates.runner import GatePassed, GateRefused, run_gate
from activities.gates.verified_approvals import Approved, orders_read, resumed_meanwhile, verified_approvals
from activities.worker.dependencies import Deps
from cutter.catalogue import BY_NAME, Sovereign
from cutter.domain import ids
from cutter.domain.run_record import PinnedCounts
from cutter.gates import lifecycle_enact as gate
from cutter.messages import GateInput, GateOutcome
from cutter.policy.rules import Permit
from cutter.storage.approval_facts import FACTS
from cutter.storage.gate_transaction import Attempt, Offer, OpenGate, Read
from cutter.storage.records import many, records


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """Two review decisions: the one that the approved request names, and the one that its consumed approval names."""

    decided: str | None
    consumed: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    address: str
    target: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Counts:
    """The rows that an enactment has written, and `pg_trigger.tgenabled` of the triggers that guard it."""

    log_rows: int
    verdict: str | None
    triggers: dict[str, str]
    not_enacted: int
    transaction: str


DECISION = records("approved_decision", Decision)
TO_ENACT = records("units_to_enact", Change)
COUNTS = records("enactment_counts", Counts)


def lifecycle_enact(deps: Deps, input: GateInput) -> GateOutcome:
    """Enact the units. Like leg A, it uses only the run id and the approvals' KB ids."""
    step = BY_NAME[gate.GATE]
    approved: list[Approved] = []

    def prepare(attempt: Attempt, permit: Permit) -> Sequence[Offer] | GateRefused:
        answer = verified_approvals(deps, attempt, input, permit)
        if isinstance(answer, GateRefused):
            return answer
        approved.append(answer)
        return answer.offers

    def body(opened: OpenGate) -> GatePassed | GateRefused:
        refusal = resumed_meanwhile(opened, approved[0])
        return refusal or GatePassed(report=gate.evaluate(_enact(deps, opened, approved[0])))

    return run_gate(deps, step, input, body, prepare=prepare, reads=_reads, facts=FACTS)


def _reads(attempt: Attempt) -> list[Read]:
    return [
        (DECISION, {"run_id": attempt.run_id, "gate": Sovereign.LIFECYCLE.value}),
        (TO_ENACT, {"run_id": attempt.run_id}),
        orders_read(attempt),
    ]


def _enact(deps: Deps, opened: OpenGate, approved: Approved) -> gate.Evidence:
    pins, planned = opened.attempt.pins, PinnedCounts.of(opened.attempt.pins)
    decision = opened.row(DECISION) or Decision(decided=None, consumed=None)
    shared = {
        "actor": f"cutter_exec/{TOOL}/{ids.slug(pins['docprefix'])}-enact",
        "review_decision_id": decision.decided,
        "change_set_id": pins["change_set_id"],
        "reason": "approved lifecycle enactment",
        "tool_revision": deps.tool_revision,
        "docprefix": pins["docprefix"],
        "run_id": opened.attempt.run_id,
        "triggers": [name.split(".")[1] for name in gate.TRIGGERS],
    }
    calls = [{**shared, "address": change.address, "target": change.target} for change in opened.rows(TO_ENACT)]
    statuses = many(opened.connection, "enact_unit", calls)
    counts = COUNTS.one(opened.connection, shared)
    return gate.Evidence(
        approvals=approved.sha256s,
        threshold=approved.threshold,
        approved_review_decisions=tuple(statement.review_decision_id for statement in approved.statements),
        open_review_decision=decision.decided or "",
        consumed_review_decision=decision.consumed or "",
        statuses=statuses,
        units=planned.begun,
        retired=planned.retired,
        not_enacted=counts.not_enacted,
        log_rows=counts.log_rows,
        verdict=str(counts.verdict),
        triggers=counts.triggers,
        opened_in=opened.transaction,
        written_in=counts.transaction,
        autocommit=opened.connection.autocommit,
    )
