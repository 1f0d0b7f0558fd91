"""Pure: makes the events of the transitions of a run, and of a batch with its workstreams, from the database's rows.

It is a projection: the same rows give the same events, so transitions.jsonl can be rebuilt byte for byte. The moves of
the run, of its approvals and of the batch are the events in audit_event. The moves of requests, runs, steps and tasks
come from the views (`cutter.lifecycle.views`). Each has the time of the recorded change that caused it.

A workstream is one continuous attempt at a batch's queue file. An ended workstream stays ended. If a batch is resumed
after its end, a new workstream of the same batch begins, `<batch id>#2`. Its tasks are the runs that are registered in
it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from cutter import limits
from cutter.batch.view import BatchFacts, BatchRecord, ItemRecord
from cutter.domain.recorded_values import parsed
from cutter.domain.retry import Denial
from cutter.domain.run_record import AttemptRecord, RunCore, RunSidecar
from cutter.domain.run_state import BatchState, RunState, WorkstreamState
from cutter.lifecycle.declarations import (
    APPROVAL,
    BATCH,
    DOCUMENT_RUN,
    REQUEST,
    RUN,
    STEP,
    TASK,
    TASKS_FAILED,
    WORKSTREAM,
    Lifecycle,
)
from cutter.lifecycle.events import FIELDS, Event, instant, timed, transition
from cutter.lifecycle.views import (
    Began,
    Change,
    Finished,
    Moved,
    RunFacts,
    StepStatus,
    Tried,
    after,
    request_status,
    run_status,
    step_status,
    steps_of,
    task_state,
)
from cutter.types import Json


@dataclass(frozen=True, slots=True, kw_only=True)
class Recorded:
    """One recorded change with its time and its cause in words. If it is a transition, also its authoritative event."""

    at: str
    change: Change | None = None
    cause: str = ""
    reason: str = ""
    worker: str = ""
    event: Event | None = None


def run_events(sidecar: RunSidecar) -> list[Event]:
    """Every transition of a run and of its views, by time."""
    run = sidecar.run
    about = {"run_id": run.run_id, "document_id": run.document_id}
    return events_of(run, recorded(sidecar), about=about, dryrun=run.mode == "dryrun")


def events_of(run: RunCore, changes: Iterable[Recorded], *, about: Mapping[str, Any], dryrun: bool) -> list[Event]:
    """The events of one run from its recorded changes. Each event of a view gets the metadata `about`."""
    views = _Views(entity_id=run.run_id, about=about, dryrun=dryrun, created=run.created_at)
    events = list(views.begin())
    for change in changes:
        if change.event is not None:
            events.append(change.event)
        events += views.follow(change)
    created = instant(run.created_at)
    since = {(RUN.event_type, run.run_id): created, (TASK.event_type, run.run_id): created}
    since[REQUEST.event_type, f"{run.run_id}#1"] = created
    # An event of the audit chain stays unchanged.
    return list(timed(events, since, but=frozenset({DOCUMENT_RUN.event_type, APPROVAL.event_type})))


def run_facts(sidecar: RunSidecar) -> RunFacts:
    facts = RunFacts()
    for record in recorded(sidecar):
        if record.change is not None:
            facts = after(facts, record.change)
    return facts


def recorded(sidecar: RunSidecar) -> list[Recorded]:
    """The recorded changes of a run, by time."""
    moves = [moved(event) for event in map(of_audit, sidecar.transitions) if event is not None]
    approvals = [
        Recorded(at=instant(event.timestamp), event=event) for event in map(of_audit, sidecar.approval_moves) if event
    ]
    return in_order(sidecar.run, [*moves, *approvals], sidecar.attempts)


def moved(event: Event) -> Recorded:
    return Recorded(
        at=instant(event.timestamp), change=Moved(to=event.to_state), cause=f"{event.trigger}: {event.to_state}",
        reason=str(event.metadata.get("reason") or ""), event=event,
    )  # fmt: skip


def in_order(run: RunCore, moves: Iterable[Recorded], attempts: Iterable[AttemptRecord]) -> list[Recorded]:
    """The moves, the attempts and an end without a write, by time."""
    records = [*moves]
    for attempt in attempts:
        gate, number = attempt.gate, attempt.n
        began = Recorded(
            at=instant(attempt.started_at), change=Began(gate=gate, attempt=number), cause=f"{gate} attempt {number}",
            worker=attempt.lease_owner or "",
        )  # fmt: skip
        records.append(began)
        if attempt.finished_at is not None and attempt.outcome is not None:
            again = attempt.outcome == "unavailable" and attempt.next_eligible_at is not None
            tried = Recorded(
                at=instant(attempt.finished_at),
                change=Tried(gate=gate, attempt=number, outcome=attempt.outcome, again=again),
                cause=f"{gate} attempt {number}: {attempt.outcome}", reason=attempt.reason or "",
            )  # fmt: skip
            records.append(tried)
    if run.outcome is not None and run.ended_at:
        records.append(Recorded(at=instant(run.ended_at), change=Finished(outcome=run.outcome), cause="ended"))
    return sorted(records, key=lambda record: record.at)


def of_audit(body: str) -> Event | None:
    """The event in the body of an audit event; None if it holds none."""
    value = parsed(body)
    if not all(isinstance(value.get(name), str) for name in FIELDS[:-1]) or not isinstance(value.get("metadata"), dict):
        return None
    try:
        instant(value["timestamp"])
    except ValueError:
        return None
    return Event(**{name: value[name] for name in FIELDS})


# --- the views of one run ---------------------------------------------------------------------------------------------


@dataclass(slots=True, kw_only=True)
class _Views:
    """The present state of each view, by (lifecycle, entity)."""

    entity_id: str
    about: Mapping[str, Any]
    created: str
    dryrun: bool = False
    facts: RunFacts = field(default_factory=RunFacts)
    stand: dict[tuple[str, str], str] = field(default_factory=dict)
    started: str = ""

    def follow(self, record: Recorded) -> Iterator[Event]:
        if record.change is None:
            return
        before, self.facts = self.facts, after(self.facts, record.change)
        facts = self.facts
        if facts.begun and not self.started:
            self.started = record.at
        gates = {gate.name: gate for gate in (before.gate, facts.gate) if gate is not None}
        for gate in gates.values():
            status = step_status(facts, gate)
            yield from self._view(STEP, f"{self.entity_id}/{gate.name}", status, record, gate=gate.name)
        yield from self._view(REQUEST, self._request(facts), request_status(facts), record)
        yield from self._view(RUN, self.entity_id, run_status(facts), record)
        yield from self._view(TASK, self.entity_id, task_state(facts), record)

    def begin(self) -> Iterator[Event]:
        """A registered run is accepted: its first request and its task are queued."""
        record = Recorded(at=instant(self.created), cause="registered")
        yield from self._view(REQUEST, self._request(self.facts), request_status(self.facts), record)
        yield from self._view(TASK, self.entity_id, task_state(self.facts), record)

    def _request(self, facts: RunFacts) -> str:
        return f"{self.entity_id}#{facts.request}"

    def _view(self, lifecycle: Lifecycle, entity: str, status: str, record: Recorded, **more: Any) -> Iterator[Event]:
        """The events on the way to a status. There are none if the view does not change."""
        key = (lifecycle.name, entity)
        before = self.stand.get(key, lifecycle.initial)
        for state in () if before == status else lifecycle.path(before, str(status)):
            self.stand[key] = state
            yield transition(
                lifecycle, entity, before, state, at=record.at,
                metadata={**self.about, **self._more(lifecycle, state, record), **more},
            )  # fmt: skip
            before = state

    def _more(self, lifecycle: Lifecycle, state: str, record: Recorded) -> Json:
        more: Json = {"cause": record.cause}
        if record.reason:
            more["reason"] = record.reason
        if lifecycle is REQUEST and state == "failed":
            code = record.reason.partition(":")[0]
            more["reason_code"] = code if code in tuple(Denial) else self.facts.state
        if lifecycle is RUN:
            steps = steps_of(self.facts, dryrun=self.dryrun)
            done = [gate for gate in steps if step_status(self.facts, gate) is StepStatus.SUCCEEDED]
            more |= {"steps": len(steps), "steps_succeeded": len(done)}
        if lifecycle is not TASK:
            return more | ({"worker_id": record.worker} if record.worker else {})
        more |= {"retry_count": self.facts.retries, "max_retries": limits.FAILURE_BUDGET_A_RUN,
                 "created_at": instant(self.created)}  # fmt: skip
        if self.started:
            more["started_at"] = self.started
        if state == "running" and record.worker:
            # Not `worker_id`: each step has its own worker, and the task stays with none of them.
            more["started_by_worker"] = record.worker
        if state == "completed":
            more["completed_at"] = record.at
        if state == "failed":
            more["retryable"] = False
        return more


_ENDS = {
    BatchState.CLOSEOUT.value: WorkstreamState.COMPLETED,
    BatchState.FAILED_PARTIAL.value: WorkstreamState.FAILED,
    BatchState.VOIDED.value: WorkstreamState.CANCELLED,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class _Batch:
    """The facts of a batch for repeated look-ups. `runs` has (time of registration, run id) by document, by time."""

    facts: BatchFacts
    row: BatchRecord
    items: Mapping[str, ItemRecord]
    runs: Mapping[str, list[tuple[str, str]]]
    moves: tuple[Event, ...]

    def number(self, at: str) -> int:
        """The number of the workstream at that time: the number of workstreams that ended before, plus one."""
        return 1 + sum(BATCH.is_terminal(move.to_state) and move.timestamp < at for move in self.moves)

    def newest(self, document_id: str, before: str) -> str | None:
        """The newest run of a document in this batch that was registered before a time, or None."""
        return next((run for at, run in reversed(self.runs.get(document_id, [])) if at < before), None)

    def moves_of(self, run_id: str) -> Iterator[tuple[str, str]]:
        return ((instant(move.stamp), move.to_state) for move in self.facts.moves.get(run_id, ()))


def batch_events(facts: BatchFacts) -> list[Event]:
    """Every transition of a batch, its workstreams and tasks, by time."""
    runs: dict[str, list[tuple[str, str]]] = {}
    for run in facts.runs:
        runs.setdefault(run.document_id, []).append((instant(run.created_at), run.run_id))
    batch = _Batch(
        facts=facts, row=facts.view.batch, items=facts.view.by_document, runs=runs,
        moves=tuple(event for event in map(of_audit, facts.batch_moves) if event is not None),
    )  # fmt: skip
    events = [*batch.moves, *_workstreams(batch)]
    for run in facts.runs:
        changes = [Recorded(at=at, change=Moved(to=to), cause=to) for at, to in batch.moves_of(run.run_id)]
        changes = in_order(run, changes, facts.attempts.get(run.run_id, ()))
        item, created = batch.items[run.document_id], instant(run.created_at)
        before = batch.newest(run.document_id, created)
        about = {
            "run_id": run.run_id, "document_id": run.document_id,
            "workstream_id": f"{batch.row.batch_id}#{batch.number(created)}", "critical": item.critical,
            "dependencies": [newest for name in item.depends_on if (newest := batch.newest(name, created))],
            **({"replaces": before} if before else {}),
        }  # fmt: skip
        of_run = events_of(run, changes, about=about, dryrun=batch.row.mode == "dryrun")
        events += [event for event in of_run if event.event_type == TASK.event_type]
    # If the end of a task and the change of its batch have the same time, the task comes first.
    ordered = sorted(events, key=lambda event: (event.timestamp, event.event_type != TASK.event_type))
    since = {(WORKSTREAM.event_type, f"{batch.row.batch_id}#1"): instant(batch.row.created_at)}
    return list(timed(ordered, since, but=frozenset({BATCH.event_type})))


def _workstreams(batch: _Batch) -> Iterator[Event]:
    """The events of a batch's workstreams: a registered batch has all its tasks, and each move changes it."""
    batch_id = batch.row.batch_id
    stand = {1: WorkstreamState.READY.value}
    yield transition(WORKSTREAM, f"{batch_id}#1", WORKSTREAM.initial, stand[1], at=batch.row.created_at,
                     metadata={"batch_id": batch_id, "cause": "registered"})  # fmt: skip
    for move in batch.moves:
        number = batch.number(move.timestamp)
        target = _ENDS.get(move.to_state, WorkstreamState.EXECUTING).value
        about = {"batch_id": batch_id, "cause": f"{move.trigger}: {move.to_state}"}
        critical = _critical(batch, move.timestamp) if target == WorkstreamState.FAILED else []
        for state in WORKSTREAM.path(stand.get(number, WORKSTREAM.initial), target):
            before = stand.get(number, WORKSTREAM.initial)
            stand[number] = state
            failed = state == WorkstreamState.FAILED
            yield transition(
                WORKSTREAM, f"{batch_id}#{number}", before, state, at=move.timestamp,
                trigger=TASKS_FAILED if failed and not critical else "",
                metadata={**about, "archived": True, "critical": critical} if failed else about,
            )  # fmt: skip


def _critical(batch: _Batch, at: str) -> list[str]:
    """The critical documents (under `strict` all) whose newest run had failed or stopped at that time."""
    strict = batch.row.policy == "strict"
    documents = []
    for document_id, runs in batch.runs.items():
        newest = RunState("".join([to for moved, to in batch.moves_of(runs[-1][1]) if moved <= at][-1:]))
        if (strict or batch.items[document_id].critical) and (newest.failed or newest.stopped):
            documents.append(document_id)
    return sorted(documents)
