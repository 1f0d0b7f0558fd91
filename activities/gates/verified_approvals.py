"""IO: fetches and verifies approvals in the process that is about to write."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from activities import approval_judge
from activities.gates.runner import GateRefused
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
from cutter.storage.approval_facts import OrderTaken
from cutter.storage.gate_transaction import Attempt, Offer, OpenGate, Read
from cutter.storage.records import parsed

ORDERS = parsed("orders_taken", OrderTaken.all_of)


@dataclass(frozen=True, slots=True, kw_only=True)
class Approved:
    """Approvals that this process verified: the digests to consume, the statements, and the digests of the `orders`
    (resumes and acknowledgements) that were verified with them.
    """

    offers: tuple[Offer, ...]
    orders: frozenset[str]
    statements: tuple[Statement, ...]
    threshold: int

    @property
    def sha256s(self) -> tuple[str, ...]:
        return tuple(offer.approval_sha256 for offer in self.offers)


def verified_approvals(deps: Deps, attempt: Attempt, input: GateInput, permit: Permit) -> Approved | GateRefused:
    """Fetch and verify the named approvals, and judge again the orders that lifted the run's stops. The highest number
    of people counts that the gate, the policy now, or the policy at the request asks for.
    """
    facts = attempt.approval_facts
    assert attempt.gate.sovereign is not None
    assert facts is not None
    name = attempt.gate.sovereign.value
    approval_judge.require_signed_orders(deps, Role.EXEC, facts)
    verdicts = []
    for kb_id in sorted(set(input.approval_kb_ids)):
        try:
            ids.kb_id(kb_id)
            verdict, _ = approval_judge.judge(deps, Role.EXEC, attempt.run_id, name, kb_id, facts)
        except (ids.InvalidId, NotFound) as problem:
            return GateRefused(status="approval_refused", code=problem.code, reason=str(problem))
        if not verdict.accepted or verdict.decision != schema.APPROVE:
            return GateRefused(
                status="approval_refused", code=verdict.code, reason=verdict.reason,
                evidence={"approval_sha256": verdict.approval_sha256},
            )  # fmt: skip
        verdicts.append(verdict)
    if not verdicts:
        return GateRefused(status="approval_refused", code="STOP_APPROVAL_REQUIRED", reason="no approval was named")
    policy, _ = approval_judge.policy_of(deps, facts.epoch_sha256)
    before = facts.request.tier if facts.request else None
    tier = approval_judge.tier_asked(before, permit)
    met = threshold(verdicts, policy, name, tier)
    if not isinstance(met, Met):
        # The request then shows the new number, because it asked for fewer people until now.
        if facts.request is not None:
            approval_judge.raise_tier(deps, Role.EXEC, attempt.run_id, name, before, tier)
        return GateRefused(status="approval_refused", code=met.code, reason=met.reason)
    statements = tuple(slot.statement for slot in met.slots if slot.statement is not None)
    return Approved(
        offers=tuple(
            Offer(
                approval_sha256=str(slot.approval_sha256),
                challenge=slot.statement.challenge if slot.statement else None,
            )
            for slot in met.slots
        ),
        orders=_digests(facts.orders),
        statements=statements,
        threshold=policy.needed(name, tier),
    )


def orders_read(attempt: Attempt) -> Read:
    """The orders that let the run continue, read under the gate's lock on the latch, so that no resume intervenes."""
    return ORDERS, {"run_id": attempt.run_id}


def resumed_meanwhile(opened: OpenGate, approved: Approved) -> GateRefused | None:
    """The error if a further order resumed the run after the verification. The next attempt verifies that order too."""
    orders = opened.row(ORDERS)
    if orders is not None and _digests(orders) == approved.orders:
        return None
    return GateRefused(
        status="ended", code="stale_attempt", reason="the run was resumed after its approvals were verified"
    )


def _digests(orders: Iterable[OrderTaken]) -> frozenset[str]:
    return frozenset(order.statement_sha256 for order in orders)
