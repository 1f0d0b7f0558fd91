"""Pure: a batch for people: every document with its times, the queues, the requests and approvals, the gates.

The value comes from the answer of one query (`batch_facts`). The report and the batch's folder both show it. It is
plain JSON: times are the database's own texts, and durations are in seconds. It does not depend on the time of the
look: work that still continues is drawn until the newest time that the database recorded.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from datetime import datetime

from cutter.batch import batch_step, ways
from cutter.batch.facts import BatchApproval, BatchFacts, RunMove
from cutter.batch.item import Item
from cutter.batch.state import workstream_state
from cutter.batch.view import BatchView, ItemRecord
from cutter.catalogue import GATES, PLANNED, State
from cutter.domain.next_step import AWAITING, Needs
from cutter.domain.run_record import AttemptRecord, RunCore
from cutter.domain.run_state import RunState
from cutter.lifecycle.history import of_audit
from cutter.projections.run_view import seconds_between
from cutter.types import Json

RUNNING, PEOPLE, STOPPED, TURN, RETRY = "running", "people", "stopped", "turn", "retry"
"""The kinds of a document's time. In `turn` it waits because another document is written, in `retry` after a fault."""


def batch_view(facts: BatchFacts) -> Json:
    """Everything that a reader sees of a batch."""
    seen = _without_clock(facts.view)
    batch, items = seen.batch, batch_step.items_of(seen)
    summary = batch_step.summarise(seen, attended=seen.attended)
    until = _last(facts)
    shown = {item.document_id: (item.outcome or item.stage).value for item in items}
    runs: dict[str, list[RunCore]] = {}
    for run in facts.runs:
        runs.setdefault(run.document_id, []).append(run)
    return {
        "batch_id": batch.batch_id,
        "mode": batch.mode,
        "policy": batch.policy,
        "unattended": batch.unattended,
        "lanes": batch.lanes,
        "hard_cap_minutes": batch.hard_cap_seconds / 60,
        "queue_sha256": batch.queue_sha256,
        "created_by": batch.created_by,
        "starter": batch.starter,
        "created_utc": batch.created_at,
        "ended_utc": batch.ended_at,
        "until_utc": until,
        "state": batch.state,
        "workstream": workstream_state(items, halted=batch.halted is not None, closed=batch.ended_at is not None).value,
        "partial": summary.partial,
        "halted": batch.halted,
        "halted_reason": batch.halted_reason,
        "totals": summary.totals,
        "next": ways.next_command(seen, summary),
        "documents": [
            _document(one, shown[one.document_id], facts, runs.get(one.document_id, []), until) for one in seen.items
        ],
        "queues": _queues(facts, seen),
        "requests": _requests(facts),
        "signers": _signers(facts.approvals),
        "refused": [asdict(one) for one in facts.refused],
        "gates": _gates(facts),
        "moves": [event.as_json() for event in map(of_audit, facts.batch_moves) if event is not None],
    }


def planned_items(facts: BatchFacts) -> list[Item]:
    """The items as they were when the plan was made: the accepted items have not begun."""
    seen = facts.view
    return [
        Item(
            document_id=one.document_id, position=one.position, priority=one.priority,
            depends_on=tuple(one.depends_on), critical=one.critical, tenant=one.tenant,
        )
        if one.run_id is not None or one.decided is None
        else item
        for one, item in zip(seen.items, batch_step.items_of(seen), strict=True)
    ]  # fmt: skip


def gates_of(mode: str) -> int:
    """The number of receipts of a successful document in this mode. A rehearsed write leaves no receipt."""
    return len(PLANNED) if mode == "dryrun" else len(GATES)


def _without_clock(seen: BatchView) -> BatchView:
    """The view without approvals that are not used yet, because their validity depends on the clock."""
    return replace(seen, items=tuple(replace(one, approved=False) for one in seen.items))


def _last(facts: BatchFacts) -> str:
    """The newest time that the database recorded for the batch."""
    batch = facts.view.batch
    times: list[str | None] = [batch.created_at, batch.state_at, *(one.ended_at for one in facts.runs)]
    times += [at for tries in facts.attempts.values() for one in tries for at in (one.started_at, one.finished_at)]
    times += [move.at for moves in facts.moves.values() for move in moves]
    times += [one.requested_at for one in facts.requests]
    times += [one.recorded_at for one in facts.approvals]
    return max((at for at in times if at), key=datetime.fromisoformat)


# --- documents --------------------------------------------------------------------------------------------------------


def _document(item: ItemRecord, shown: str, facts: BatchFacts, runs: Sequence[RunCore], until: str) -> Json:
    receipts = facts.receipts.get(item.run_id or "", {})
    spans = [span for run in runs for span in _spans(run, facts, until)]
    step = ways.item_step(facts.view.batch.batch_id, item)
    names = ("position", "document_id", "tenant", "priority", "critical", "depends_on", "run_id", "state", "queue")
    return {
        **{name: getattr(item, name) for name in names},
        "shown": shown,
        "reason": item.reason if item.decided or shown in ("failed", "stopped", "voided") else None,
        "runs": len(runs),
        "gates_passed": len(receipts),
        "since_utc": item.ended_at or item.state_at,
        "needs": step.needs.value if step else Needs.NOTHING.value,
        "commands": list(step.commands) if step else [],
        "spans": spans,
        "seconds": _sums(spans),
    }


def _spans(run: RunCore, facts: BatchFacts, until: str) -> list[Json]:
    """The spans of a run: first those of its states, then the attempts and pauses that lie over them."""
    tries = facts.attempts.get(run.run_id, ())
    states = list(_states(run, facts.moves.get(run.run_id, ()), until))
    return states + list(_over(states, [*_attempts(tries, until), *_pauses(tries)]))


def _over(states: Sequence[Json], spans: Sequence[Json]) -> Iterator[Json]:
    """The spans that are more exact than the state in which they begin. `over` is the kind of that state."""
    for span in spans:
        under = next((one for one in states if one["start"] <= span["start"] < one["end"]), None)
        if under is not None and under["kind"] not in (STOPPED, span["kind"]):
            yield {**span, "end": min(span["end"], under["end"]), "over": under["kind"]}


def _states(run: RunCore, moves: Sequence[RunMove], until: str) -> Iterator[Json]:
    """The spans of a run's states, where neighbours of one kind are joined.

    The database's times are texts of one form, so they are compared as texts.
    """
    points = [(run.created_at, State.PENDING.value), *((move.at, move.to_state) for move in moves)]
    ends = [*(at for at, _ in points[1:]), run.ended_at or until]
    open_: Json | None = None
    for (start, state), end in zip(points, ends, strict=True):
        kind = _kind(state)
        if open_ and open_["kind"] == kind:
            open_["end"] = end
            continue
        if open_:
            yield open_
        open_ = _span(kind, start, end) if kind else None
    if open_:
        yield open_


def _kind(state: str) -> str:
    """The kind of time in a state. Empty for a state that ends the run."""
    if state in AWAITING:
        return PEOPLE
    if RunState(state).stopped:
        return STOPPED
    ended = state == State.CLOSEOUT_REPORTED or RunState(state).failed or RunState(state).voided
    return "" if ended else RUNNING


def _attempts(tries: Sequence[AttemptRecord], until: str) -> Iterator[Json]:
    return (_span(RUNNING, one.started_at, one.finished_at or until) for one in tries)


def _pauses(tries: Sequence[AttemptRecord]) -> Iterator[Json]:
    """The pauses between two attempts of a gate.

    After an attempt that lacked an approval there is no pause, because the run waits for people.
    """
    before: dict[str, AttemptRecord] = {}
    for one in tries:
        last = before.get(one.gate)
        if last and last.finished_at and last.outcome != "approval_refused":
            yield _span(TURN if last.outcome == "lane_busy" else RETRY, last.finished_at, one.started_at)
        before[one.gate] = one


def _span(kind: str, start: str, end: str) -> Json:
    return {"kind": kind, "start": start, "end": end, "over": None}


def _sums(spans: Sequence[Json]) -> dict[str, float]:
    """The seconds of each kind. The seconds of a span over a state are subtracted from the state's kind."""
    sums: dict[str, float] = {}
    for span in spans:
        seconds = seconds_between(span["start"], span["end"]) or 0.0
        sums[span["kind"]] = sums.get(span["kind"], 0.0) + seconds
        if span["over"]:
            sums[span["over"]] -= seconds
    return {kind: round(max(seconds, 0.0), 3) for kind, seconds in sums.items()}


# --- queues, people, gates --------------------------------------------------------------------------------------------


def _queues(facts: BatchFacts, seen: BatchView) -> dict[str, list[Json]]:
    """The entries that wait in each of the three queues. The entry that waits longest comes first."""
    items = seen.by_document()
    queues: dict[str, list[Json]] = {queue: [] for queue in batch_step.QUEUES}
    for row in facts.queue:
        if row.left_at is None:
            item = items[row.document_id]
            step = ways.item_step(row.batch_id, item)
            names = ("document_id", "run_id", "state", "code", "reason", "kb_id")
            queues[row.queue].append(
                {**{name: getattr(row, name) for name in names}, "entered_utc": row.entered_at,
                 "commands": list(step.commands) if step else []}
            )  # fmt: skip
    return queues


def _requests(facts: BatchFacts) -> list[Json]:
    """Every request with its approvals, in the order of the requests."""
    by_run: dict[tuple[str, str], list[Json]] = {}
    for one in facts.approvals:
        by_run.setdefault((one.run_id, one.gate), []).append(asdict(one))
    last = {(one.run_id, one.gate): one.n for one in sorted(facts.requests, key=lambda one: one.n)}
    return [
        {**asdict(one), "approvals": by_run.get((one.run_id, one.gate), [])
         if last[one.run_id, one.gate] == one.n else []}
        for one in facts.requests
    ]  # fmt: skip


def _signers(approvals: Sequence[BatchApproval]) -> list[Json]:
    """Each signer with the key, the number of signed approvals and the number of consumed approvals."""
    found: dict[tuple[str, str], Json] = {}
    for one in approvals:
        key = (one.approver, one.fingerprint)
        signer = found.setdefault(key, {"approver": key[0], "fingerprint": key[1], "signed": 0, "consumed": 0})
        signer["signed"] += 1
        signer["consumed"] += one.consumed_at is not None
    return [found[key] for key in sorted(found)]


def _gates(facts: BatchFacts) -> list[Json]:
    """Each passed gate: the number of passes, the median and the longest time, and the slowest document.

    The slowest gate comes first.
    """
    documents_of = {one.run_id: one.document_id for one in facts.runs}
    times: dict[str, list[tuple[float, str]]] = {}
    for run_id, receipts in facts.receipts.items():
        started = {one.gate: one.started_at for one in facts.attempts.get(run_id, ())}
        for gate, sealed in receipts.items():
            seconds = seconds_between(started.get(gate), sealed)
            if seconds is not None:
                times.setdefault(gate, []).append((seconds, documents_of[run_id]))
    retried = _retried(facts.attempts)
    gates = [_gate(gate.number, gate.name, sorted(times[gate.name]), retried) for gate in GATES if gate.name in times]
    return sorted(gates, key=lambda one: (-one["slowest_seconds"], one["number"]))


def _gate(number: int, name: str, times: Sequence[tuple[float, str]], retried: Mapping[str, int]) -> Json:
    slowest, document_id = times[-1]
    return {
        "number": number, "name": name, "passed": len(times), "retried": retried.get(name, 0),
        "median_seconds": times[len(times) // 2][0], "slowest_seconds": slowest, "slowest": document_id,
    }  # fmt: skip


def _retried(attempts: Mapping[str, Sequence[AttemptRecord]]) -> dict[str, int]:
    counts: dict[str, int] = {}
    for tries in attempts.values():
        for one in tries:
            if one.n > 1:
                counts[one.gate] = counts.get(one.gate, 0) + 1
    return counts
