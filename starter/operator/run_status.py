"""IO: the state of one run and the runs that stand for all documents, each with its next command.

An open run that seems to wait for a worker may be paused in Temporal. Only for such a run does a command that shows
runs ask Temporal. If Temporal does not answer, the command shows what PostgreSQL says.
"""

from __future__ import annotations

import asyncio
import importlib
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from datetime import datetime
from typing import Any, TypeVar

from cutter import limits
from cutter.approvals import schema
from cutter.batch import ways
from cutter.domain import lanes
from cutter.domain.digests import sha256_hex
from cutter.domain.next_step import Needs, Step, StepFacts, next_step
from cutter.domain.run_record import RunSidecar
from cutter.domain.run_state import RunState
from cutter.domain.timestamps import utc
from cutter.errors import CutterError, InvalidInput, NotFound, Unavailable
from cutter.kb.store import Store
from cutter.projections.run_view import ShownRefusal, ShownRun, run_view
from cutter.settings import Settings
from cutter.storage import batch_views
from cutter.storage import runs as run_rows
from cutter.storage.records import Connection, records
from cutter.storage.runs import BlockedWorker
from starter.operator import request_state
from starter.operator.request_state import newer_versions

RUNS_SHOWN = 200
View = dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class NewestRun(StepFacts):
    """The run that represents a document. `sealed` is the number of its receipts."""

    mode: str
    batch_id: str | None
    state_at: datetime
    ended_at: datetime | None
    sealed: int
    expires_at: datetime | None


@dataclass(frozen=True, slots=True, kw_only=True)
class RunLine:
    """The run that represents a document, in one line. Times are UTC texts. `next` is the command to type next.

    `gates_passed` counts sealed receipts. `blocked` says which worker holds the run up, or is None.
    """

    document_id: str
    run_id: str
    mode: str
    state: str
    outcome: str | None
    law_by: str | None
    batch_id: str | None
    gates_passed: int
    since_utc: str | None
    ended_utc: str | None
    expires_utc: str | None
    needs: str
    next: str
    blocked: str | None = None

    def as_json(self) -> View:
        """The line for programs. It has `blocked` only for a run that a worker holds up."""
        return {name: value for name, value in asdict(self).items() if name != "blocked" or value is not None}


Shown = TypeVar("Shown", RunLine, ShownRun)

REFUSED = records("refusals_of_run", ShownRefusal)
NEWEST = records("newest_runs", NewestRun)


def newest_runs(connection: Connection) -> list[RunLine]:
    """One run of each document (the open run, else the newest one), the newest first."""
    rows = NEWEST.all(connection, {"limit": RUNS_SHOWN})
    still = still_runs(connection)
    workers = run_rows.BLOCKED_WORKERS.all(connection)
    lines = []
    for row in rows:
        step = next_step(row)
        line = RunLine(
            document_id=row.document_id, run_id=row.run_id, mode=row.mode, state=row.state, outcome=row.outcome,
            law_by=row.law_by, batch_id=row.batch_id, gates_passed=row.sealed, since_utc=utc(row.state_at),
            ended_utc=utc(row.ended_at), expires_utc=utc(row.expires_at), needs=step.needs.value, next=step.command,
        )  # fmt: skip
        lines.append(_held_up(line, still.get(row.run_id), workers))
    return lines


def view_of(settings: Settings, connection: Connection, run_id: str) -> ShownRun:
    """One run in the form for people. Raises STOP_RUN_NOT_FOUND if there is none."""
    sidecar = run_rows.sidecar_of(connection, run_id)
    run, step = sidecar.run, None
    refused = REFUSED.all(connection, {"run_id": run_id})
    if run.batch_id is not None and RunState(run.state).failed:
        # The batch says how its newest run of a document continues.
        item = batch_views.view(connection, run.batch_id, [run.document_id]).by_document.get(run.document_id)
        step = ways.item_step(run.batch_id, item) if item is not None and item.run_id == run_id else None
    still = still_runs(connection, run_id)
    held = run_rows.LANES.one(connection) if run.ended_at is None else []
    flaw = request_flaw(settings, sidecar)
    newer = newer_versions(connection, [run_id])
    rejected = request_state.rejections(settings, connection, [run_id]).get(run_id)
    view = run_view(sidecar, refused, step)
    if rejected is not None:
        # The signed reason is shown wherever the view says that an approver rejected the run.
        why = request_state.rejection_sentence(rejected)
        timeline = [replace(entry, reason=why) if entry.to == view.state else entry for entry in view.timeline]
        approvals = [
            replace(approval, reason=rejected.reason) if approval.decision == schema.REJECT else approval
            for approval in view.approvals
        ]
        view = replace(view, rejected=rejected, reason=why, timeline=timeline, approvals=approvals)
    view = replace(view, lane=lanes.of_run(held, run_id), request_flaw=flaw, newer=newer.get(run_id))
    if flaw:
        view = replace(view, next=f"cutter rebuild {run_id}")
    return _held_up(view, None if flaw else still.get(run_id), run_rows.BLOCKED_WORKERS.all(connection))


def still_runs(
    connection: Connection, run_id: str | None = None, seconds: float = limits.STILL_SECONDS
) -> dict[str, float]:
    """Seconds since the last move of open runs that wait for nobody, by run id. Runs that have moved lately are left
    out.
    """
    asked = {"run_id": run_id, "seconds": seconds}
    return {run.run_id: run.still_seconds for run in run_rows.STILL.all(connection, asked)}


BY_WORKERS = (Needs.NOTHING.value, Needs.EXECUTION.value)
"""The needs of an open run that no person keeps waiting."""


def _held_up(run: Shown, still_seconds: float | None, workers: Sequence[BlockedWorker]) -> Shown:
    """The run with other advice if no workflow seems to drive it, or if its next step needs a worker with a fault."""
    if still_seconds is not None:
        # Its workflow may know of a stop that PostgreSQL does not know.
        needs = f"a look: nothing has moved for {still_seconds / 60:.0f} minutes"
        run = replace(run, needs=needs, next="cutter reconcile")
    stuck = run_rows.blocked_in_state(workers, run.state)
    if run.ended_utc is None and stuck and (run.next == "cutter reconcile" or run.needs in BY_WORKERS):
        needs = "a repaired host: see `cutter workers`"
        return replace(run, needs=needs, blocked=stuck[0].sentence, next=run_rows.SHOW_WORKERS)
    return run


def request_flaw(settings: Settings, sidecar: RunSidecar) -> str | None:
    """What is wrong with the request document that people must sign. None also if the document cannot be checked."""
    put = {document.kb_id: document.sha256 for document in sidecar.documents if document.sha256}
    asked = [request.kb_id for request in sidecar.requests if request.status == "requested" and request.kb_id in put]
    try:
        differs = [name for name in asked if sha256_hex(Store(settings.kb).get(name)) != put[name]]
    except Unavailable:
        return None
    except (NotFound, InvalidInput) as problem:
        return str(problem)
    return f"{differs[0]} is not the request that the run made" if differs else None


MOVING_SECONDS = 30.0
"""How long a command waits for a run that moves on by itself. Most runs reach their next request sooner."""

LOOK_SECONDS = 0.3


def step_of(settings: Settings, run_id: str) -> Step:
    """The step that continues the run, or reads or repeats a run that is over. Raises NotFound for an unknown run."""
    return next_step(run_rows.sidecar(settings, run_id).step_facts)


def moves(settings: Settings, run_id: str) -> bool:
    """True if the run is open and waits for no person."""
    sidecar = run_rows.sidecar(settings, run_id)
    return sidecar.run.ended_at is None and next_step(sidecar.step_facts).needs in (Needs.NOTHING, Needs.EXECUTION)


def wait_while_it_moves(settings: Settings, run_id: str) -> None:
    """Until the run waits for a person or ends, or until the time is over."""
    until = time.monotonic() + MOVING_SECONDS
    while moves(settings, run_id) and time.monotonic() < until:
        time.sleep(LOOK_SECONDS)


BY_WORKFLOW = (Needs.EXECUTION.value, Needs.WORKER.value, Needs.DELIVERY.value)
"""The needs of a run that no person keeps waiting, and whose workflow does not take the next step."""


def with_holds(settings: Settings, connection: Connection, runs: Sequence[Shown]) -> list[Shown]:
    """The runs. A run that somebody paused in Temporal has the reason, and the command that takes this back."""
    still = still_runs(connection, seconds=limits.HOLD_LOOK_SECONDS)
    suspects = [
        run.document_id for run in runs if not run.ended_utc and (run.needs in BY_WORKFLOW or run.run_id in still)
    ]
    held: dict[str, tuple[str, str]] = {}
    if suspects:
        # Temporal's client is imported only here, because the import is slow and most answers need none.
        holds = importlib.import_module("temporal.executions").holds(settings, suspects)
        with suppress(CutterError, TimeoutError):
            held = asyncio.run(asyncio.wait_for(holds, limits.CONNECT_SECONDS))
    return [
        replace(run, needs=held[run.document_id][0], next=held[run.document_id][1]) if run.document_id in held else run
        for run in runs
    ]
