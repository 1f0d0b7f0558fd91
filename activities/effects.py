"""IO: the one handler of side effects: policy → approval if needed → receipt lookup → effect → receipt (AG-EXE-01).

No other module of the workers calls an adapter; an import contract enforces this. Writes into the database are
different: they go through a gate's transaction (`activities.gates.runner`), and the gate's receipt holds the policy's
decision. Reads are not side effects.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import LiteralString

from psycopg.types.json import Jsonb

from activities.permission import AllowingRule, Context, required
from activities.worker.dependencies import Deps
from cutter.domain.digests import sha256_hex
from cutter.domain.run_record import Receipt
from cutter.kb import ids as kb_ids
from cutter.kb import write_once
from cutter.kb.store import Store
from cutter.policy.command import EVIDENCE_STORE, KB_PUT, Command
from cutter.policy.rules import EffectPolicy, InvalidPolicy
from cutter.types import Json

RECORD: LiteralString = (
    "select cutter_governance.fn_action_record(%(run_id)s, %(gate)s, %(connector)s, %(operation)s, %(target)s, "
    "%(payload_sha256)s, %(request)s, %(response)s, %(reversible)s, %(how_to_reverse)s)"
)


def put(
    deps: Deps, context: Context, kb_id: str, data: bytes, policy: EffectPolicy | InvalidPolicy | None = None
) -> Put:
    """Put a document into the knowledge base, which answers with its digest if it has the same bytes already. `policy`
    is as in `decided`. Raises PolicyDenied, and the errors of the store.
    """
    rule = required(deps, context, KB_PUT, policy)
    return Put(kb_id=kb_id, sha256=write_once.put(deps.kb, kb_id, data), data=data, rule=rule)


def put_free(
    deps: Deps, context: Context, kb_id: str, data: bytes, policy: EffectPolicy | InvalidPolicy | None = None
) -> Put:
    """Put a document under its name, or under the next free one. `policy` is as in `decided`."""
    rule = required(deps, context, KB_PUT, policy)
    name, sha256 = write_once.put_first(deps.kb, kb_ids.names_for(kb_id, sha256_hex(data)), data)
    return Put(kb_id=name, sha256=sha256, data=data, rule=rule)


def put_by_digest(deps: Deps, done: Put) -> Put:
    """Put a document under the name with its digest, which no other document can have (fn_action_note)."""
    *_, name = kb_ids.names_for(done.kb_id, done.sha256)
    write_once.put(deps.kb, name, done.data)
    return replace(done, kb_id=name)


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
    """The SQL statement that records the receipt of a document outside the outbox; Conflict for other bytes."""
    request = {"kind": kind, "policy": done.rule.as_json()}
    return receipt(context, done.command, request, {"size_bytes": len(done.data)})


def store_evidence(
    deps: Deps, context: Context, artifacts: Store, name: str, data: bytes, policy: EffectPolicy | InvalidPolicy
) -> None:
    """Store an evidence bundle or its signature. `policy` is as in `decided`. Raises PolicyDenied."""
    required(deps, context, EVIDENCE_STORE, policy)
    write_once.put(artifacts, name, data)


def receipt_of_evidence(context: Context, name: str, sha256: str, closing: Receipt) -> tuple[LiteralString, Json]:
    """The SQL statement that records a bundle's receipt. The gate that sealed its digest names the rule."""
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
