"""Pure: the facts that the judge of an approval gets, its verdict, and the outcome of counting verdicts."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from cutter.approvals import schema
from cutter.approvals.request import RequestTuple
from cutter.approvals.statement import Statement, statement_record
from cutter.domain.digests import sha256_hex
from cutter.domain.timestamps import render_instant
from cutter.errors import ProgrammingError

ACCEPTED = "accepted"
SIGNATURE_WRONG = "signature_wrong"
SIGNER_NOT_ALLOWED = "signer_not_allowed"
COULD_NOT_VERIFY = "could_not_verify"


@dataclass(frozen=True, slots=True, kw_only=True)
class ApprovalDocument:
    """The bytes of a statement and of its detached signature. Each file was read once."""

    kb_id: str
    body: bytes
    signature: bytes

    @property
    def approval_sha256(self) -> str:
        """Of the signed body only, because a signature still verifies after many one-bit changes."""
        return sha256_hex(self.body)


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """The verdict: accepted or not, with a code, a reason and the number of the deciding step (spec 03 "Verification").

    `approval_sha256` is None if nothing could be read. Signer, decision and times are None if the judge refused before
    it knew them. An accepted verdict has all of these values. `document` has the judged bytes, if any were read.
    """

    accepted: bool
    code: str
    reason: str
    step: int
    kb_id: str
    approval_sha256: str | None
    policy_sha256: str
    approver: str | None = None
    fingerprint: str | None = None
    decision: str | None = None
    gate: str | None = None
    not_after: datetime | None = None
    signature_created: datetime | None = None
    statement: Statement | None = None
    document: ApprovalDocument | None = field(default=None, repr=False)


def verdict_record(verdict: Verdict) -> dict[str, Any]:
    """The verdict as the database stores it (fn_verdict_record): flat JSON, without the free text."""
    statement = verdict.statement
    record: dict[str, Any] = {
        name: getattr(verdict, name)
        for name in (
            "accepted", "code", "reason", "step", "kb_id", "approval_sha256", "policy_sha256", "approver",
            "fingerprint", "decision", "gate",
        )
    }  # fmt: skip
    for name in ("challenge", "writer_digest", "review_decision_id"):
        record[name] = getattr(statement, name) if statement else None
    record["not_after"] = render_instant(verdict.not_after) if verdict.not_after else None
    record["statement"] = statement_record(statement) if statement else None
    return record


@dataclass(frozen=True, slots=True, kw_only=True)
class Met:
    """Enough distinct approvers have approved. `slots` holds their verdicts in the order of their names."""

    slots: tuple[Verdict, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Missing:
    """Too few approvers have approved. `have` names those who count so far."""

    needed: int
    have: tuple[str, ...]
    code: str = "threshold_missing"

    @property
    def reason(self) -> str:
        names = ", ".join(self.have) or "nobody"
        return f"{self.needed} distinct approvers are needed, {len(self.have)} approved: {names}"


@dataclass(frozen=True, slots=True, kw_only=True)
class ReviewDecision:
    """What step 8 needs. `created_with_request` says that the request's own transaction made the row."""

    review_decision_id: str
    decision_type: str
    used: bool
    actor_group: str
    created_at: datetime
    created_with_request: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Expected:
    """The facts about the live run, from its receipts and rows.

    `request` is the frozen tuple. It is None if no request is open; then nobody can approve or reject. `request_sha256`
    is the digest of the run's own request document. `decisions` and `bindings` are those that the run accepts now.
    `now` is the database's clock. A statement that lifts a stop must be signed after `stopped_at`. A statement for a
    batch must be signed after `ended_by_people_at`, the time when people ended another run of the document in the
    batch. `revoked`, `consumed_by_another` (run) and `written_by_us` are about the document that is judged.
    `dryrun_request_sha256` and `batch_id` are for the binding tuple. The last four fields are for decisions that are
    not about a request. A field that is None matches no statement.
    """

    deployment_id: str
    gate: str
    run_id: str | None
    document_id: str
    decisions: frozenset[str]
    now: datetime
    request: RequestTuple | None = None
    request_sha256: str | None = None
    request_expires: datetime | None = None
    bindings: frozenset[str] = frozenset((schema.RUN,))
    ttl_run_seconds: int
    ttl_tuple_seconds: int = 0
    revoked: bool = False
    consumed_by_another: bool = False
    written_by_us: bool = False
    starter: str | None = None
    stopped_at: datetime | None = None
    ended_by_people_at: datetime | None = None
    review_decision: ReviewDecision | None = None
    batch_id: str | None = None
    dryrun_request_sha256: str | None = None
    stopped_state: str | None = None
    drift_fingerprint: str | None = None
    approval_sha256: str | None = None

    def __post_init__(self) -> None:
        for name in ("deployment_id", "gate", "run_id", "document_id") if self.request else ():
            if getattr(self.request, name) != getattr(self, name):
                raise ProgrammingError(f"the request is of another {name}")

    def ttl_seconds(self, binding: str) -> int:
        """The longest life of an approval with that binding, in seconds. 0 means that no approval is valid."""
        return self.ttl_run_seconds if binding == schema.RUN else self.ttl_tuple_seconds

    def value_of(self, field: str, binding: str) -> str | int | None:
        """The value that a statement's field must have. None if this run has no such value."""
        if field == "request_sha256" and binding == schema.TUPLE:
            return self.dryrun_request_sha256
        if field == "fingerprint":
            return self.drift_fingerprint
        if field in _OWN:
            own: str | None = getattr(self, field)
            return own
        if self.request is None:
            return None
        value: str | int | None = getattr(self.request, field)
        return value


_OWN = frozenset(
    (
        "deployment_id", "gate", "run_id", "document_id", "request_sha256", "batch_id", "stopped_state",
        "approval_sha256",
    )
)  # fmt: skip

FREE_FIELDS = frozenset(("schema", "allowance", "decision", "binding", "reason", "signed_utc", "not_after", "approver"))
"""Fields that are not compared with the run, because a step of their own judges them or because they are free."""
