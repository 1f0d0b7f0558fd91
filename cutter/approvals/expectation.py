"""Pure: the facts about the live run by which an approval is judged. All of them come from the database.

No fact may come from a message, an activity's argument or the approval itself (spec 03 "Whom we trust").
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from cutter.approvals import schema
from cutter.approvals.request import RequestTuple
from cutter.errors import ProgrammingError


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
