"""IO: runs any gate: attempt → open → collect and evaluate → seal → publish (spec "States and gates")."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from time import monotonic, thread_time
from typing import Any

import structlog

from activities import permission
from activities.worker.dependencies import Deps, day_of, folder_of
from cutter.catalogue import Gate, State
from cutter.errors import ApprovalNeeded, CutterError, OverCap, PolicyDenied, Unavailable
from cutter.gates.report import GateReport
from cutter.kb import ids as kb_ids
from cutter.messages import GateInput, GateOutcome, GateStatus
from cutter.policy.command import operations_at
from cutter.policy.rules import Permit
from cutter.storage import gate_transaction as tx
from cutter.storage.gate_transaction import GateTerms, NotOpened
from cutter.storage.pools import DatabaseRefused
from cutter.storage.records import Rows

log = structlog.get_logger()

FACTS = (
    "source_document_id", "source_version_id", "content_sha256", "manifest_digest", "candidate_count", "region_sha",
    "writer_digest", "backup_sha256", "grants_sha256", "units_created", "change_set_id", "verify_result_id",
    "units_enacted", "audit_head",
)  # fmt: skip
"""Pins that the workflow gets back, because people read them there."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GateRefused:
    """An early refusal by a gate's body, before there is a report: the gate's status, a code and a sentence."""

    status: GateStatus
    code: str
    reason: str
    state: str | None = None
    evidence: dict[str, Any] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class GatePassed:
    """The evaluation of a gate's body. `extra` is sealed together with the report and the pins."""

    report: GateReport
    extra: Mapping[str, Any] = field(default_factory=dict)


Body = Callable[[tx.OpenGate], GatePassed | GateRefused]
Prepare = Callable[[tx.Attempt, Permit], Sequence[tx.Offer] | GateRefused]


def run_gate(
    deps: Deps,
    gate: Gate,
    input: GateInput,
    body: Body,
    *,
    facts: Rows[Any] | None = None,
    reads: Callable[[tx.Attempt], Sequence[tx.Read]] = lambda _attempt: (),
    prepare: Prepare | None = None,
    rehearse: Callable[[], bool] = lambda: False,
) -> GateOutcome:
    """Make one attempt of a gate. `reads` are sent together with the opening, so that a body that only reads needs no
    further round trip. `facts` is the query of what a gate judges approvals by; it is sent with the registration.

    `prepare` does the work that must not happen inside the transaction, and returns the approvals to consume. Each
    attempt asks the policy again about every side effect of the gate, and records the decisions with the opening.
    """
    cap, began = deps.settings.cap_seconds(gate.phase), thread_time()
    attempt = tx.begin_attempt(
        deps.pool(gate.role), gate, input.run_id, worker=deps.worker, lease_seconds=int(cap), facts=facts
    )  # fmt: skip
    if isinstance(attempt, tx.RunClosed):
        # The run is over or unknown, or the gate before this one is not sealed.
        status: GateStatus = "out_of_order" if attempt.status == "predecessor_not_sealed" else "ended"
        return GateOutcome(gate=gate.name, status=status, code=attempt.status, state=attempt.state)
    if isinstance(attempt, tx.Sealed):
        return sealed_outcome(deps, gate, attempt)
    # The stricter of the run's cap and this worker's holds, as in the attempt's lease.
    cap = min(cap, attempt.run.caps.get("soft_seconds", {}).get(gate.phase) or cap)
    context = permission.of_attempt(attempt)
    permit = permission.decided(deps, context, operations_at(gate.name), attempt.policy)
    try:
        approvals = _allowed(attempt, context, permit, prepare)
        if isinstance(approvals, GateRefused):
            return _refuse(deps, attempt, approvals, report=approvals.evidence)
        terms = GateTerms(
            policy=permit.record(), approvals=approvals, rehearse=rehearse(), cap_seconds=cap, reads=reads(attempt)
        )
        with _capped(cap):
            result = _in_transaction(deps, attempt, body, terms, began)
    except DatabaseRefused as problem:
        result = GateRefused(status="failed", code=problem.code, reason=str(problem))
    except (PolicyDenied, ApprovalNeeded) as problem:
        result = _by_policy(gate, permit, problem)
    except CutterError as problem:
        _note(deps, attempt, problem, input.retry_seconds)
        raise
    return _outcome(deps, attempt, result)


def _allowed(
    attempt: tx.Attempt, context: permission.Context, permit: Permit, prepare: Prepare | None
) -> Sequence[tx.Offer] | GateRefused:
    """The approvals that the gate consumes, if the policy allows the gate. Raises PolicyDenied, ApprovalNeeded."""
    if attempt.gate.sovereign is None:
        permission.require(context, permit)
    approvals = prepare(attempt, permit) if prepare else ()
    if attempt.gate.sovereign is not None and not isinstance(approvals, GateRefused):
        # The policy is asked after the approvals are verified, because an early call of the next write must not fail a
        # run before people have decided.
        permission.require(context, permit)
    return approvals


def _outcome(deps: Deps, attempt: tx.Attempt, result: tx.Sealed | GateReport | GateRefused) -> GateOutcome:
    if isinstance(result, tx.Sealed):
        for hook in deps.after_commit:
            hook(attempt.gate.name)
        return sealed_outcome(deps, attempt.gate, result)
    if isinstance(result, GateRefused):
        return _refuse(deps, attempt, result, report=result.evidence)
    if result.passed:
        tx.refuse(
            deps.pool(attempt.gate.role), attempt, outcome="rehearsed", reason="rolled back", report=result.as_json(),
            state=None,
        )  # fmt: skip
        return GateOutcome(
            gate=attempt.gate.name, status="rehearsed", attempt=attempt.number, state=attempt.run.state,
            facts=facts_of(result.pins),
        )  # fmt: skip
    refusal = GateRefused(status="failed", code=result.violations[0].name if result.violations else "empty_report",
                      reason=result.reason())  # fmt: skip
    return _refuse(deps, attempt, refusal, report=result.as_json())


def report_id(attempt: tx.Attempt, report: GateReport) -> str:
    pins = {**attempt.pins, **report.pins}
    run = replace(attempt.run, docprefix=attempt.run.docprefix or report.pins.get("docprefix"))
    return kb_ids.phase_report(folder_of(run, pins.get("content_sha256")), attempt.gate, day_of(run).date())


def _in_transaction(
    deps: Deps, attempt: tx.Attempt, body: Body, terms: GateTerms, began: float
) -> tx.Sealed | GateReport | GateRefused:
    """Returns a report if nothing was sealed. The thread's CPU time since `began` is sealed too."""
    pool = deps.pool(attempt.gate.role)
    with tx.gate_transaction(pool, attempt, terms) as opened:
        if isinstance(opened, tx.Sealed):
            return opened
        if isinstance(opened, NotOpened):
            return _not_opened(opened)
        answer = body(opened)
        if isinstance(answer, GateRefused):
            return answer
        if terms.rehearse or not answer.report.passed:
            return answer.report
        extra = {**answer.extra, "cpu_ms": round((thread_time() - began) * 1000)}
        sealed = tx.seal(opened, answer.report, extra=extra, kb_id=report_id(attempt, answer.report))
        return sealed if isinstance(sealed, tx.Sealed) else _not_opened(sealed)


@contextmanager
def _capped(cap_seconds: float) -> Iterator[None]:
    """Tell a cap from an outage: at the cap, the server ends the transaction together with its connection."""
    began = monotonic()
    try:
        yield
    except Unavailable as problem:
        if problem.what == "database" and monotonic() - began >= cap_seconds - tx.margin_seconds(cap_seconds):
            raise OverCap(f"over {cap_seconds:.0f} s: {problem}") from None
        raise


def _note(deps: Deps, attempt: tx.Attempt, problem: CutterError, retry_seconds: float | None) -> None:
    outcome, what = ("over_cap", "cap") if isinstance(problem, OverCap) else ("error", problem.code)
    if isinstance(problem, Unavailable):
        outcome, what = "unavailable", problem.what
    # The database itself may be unavailable. Then the attempt's row has no outcome, which tells a reader the same.
    with suppress(CutterError):
        tx.refuse(
            deps.pool(attempt.gate.role), attempt, outcome=outcome, reason=f"{what}: {problem}", report=None,
            state=None, retry_seconds=retry_seconds if isinstance(problem, Unavailable) else None,
        )  # fmt: skip


def _by_policy(gate: Gate, permit: Permit, problem: PolicyDenied | ApprovalNeeded) -> GateRefused:
    """A denial fails the run, but after the enactment it only stops it, so that a corrected policy lets the run close.
    Needed approvals stop the run until that many people have signed a resume.
    """
    evidence: dict[str, Any] = {"policy": permit.record()}
    status: GateStatus = "needs_approval"
    if isinstance(problem, ApprovalNeeded):
        state, evidence = f"stopped_policy_{gate.phase}", {**evidence, "tier": problem.tier}
    elif gate.from_state is State.LIFECYCLE_ENACTED:
        state = "stopped_unavailable_policy"
    else:
        status, state = "failed", "failed_policy"
    return GateRefused(status=status, code=problem.code, reason=str(problem), state=state, evidence=evidence)


def _not_opened(answer: NotOpened) -> GateRefused:
    code, drift = answer.code, answer.drift
    if drift is not None:
        return GateRefused(
            status="drift", code=drift.dimension, state=f"stopped_drift_{drift.dimension}", reason=drift.reason,
            evidence=drift.report,
        )  # fmt: skip
    match answer.status:
        case "stopped":
            return GateRefused(status="stopped", code=code, reason=answer.reason)
        case "lane_busy":
            return GateRefused(status="lane_busy", code="lane_busy", reason="another run holds the gate's lane")
        case "approval_refused":
            reason = _APPROVAL_REFUSED.get(code, f"the database: {code}")
            return GateRefused(status="approval_refused", code=code, reason=reason)
        case "refused" if code in ("stale_attempt", "run_ended"):
            return GateRefused(status="ended", code=code, reason=code)
        case "refused" if code.startswith("policy_"):
            reason = f"the database: no recorded decision of the policy opens the gate ({code})"
            return GateRefused(status="failed", code=code, state="failed_policy", reason=reason)
        case "refused" if code == "predecessor_not_sealed":
            # A person who can write to Temporal can claim that a gate passed, but that claim does not harm the law.
            return GateRefused(status="out_of_order", code=code, reason="the gate before it is not sealed")
        case _:
            return GateRefused(status="failed", code=code, reason=f"the database refused: {code}")


_APPROVAL_REFUSED = {
    "approval_of_other_epoch": "the approvers were changed after this approval was judged: sign again",
    "approval_of_other_tuple": "the approval is not for the open request: sign the open one",
    "not_an_approval": "the signed document is not an approval: sign an approval",
}


def _refuse(deps: Deps, attempt: tx.Attempt, refusal: GateRefused, *, report: dict[str, Any] | None) -> GateOutcome:
    gate = attempt.gate
    state = refusal.state or (f"failed_{gate.phase}" if refusal.status == "failed" else None)
    tx.refuse(
        deps.pool(gate.role),
        attempt,
        outcome=refusal.status,
        # A report's reason begins with the name of its first violation, and that name is the code.
        reason=f"{refusal.code}: {refusal.reason.removeprefix(f'{refusal.code}: ')}",
        report=report,
        state=state,
    )
    log.info("gate.refused", run_id=attempt.run_id, gate=gate.name, status=refusal.status, code=refusal.code)
    return GateOutcome(
        gate=gate.name, status=refusal.status, attempt=attempt.number, code=refusal.code, reason=refusal.reason[:500],
        state=state or attempt.run.state,
    )  # fmt: skip


def sealed_outcome(deps: Deps, gate: Gate, sealed: tx.Sealed) -> GateOutcome:
    """Publish the documents that the receipt left in the outbox, then answer from the receipt."""
    try:
        kb_id, sha256 = deps.publish_report(deps, gate.role, sealed)
    except CutterError as problem:
        # The write is sealed, so an unavailable knowledge base must not fail it. The next gate publishes the waiting
        # documents.
        log.warning("outbox.waiting", run_id=sealed.receipt.run_id, gate=gate.name, code=problem.code)
        kb_id, sha256 = "", ""
    log.info("gate.sealed", run_id=sealed.receipt.run_id, gate=gate.name, attempt=sealed.receipt.attempt)
    return GateOutcome(
        gate=gate.name, status="passed", attempt=sealed.receipt.attempt, state=gate.to_state.value, kb_doc_id=kb_id,
        sha256=sha256, facts=facts_of(sealed.receipt.pins),
    )  # fmt: skip


def facts_of(pins: Mapping[str, Any]) -> dict[str, str]:
    """The pins that people read, as short texts."""
    return {name: str(pins[name]) for name in FACTS if name in pins}
