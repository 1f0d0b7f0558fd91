"""IO: what the effect policy says about a side effect of a run or a batch (AG-EXE-01). `activities.effects` carries the
effects out.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from datetime import datetime
from typing import Any

from activities.worker.dependencies import ROLES_OF, Deps
from cutter.catalogue import BY_NAME
from cutter.domain.run_record import RunRecord
from cutter.errors import ApprovalNeeded, PolicyDenied
from cutter.policy.command import Operation
from cutter.policy.rules import EffectPolicy, InvalidPolicy, Permit, ProposedAction, Verdict, permit
from cutter.storage import policies
from cutter.storage.gate_transaction import Attempt
from cutter.storage.pools import single
from cutter.types import Json


@dataclass(frozen=True, slots=True, kw_only=True)
class Context:
    """The context of a side effect, as the policy needs it: a run at one of its gates, or a batch.

    `now` is the database's clock. `gate` and the later fields are None if they do not apply. `approvers` gives, by
    tier, how many people have approved the action; `needed` gives how many each tier asks for. Without `needed`, nobody
    can be asked.
    """

    now: datetime
    run_id: str | None = None
    gate: str | None = None
    document_id: str | None = None
    tenant: str | None = None
    mode: str | None = None
    candidates: int | None = None
    approvers: Mapping[str, int] = field(default_factory=dict)
    needed: Mapping[str, int] = field(default_factory=dict)

    def proposed(self, operation: Operation) -> ProposedAction:
        """The action that the policy decides about."""
        return ProposedAction(
            connector=operation.connector.value, operation=operation.name, at=self.now, gate=self.gate,
            document_id=self.document_id, tenant=self.tenant, mode=self.mode, candidates=self.candidates,
        )  # fmt: skip


def of_run(run: RunRecord, pins: Mapping[str, Any], now: str | datetime, gate: str | None) -> Context:
    """The context of a run's row with its pins so far."""
    return Context(
        now=_instant(now), run_id=run.run_id, gate=gate, document_id=run.document_id, tenant=run.tenant,
        mode=run.mode, candidates=pins.get("candidate_count"),
    )  # fmt: skip


def of_attempt(attempt: Attempt) -> Context:
    context = of_run(attempt.run, attempt.pins, attempt.now, attempt.gate.name)
    return replace(context, approvers=attempt.approvers, needed=attempt.needed)


def of_batch(now: str | datetime, batch_id: str) -> Context:
    return Context(now=_instant(now), mode="dryrun" if batch_id.endswith("-dryrun") else "live")


def decided(
    deps: Deps, context: Context, operations: Sequence[Operation], policy: EffectPolicy | InvalidPolicy | None = None
) -> Permit:
    """The present decision of the policy in force for each effect.

    A caller that reads other facts reads the `policy` with them and gives it. A caller that holds a connection must do
    so. If several callers held a connection and waited for a second one, the pool would be empty. All of them would
    then wait until its timeout.
    """
    present = policy_in_force(deps) if policy is None else policy
    return permit(present, [context.proposed(operation) for operation in operations])


def policy_in_force(deps: Deps) -> EffectPolicy | InvalidPolicy:
    """The effect policy that PostgreSQL names now, read as the worker's own role."""
    with single(deps.pool(ROLES_OF[deps.worker_role][0])) as connection:
        return policies.in_force(connection)


def require(context: Context, permit: Permit) -> None:
    """Return if the policy allows every effect. Raises PolicyDenied, or ApprovalNeeded if people are missing."""
    for action, decision in permit.decisions:
        if decision.verdict is Verdict.DENY:
            raise PolicyDenied(decision.why).leads_to("cutter policy explain")
        # A sovereign gate asks for people itself, in its own request.
        asked_there = action.gate in BY_NAME and BY_NAME[action.gate].sovereign is not None
        if decision.tier is not None and not asked_there:
            needed, have = context.needed.get(decision.tier.value), context.approvers.get(decision.tier.value, 0)
            if needed is None or have < needed:
                raise ApprovalNeeded(
                    f"{decision.why}: {have} of {needed or 'as many as it asks for'} have approved",
                    tier=decision.tier.value,
                )


@dataclass(frozen=True, slots=True, kw_only=True)
class AllowingRule:
    """The rule that allowed a side effect: the sha256 of its policy, its name, and its line in the policy's text."""

    sha256: str
    rule: str
    line: int

    @classmethod
    def of(cls, sealed: Json, operation: Operation) -> AllowingRule:
        """The rule in the decisions that a receipt sealed. The first decision about the connector counts."""
        decision = next(part for part in sealed["decisions"] if part["connector"] == operation.connector)
        return cls(sha256=sealed["sha256"], rule=decision["rule"], line=decision["line"])

    @classmethod
    def in_permit(cls, permit: Permit, operation: Operation) -> AllowingRule:
        """The rule by which a policy allowed the operation."""
        decision = next(made for action, made in permit.decisions if action.connector == operation.connector)
        return cls(sha256=permit.policy_sha256, rule=decision.rule, line=decision.line)

    def as_json(self) -> Json:
        return asdict(self)


def required(
    deps: Deps, context: Context, operation: Operation, policy: EffectPolicy | InvalidPolicy | None = None
) -> AllowingRule:
    """The rule that allows the effect."""
    permit = decided(deps, context, (operation,), policy)
    require(context, permit)
    return AllowingRule.in_permit(permit, operation)


def _instant(now: str | datetime) -> datetime:
    return now if isinstance(now, datetime) else datetime.fromisoformat(now)
