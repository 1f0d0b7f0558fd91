"""IO: the activities of sovereign gates: open a request, judge approvals, end a request; stop and resume a run.

Everything here runs as cutter_read; nothing here writes a unit.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime

from psycopg.types.json import Jsonb

from activities import approval_judge, effects, permission
from activities.outbox import publish, publish_now
from activities.run.request_document import request_document
from activities.worker.dependencies import Deps
from cutter import limits
from cutter.approvals import schema
from cutter.approvals.policy import Tier
from cutter.approvals.request import render_request
from cutter.approvals.verdict import ACCEPTED, Verdict, verdict_record
from cutter.approvals.verify import Authentication
from cutter.catalogue import GATES, Role, Sovereign, State, stands_on
from cutter.domain import ids
from cutter.domain.run_record import RunSidecar
from cutter.errors import CutterError, PolicyDenied
from cutter.messages import (
    NOT_SO,
    EndRequestInput,
    JudgeInput,
    JudgeResult,
    OpenedRequest,
    RefusalInput,
    RefusalRecorded,
    RequestEnded,
    RequestInput,
    Resumed,
    ResumeInput,
    StopInput,
    StopSet,
)
from cutter.policy.command import KB_PUT, operations_at
from cutter.policy.rules import ProposedAction, never_allowed, permit, restrictions
from cutter.storage.gate_transaction import Decided, NotOpened, call
from cutter.storage.pools import single, translated
from cutter.storage.records import Connection, Rows, records, values
from cutter.storage.request_transaction import Asked, ask, bind


@dataclass(frozen=True, slots=True, kw_only=True)
class Counted:
    """An approval that the open request already counts, and the run's state."""

    state: str
    approver: str
    approval_sha256: str
    reason: str


COUNTED = records("approval_counted", Counted)
EPOCH: Rows[str] = values("epoch_of_verdict")


def open_request(deps: Deps, input: RequestInput) -> OpenedRequest:
    """Freeze the tuple, write the request document and publish it. An open request gets the same answer."""
    put: tuple[str, bytes] | None = None
    with translated(), deps.pool(Role.READ).connection() as connection:
        asked = ask(connection, input.run_id, input.gate, ids.derived(input.run_id, "change_set"))
        if isinstance(asked, NotOpened):
            connection.rollback()
            code, drift = asked.code, asked.drift
            if drift is not None:
                return OpenedRequest(status="drift", gate=input.gate, code=drift.dimension, reason=drift.reason)
            if asked.status == "stopped":
                return OpenedRequest(status="stopped", gate=input.gate, code=code, reason=asked.reason)
            return OpenedRequest(status="refused", gate=input.gate, code=code, reason=code)
        request, policy = asked.request, asked.policy
        context = permission.of_run(asked.facts.run, asked.facts.pins, asked.facts.now, input.gate)
        ahead = _effects_ahead(asked, input.gate)
        tier = approval_judge.tier_asked(request.tier, permit(asked.policy, ahead))
        try:
            if denied := never_allowed(asked.policy, ahead):
                raise PolicyDenied(denied.why)
            permission.require(context, permission.decided(deps, context, (KB_PUT,), asked.policy))
            if asked.new:
                # The signatures of a rehearsal are for both gates of the live run.
                signed = ahead if asked.facts.run.mode == "live" else _effects_ahead(asked, *Sovereign)
                limited = restrictions(asked.policy, (replace(action, mode="live") for action in signed))
                document, snapshot = request_document(deps, asked, context, tier, limited or None)
                put = (document.kb_id, render_request(document))
                policy = bind(
                    connection, request.request_id, put[0], put[1].decode(), tier=tier.value if tier else None,
                    receipts=[effects.receipt_of_put(context, snapshot, "snapshot")],
                )  # fmt: skip
                request = replace(request, tier=tier.value if tier else None)
            else:
                connection.commit()
        except PolicyDenied as problem:
            connection.rollback()
            connection.execute(
                "select cutter_governance.fn_run_stop(%s, 'failed_policy', %s)",
                (input.run_id, f"{problem.code}: {problem}"),
            )
            return OpenedRequest(status="denied", gate=input.gate, code=problem.code, reason=str(problem)[:500])
    approval_judge.raise_tier(deps, Role.READ, input.run_id, input.gate, request.tier, tier)
    sidecar = publish_now(deps, Role.READ, context, put, policy)
    # The knowledge base may have stored the document under another name.
    names = {known.request_id: known.kb_id for known in sidecar.requests}
    return _view(deps, input, asked, sidecar, tier, names[request.request_id] or "")


def _effects_ahead(asked: Asked, *sovereigns: str) -> list[ProposedAction]:
    """The side effects that approvals of these gates allow, up to the enactment, after which a denial fails no run."""
    facts = asked.facts
    return [
        permission.of_run(facts.run, facts.pins, facts.now, gate.name).proposed(operation)
        for gate in GATES
        if stands_on(gate) in sovereigns and gate.from_state is not State.LIFECYCLE_ENACTED
        for operation in operations_at(gate.name)
    ]


def _view(
    deps: Deps, input: RequestInput, asked: Asked, sidecar: RunSidecar, tier: Tier | None, kb_id: str
) -> OpenedRequest:
    request, run = asked.request, sidecar.run
    policy, _ = approval_judge.policy_of(deps, asked.facts.epoch_sha256)
    in_advance = run.batch_id if run.mode == "live" else None
    return OpenedRequest(
        status="requested",
        gate=input.gate,
        kb_id=kb_id,
        approval_kb_id=kb_id.replace("-request-", "-approval-"),
        challenge=request.challenge,
        expires_utc=datetime.fromisoformat(request.expires_at).strftime("%Y-%m-%dT%H:%M:%SZ"),
        approvers_needed=policy.needed(input.gate, tier),
        review_decision_id=request.review_decision_id or "",
        accepted=asked.facts.accepted,
        offered=approval_judge.signed_before(deps, in_advance, run.document_id, input.gate),
    )


def judge_approval(deps: Deps, input: JudgeInput) -> JudgeResult:
    """Verify one signed document and record the verdict. An approval that a signing session has handed over keeps its
    verdict. The exec worker still judges it again.
    """
    asked = {"run_id": input.run_id, "gate": input.gate, "kb_id": input.kb_id}
    with single(deps.pool(Role.READ)) as connection:
        counted = COUNTED.first(connection, asked)
    if counted is None:
        return judge_read(deps, input, None)
    return JudgeResult(
        accepted=True, code=ACCEPTED, reason=counted.reason, kb_id=input.kb_id, decision=schema.APPROVE,
        approver=counted.approver, approval_sha256=counted.approval_sha256, duplicate=True, state=counted.state,
    )  # fmt: skip


def judge_read(deps: Deps, input: JudgeInput, authentication: Authentication | None) -> JudgeResult:
    """Judge one document and record the verdict. `authentication` is that of its bytes, if they were read before."""
    verdict, facts = approval_judge.judge(
        deps, Role.READ, input.run_id, input.gate, input.kb_id, authentication=authentication
    )
    with translated(), deps.pool(Role.READ).connection() as connection:
        noted = _noted(connection, input, verdict)
        if noted.status == "not_waiting":
            reason = "the run waits for this no longer: see `cutter status`"
            verdict = replace(verdict, accepted=False, code="decision_not_allowed", reason=reason)
            noted = _noted(connection, input, verdict)
    if noted.status == "duplicate" and verdict.decision == schema.APPROVE:
        verdict = _as_recorded(deps, input, verdict)
    if verdict.accepted and verdict.decision == schema.REVOKE and verdict.statement is not None:
        # The revocation has its own transaction, because it waits for an open gate and must not hold anything that the
        # gate needs.
        with single(deps.pool(Role.READ)) as connection:
            revoked = call(
                connection,
                Decided.of,
                "select cutter_governance.fn_revocation_record(%s, %s, %s, %s)",
                (input.run_id, verdict.statement.approval_sha256, verdict.approval_sha256, input.kb_id),
            ).status
        if revoked != "revoked":
            # The person who revokes must learn that the revocation came too late, because the approval was already
            # used.
            verdict = replace(verdict, accepted=False, code=revoked, reason="it is used already: void the run")
    if verdict.accepted and verdict.decision == schema.APPROVE:
        policy, _ = approval_judge.policy_of(deps, facts.epoch_sha256)
        tier = facts.request.tier if facts.request else None
        if policy.needed(input.gate, Tier(tier) if tier else None) > 1:
            # The run waits for the others, and its folder already shows this approval.
            with suppress(CutterError):
                publish(deps, Role.READ, input.run_id)
    return _result(verdict, input.kb_id, facts.run.state, duplicate=noted.status == "duplicate")


def _noted(connection: Connection, input: JudgeInput, verdict: Verdict) -> Decided:
    """Record a verdict. An accepted one is recorded with the bytes that were judged."""
    kept = verdict.document if verdict.accepted else None
    return call(
        connection,
        Decided.of,
        "select cutter_governance.fn_verdict_record(%s, %s, %s, %s, %s, %s)",
        (
            input.run_id, input.gate, input.kb_id[:512], Jsonb(verdict_record(verdict)),
            kept and kept.body, kept and kept.signature,
        ),
    )  # fmt: skip


def _as_recorded(deps: Deps, input: JudgeInput, verdict: Verdict) -> Verdict:
    """An approval counts only under the epoch by which it was first judged. Under another, it opens no gate."""
    named = {"run_id": input.run_id, "gate": input.gate, "approval_sha256": verdict.approval_sha256}
    with single(deps.pool(Role.READ)) as connection:
        recorded = EPOCH.all(connection, named)
    if recorded[:1] == [verdict.policy_sha256]:
        return verdict
    reason = "it was judged under an earlier epoch of approvers: sign again"
    return replace(verdict, accepted=False, code="approval_of_other_epoch", reason=reason)


def _result(verdict: Verdict, kb_id: str, state: str, *, duplicate: bool) -> JudgeResult:
    return JudgeResult(
        accepted=verdict.accepted,
        code=verdict.code,
        reason=verdict.reason[:300],
        kb_id=kb_id[:512],
        decision=verdict.decision or "",
        approver=verdict.approver or "",
        approval_sha256=verdict.approval_sha256 or "",
        duplicate=duplicate,
        state=state,
    )


def end_request(deps: Deps, input: EndRequestInput) -> RequestEnded:
    """End an open request as rejected (the run fails) or expired (the run stops), if the database agrees."""
    with translated(), deps.pool(Role.READ).connection() as connection:
        facts = approval_judge.read_facts(connection, input.run_id, input.gate)
        request, now = facts.request, datetime.fromisoformat(facts.now)
        over = request is not None and datetime.fromisoformat(request.expires_at) <= now
        if input.status == "expired" and not over and facts.run.state != "stopped_expired":
            return RequestEnded(state=facts.run.state, code=NOT_SO)
        connection.execute(
            "select cutter_governance.fn_request_end(%s, %s, %s, %s)",
            (input.run_id, input.gate, input.status, input.approval_sha256),
        )
    publish(deps, Role.READ, input.run_id)
    return RequestEnded(state="failed_rejected" if input.status == "rejected" else "stopped_expired")


def record_refusal(deps: Deps, input: RefusalInput) -> RefusalRecorded:
    """Keep a refused message, so that people and auditors see it."""
    with translated(), deps.pool(Role.READ).connection() as connection:
        connection.execute(
            "select cutter_governance.fn_refusal_record(%s, %s, %s, %s, %s)",
            (input.run_id, input.gate, input.message, input.code, input.reason),
        )
    # A stranger may send a code of any length, but an answer has a limit.
    return RefusalRecorded(code=input.code[: limits.NAME_CHARACTERS_MAX])


def set_stop(deps: Deps, input: StopInput) -> StopSet:
    """Set the stop latch. The database says whether leg A has written units."""
    with translated(), deps.pool(Role.READ).connection() as connection:
        answer = call(
            connection,
            Decided.of,
            "select cutter_governance.fn_stop_set(%s, %s, %s, %s)",
            (input.run_id, input.kind, input.reason, input.by),
        )
    return StopSet(state=answer.state, code="wrote" if answer.wrote else "")


def resume_run(deps: Deps, input: ResumeInput) -> Resumed:
    """Resume a stopped run. If the resume needs a signature, consume the signed statement."""
    with translated(), deps.pool(Role.READ).connection() as connection:
        answer = call(
            connection, Decided.of, "select cutter_governance.fn_run_resume(%s, %s)",
            (input.run_id, input.statement_sha256),
        )  # fmt: skip
    if answer.status == "more_needed":
        reason = f"{answer.have} of {answer.needed} people have signed a resume"
        return Resumed(state=answer.state, code="more_needed", reason=reason)
    reason = _RESUME_REFUSED.get(answer.code, "").format(order=answer.decision, run=input.run_id)
    return Resumed(state=answer.state, code=answer.status, reason=reason or answer.decision)


_RESUME_REFUSED = {
    "signed_statement_needed": "the stop needs a signed {order}: `cutter status {run}` names the command",
    "not_what_was_acknowledged": "the drift has changed since the acknowledgement was signed: look and sign again",
    "approved_before": "this approver has signed already, and another one must sign too",
}
"""Code of a refused resume → the sentence for the person who asked."""
