"""IO: the transaction of a request. `ask` opens the request and reads the facts for its document, and `bind` commits.

It takes three round trips for a law of any length: one begins the transaction. The facts are read right after the
opening, in the same transaction. If the request already has its document, the snapshot is not read.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, LiteralString
from uuid import UUID

from psycopg.pq import TransactionStatus

from cutter.catalogue import Sovereign
from cutter.domain import recorded_values
from cutter.domain.run_record import RequestRecord, RunRecord
from cutter.errors import NotFound, ProgrammingError
from cutter.marking.revision import UnitTextInForce
from cutter.policy.rules import EffectPolicy, InvalidPolicy
from cutter.request_view.view import Check, SealedGate, StoredUnit
from cutter.storage import policies
from cutter.storage.gate_transaction import NotOpened
from cutter.storage.law_texts import LAW_TEXT, TERMS, Terms
from cutter.storage.records import Connection, parsed, records, the_row
from cutter.storage.run_evidence import Snapshot
from cutter.types import Json

Receipt = tuple[LiteralString, Json]
"""A statement that records a receipt, and its parameters."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """The facts for a request's document.

    `epoch_sha256` names the approver policy in force, or is None. `now` is the database's clock. `accepted` maps
    an approver to the KB id of an approval of this request that is still valid. So an approver need not send it again.
    """

    run: RunRecord
    pins: Json
    epoch_sha256: str | None
    now: str
    accepted: dict[str, str]

    @classmethod
    def of(cls, run: Json, pins: Json, epoch: Json | None, now: str, accepted: dict[str, str]) -> Facts:
        return cls(
            run=RunRecord.of(run), pins=pins, epoch_sha256=epoch["sha256"] if epoch else None, now=now,
            accepted=accepted,
        )  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Opened:
    """The open request. `new` is true if its document must be written."""

    request: RequestRecord
    new: bool

    @classmethod
    def of(cls, answer: Json) -> Opened | NotOpened:
        """The request, or why there is none, from an answer of `fn_request_open`."""
        if answer["status"] not in ("opened", "requested"):
            return NotOpened.of(answer)
        return cls(request=RequestRecord.of(answer["request"]), new=answer["status"] == "opened")


@dataclass(frozen=True, slots=True, kw_only=True)
class EnactedUnit:
    address: str
    content_hash: str
    title: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """The open request, and the facts that were read in its transaction. `new` is as in `Opened`.

    `snapshot` and `enacted` are present only if a document must be written. `stored` and `sealed` are present only for
    the request to enact. `law` is the law in force that the run changes by its `terms`. `policy` is the effect
    policy in force.
    """

    request: RequestRecord
    new: bool
    facts: Facts
    snapshot: Snapshot | None
    enacted: tuple[EnactedUnit, ...]
    stored: tuple[StoredUnit, ...]
    sealed: tuple[SealedGate, ...]
    terms: Terms
    law: tuple[UnitTextInForce, ...]
    policy: EffectPolicy | InvalidPolicy


def sealed_gate(gate: str, role: str, receipt_hash: str, invariants: Any) -> SealedGate:
    """The gate with its checks. A malformed invariant becomes one failed check that says so."""
    report = recorded_values.report({"invariants": invariants}) or {}
    checks = (
        Check(name=item["name"], ok=item["ok"], observed=item["observed"], expected=item["expected"])
        for item in report["invariants"]
    )
    return SealedGate(gate=gate, role=role, receipt_hash=receipt_hash, checks=tuple(checks))


STORED = records("units_stored", StoredUnit)
SEALED = records("gates_sealed_between", sealed_gate)
"""Both queries take `run_id` and the request's sovereign `gate`. At the first sovereign gate they give no rows."""
OPENED = parsed("request_open", Opened.of)
FACTS = records("request_facts", Facts.of)
SNAPSHOT = records("request_snapshot", Snapshot)
ENACTED = records("units_enacted_last", EnactedUnit)


def ask(connection: Connection, run_id: str, gate: str, change_set_id: UUID) -> Asked | NotOpened:
    """Open a run's request at a sovereign gate, or find the open one. The transaction stays open.

    Raises STOP_RUN_NOT_FOUND.
    """
    ttl = "ttl_cut_seconds" if gate == Sovereign.CUT else "ttl_lifecycle_seconds"
    named = {"run_id": run_id, "gate": gate}
    with connection.pipeline():
        opened = OPENED.sent(connection, {**named, "ttl": ttl, "change_set_id": change_set_id})
        facts = FACTS.sent(connection, named)
        snapshot = SNAPSHOT.sent(connection, named)
        enacted = ENACTED.sent(connection, named)
        stored = STORED.sent(connection, named)
        sealed = SEALED.sent(connection, named)
        terms = TERMS.sent(connection, named)
        law = LAW_TEXT.sent(connection, named)
        policy = policies.TEXT.sent(connection)
    known, answer = facts.fetchone(), opened.fetchone()
    if known is None or answer is None:
        raise NotFound(f"no run {run_id}: see", then="cutter status", code="STOP_RUN_NOT_FOUND")
    if isinstance(answer, NotOpened):
        return answer
    return Asked(
        request=answer.request, new=answer.new, facts=known, snapshot=snapshot.fetchone(),
        enacted=tuple(enacted.fetchall()),
        stored=tuple(stored.fetchall()), sealed=tuple(sealed.fetchall()),
        terms=the_row(TERMS.name, terms), law=tuple(law.fetchall()),
        policy=policies.of(policy),
    )  # fmt: skip


def bind(
    connection: Connection, request_id: str, kb_id: str, body: str, *, tier: str | None, receipts: Sequence[Receipt]
) -> EffectPolicy | InvalidPolicy:
    """Bind the rendered document to its request and COMMIT. If the request has its document already, roll back. Returns
    the effect policy in force at that time.

    `tier` is the tier that the effect policy demands. `receipts` are those of the side effects that stored the
    document.
    """
    with connection.pipeline():
        connection.execute(
            "select cutter_governance.fn_request_document(%s, %s, %s, %s)", (request_id, kb_id, body, tier)
        )
        for statement, parameters in receipts:
            connection.execute(statement, parameters)
        policy = policies.TEXT.sent(connection)
        connection.execute("commit")
    if connection.info.transaction_status != TransactionStatus.IDLE:
        raise ProgrammingError("the request is bound, but its transaction is still open")
    return policies.of(policy)
