"""IO: the one handler of side effects: policy → approval if needed → receipt lookup → effect → receipt (AG-EXE-01).

No other module of the workers calls an adapter; an import contract enforces this. Writes into the database are
different: they go through a gate's transaction (`activities.gates.runner`), and the gate's receipt holds the policy's
decision. Reads are not side effects.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from datetime import datetime
from typing import Any, LiteralString

from psycopg.types.json import Jsonb

from activities.worker.dependencies import ROLES_OF, Deps
from cutter.catalogue import BY_NAME
from cutter.domain.digests import sha256_hex
from cutter.domain.run_record import Receipt, RunRecord
from cutter.errors import ApprovalNeeded, PolicyDenied
from cutter.kb import folder as kb_folder
from cutter.kb import write_once
from cutter.kb.store import Store
from cutter.policy.command import EVIDENCE_STORE, KB_PUT, Command, Operation
from cutter.policy.rules import EffectPolicy, InvalidPolicy, Permit, ProposedAction, Verdict, permit
from cutter.storage import effect_policy
from cutter.storage.gate_transaction import Attempt
from cutter.storage.pools import single
from cutter.types import Json

RECORD: LiteralString = (
    "select cutter_governance.fn_action_record(%(run_id)s, %(gate)s, %(connector)s, %(operation)s, %(target)s, "
    "%(payload_sha256)s, %(request)s, %(response)s, %(reversible)s, %(how_to_reverse)s)"
)


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
    """The context of an attempt of a gate."""
    context = of_run(attempt.run, attempt.pins, attempt.now, attempt.gate.name)
    return replace(context, approvers=attempt.approvers, needed=attempt.needed)


def of_batch(now: str | datetime, batch_id: str) -> Context:
    """The context of a batch as a whole."""
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
        return effect_policy.in_force(connection)


def require(context: Context, permit: Permit) -> None:
    """Return if the policy allows every effect. Raises PolicyDenied, or ApprovalNeeded if too few people have
    approved.
    """
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


def put(
    deps: Deps, context: Context, kb_id: str, data: bytes, policy: EffectPolicy | InvalidPolicy | None = None
) -> Put:
    """Put a document into the knowledge base.

    The store is write-once. The put itself looks the document up: for the same bytes the store answers with their
    digest, and for other bytes with both digests. The receipt is part of a write that happens anyway. `policy` is as in
    `decided`. Raises PolicyDenied, and the errors of the store.
    """
    rule = required(deps, context, KB_PUT, policy)
    return Put(kb_id=kb_id, sha256=write_once.put(deps.kb, kb_id, data), data=data, rule=rule)


def put_free(
    deps: Deps, context: Context, kb_id: str, data: bytes, policy: EffectPolicy | InvalidPolicy | None = None
) -> Put:
    """Put a document under its name, or under the next free name if another document has that name.

    `policy` is as in `decided`.
    """
    rule = required(deps, context, KB_PUT, policy)
    name, sha256 = write_once.put_first(deps.kb, kb_folder.names_for(kb_id, sha256_hex(data)), data)
    return Put(kb_id=name, sha256=sha256, data=data, rule=rule)


def put_by_digest(deps: Deps, done: Put) -> Put:
    """Put a document under the name with its digest. The database refuses a receipt of this name if its sha256 begins
    otherwise (fn_action_note).
    """
    *_, name = kb_folder.names_for(done.kb_id, done.sha256)
    write_once.put(deps.kb, name, done.data)
    return replace(done, kb_id=name)


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
        """The rule as a receipt names it."""
        return asdict(self)


@dataclass(frozen=True, slots=True, kw_only=True)
class Put:
    """A document in the knowledge base, and the rule that allowed it."""

    kb_id: str
    sha256: str
    data: bytes = field(repr=False)
    rule: AllowingRule

    @property
    def command(self) -> Command:
        return Command(operation=KB_PUT, target=self.kb_id, fields_sha256=self.sha256)


def receipt_of_put(context: Context, done: Put, kind: str) -> tuple[LiteralString, Json]:
    """The SQL statement that records the receipt of a document without a row in the outbox. The statement raises
    Conflict for other bytes.
    """
    request = {"kind": kind, "policy": done.rule.as_json()}
    return receipt(context, done.command, request, {"size_bytes": len(done.data)})


def store_evidence(
    deps: Deps, context: Context, artifacts: Store, name: str, data: bytes, policy: EffectPolicy | InvalidPolicy
) -> None:
    """Store an evidence bundle or its signature; write-once like a document. `policy` is as in `decided`.

    Raises PolicyDenied.
    """
    required(deps, context, EVIDENCE_STORE, policy)
    write_once.put(artifacts, name, data)


def receipt_of_evidence(context: Context, name: str, sha256: str, closing: Receipt) -> tuple[LiteralString, Json]:
    """The SQL statement that records a bundle's receipt. The receipt of the gate that sealed the bundle's digest names
    the rule.
    """
    command = Command(operation=EVIDENCE_STORE, target=name, fields_sha256=sha256)
    rule = AllowingRule.of(closing.policy or {}, EVIDENCE_STORE)
    return receipt(context, command, {"policy": rule.as_json()}, {})


def receipt(context: Context, command: Command, request: Json, response: Json) -> tuple[LiteralString, Json]:
    """The SQL statement that records a receipt, with its parameters. It answers with the recorded response."""
    operation = command.operation
    return RECORD, {
        "run_id": context.run_id, "gate": context.gate, "connector": operation.connector.value,
        "operation": operation.name, "target": command.target, "payload_sha256": command.fields_sha256,
        "request": Jsonb({**request, "risk": operation.risk.value}), "response": Jsonb(response),
        "reversible": operation.reversible, "how_to_reverse": operation.how_to_reverse,
    }  # fmt: skip


def required(
    deps: Deps, context: Context, operation: Operation, policy: EffectPolicy | InvalidPolicy | None = None
) -> AllowingRule:
    """The rule that allows the effect."""
    permit = decided(deps, context, (operation,), policy)
    require(context, permit)
    return AllowingRule.in_permit(permit, operation)


def _instant(now: str | datetime) -> datetime:
    return now if isinstance(now, datetime) else datetime.fromisoformat(now)
