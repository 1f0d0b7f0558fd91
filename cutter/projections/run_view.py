"""Pure: one run for people: states, gates, requests, approvals, retries, documents and the next command.

The value comes from the run's sidecar and the refused messages. `cutter status` and the report both show it. Times
are the database's own texts, and durations are in seconds.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from datetime import datetime
from typing import Any

from cutter.catalogue import GATES, Gate, State
from cutter.domain import recorded_values
from cutter.domain.next_step import Step, next_step
from cutter.domain.run_record import DocumentRecord, Latch, RequestRecord, RunRecord, RunSidecar, VerdictRecord
from cutter.domain.run_state import RunState
from cutter.domain.timestamps import parse_instant, readable
from cutter.lifecycle.history import of_audit
from cutter.projections.state_file import state_json
from cutter.types import Json


@dataclass(frozen=True, slots=True, kw_only=True)
class ReachedState:
    """A state, and the time when the run first reached it. None for a state that it has not reached."""

    state: str
    at: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownMove:
    """A transition of the run. Its JSON form calls the state before it `from`."""

    at: str
    from_state: str
    to: str
    trigger: str
    severity: str
    reason: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownGate:
    """A gate with its newest attempt. The outcome is empty before the first attempt."""

    number: int
    name: str
    outcome: str
    started_utc: str | None
    finished_utc: str | None
    seconds: float | None
    attempts: int
    role: str
    receipt_hash: str | None
    invariants: list[Json]
    pins: Json
    notes: list[str]
    document: DocumentRecord | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownApproval:
    """An accepted approval or order, and the time when a gate used it."""

    gate: str
    decision: str | None
    approver: str | None
    fingerprint: str | None
    approval_sha256: str | None
    kb_id: str
    recorded_at: str
    not_after: str | None
    reason: Any
    signed_utc: str | None
    consumed_at: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownRefusal:
    """A refused document, by its KB id, or a refused message."""

    at: str
    what: str
    gate: str
    code: str
    reason: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownRejection:
    """The signed rejection of a run: its sovereign gate, the name of the approver, and the reason on one line."""

    gate: str
    approver: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownRetry:
    """An attempt that did not pass, or an attempt after such an attempt."""

    gate: str
    attempt: int
    outcome: str
    reason: str | None
    started_utc: str
    seconds: float | None
    worker: str | None
    next_eligible_at: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownRun:
    """Everything that a reader sees of a run.

    The run itself does not know the last five fields. They are the signed rejection, its place in a lane, what is wrong
    with its request's document, the worker that holds it up, and that a newer version is registered.
    """

    run_id: str
    document_id: str
    mode: str
    state: str
    outcome: str | None
    code: str | None
    starter: str
    batch_id: str | None
    amends: str | None
    created_utc: str
    state_utc: str
    ended_utc: str | None
    reason: str | None
    stop: Latch | None
    wrote: bool
    states: list[ReachedState]
    timeline: list[ShownMove]
    gates: list[ShownGate]
    digests: Json
    requests: list[RequestRecord]
    approvals: list[ShownApproval]
    refusals: list[ShownRefusal]
    retries: list[ShownRetry]
    kb_folder: str
    documents: list[DocumentRecord]
    audit_head: str | None
    newest_event: str | None
    needs: str
    first: str | None
    next: str
    rejected: ShownRejection | None = None
    lane: str | None = None
    request_flaw: str | None = None
    blocked: str | None = None
    newer: str | None = None

    def as_json(self) -> Json:
        """The run for programs."""
        shown: Json = asdict(self)
        shown["timeline"] = [
            {_MOVE.get(name, name): value for name, value in move.items()} for move in shown["timeline"]
        ]
        return shown


_MOVE = {"from_state": "from"}
_UNNAMED = {"writer_digest": recorded_values.MALFORMED, "candidate_count": recorded_values.MALFORMED}
"""The values of a request that names neither."""


def run_view(sidecar: RunSidecar, refusals: Sequence[ShownRefusal] = (), step: Step | None = None) -> ShownRun:
    """Everything that a reader sees of a run. `refusals` are the refused messages, and `step` is its batch's advice."""
    run, latch, step = sidecar.run, sidecar.latch, step or next_step(sidecar.step_facts)
    timeline = [_move(body, run.created_at) for body in sidecar.transitions]
    # A run that continued after an error keeps that error as its last one, although the error is over.
    reason = None if run.state in tuple(State) else run.error.get("reason")
    if run.outcome == "skipped" and sidecar.step_facts.law_by:
        reason = law_already(sidecar.step_facts.law_by)
    # The audit head that the closeout sealed, with which the evidence bundle ends. The events of the closeout itself
    # come after this head, because a bundle cannot hold an event about its own making.
    closeout = next((receipt.pins for receipt in sidecar.receipts if receipt.gate == "IG_closeout"), {})
    sealed_head = closeout.get("audit_head")
    # The attempts that did not pass, and the attempts after such an attempt.
    retries = [
        ShownRetry(
            gate=attempt.gate, attempt=attempt.n, outcome=attempt.outcome or "no outcome", reason=attempt.reason,
            started_utc=attempt.started_at, seconds=seconds_between(attempt.started_at, attempt.finished_at),
            worker=attempt.lease_owner, next_eligible_at=attempt.next_eligible_at,
        )
        for attempt in sidecar.attempts
        if attempt.n > 1 or attempt.outcome not in ("passed", "rehearsed")
    ]  # fmt: skip
    return ShownRun(
        run_id=run.run_id, document_id=run.document_id, mode=run.mode, state=run.state, outcome=run.outcome,
        code=RunState(run.state).stop_code, starter=run.starter, batch_id=run.batch_id, amends=run.amends,
        created_utc=run.created_at, state_utc=run.state_at, ended_utc=run.ended_at, reason=reason,
        stop=latch if latch.stopped else None,
        wrote=sidecar.step_facts.wrote,
        states=_states(run, timeline),
        timeline=timeline,
        gates=[_gate(gate, sidecar) for gate in GATES],
        digests=state_json(sidecar)["context_pins"],
        requests=[replace(request, tuple={**_UNNAMED, **request.tuple}) for request in sidecar.requests],
        approvals=[_approval(verdict, sidecar) for verdict in sidecar.verdicts if verdict.accepted],
        refusals=_refusals(sidecar, refusals),
        retries=retries,
        kb_folder=folder_of([document.kb_id for document in sidecar.documents]),
        documents=list(sidecar.documents),
        audit_head=str(sealed_head) if sealed_head else sidecar.audit_head,
        newest_event=sidecar.audit_head,
        needs=step.needs.value, first=step.first or None, next=step.command,
    )  # fmt: skip


def law_already(law_by: str) -> str:
    return f"this version is already enacted, by run {law_by}"


def seconds_between(start: str | None, end: str | None) -> float | None:
    """The seconds between two times of the database, to the millisecond. None if one time is missing."""
    if start is None or end is None:
        return None
    return round((datetime.fromisoformat(end) - datetime.fromisoformat(start)).total_seconds(), 3)


def short_time(text: str | None) -> str:
    """A time in the form for people, such as 2026-11-21 09:00:00Z. Empty for None. Programs get the database's text."""
    return readable(datetime.fromisoformat(text)) if text else ""


def folder_of(kb_ids: Sequence[str]) -> str:
    """The folder of most of a run's documents, without a slash at its end. Empty if there are no documents."""
    folders = [kb_id.rpartition("/")[0] for kb_id in kb_ids]
    return max(sorted(set(folders)), key=folders.count, default="")


def _move(body: str, began: str) -> ShownMove:
    """One transition. A malformed one gets the time of the run's beginning, because its own time is unreadable."""
    event = of_audit(body)
    if event is None:
        malformed = recorded_values.MALFORMED
        return ShownMove(at=began, from_state="", to=malformed, trigger=malformed, severity="error",
                         reason=recorded_values.shown(body))  # fmt: skip
    reason = event.metadata.get("reason")
    return ShownMove(
        at=event.timestamp, from_state=event.from_state, to=event.to_state, trigger=event.trigger,
        severity=event.severity,
        reason=reason if reason is None or isinstance(reason, str) else recorded_values.shown(reason),
    )  # fmt: skip


def _states(run: RunRecord, timeline: Sequence[ShownMove]) -> list[ReachedState]:
    """The states in order, each with the time when the run first reached it. A stop, failure or void is at the end."""
    reached = {State.PENDING.value: run.created_at}
    for move in timeline:
        reached.setdefault(move.to, move.at)
    states = [ReachedState(state=state.value, at=reached.get(state.value)) for state in State]
    if run.state not in tuple(State):
        states.append(ReachedState(state=run.state, at=run.state_at))
    return states


def _gate(gate: Gate, sidecar: RunSidecar) -> ShownGate:
    receipt = next((receipt for receipt in sidecar.receipts if receipt.gate == gate.name), None)
    attempts = [attempt for attempt in sidecar.attempts if attempt.gate == gate.name]
    newest = attempts[-1] if attempts else None
    report = (receipt.result if receipt else newest.report if newest else None) or {}
    started = newest.started_at if newest else None
    finished = receipt.sealed_at if receipt else newest.finished_at if newest else None
    outcome = str(newest.outcome or ("lost" if sidecar.run.ended_at is not None else "running")) if newest else ""
    return ShownGate(
        number=gate.number,
        name=gate.name,
        outcome="passed" if receipt else outcome,
        started_utc=started,
        finished_utc=finished,
        seconds=seconds_between(started, finished),
        attempts=len(attempts),
        role=gate.role.value,
        receipt_hash=receipt.receipt_hash if receipt else None,
        invariants=list(report.get("invariants") or []),
        pins=dict(sorted((report.get("pins") or {}).items())),
        notes=list(report.get("notes") or []),
        document=next(
            (
                document
                for document in sidecar.documents
                if document.subject == gate.name and document.kind == "gate_report"
            ),
            None,
        ),
    )


def _approval(verdict: VerdictRecord, sidecar: RunSidecar) -> ShownApproval:
    used = next(
        (consumption for consumption in sidecar.consumptions if consumption.approval_sha256 == verdict.approval_sha256),
        None,
    )
    signed = verdict.statement.get("signed_utc")
    return ShownApproval(
        gate=verdict.gate, decision=verdict.decision, approver=verdict.approver, fingerprint=verdict.fingerprint,
        approval_sha256=verdict.approval_sha256, kb_id=verdict.kb_id, recorded_at=verdict.recorded_at,
        not_after=verdict.not_after, reason=verdict.statement.get("reason"),
        signed_utc=signed if isinstance(signed, str) and parse_instant(signed) else None,
        consumed_at=used.consumed_at if used else None,
    )  # fmt: skip


def _refusals(sidecar: RunSidecar, messages: Sequence[ShownRefusal]) -> list[ShownRefusal]:
    documents = [
        ShownRefusal(
            at=verdict.recorded_at, what=verdict.kb_id, gate=verdict.gate, code=verdict.code, reason=verdict.reason
        )
        for verdict in sidecar.verdicts
        if not verdict.accepted
    ]
    return sorted([*documents, *messages], key=lambda document: datetime.fromisoformat(document.at))
