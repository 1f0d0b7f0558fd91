"""IO: judging a signed document against the live run, with facts from the database alone.

The cutter worker does it when an approval arrives, the exec worker again just before it writes: the same code.
"""

from __future__ import annotations

from datetime import datetime

from activities.worker.dependencies import Deps
from cutter import limits
from cutter.approvals import schema
from cutter.approvals.expected import Expected, ReviewDecision
from cutter.approvals.policy import Policy, Tier
from cutter.approvals.reader import ExpectedFor, check, check_authenticated
from cutter.approvals.request import RequestTuple
from cutter.approvals.statement import Statement
from cutter.approvals.verdict import ApprovalDocument, Verdict
from cutter.approvals.verify import Authentication
from cutter.batch import documents
from cutter.catalogue import Role, Sovereign
from cutter.domain import recorded
from cutter.domain.digests import sha256_hex
from cutter.domain.run_state import RunState
from cutter.errors import NotFound, Refused, Unavailable
from cutter.gpg import Gpg
from cutter.kb.ids import signature_of
from cutter.policy.rules import Permit
from cutter.storage.pools import Connection, single
from cutter.storage.queries import query
from cutter.types import Json

ORDER_TTL_SECONDS = 24 * 3600
"""Life of a signed resume, void, acknowledgement or revocation."""

TOLD = "stopped_error_"
"""Where a run stops whose gate met what it does not foresee; the reason says what that was."""


def judge(
    deps: Deps, role: Role, run_id: str, gate: str, kb_id: str, facts: Json | None = None,
    authentication: Authentication | None = None,
) -> tuple[Verdict, Json]:  # fmt: skip
    """The verdict on one document for one run, and the facts it was judged by: those given, or read now.

    `authentication`: of the document's bytes, where they were read already, by the epoch that is in force.
    """
    with single(deps.pool(role)) as connection:
        facts = facts or read_facts(connection, run_id, gate)
        policy, ring = policy_of(deps, facts)
        expected = _expected_for(connection, facts, gate)
        if authentication is not None and authentication.policy_sha256 == policy.sha256:
            return check_authenticated(authentication, expected, policy), facts
        return check(deps.kb, kb_id, ring, expected, policy), facts


def require_signed_orders(deps: Deps, role: Role, facts: Json) -> None:
    """Raise Refused unless a person signed every resume and acknowledgement that let this run continue.

    Each is judged as of its use: under the epoch that was in force, after and for the stop that was left. An invalid
    one is accepted only if someone signs a resume for exactly the stop that this error causes. A missing statement is
    never accepted, because the run's evidence needs the file.
    """
    wrong = ""
    for order in facts["orders"]:
        what = f"{order['kb_id']}, by which the run went on ({order['decision']})"
        verdict = _judged_order(deps, role, facts, order)
        if verdict.approval_sha256 != order["statement_sha256"]:
            reason = "" if verdict.accepted else f" ({verdict.code}: {verdict.reason})"
            raise _unverified(f"have put back what was signed: {what}, is not what was used{reason}")
        if not verdict.accepted:
            wrong = f"{what}, does not hold ({verdict.code}: {verdict.reason})"
        elif order["decision"] == schema.RESUME and order["stopped_state"].startswith(TOLD):
            wrong = ""
    if wrong:
        raise _unverified(f"sign a resume if it may go on nevertheless: {wrong}")


def _unverified(way_on: str) -> Refused:
    return Refused(f"void it, or {way_on}", code="STOP_ORDER_UNVERIFIED")


def _judged_order(deps: Deps, role: Role, facts: Json, order: Json) -> Verdict:
    policy, ring = deps.policy(order["policy_sha256"])
    run = facts["run"]
    with single(deps.pool(role)) as connection:

        def expected(document: ApprovalDocument, _said: Statement | None) -> Expected:
            ours, _, _, consumed = _document_facts(connection, document, run["run_id"], None)
            return Expected(
                deployment_id=str(facts["epoch"]["deployment_id"]),
                gate=order["gate"],
                run_id=run["run_id"],
                document_id=run["document_id"],
                decisions=frozenset((order["decision"],)),
                now=datetime.fromisoformat(order["consumed_at"]),
                ttl_run_seconds=ORDER_TTL_SECONDS,
                consumed_by_another=consumed,
                written_by_us=ours,
                starter=run["starter"],
                stopped_state=order["stopped_state"],
                stopped_at=_moment(order["stopped_at"]),
                drift_fingerprint=order["fingerprint"],
            )

        return check(deps.kb, order["kb_id"], ring, expected, policy)


def read_facts(connection: Connection, run_id: str, gate: str) -> Json:
    """Run, open request, policy epoch, review decision and clock, in one round trip."""
    row = connection.execute(query("approval_facts"), {"run_id": run_id, "gate": gate}).fetchone()
    if row is None:
        raise NotFound(f"no run {run_id}: see `cutter status`", code="STOP_RUN_NOT_FOUND")
    return recorded.answered(row[0])  # type: ignore[arg-type]


def epoch_facts(connection: Connection) -> Json:
    """The policy epoch in force, in the form that `policy_of` takes."""
    row = connection.execute(query("policy_in_force")).fetchone()
    return {"epoch": {"sha256": row[0]} if row else None}


def signed_before(deps: Deps, run: Json, gate: str) -> tuple[str, ...]:
    """Approvals that lie ready for an item of a batch: `<document>.md`, then `<document>.<who>.md` of others."""
    if not run["batch_id"] or run["mode"] != "live":
        return ()
    first = documents.pre_batched(run["batch_id"], gate, run["document_id"])
    names = [name for name in deps.kb.list(first.removesuffix("md")) if name.endswith(".md")]
    # The plain name first: a folder full of other files does not push it out.
    return tuple(sorted(names, key=lambda name: (name != first, name)))[: limits.APPROVALS_A_GATE_MAX]


def policy_of(deps: Deps, facts: Json) -> tuple[Policy, Gpg]:
    """The policy in force; a deployment without one trusts no one."""
    if not facts["epoch"]:
        raise Unavailable("no approver policy is installed: type `cutter approvers init`", what="policy")
    return deps.policy(facts["epoch"]["sha256"])


def tier_asked(request: Json | None, permit: Permit) -> Tier | None:
    """The highest tier that the policy asks for now, or asked for when the request was made."""
    before = Tier(request["tier"]) if request and request["tier"] else None
    return max((one for one in (before, permit.tier) if one), key=list(Tier).index, default=None)


def raise_tier(deps: Deps, role: Role, run_id: str, gate: str, request: Json | None, tier: Tier | None) -> None:
    """Let the open request ask for that tier, where it asks for a lower one."""
    if request is None or tier is None or request["tier"] == tier.value:
        return
    with single(deps.pool(role)) as connection:
        connection.execute("select cutter_governance.fn_request_raise(%s, %s, %s)", (run_id, gate, tier.value))


def decisions_of(run: Json, gate: str, request: Json | None) -> frozenset[str]:
    """What may be said to this run here and now."""
    stopped = RunState(run["state"]).stopped
    allowed = {schema.REVOKE, schema.VOID}
    if run["batch_id"] and RunState(run["state"]).failed:
        allowed |= {schema.INCLUDE_FAILED}
    if stopped:
        allowed |= {schema.ACKNOWLEDGE_DRIFT if "stopped_drift_" in run["state"] else schema.RESUME}
    elif request is not None and gate in tuple(Sovereign):
        allowed |= {schema.APPROVE, schema.REJECT}
    return frozenset(allowed)


def _expected_for(connection: Connection, facts: Json, gate: str) -> ExpectedFor:
    run, request, decision = facts["run"], facts["request"], facts["decision"]
    caps = run["caps"]
    ttl = caps.get("ttl_cut_seconds") if gate == Sovereign.CUT else caps.get("ttl_lifecycle_seconds")
    drift = ((run["last_error"] or {}).get("report") or {}).get("fingerprint")

    rehearsals = facts["rehearsals"] if run["mode"] == "live" else []

    def expected(document: ApprovalDocument, said: Statement | None) -> Expected:
        target = said.approval_sha256 if said else None
        # A queue may have been rehearsed more than once; which of its requests was read, the statement says.
        rehearsed = said.request_sha256 if said else None
        before = said is not None and said.binding == schema.TUPLE
        ours, revoked, foreign, consumed = _document_facts(connection, document, run["run_id"], target)
        return Expected(
            deployment_id=str(facts["epoch"]["deployment_id"]),
            gate=gate,
            run_id=run["run_id"],
            document_id=run["document_id"],
            decisions=decisions_of(run, gate, request),
            now=datetime.fromisoformat(facts["now"]),
            request=RequestTuple(**request["tuple"]) if request else None,
            request_sha256=request["request_sha256"] if request else None,
            request_expires=datetime.fromisoformat(request["expires_at"]) if request else None,
            ttl_run_seconds=int(ttl or 0) if request else ORDER_TTL_SECONDS,
            revoked=revoked,
            consumed_by_another=consumed,
            written_by_us=ours,
            starter=run["starter"],
            review_decision=_decision(facts, before=before) if decision and request else None,
            bindings=frozenset((schema.RUN, schema.TUPLE) if rehearsals else (schema.RUN,)),
            ttl_tuple_seconds=limits.PRE_BATCHED_HOURS * 3600,
            batch_id=run["batch_id"],
            dryrun_request_sha256=rehearsed if rehearsed in rehearsals else None,
            stopped_state=run["state"],
            stopped_at=_moment(facts["stopped_at"]),
            ended_by_people_at=_moment(facts["ended_by_people_at"]),
            drift_fingerprint=drift,
            approval_sha256=None if foreign else target,
        )

    return expected


def _moment(at: str | None) -> datetime | None:
    return datetime.fromisoformat(at) if at else None


def _document_facts(
    connection: Connection, document: ApprovalDocument, run_id: str, target: str | None
) -> tuple[bool, bool, bool, bool]:
    """(Written by us, revoked, the document that it names was handed to other runs alone, another run consumed it.)"""
    names = [document.kb_id, signature_of(document.kb_id)]
    digests = [document.approval_sha256, sha256_hex(document.signature)]
    row = connection.execute(
        query("approval_document_facts"), {"names": names, "digests": digests, "run_id": run_id, "target": target}
    ).fetchone()
    assert row is not None
    return bool(row[0]), bool(row[1]), bool(row[2]), bool(row[3])


def _decision(facts: Json, *, before: bool) -> ReviewDecision:
    """The request's own decision; `before`: as it was prepared for the night, where it was."""
    row, request = facts["decision"], facts["request"]
    created = datetime.fromisoformat((facts["prepared_at"] if before else None) or row["created_at"])
    return ReviewDecision(
        review_decision_id=row["review_decision_id"],
        decision_type=row["type"],
        used=facts["decision_used"],
        actor_group=row["actor"],
        created_at=created,
        created_with_request=row["review_decision_id"] == request["tuple"]["review_decision_id"],
    )


def sovereign_ahead(deps: Deps, role: Role, run_id: str) -> str:
    """The sovereign gate that a run has before it: what its orders (resume, void, …) name as their gate."""
    with single(deps.pool(role)) as connection:
        row = connection.execute(query("units_were_written"), {"run_id": run_id}).fetchone()
    return Sovereign.LIFECYCLE.value if row and row[0] else Sovereign.CUT.value
