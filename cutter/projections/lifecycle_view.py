"""Pure: shows a run as a request, a run or a task, and a batch as a workstream, for `cutter status --as`.

The result is plain JSON from an answer of the database. Its status and its history are those of the chosen view.
"""

from __future__ import annotations

from collections.abc import Sequence

from cutter.batch.view import BatchFacts
from cutter.catalogue import GATES
from cutter.domain.run_record import RunSidecar
from cutter.lifecycle.declarations import BY_NAME, WORKSTREAM
from cutter.lifecycle.events import Event
from cutter.lifecycle.history import batch_events, run_events, run_facts
from cutter.lifecycle.views import request_status, run_status, step_status, task_state
from cutter.types import Json

RUN_VIEWS = {"request": request_status, "run": run_status, "task": task_state}
BATCH_VIEW = WORKSTREAM.name


def run_as(kind: str, sidecar: RunSidecar) -> Json:
    """One run in the words of a seed.

    `kind` is one of RUN_VIEWS. A task of a stopped run is still running, with a flag.
    """
    run, facts, lifecycle = sidecar.run, run_facts(sidecar), BY_NAME[kind]
    entity = f"{run.run_id}#{facts.request}" if kind == "request" else run.run_id
    status = str(RUN_VIEWS[kind](facts))
    mine = [
        run_event
        for run_event in run_events(sidecar)
        if (run_event.event_type, run_event.entity_id) == (lifecycle.event_type, entity)
    ]
    steps, approvals = list[Json](), list[Json]()
    if kind == "run":
        # The gates that the run reached, and the next gate.
        steps = [
            {"step": gate.name, "step_index": gate.number, "tool_name": gate.phase,
             "status": str(step_status(facts, gate))}
            for gate in GATES[: facts.passed + 1]
        ]  # fmt: skip
        # Approvals as in seed 003 §1.3. Only the tier `high` needs two people.
        approvals = [
            {"request_id": request.request_id, "gate": request.gate, "status": request.status, "tier": request.tier,
             "two_person": request.tier == "high"}
            for request in sidecar.requests
        ]  # fmt: skip
    return {
        "as": kind,
        "entity_id": entity,
        "status": status,
        "terminal": lifecycle.is_terminal(status),
        "stopped": facts.stopped,
        "run_id": run.run_id,
        "document_id": run.document_id,
        "state": run.state,
        "reason": run.error.get("reason") if facts.stopped or facts.failed or facts.exhausted else None,
        "ended_utc": run.ended_at,
        "transitions": _told(mine),
        "steps": steps,
        "approvals": approvals,
    }


def batch_as_workstream(facts: BatchFacts) -> Json:
    """The newest workstream of a batch, and the tasks of all its workstreams."""
    batch, events = facts.view.batch, batch_events(facts)
    streams = [event for event in events if event.event_type == WORKSTREAM.event_type]
    newest = streams[-1]
    tasks = {event.entity_id: event for event in events if event.event_type == BY_NAME["task"].event_type}
    return {
        "as": BATCH_VIEW,
        "entity_id": newest.entity_id,
        "status": newest.to_state,
        "terminal": WORKSTREAM.is_terminal(newest.to_state),
        "batch_id": batch.batch_id,
        "state": batch.state,
        "reason": batch.halted_reason,
        "ended_utc": batch.ended_at,
        "transitions": _told([stream for stream in streams if stream.entity_id == newest.entity_id]),
        "tasks": [
            {"task": name, "document_id": event.metadata["document_id"], "state": event.to_state,
             "workstream_id": event.metadata["workstream_id"], "critical": event.metadata["critical"]}
            for name, event in tasks.items()
        ],
    }  # fmt: skip


def _told(events: Sequence[Event]) -> list[Json]:
    return [
        {"at": event.timestamp, "from": event.from_state, "to": event.to_state, "trigger": event.trigger,
         "cause": event.metadata.get("cause"), "reason_code": event.metadata.get("reason_code")}
        for event in events
    ]  # fmt: skip
