"""IO: judges a signed document against the live run, with facts from the database alone.

The cutter worker judges an approval when it arrives. The exec worker judges it again with the same code just before it
writes.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from activities.worker.dependencies import Deps
from cutter import limits
from cutter.approvals import approver_store, schema
from cutter.approvals.policy import ApproverPolicy, Tier
from cutter.approvals.reader import ExpectedFor, check, check_authenticated
from cutter.approvals.request import RequestTuple
from cutter.approvals.statement import Statement
from cutter.approvals.verdict import ApprovalDocument, Expected, ReviewDecision, Verdict
from cutter.approvals.verify import Authentication
from cutter.batch import documents
from cutter.catalogue import Role, Sovereign
from cutter.domain.digests import sha256_hex
from cutter.domain.run_record import RunRecord
from cutter.domain.run_state import RunState
from cutter.errors import NotFound, Refused, Unavailable
from cutter.evidence import offline
from cutter.gpg import Gpg
from cutter.kb.ids import signature_of
from cutter.policy.rules import Permit
from cutter.storage import approval_facts
from cutter.storage.approval_facts import ApprovalFacts, DecisionRow, OpenRequest, OrderTaken
from cutter.storage.policies import EPOCH
from cutter.storage.pools import single
from cutter.storage.records import Connection, Rows, records, values


@dataclass(frozen=True, slots=True, kw_only=True)
class DocumentFacts:
    """What the database knows of an approval document. `of_other_runs`: the approval that it names was handed only to
    others.
    """

    written_by_us: bool
    revoked: bool
    of_other_runs: bool
    consumed_by_another: bool


DOCUMENT = records("approval_document_facts", DocumentFacts)
WROTE: Rows[bool] = values("units_were_written")


def judge(
    deps: Deps, role: Role, run_id: str, gate: str, kb_id: str, facts: ApprovalFacts | None = None,
    authentication: Authentication | None = None,
) -> tuple[Verdict, ApprovalFacts]:  # fmt: skip
    """The verdict on one document for one run, and the facts that the judge used: the given ones, or facts that are
    read now.

    `authentication` is given if the document's bytes were already read and authenticated by the epoch in force. The
    exec worker judges the bytes that the database kept with the first verdict, whatever the knowledge base holds now.
    If the cutter worker accepted several statements under one KB id, a good one counts.
    """
    with single(deps.pool(role)) as connection:
        facts = facts or read_facts(connection, run_id, gate)
        policy, ring = policy_of(deps, facts.epoch_sha256)
        expected = _expected_for(connection, facts, gate)
        if authentication is not None and authentication.policy_sha256 == policy.sha256:
            return check_authenticated(authentication, expected, policy), facts
        known = facts.signed if role is Role.EXEC else ()
        kept = [document for document in known if document.kb_id == kb_id]
        verdicts = [check(deps.kb, named, ring, expected, policy) for named in (*kept,) or (kb_id,)]
        # The database may keep the same statement under another KB id. Then its signature there is the one that counts.
        same = [named for named in known if not kept and named.approval_sha256 == verdicts[0].approval_sha256]
        verdicts = [check(deps.kb, named, ring, expected, policy) for named in same] or verdicts
        return next((verdict for verdict in verdicts if verdict.accepted), verdicts[0]), facts


def require_signed_orders(deps: Deps, role: Role, facts: ApprovalFacts) -> None:
    """Raise Refused unless a person signed every resume and acknowledgement that let this run continue.

    Each order is judged by the epoch that was in force when the run used it. It must be for the stop that it lifted,
    and signed after that stop. If an order is invalid, the run continues only after an approver has signed a resume for
    exactly the stop that this error causes. A statement whose bytes the database did not keep yet must still be in the
    knowledge base, because the run's evidence needs it.
    """
    wrong: list[str] = []
    for order in facts.orders:
        what = f"{order.kb_id}, which let the run continue ({order.decision})"
        verdict = _judged_order(deps, role, facts, order)
        if verdict.approval_sha256 != order.statement_sha256:
            reason = "" if verdict.accepted else f" ({verdict.code}: {verdict.reason})"
            raise _unverified(f"have put back what was signed: {what}, is not what was used{reason}")
        if not verdict.accepted:
            wrong.append(f"{what}, does not hold ({verdict.code}: {verdict.reason})")
        elif order.decision == schema.RESUME and order.stopped_state in offline.PARDONS:
            wrong = []
    if wrong:
        others = f", and {len(wrong) - 1} more" if len(wrong) > 1 else ""
        raise _unverified(f"sign a resume if it may continue nevertheless: {wrong[0]}{others}")


def _unverified(way_on: str) -> Refused:
    return Refused(f"void it, or {way_on}", code="STOP_ORDER_UNVERIFIED")


def _judged_order(deps: Deps, role: Role, facts: ApprovalFacts, order: OrderTaken) -> Verdict:
    policy, ring = approver_store.load_current(deps.settings.approvers, order.policy_sha256)
    run = facts.run
    with single(deps.pool(role)) as connection:

        def expected(document: ApprovalDocument, _said: Statement | None) -> Expected:
            known = _document_facts(connection, document, run.run_id, None)
            return Expected(
                deployment_id=facts.deployment_id,
                gate=order.gate,
                run_id=run.run_id,
                document_id=run.document_id,
                decisions=frozenset((order.decision,)),
                now=datetime.fromisoformat(order.consumed_at),
                ttl_run_seconds=limits.ORDER_LIFE_SECONDS_MAX,
                consumed_by_another=known.consumed_by_another,
                written_by_us=known.written_by_us,
                starter=run.starter,
                stopped_state=order.stopped_state,
                stopped_at=_moment(order.stopped_at),
                drift_fingerprint=order.fingerprint,
            )

        return check(deps.kb, order.document or order.kb_id, ring, expected, policy)


def read_facts(connection: Connection, run_id: str, gate: str) -> ApprovalFacts:
    """Read the run, its open request, the policy epoch, the review decision and the clock in one round trip."""
    facts = approval_facts.read(connection, run_id, gate)
    if facts is None:
        raise NotFound(f"no run {run_id}: see", then="cutter status", code="STOP_RUN_NOT_FOUND")
    return facts


def epoch_in_force(connection: Connection) -> str | None:
    """The sha256 of the policy epoch in force, in the form that `policy_of` takes."""
    epoch = EPOCH.first(connection)
    return epoch.sha256 if epoch else None


def signed_before(deps: Deps, batch_id: str | None, document_id: str, gate: str) -> tuple[str, ...]:
    """Approvals signed in advance for an item of a batch: `<document>.md`, then `<document>.<who>.md` of others."""
    if not batch_id:
        return ()
    first = documents.pre_batched(batch_id, gate, document_id)
    names = [name for name in deps.kb.list(first.removesuffix("md")) if name.endswith(".md")]
    # The plain name comes first, so that a folder full of other files cannot push it out.
    return tuple(sorted(names, key=lambda name: (name != first, name)))[: limits.APPROVALS_A_GATE_MAX]


def policy_of(deps: Deps, epoch_sha256: str | None) -> tuple[ApproverPolicy, Gpg]:
    """The policy in force, with the approvers' keyring. A deployment without a policy trusts nobody."""
    if not epoch_sha256:
        raise Unavailable("no approver policy is installed: type", then="cutter approvers init", what="policy")
    return approver_store.load_current(deps.settings.approvers, epoch_sha256)


def tier_asked(before: str | None, permit: Permit) -> Tier | None:
    """The higher of two tiers: what the policy asks for now, and what it asked for when the request was made."""
    tier_before = Tier(before) if before else None
    return max((tier for tier in (tier_before, permit.tier) if tier), key=list(Tier).index, default=None)


def raise_tier(deps: Deps, role: Role, run_id: str, gate: str, before: str | None, tier: Tier | None) -> None:
    """Make the open request ask for this tier if the request asked for another tier `before`."""
    if tier is None or before == tier.value:
        return
    with single(deps.pool(role)) as connection:
        connection.execute("select cutter_governance.fn_request_raise(%s, %s, %s)", (run_id, gate, tier.value))


def decisions_of(run: RunRecord, gate: str, request: OpenRequest | None) -> frozenset[str]:
    """The decisions that this run accepts in its present state."""
    stopped = RunState(run.state).stopped
    allowed = {schema.REVOKE, schema.VOID}
    if run.batch_id and RunState(run.state).failed:
        allowed |= {schema.INCLUDE_FAILED}
    if stopped:
        allowed |= {schema.ACKNOWLEDGE_DRIFT if RunState(run.state).drifted else schema.RESUME}
    elif request is not None and gate in tuple(Sovereign):
        allowed |= {schema.APPROVE, schema.REJECT}
    return frozenset(allowed)


def _expected_for(connection: Connection, facts: ApprovalFacts, gate: str) -> ExpectedFor:
    run, request, decision = facts.run, facts.request, facts.decision
    caps = run.caps
    ttl = caps.get("ttl_cut_seconds") if gate == Sovereign.CUT else caps.get("ttl_lifecycle_seconds")
    drift = (run.error.get("report") or {}).get("fingerprint")

    rehearsals = facts.rehearsals if run.mode == "live" else []

    def expected(document: ApprovalDocument, statement: Statement | None) -> Expected:
        target = statement.approval_sha256 if statement else None
        # A queue may have been rehearsed several times. The statement says which of its requests the approver read.
        rehearsed = statement.request_sha256 if statement else None
        before = statement is not None and statement.binding == schema.TUPLE
        known = _document_facts(connection, document, run.run_id, target)
        return Expected(
            deployment_id=facts.deployment_id,
            gate=gate,
            run_id=run.run_id,
            document_id=run.document_id,
            decisions=decisions_of(run, gate, request),
            now=datetime.fromisoformat(facts.now),
            request=RequestTuple(**request.tuple) if request else None,
            request_sha256=request.request_sha256 if request else None,
            request_expires=datetime.fromisoformat(request.expires_at) if request else None,
            ttl_run_seconds=int(ttl or 0) if request else limits.ORDER_LIFE_SECONDS_MAX,
            revoked=known.revoked,
            consumed_by_another=known.consumed_by_another,
            written_by_us=known.written_by_us,
            starter=run.starter,
            review_decision=_decision(decision, request, facts, before=before) if decision and request else None,
            bindings=frozenset((schema.RUN, schema.TUPLE) if rehearsals else (schema.RUN,)),
            ttl_tuple_seconds=limits.PRE_BATCHED_HOURS * 3600,
            batch_id=run.batch_id,
            dryrun_request_sha256=rehearsed if rehearsed in rehearsals else None,
            stopped_state=run.state,
            stopped_at=_moment(facts.stopped_at),
            ended_by_people_at=_moment(facts.ended_by_people_at),
            drift_fingerprint=drift,
            approval_sha256=None if known.of_other_runs else target,
        )

    return expected


def _moment(at: str | None) -> datetime | None:
    return datetime.fromisoformat(at) if at else None


def _document_facts(
    connection: Connection, document: ApprovalDocument, run_id: str, target: str | None
) -> DocumentFacts:
    names = [document.kb_id, signature_of(document.kb_id)]
    digests = [document.approval_sha256, sha256_hex(document.signature)]
    asked = {"names": names, "digests": digests, "run_id": run_id, "target": target}
    return DOCUMENT.one(connection, asked)


def _decision(row: DecisionRow, request: OpenRequest, facts: ApprovalFacts, *, before: bool) -> ReviewDecision:
    """The review decision of the request. With `before`, its time is when it was prepared for the night, if it was."""
    created = datetime.fromisoformat((facts.prepared_at if before else None) or row.created_at)
    return ReviewDecision(
        review_decision_id=row.review_decision_id,
        decision_type=row.type,
        used=facts.decision_used,
        actor_group=row.actor,
        created_at=created,
        created_with_request=row.review_decision_id == request.tuple["review_decision_id"],
    )


def sovereign_ahead(deps: Deps, role: Role, run_id: str) -> str:
    """The next sovereign gate of a run. Orders about the run (resume, void, …) name this gate."""
    with single(deps.pool(role)) as connection:
        wrote = WROTE.one(connection, {"run_id": run_id})
    return Sovereign.LIFECYCLE.value if wrote else Sovereign.CUT.value
