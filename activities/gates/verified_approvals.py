"""IO: approvals that this process fetched and verified itself, just before it writes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from activities import approval_judge as approving
from activities.gates.runner import Refusal
from activities.worker.dependencies import Deps
from cutter.approvals import schema
from cutter.approvals.statement import Statement
from cutter.approvals.verdict import Met
from cutter.approvals.verify import threshold
from cutter.catalogue import Role
from cutter.domain import ids
from cutter.errors import NotFound
from cutter.messages import GateInput
from cutter.policy.rules import Permit
from cutter.storage.gate_transaction import Attempt, Open, Read
from cutter.types import Json

ORDERS = "orders_taken"


@dataclass(frozen=True, slots=True, kw_only=True)
class Approved:
    """Approvals of a sovereign gate that this process verified: what fn_gate_open consumes, and what they say.

    `orders`: digests of the resumes and acknowledgements that were verified with them.
    """

    offers: tuple[Json, ...]
    orders: frozenset[str]
    statements: tuple[Statement, ...]
    threshold: int

    @property
    def sha256s(self) -> tuple[str, ...]:
        return tuple(str(one["approval_sha256"]) for one in self.offers)


def verified_approvals(deps: Deps, attempt: Attempt, input: GateInput, permit: Permit) -> Approved | Refusal:
    """Fetch and verify the named approvals here; nothing else that came through Temporal is used.

    The gate, the policy now, and the policy at the time of the request each ask for people; the highest number counts.
    What lifted the run's stops is judged again here too.
    """
    assert attempt.gate.sovereign is not None
    name, facts = attempt.gate.sovereign.value, attempt.approval_facts
    approving.require_signed_orders(deps, Role.EXEC, facts)
    verdicts = []
    for kb_id in sorted(set(input.approval_kb_ids)):
        try:
            ids.kb_id(kb_id)
            verdict, _ = approving.judge(deps, Role.EXEC, attempt.run_id, name, kb_id, facts)
        except (ids.InvalidId, NotFound) as problem:
            return Refusal(status="approval_refused", code=problem.code, reason=str(problem))
        if not verdict.accepted or verdict.decision != schema.APPROVE:
            return Refusal(status="approval_refused", code=verdict.code, reason=verdict.reason)
        verdicts.append(verdict)
    if not verdicts:
        return Refusal(status="approval_refused", code="STOP_APPROVAL_REQUIRED", reason="no approval was named")
    policy, _ = approving.policy_of(deps, facts)
    tier = approving.tier_asked(facts["request"], permit)
    met = threshold(verdicts, policy, name, tier)
    if not isinstance(met, Met):
        # The request then says so to people, who asked for fewer until now.
        approving.raise_tier(deps, Role.EXEC, attempt.run_id, name, facts["request"], tier)
        return Refusal(status="approval_refused", code=met.code, reason=met.reason)
    statements = tuple(one.statement for one in met.slots if one.statement is not None)
    return Approved(
        offers=tuple(
            {"approval_sha256": one.approval_sha256, "challenge": one.statement.challenge if one.statement else None}
            for one in met.slots
        ),
        orders=_digests(facts["orders"]),
        statements=statements,
        threshold=policy.needed(name, tier),
    )


def orders_read(attempt: Attempt) -> Read:
    """The orders that let the run continue, read in the transaction, whose latch lets no resume come in between."""
    return ORDERS, {"run_id": attempt.run_id}


def resumed_meanwhile(opened: Open, approved: Approved) -> Refusal | None:
    """Why the attempt is over when the run was resumed by more than was verified: the next attempt verifies it too."""
    row = opened.row(ORDERS)
    if row is not None and _digests(row[0]) == approved.orders:
        return None
    return Refusal(status="ended", code="stale_attempt", reason="the run was resumed after its approvals were verified")


def _digests(orders: Any) -> frozenset[str]:
    return frozenset(str(one["statement_sha256"]) for one in orders)
