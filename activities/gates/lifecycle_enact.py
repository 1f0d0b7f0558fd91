"""IO: IG_lifecycle_enact_execute: enact every unit of a verified cut, in one transaction."""

from __future__ import annotations

from collections.abc import Sequence

from activities.gates.cut_leg_a import TOOL
from activities.gates.runner import Passed, Refusal, run_gate
from activities.gates.verified_approvals import Approved, orders_read, resumed_meanwhile, verified_approvals
from activities.worker.dependencies import Deps
from cutter.catalogue import BY_NAME, Sovereign
from cutter.domain import ids
from cutter.gates import lifecycle_enact as gate
from cutter.messages import GateInput, GateOutcome
from cutter.policy.rules import Permit
from cutter.storage.gate_transaction import Attempt, Open, Read
from cutter.storage.many import many_then
from cutter.types import Json

DECISION, ADDRESSES = "approved_decision", "addresses_under_prefix"


def lifecycle_enact(deps: Deps, input: GateInput) -> GateOutcome:
    """From the run id and the approvals' KB ids alone, like leg A."""
    step = BY_NAME[gate.GATE]
    approved: list[Approved] = []

    def prepare(attempt: Attempt, permit: Permit) -> Sequence[Json] | Refusal:
        answer = verified_approvals(deps, attempt, input, permit)
        if isinstance(answer, Refusal):
            return answer
        approved.append(answer)
        return answer.offers

    def body(opened: Open) -> Passed | Refusal:
        refusal = resumed_meanwhile(opened, approved[0])
        return refusal or Passed(report=gate.evaluate(_enact(deps, opened, approved[0])))

    return run_gate(deps, step, input, body, prepare=prepare, reads=_reads)


def _reads(attempt: Attempt) -> list[Read]:
    return [
        (DECISION, {"run_id": attempt.run_id, "gate": Sovereign.LIFECYCLE.value}),
        (ADDRESSES, {"docprefix": attempt.pins.get("docprefix")}),
        orders_read(attempt),
    ]


def _enact(deps: Deps, opened: Open, approved: Approved) -> gate.Evidence:
    pins = opened.attempt.pins
    decided, consumed = opened.row(DECISION) or (None, None)
    shared = {
        "actor": f"cutter_exec/{TOOL}/{ids.slug(pins['docprefix'])}-enact",
        "review_decision_id": decided,
        "change_set_id": pins["change_set_id"],
        "reason": "approved lifecycle enactment",
        "tool_revision": deps.tool_revision,
        "docprefix": pins["docprefix"],
        "triggers": [name.split(".")[1] for name in gate.TRIGGERS],
    }
    calls = [{**shared, "address": row[0]} for row in opened.rows(ADDRESSES)]
    statuses, counts = many_then(opened.connection, "enact_unit", calls, ("enactment_counts", shared))
    return gate.Evidence(
        approvals=approved.sha256s,
        threshold=approved.threshold,
        approved_review_decisions=tuple(said.review_decision_id for said in approved.statements),
        open_review_decision=str(decided or ""),
        consumed_review_decision=str(consumed or ""),
        statuses=statuses,
        units=pins["candidate_count"],
        not_enacted=counts[3],
        log_rows=counts[0],
        verdict=str(counts[1]),
        triggers=counts[2],
        opened_in=opened.transaction,
        written_in=counts[4],
        autocommit=opened.connection.autocommit,
    )
