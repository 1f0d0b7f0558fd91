"""Pure: the judge of an approval, the nine steps of spec 03 "Verification, in this order", fail-closed.

In the code the order is: authenticate the bytes (step 3), parse them (step 4), load the run's facts, judge (`judge`,
which names the first step that refuses). `reader` reads the bytes (step 1) and asks gpg. `threshold` counts the
verdicts for step 7. The caller records the verdict (step 9). All functions here decide from values only.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from datetime import timedelta

from cutter import limits
from cutter.approvals import schema, statement
from cutter.approvals.policy import Approver, ApproverPolicy, Tier
from cutter.approvals.signed_list import read_signature
from cutter.approvals.statement import Statement
from cutter.approvals.verdict import (
    ACCEPTED,
    COULD_NOT_VERIFY,
    FREE_FIELDS,
    SIGNATURE_WRONG,
    SIGNER_NOT_ALLOWED,
    ApprovalDocument,
    Expected,
    Met,
    Missing,
    Verdict,
)
from cutter.catalogue import Sovereign
from cutter.domain.timestamps import readable
from cutter.errors import Unavailable
from cutter.openpgp import STRONG_DIGESTS, Outcome, SignatureEvidence, SignatureForm, SignatureRecord, read_form
from cutter.types import Refusal

_BINARY_DOCUMENT = "00"
_OUTCOMES = {
    Outcome.SIGNATURE_EXPIRED: ("signature_expired", "the signature itself has expired"),
    Outcome.KEY_EXPIRED: ("key_expired", "the key that signed has expired"),
    Outcome.KEY_REVOKED: ("key_revoked", "the key that signed is revoked"),
    Outcome.BAD: (SIGNATURE_WRONG, "the signature does not fit these bytes"),
    Outcome.ERROR: (SIGNATURE_WRONG, "gpg cannot use this signature"),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Authentication:
    """The approver who signed the bytes of a document, or why no approver of this epoch counts as the signer.

    This is the part of step 3 that needs no run.
    """

    document: ApprovalDocument
    policy_sha256: str
    record: SignatureRecord | None = None
    approver: Approver | None = None
    refusal: Refusal | None = None


@dataclass(slots=True)
class _Case:
    """A judgement in progress. Each step adds the facts that it finds."""

    authentication: Authentication
    parsed: Statement | Refusal | None
    expected: Expected
    policy: ApproverPolicy
    approver: Approver | None = None
    statement: Statement | None = None

    @property
    def record(self) -> SignatureRecord | None:
        return self.authentication.record


def verify(
    document: ApprovalDocument, evidence: SignatureEvidence, *, expected: Expected, policy: ApproverPolicy
) -> Verdict:
    """Judge one approval against known facts: authenticate, parse, judge. A refusal is a verdict, not an error.

    Raises Unavailable (code `could_not_verify`) when gpg could not judge: nothing was decided, try again.
    """
    authentication = authenticate(document, evidence, policy)
    return judge(authentication, said_in(authentication), expected=expected, policy=policy)


def authenticate(document: ApprovalDocument, evidence: SignatureEvidence, policy: ApproverPolicy) -> Authentication:
    """Step 3, first half: exactly one good signature over these bytes or a list with them, by a key of this epoch.

    `evidence` is gpg's answer about the bytes that `signed_bytes` gives for the document.
    Raises Unavailable (code `could_not_verify`) when gpg could not judge.
    """
    file = read_signature(document.signature)
    form = file if isinstance(file, Refusal) else read_form(file.openpgp)
    # This check comes before gpg's answer. gpg says nothing about a file that is no detached signature or that uses an
    # unknown digest. Without this check, a sender could make a refusal look like an outage of gpg.
    refusal = form if isinstance(form, Refusal) else _refuse_form(form)
    if refusal is not None:
        return Authentication(document=document, policy_sha256=policy.sha256, refusal=refusal)
    if evidence.unverifiable is not None:
        reason = f"the signature could not be verified: {evidence.unverifiable}"
        raise Unavailable(reason, what="gpg", code=COULD_NOT_VERIFY)
    if len(evidence.records) != 1:
        reason = f"gpg sees {len(evidence.records)} signatures; there must be exactly one"
        return Authentication(
            document=document, policy_sha256=policy.sha256, refusal=Refusal("signature_count", reason)
        )
    record = evidence.records[0]
    approver = None
    if record.key_missing:
        refusal = Refusal(SIGNER_NOT_ALLOWED, "the key that signed is no approver's key")
    elif len(record.outcomes) != 1:
        refusal = Refusal(SIGNATURE_WRONG, "gpg gives no single answer about the signature")
    elif record.outcomes[0] is not Outcome.GOOD:
        refusal = Refusal(*_OUTCOMES[record.outcomes[0]])
    elif record.primary_fingerprint is None or record.created is None:
        refusal = Refusal(SIGNATURE_WRONG, "gpg does not vouch for the signature with a full fingerprint")
    else:
        refusal = _refuse_form(record)
        approver = policy.approver_of(record.primary_fingerprint) if refusal is None else None
        if refusal is None and approver is None:
            refusal = Refusal(
                SIGNER_NOT_ALLOWED, f"the key {record.primary_fingerprint} is no approver's in this epoch"
            )
    return Authentication(
        document=document, policy_sha256=policy.sha256, record=record, approver=approver, refusal=refusal
    )


def said_in(authentication: Authentication) -> Statement | Refusal | None:
    """Step 4: the statement, parsed only from bytes that an approver of this epoch has signed; None for others."""
    if authentication.refusal is not None:
        return None
    return statement.parse(authentication.document.body)


def judge(
    authentication: Authentication, parsed: Statement | Refusal | None, *, expected: Expected, policy: ApproverPolicy
) -> Verdict:
    """Do steps 2 to 8 in order for a document that was authenticated and parsed before."""
    case = _Case(authentication=authentication, parsed=parsed, expected=expected, policy=policy)
    for number, step in _STEPS:
        refusal = step(case)
        if refusal is not None:
            return _verdict(case, accepted=False, code=refusal.code, reason=refusal.reason, step=number)
    claims = _said(case)
    reason = f"{claims.approver} signed {claims.decision}, valid until {readable(claims.not_after)}"
    return _verdict(case, accepted=True, code=ACCEPTED, reason=reason, step=9)


def unread(kb_id: str, *, code: str, reason: str, policy: ApproverPolicy) -> Verdict:
    """The verdict when step 1 could not read a document."""
    return Verdict(
        accepted=False, code=code, reason=reason, step=1, kb_id=kb_id, approval_sha256=None, policy_sha256=policy.sha256
    )


def threshold(
    verdicts: Iterable[Verdict], policy: ApproverPolicy, gate: str, tier: Tier | None = None
) -> Met | Missing:
    """Step 7: count the distinct approvers, each with a document of their own.

    `tier` is the gate's own tier in the policy, unless a higher tier is asked for. Only accepted verdicts with the
    decision `approve` for this gate and this epoch count.
    """
    rule = policy.rule_of(gate)
    if rule is None:
        return Missing(needed=limits.APPROVALS_A_GATE_MAX, have=())
    needed = policy.needed(gate, tier)
    by_key: dict[str, Verdict] = {}
    documents: set[str] = set()
    for verdict in sorted(verdicts, key=lambda verdict: (verdict.approver or "", verdict.approval_sha256 or "")):
        counts = verdict.accepted and verdict.decision == schema.APPROVE and verdict.gate == gate
        if counts and verdict.policy_sha256 == policy.sha256 and verdict.approval_sha256 not in documents:
            documents.add(str(verdict.approval_sha256))
            by_key.setdefault(str(verdict.fingerprint), verdict)
    slots = tuple(by_key.values())
    if len(slots) < needed:
        return Missing(needed=needed, have=tuple(str(slot.approver) for slot in slots))
    return Met(slots=slots[:needed])


def _step_2_not_ours(case: _Case) -> Refusal | None:
    if case.expected.written_by_us:
        return Refusal("written_by_us", "a worker of ours wrote this document or these bytes; only people approve")
    return None


def _refuse_form(signature: SignatureForm | SignatureRecord) -> Refusal | None:
    """Check class and digest twice: as the packet states them and as gpg states them."""
    if signature.signature_class != _BINARY_DOCUMENT:
        return Refusal("signature_class", "the signature is not over a binary document; use gpg --detach-sign --armor")
    if signature.digest_algorithm not in STRONG_DIGESTS:
        return Refusal("signature_digest", "the signature's digest is weaker than SHA-256; use --digest-algo SHA512")
    return None


def _step_3_signature(case: _Case) -> Refusal | None:
    authentication, now = case.authentication, case.expected.now
    if authentication.refusal is not None:
        return authentication.refusal
    approver, record = authentication.approver, authentication.record
    assert approver is not None
    assert record is not None
    assert record.created is not None
    if case.expected.gate not in approver.gates or case.policy.rule_of(case.expected.gate) is None:
        return Refusal("signer_gate", f"{approver.name} may not sign for {case.expected.gate}")
    case.approver = approver
    if record.created > now + timedelta(seconds=limits.CLOCK_SKEW_SECONDS):
        return Refusal("signature_in_future", f"the signature is of {readable(record.created)}, which has not come yet")
    if record.expires is not None and record.expires <= now:
        return Refusal("signature_expired", f"the signature expired at {readable(record.expires)}")
    if not (approver.within(now) and approver.within(record.created)):
        return Refusal("signer_dates", f"{approver.name} may not sign at this time, says the policy")
    return None


def _step_4_statement(case: _Case) -> Refusal | None:
    if isinstance(case.parsed, Refusal):
        return case.parsed
    case.statement = case.parsed
    return None


def _step_5_binding(case: _Case) -> Refusal | None:
    claims, expected = _said(case), case.expected
    if claims.decision not in expected.decisions:
        return Refusal("decision_not_allowed", f"the run does not wait for `{claims.decision}`")
    if claims.binding not in expected.bindings:
        return Refusal("binding_not_allowed", f"an approval of binding `{claims.binding}` cannot be used here")
    # A pre-batched decision is made before the run, and step 8 checks its row.
    unbound = {"challenge", "review_decision_id"} if claims.binding == schema.TUPLE else {"challenge"}
    for field in schema.fields_of(claims.decision, claims.binding, claims.gate) or ():
        if field in FREE_FIELDS or field in unbound:
            continue
        wanted = expected.value_of(field, claims.binding)
        if wanted is None or getattr(claims, field) != wanted:
            own = "this run has no such" if wanted is None else f"the run's own is {wanted}"
            return Refusal(f"{field}_mismatch", f"{field} is {getattr(claims, field)}, but {own}")
    # The challenge covers the whole tuple, so it is computed here and never read from a row.
    if claims.challenge is not None and (expected.request is None or claims.challenge != expected.request.challenge):
        return Refusal("challenge_mismatch", "the challenge is not the one of the run's own request")
    return None


def _step_6_times(case: _Case) -> Refusal | None:
    claims, expected = _said(case), case.expected
    created = case.record.created if case.record else None
    assert created is not None
    if claims.not_after <= expected.now:
        return Refusal("approval_expired", f"the approval was valid until {readable(claims.not_after)}")
    # The time by which a statement's signed_utc may be before or after the signature's own time.
    earliest = created - timedelta(minutes=30)
    latest = created + timedelta(seconds=60)
    if not earliest <= claims.signed_utc <= latest:
        return Refusal("signed_utc_mismatch", f"signed_utc does not fit the signature's own time {readable(created)}")
    life = timedelta(seconds=expected.ttl_seconds(claims.binding))
    if claims.not_after > min(claims.signed_utc, created) + life:
        return Refusal("ttl_exceeded", f"the approval would live longer than {life}")
    is_answer = claims.binding == schema.RUN and claims.decision in (schema.APPROVE, schema.REJECT)
    if is_answer and (expected.request_expires is None or expected.request_expires <= expected.now):
        return Refusal("request_expired", "the request has expired; `cutter orchestrate resume` makes a fresh one")
    if expected.revoked:
        return Refusal("revoked", "this approval was revoked")
    if expected.consumed_by_another:
        return Refusal(
            "approval_consumed_before", "another run has used this approval, and each is used once: sign again"
        )
    ended = expected.ended_by_people_at if claims.binding == schema.TUPLE else None
    not_before = expected.stopped_at if claims.decision in (schema.RESUME, schema.ACKNOWLEDGE_DRIFT) else ended
    # A signature's time has whole seconds, but the database's time has fractions. So a difference of one second is
    # allowed.
    if not_before is not None and created < not_before - timedelta(seconds=1):
        return Refusal(
            "signed_before_the_stop", "it was signed before people or the run's own limits stopped it: sign again"
        )
    return None


def _step_7_approver(case: _Case) -> Refusal | None:
    claims, approver = _said(case), case.approver
    assert approver is not None
    if claims.approver != approver.name:
        return Refusal("approver_mismatch", f"the statement says {claims.approver}, but the key is {approver.name}'s")
    if claims.approver == case.expected.starter:
        return Refusal("approver_is_starter", f"{claims.approver} started this run; another person must decide")
    return None


def _step_8_review_decision(case: _Case) -> Refusal | None:
    claims, row, approver = _said(case), case.expected.review_decision, case.approver
    assert approver is not None
    if claims.gate != Sovereign.LIFECYCLE or claims.decision != schema.APPROVE:
        return None
    if row is None or row.review_decision_id != claims.review_decision_id:
        return Refusal(
            "review_decision_missing", f"there is no review decision {claims.review_decision_id} for this run"
        )
    if row.decision_type != "lifecycle_enactment":
        return Refusal(
            "review_decision_type", f"the review decision is a {row.decision_type}, not a lifecycle_enactment"
        )
    if row.used:
        return Refusal("review_decision_used", "the review decision was used before; each enactment needs a fresh one")
    if row.actor_group not in approver.groups:
        return Refusal(
            "review_decision_actor", f"{approver.name} is not in the group {row.actor_group} of the decision"
        )
    created = case.record.created if case.record else None
    assert created is not None
    # A signature's time has whole seconds, but the row's time has fractions. So a difference of one second is allowed.
    in_time = timedelta(seconds=-1) <= created - row.created_at <= timedelta(seconds=case.expected.ttl_tuple_seconds)
    fresh = row.created_with_request if claims.binding == schema.RUN else in_time
    return None if fresh else Refusal("review_decision_stale", "the review decision is not a fresh one")


_STEPS: tuple[tuple[int, Callable[[_Case], Refusal | None]], ...] = (
    (2, _step_2_not_ours),
    (3, _step_3_signature),
    (4, _step_4_statement),
    (5, _step_5_binding),
    (6, _step_6_times),
    (7, _step_7_approver),
    (8, _step_8_review_decision),
)


def _said(case: _Case) -> Statement:
    assert case.statement is not None
    return case.statement


def _verdict(case: _Case, *, accepted: bool, code: str, reason: str, step: int) -> Verdict:
    verdict = Verdict(
        accepted=accepted,
        code=code,
        reason=reason,
        step=step,
        kb_id=case.authentication.document.kb_id,
        approval_sha256=case.authentication.document.approval_sha256,
        policy_sha256=case.policy.sha256,
        approver=case.approver.name if case.approver else None,
        fingerprint=case.record.primary_fingerprint if case.record else None,
        signature_created=case.record.created if case.record else None,
        document=case.authentication.document,
    )
    claims = case.statement
    if claims is None:
        return verdict
    return replace(verdict, decision=claims.decision, gate=claims.gate, not_after=claims.not_after, statement=claims)
