"""Pure: the outcome of judging an approval, and of counting approvals against a threshold."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from cutter.approvals.statement import Statement, statement_record
from cutter.domain.digests import sha256_hex
from cutter.domain.timestamps import render_instant

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
