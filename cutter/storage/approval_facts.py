"""IO: everything but the document itself that an approval is judged against, of one moment.

A malformed row is kept as its readers take it (`cutter.domain.recorded_values`).
"""

from __future__ import annotations

from dataclasses import dataclass

from cutter.domain import recorded_values
from cutter.storage.records import Connection, Rows, values
from cutter.types import Json


@dataclass(frozen=True, slots=True, kw_only=True)
class EpochInForce:
    """The policy epoch in force, and the deployment that it is of."""

    sha256: str
    deployment_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenRequest:
    """The open request of the run at the gate. `tuple`: what it asks for; `tier`: what the policy then asked for."""

    tuple: Json
    request_sha256: str | None
    expires_at: str
    tier: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class DecisionRow:
    """The review decision that the open request was made with."""

    review_decision_id: str
    type: str
    actor: str
    created_at: str


@dataclass(frozen=True, slots=True, kw_only=True)
class OrderTaken:
    """A signed document that let the stopped run continue, with the stop, the gate and the epoch of that time."""

    kb_id: str
    statement_sha256: str
    decision: str
    consumed_at: str
    stopped_state: str
    stopped_at: str | None
    policy_sha256: str
    gate: str
    fingerprint: str | None

    @classmethod
    def all_of(cls, answer: list[Json]) -> tuple[OrderTaken, ...]:
        """What `fn_run_orders` answered."""
        return tuple(recorded_values.record(cls, one) for one in answer)


@dataclass(frozen=True, slots=True, kw_only=True)
class ApprovalFacts:
    """The run's row and what else decides about an approval of it at one gate; `now` is the database's clock.

    `epoch` is None where no policy is installed. `rehearsals`: the requests that a rehearsal of the document made.
    `prepared_at`: when the decision was prepared for the night, if it was.
    """

    run: Json
    now: str
    epoch: EpochInForce | None
    request: OpenRequest | None
    decision: DecisionRow | None
    rehearsals: list[str]
    prepared_at: str | None
    decision_used: bool
    orders: tuple[OrderTaken, ...]
    stopped_at: str | None
    ended_by_people_at: str | None

    @property
    def epoch_sha256(self) -> str | None:
        """sha256 of the epoch in force."""
        return self.epoch.sha256 if self.epoch else None

    @property
    def deployment_id(self) -> str:
        """Of the epoch in force; empty without one, which no statement names."""
        return self.epoch.deployment_id if self.epoch else ""

    @classmethod
    def of(cls, answer: Json) -> ApprovalFacts:
        """What the query answered."""
        epoch, request, decision = answer["epoch"], answer["request"], answer["decision"]
        parts = {
            "run": recorded_values.run(answer["run"]),
            "epoch": recorded_values.record(EpochInForce, epoch) if epoch else None,
            "request": recorded_values.record(OpenRequest, request) if request else None,
            "decision": recorded_values.record(DecisionRow, decision) if decision else None,
            "orders": OrderTaken.all_of(answer["orders"]),
        }
        return recorded_values.record(cls, {**answer, **parts})


FACTS: Rows[Json] = values("approval_facts")
"""What `ApprovalFacts.of` makes a record of."""


def read(connection: Connection, run_id: str, gate: str) -> ApprovalFacts | None:
    """The facts, in one round trip; None for a run that is not known."""
    answer = FACTS.first(connection, {"run_id": run_id, "gate": gate})
    return None if answer is None else ApprovalFacts.of(answer)
