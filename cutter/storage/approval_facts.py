"""IO: reads the facts for judging an approval from PostgreSQL, all from one moment. A malformed row keeps the form of
`cutter.domain.recorded_values`.
"""

from __future__ import annotations

from base64 import b64decode
from dataclasses import dataclass

from cutter.approvals.verdict import ApprovalDocument
from cutter.domain import recorded_values
from cutter.domain.run_record import RunRecord
from cutter.storage.records import Connection, parsed
from cutter.types import Json


@dataclass(frozen=True, slots=True, kw_only=True)
class EpochInForce:
    """The policy epoch in force, and its deployment."""

    sha256: str
    deployment_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenRequest:
    """The open request of the run at the gate: the digests to sign, and the tier that the policy demanded then."""

    tuple: Json
    request_sha256: str | None
    expires_at: str
    tier: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class DecisionRow:
    review_decision_id: str
    type: str
    actor: str
    created_at: str


@dataclass(frozen=True, slots=True, kw_only=True)
class OrderTaken:
    """A signed order that let the stopped run continue, with the stop, the gate and the epoch of that time."""

    kb_id: str
    statement_sha256: str
    decision: str
    consumed_at: str
    stopped_state: str
    stopped_at: str | None
    policy_sha256: str
    gate: str
    fingerprint: str | None
    document: ApprovalDocument | None

    @classmethod
    def all_of(cls, answer: list[Json]) -> tuple[OrderTaken, ...]:
        return tuple(recorded_values.record(cls, {**order, "document": document_of(order)}) for order in answer)


def document_of(row: Json) -> ApprovalDocument | None:
    """The bytes that were judged, as the database kept them. None for a verdict from before it kept them."""
    if row["body"] is None:
        return None
    return ApprovalDocument(kb_id=row["kb_id"], body=b64decode(row["body"]), signature=b64decode(row["signature"]))


@dataclass(frozen=True, slots=True, kw_only=True)
class ApprovalFacts:
    """The facts that decide about an approval of a run at one gate. `now` is the database's clock.

    `epoch` is None if no approver policy is installed. `rehearsals` are the requests of the document's rehearsals.
    `prepared_at` is the time when a pre-batched decision was prepared, or None. `signed` has the bytes of the
    statements that were accepted for this gate.
    """

    run: RunRecord
    now: str
    epoch: EpochInForce | None
    request: OpenRequest | None
    decision: DecisionRow | None
    rehearsals: list[str]
    prepared_at: str | None
    decision_used: bool
    signed: tuple[ApprovalDocument, ...]
    orders: tuple[OrderTaken, ...]
    stopped_at: str | None
    ended_by_people_at: str | None

    @property
    def epoch_sha256(self) -> str | None:
        return self.epoch.sha256 if self.epoch else None

    @property
    def deployment_id(self) -> str:
        """The deployment of the epoch in force. Without an epoch it is empty, and no statement has an empty one."""
        return self.epoch.deployment_id if self.epoch else ""

    @classmethod
    def of(cls, answer: Json) -> ApprovalFacts:
        epoch, request, decision = answer["epoch"], answer["request"], answer["decision"]
        parts = {
            "run": RunRecord.of(answer["run"]),
            "epoch": recorded_values.record(EpochInForce, epoch) if epoch else None,
            "request": recorded_values.record(OpenRequest, request) if request else None,
            "decision": recorded_values.record(DecisionRow, decision) if decision else None,
            "signed": tuple(map(document_of, answer["signed"])),
            "orders": OrderTaken.all_of(answer["orders"]),
        }
        return recorded_values.record(cls, {**answer, **parts})


FACTS = parsed("approval_facts", ApprovalFacts.of)
"""Takes `run_id` and `gate`."""


def read(connection: Connection, run_id: str, gate: str) -> ApprovalFacts | None:
    """The facts, in one round trip. None if the run is unknown."""
    return FACTS.first(connection, {"run_id": run_id, "gate": gate})
