"""Pure: the transitions of a batch, of its workstreams and of their tasks as events, from what the database recorded.

A workstream is one continuous attempt at a batch's queue: what ended stays ended, and a batch that is resumed after its
end is a new workstream of the same batch, `<batch id>#2`. Its tasks are the runs that were registered in it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from cutter.batch.state import BatchState, WorkstreamState
from cutter.lifecycle.declared import BATCH, TASK, WORKSTREAM
from cutter.lifecycle.events import Event, instant, transition
from cutter.lifecycle.facts import Moved
from cutter.lifecycle.history import Recorded, events_of, in_order, of_audit

Json = dict[str, Any]

_ENDS = {
    BatchState.CLOSEOUT.value: WorkstreamState.COMPLETED,
    BatchState.FAILED_PARTIAL.value: WorkstreamState.FAILED,
    BatchState.VOIDED.value: WorkstreamState.CANCELLED,
}


def batch_events(facts: Json) -> list[Event]:
    """Every transition of a batch, its workstreams and tasks, by time; `facts` is the answer of `batch_facts`."""
    moves = [of_audit(body) for body in facts["batch_moves"]]
    found = [*moves, *_workstreams(facts, moves)]
    for run in facts["runs"]:
        found += _task(facts, run, moves)
    # What ends a task comes before what that makes of its batch, should both have one time.
    return sorted(found, key=lambda one: (one.timestamp, one.event_type != TASK.event_type))


def _number(moves: Sequence[Event], at: str) -> int:
    """Which workstream goes on at that time: one more than have ended by then."""
    return 1 + sum(BATCH.is_terminal(move.to_state) and move.timestamp < at for move in moves)


def _workstreams(facts: Json, moves: Sequence[Event]) -> Iterator[Event]:
    """A registered batch has all its tasks; a move says what its workstream does."""
    batch = facts["view"]["batch"]
    stand = {1: WorkstreamState.READY.value}
    yield transition(WORKSTREAM, f"{batch['batch_id']}#1", WORKSTREAM.initial, stand[1], at=batch["created_at"],
                     metadata={"batch_id": batch["batch_id"], "cause": "registered"})  # fmt: skip
    for move in moves:
        number = _number(moves, move.timestamp)
        target = _ENDS.get(move.to_state, WorkstreamState.EXECUTING).value
        about = {"batch_id": batch["batch_id"], "cause": f"{move.trigger}: {move.to_state}"}
        critical = _critical(facts, move.timestamp) if target == WorkstreamState.FAILED else []
        for state in WORKSTREAM.path(stand.get(number, WORKSTREAM.initial), target):
            before = stand.get(number, WORKSTREAM.initial)
            stand[number] = state
            failed = state == WorkstreamState.FAILED
            yield transition(
                WORKSTREAM, f"{batch['batch_id']}#{number}", before, state, at=move.timestamp,
                # The seed's own trigger is a critical task's failure; without one it fails when nothing goes on.
                trigger="tasks_failed" if failed and not critical else "",
                severity="error" if failed and not critical else "",
                metadata={**about, "archived": True, "critical": critical} if failed else about,
            )  # fmt: skip


def _critical(facts: Json, at: str) -> list[str]:
    """The critical documents whose run had failed or was stopped by then."""
    held = {
        one["document_id"]
        for one in facts["runs"]
        if str(_last_move(facts, one["run_id"], at)).startswith(("failed_", "stopped_"))
    }
    return [one["document_id"] for one in facts["view"]["items"] if one["critical"] and one["document_id"] in held]


def _last_move(facts: Json, run_id: str, at: str) -> str | None:
    before = [to for _, to, stamp in facts["moves"].get(run_id, ()) if instant(stamp) <= at]
    return before[-1] if before else None


def _task(facts: Json, run: Json, moves: Sequence[Event]) -> list[Event]:
    """The events of one run as a task of its workstream."""
    batch = facts["view"]["batch"]
    changes = [
        Recorded(at=instant(stamp), change=Moved(to=to), cause=to)
        for _, to, stamp in facts["moves"].get(run["run_id"], ())
    ]
    item = next(one for one in facts["view"]["items"] if one["document_id"] == run["document_id"])
    created = instant(run["created_at"])
    before = _newest(facts, run["document_id"], created)
    about = {
        "run_id": run["run_id"], "document_id": run["document_id"],
        "workstream_id": f"{batch['batch_id']}#{_number(moves, created)}", "critical": item["critical"],
        "dependencies": [one for name in item["depends_on"] if (one := _newest(facts, name, created))],
        **({"replaces": before} if before else {}),
    }  # fmt: skip
    told = events_of(run, in_order(run, changes, facts["attempts"].get(run["run_id"], ())), about=about,
                     dryrun=batch["mode"] == "dryrun")  # fmt: skip
    return [one for one in told if one.event_type == TASK.event_type]


def _newest(facts: Json, document_id: str, before: str) -> str | None:
    """The newest run of a document in this batch that was registered before a time; None when there was none."""
    runs = [one for one in facts["runs"] if one["document_id"] == document_id and instant(one["created_at"]) < before]
    return str(runs[-1]["run_id"]) if runs else None
