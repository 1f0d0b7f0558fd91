"""Pure: a batch for people: every document with its times, the queues, the requests and approvals, the gates.

The report and the batch's folder both show it. Times are the database's own texts, and durations are in seconds. The
value does not depend on the time of the look: work that still continues is drawn until the newest time that the
database recorded.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from datetime import datetime
from itertools import groupby

from cutter.batch import batch_step, ways
from cutter.batch.item import Item
from cutter.batch.state import workstream_state
from cutter.batch.view import BatchApproval, BatchFacts, BatchRequest, BatchView, ItemRecord, RefusedDocument
from cutter.catalogue import GATES, PLANNED, State
from cutter.domain.next_step import AWAITING, Needs
from cutter.domain.run_record import AttemptRecord, RunCore
from cutter.domain.run_state import RunState
from cutter.lifecycle.history import of_audit
from cutter.projections.run_view import seconds_between
from cutter.types import Json

RUNNING, PEOPLE, STOPPED, TURN, RETRY = "running", "people", "stopped", "turn", "retry"
"""The kinds of a document's time. In `turn` it waits because another document is written, in `retry` after a fault."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Span:
    """A span of a run's time. If it lies over the span of a state, `over` is the kind of that state."""

    kind: str
    start: str
    end: str
    over: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownDocument:
    """A document with its newest run. `spans` are those of all its runs, and `seconds` their sum for each kind. The
    seconds of a span over a state are subtracted from the state's kind.
    """

    position: int
    document_id: str
    tenant: str
    priority: int
    critical: bool
    depends_on: list[str]
    run_id: str | None
    state: str | None
    queue: str | None
    shown: str
    reason: str | None
    runs: int
    gates_passed: int
    since_utc: str | None
    needs: str
    commands: list[str]
    spans: list[Span]
    seconds: dict[str, float]


@dataclass(frozen=True, slots=True, kw_only=True)
class QueueEntry:
    """An entry that waits in a queue, with the commands that continue its document."""

    document_id: str
    run_id: str | None
    state: str
    code: str
    reason: str
    kb_id: str
    entered_utc: str
    commands: list[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownBatchRequest(BatchRequest):
    approvals: list[BatchApproval]


@dataclass(frozen=True, slots=True, kw_only=True)
class Signer:
    """A person with a key: the number of signed approvals, and of those that a gate used."""

    approver: str
    fingerprint: str
    signed: int
    consumed: int


@dataclass(frozen=True, slots=True, kw_only=True)
class GateTimes:
    """A passed gate: the number of passes, the median and the longest time, and the slowest document."""

    number: int
    name: str
    passed: int
    retried: int
    median_seconds: float
    slowest_seconds: float
    slowest: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownBatch:
    """Everything that a reader sees of a batch. `moves` are the batch's own transitions. Without history, the spans,
    requests, signers and gates are empty.
    """

    batch_id: str
    mode: str
    policy: str
    unattended: bool
    lanes: int
    hard_cap_minutes: float
    queue_sha256: str
    created_by: str
    starter: str
    created_utc: str
    ended_utc: str | None
    until_utc: str
    state: str
    workstream: str
    partial: bool
    halted: str | None
    halted_reason: str | None
    totals: Mapping[str, int]
    next: str
    documents: list[ShownDocument]
    queues: dict[str, list[QueueEntry]]
    requests: list[ShownBatchRequest]
    signers: list[Signer]
    refused: list[RefusedDocument]
    gates: list[GateTimes]
    moves: list[Json]
    with_history: bool

    def as_json(self) -> Json:
        return asdict(self)


def batch_view(facts: BatchFacts) -> ShownBatch:
    # Whether an approval still counts depends on the clock.
    view = facts.view.without_approvals()
    batch, items = view.batch, batch_step.items_of(view)
    summary = batch_step.summarise(view, attended=view.attended)
    # The newest time that the database recorded for the batch.
    times: list[str | None] = [batch.created_at, batch.state_at, *(run.ended_at for run in facts.runs)]
    times += [
        at for tries in facts.attempts.values() for attempt in tries for at in (attempt.started_at, attempt.finished_at)
    ]
    times += [move.at for moves in facts.moves.values() for move in moves]
    times += [request.requested_at for request in facts.requests]
    times += [approval.recorded_at for approval in facts.approvals]
    until = max((at for at in times if at), key=datetime.fromisoformat)
    shown = {item.document_id: item.shown for item in items}
    runs: dict[str, list[RunCore]] = {}
    for run in facts.runs:
        runs.setdefault(run.document_id, []).append(run)
    return ShownBatch(
        batch_id=batch.batch_id,
        mode=batch.mode,
        policy=batch.policy,
        unattended=batch.unattended,
        lanes=batch.lanes,
        hard_cap_minutes=batch.hard_cap_seconds / 60,
        queue_sha256=batch.queue_sha256,
        created_by=batch.created_by,
        starter=batch.starter,
        created_utc=batch.created_at,
        ended_utc=batch.ended_at,
        until_utc=until,
        state=batch.state,
        workstream=workstream_state(items, halted=batch.halted is not None, closed=batch.ended_at is not None).value,
        partial=summary.partial,
        halted=batch.halted,
        halted_reason=batch.halted_reason,
        totals=summary.totals,
        next=ways.next_command(view, summary),
        documents=[
            _document(item, shown[item.document_id], facts, runs.get(item.document_id, []), until)
            for item in view.items
        ],
        queues=_queues(facts, view),
        requests=_requests(facts),
        signers=_signers(facts.approvals),
        refused=list(facts.refused),
        gates=_gates(facts),
        moves=[event.as_json() for event in map(of_audit, facts.batch_moves) if event is not None],
        with_history=facts.with_history,
    )


def planned_items(facts: BatchFacts) -> list[Item]:
    """The items as they were when the plan was made: the accepted items have not begun."""
    view = facts.view
    return [
        Item(
            document_id=record.document_id, position=record.position, priority=record.priority,
            depends_on=tuple(record.depends_on), critical=record.critical, tenant=record.tenant,
        )
        if record.run_id is not None or record.decided is None
        else item
        for record, item in zip(view.items, batch_step.items_of(view), strict=True)
    ]  # fmt: skip


def gates_of(mode: str) -> int:
    """The number of receipts of a successful document in this mode. A rehearsed write leaves no receipt."""
    return len(PLANNED) if mode == "dryrun" else len(GATES)


# --- documents --------------------------------------------------------------------------------------------------------


def _document(
    item: ItemRecord, shown: str, facts: BatchFacts, runs: Sequence[RunCore], until: str
) -> ShownDocument:  # fmt: skip
    spans = [span for run in runs for span in _spans(run, facts, until)]
    sums: dict[str, float] = {}
    for span in spans:
        seconds = seconds_between(span.start, span.end) or 0.0
        sums[span.kind] = sums.get(span.kind, 0.0) + seconds
        if span.over:
            sums[span.over] -= seconds
    step = ways.item_step(facts.view.batch.batch_id, item)
    return ShownDocument(
        position=item.position,
        document_id=item.document_id,
        tenant=item.tenant,
        priority=item.priority,
        critical=item.critical,
        depends_on=item.depends_on,
        run_id=item.run_id,
        state=item.state,
        queue=item.queue,
        shown=shown,
        reason=item.reason if item.decided or shown in ("failed", "stopped", "voided") else None,
        runs=len(runs),
        gates_passed=len(facts.receipts.get(item.run_id or "", {})),
        since_utc=item.ended_at or item.state_at,
        needs=step.needs.value if step else Needs.NOTHING.value,
        commands=list(step.commands) if step else [],
        spans=spans,
        seconds={kind: round(max(seconds, 0.0), 3) for kind, seconds in sums.items()},
    )


def _spans(run: RunCore, facts: BatchFacts, until: str) -> list[Span]:
    """The spans of a run: those of its states, then the attempts and pauses that are more exact than the state in
    which they begin.
    """
    # Neighbouring states of one kind are joined. Times of the database have one form, so they are compared as texts.
    moves = facts.moves.get(run.run_id, ())
    points = [(run.created_at, State.PENDING.value), *((move.at, move.to_state) for move in moves)]
    ends = [*(at for at, _ in points[1:]), run.ended_at or until]
    states = []
    for kind, group in groupby(zip(points, ends, strict=True), key=lambda state: _kind(state[0][1])):
        joined = list(group)
        if kind:
            states.append(Span(kind=kind, start=joined[0][0][0], end=joined[-1][1]))
    tries = facts.attempts.get(run.run_id, ())
    attempts = [Span(kind=RUNNING, start=attempt.started_at, end=attempt.finished_at or until) for attempt in tries]
    # Between two attempts of a gate there is a pause. After an attempt that lacked an approval there is none, because
    # the run waits for people.
    pauses = []
    before: dict[str, AttemptRecord] = {}
    for attempt in tries:
        last = before.get(attempt.gate)
        if last and last.finished_at and last.outcome != "approval_refused":
            kind = TURN if last.outcome == "lane_busy" else RETRY
            pauses.append(Span(kind=kind, start=last.finished_at, end=attempt.started_at))
        before[attempt.gate] = attempt
    exact = []
    for span in (*attempts, *pauses):
        under = next((state for state in states if state.start <= span.start < state.end), None)
        if under is not None and under.kind not in (STOPPED, span.kind):
            exact.append(replace(span, end=min(span.end, under.end), over=under.kind))
    return states + exact


def _kind(state: str) -> str:
    """The kind of time in a state. Empty for a state that ends the run."""
    if state in AWAITING:
        return PEOPLE
    if RunState(state).stopped:
        return STOPPED
    ended = state == State.CLOSEOUT_REPORTED or RunState(state).failed or RunState(state).voided
    return "" if ended else RUNNING


# --- queues, people, gates --------------------------------------------------------------------------------------------


def _queues(facts: BatchFacts, view: BatchView) -> dict[str, list[QueueEntry]]:
    """The entries that wait in each of the three queues. The entry that waits longest comes first."""
    items = view.by_document
    queues: dict[str, list[QueueEntry]] = {queue: [] for queue in batch_step.QUEUES}
    for row in facts.queue:
        if row.left_at is None:
            step = ways.item_step(row.batch_id, items[row.document_id])
            queues[row.queue].append(
                QueueEntry(
                    document_id=row.document_id, run_id=row.run_id, state=row.state, code=row.code, reason=row.reason,
                    kb_id=row.kb_id, entered_utc=row.entered_at, commands=list(step.commands) if step else [],
                )
            )  # fmt: skip
    return queues


def _requests(facts: BatchFacts) -> list[ShownBatchRequest]:
    """Every request, in their order. The newest request of a run at a gate has the approvals."""
    by_run: dict[tuple[str, str], list[BatchApproval]] = {}
    for approval in facts.approvals:
        by_run.setdefault((approval.run_id, approval.gate), []).append(approval)
    newest = {
        (request.run_id, request.gate): request.n for request in sorted(facts.requests, key=lambda request: request.n)
    }
    return [
        ShownBatchRequest(
            **{name.name: getattr(request, name.name) for name in fields(BatchRequest)},
            approvals=by_run.get((request.run_id, request.gate), [])
            if newest[request.run_id, request.gate] == request.n
            else [],
        )
        for request in facts.requests
    ]


def _signers(approvals: Sequence[BatchApproval]) -> list[Signer]:
    signed: dict[tuple[str, str], list[BatchApproval]] = {}
    for approval in approvals:
        signed.setdefault((approval.approver, approval.fingerprint), []).append(approval)
    return [
        Signer(
            approver=approver, fingerprint=fingerprint, signed=len(mine),
            consumed=sum(approval.consumed_at is not None for approval in mine),
        )
        for (approver, fingerprint), mine in sorted(signed.items())
    ]  # fmt: skip


def _gates(facts: BatchFacts) -> list[GateTimes]:
    """Each passed gate, the slowest one first."""
    documents_of = {run.run_id: run.document_id for run in facts.runs}
    times: dict[str, list[tuple[float, str]]] = {}
    for run_id, receipts in facts.receipts.items():
        started = {attempt.gate: attempt.started_at for attempt in facts.attempts.get(run_id, ())}
        for name, sealed in receipts.items():
            seconds = seconds_between(started.get(name), sealed)
            if seconds is not None:
                times.setdefault(name, []).append((seconds, documents_of[run_id]))
    retried = Counter(attempt.gate for tries in facts.attempts.values() for attempt in tries if attempt.n > 1)
    gates = []
    for gate in GATES:
        if gate.name in times:
            passes = sorted(times[gate.name])
            slowest, document_id = passes[-1]
            gates.append(
                GateTimes(
                    number=gate.number, name=gate.name, passed=len(passes), retried=retried[gate.name],
                    median_seconds=passes[len(passes) // 2][0], slowest_seconds=slowest, slowest=document_id,
                )
            )  # fmt: skip
    return sorted(gates, key=lambda gate: (-gate.slowest_seconds, gate.number))
