"""Pure: makes the events of a batch, its workstreams and their tasks from the rows of the database.

A workstream is one continuous attempt at a batch's queue file. An ended workstream stays ended. If a batch is resumed
after its end, a new workstream of the same batch begins, `<batch id>#2`. Its tasks are the runs that are registered in
it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from cutter.batch.view import BatchFacts, BatchRecord, ItemRecord
from cutter.domain.run_state import BatchState, RunState, WorkstreamState
from cutter.lifecycle.declarations import BATCH, TASK, TASKS_FAILED, WORKSTREAM
from cutter.lifecycle.events import Event, instant, timed, transition
from cutter.lifecycle.history import Recorded, events_of, in_order, of_audit
from cutter.lifecycle.views import Moved

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
    """The events of a batch's workstreams.

    A registered batch has all its tasks, and each move changes its workstream.
    """
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
    """The critical documents whose newest run had failed or was stopped at that time, so that the batch ended.

    Under the policy `strict` each document is critical. Under other policies, the queue file marks the critical ones.
    """
    strict = batch.row.policy == "strict"
    documents = []
    for document_id, runs in batch.runs.items():
        newest = RunState("".join([to for moved, to in batch.moves_of(runs[-1][1]) if moved <= at][-1:]))
        if (strict or batch.items[document_id].critical) and (newest.failed or newest.stopped):
            documents.append(document_id)
    return sorted(documents)
