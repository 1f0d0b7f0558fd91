"""IO: the state of one run and the runs that stand for all documents, each with its next command."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from datetime import datetime
from typing import Any

from cutter import limits
from cutter.approvals import schema
from cutter.catalogue import BY_NAME
from cutter.domain import lanes
from cutter.domain.digests import sha256_hex
from cutter.domain.next_step import Needs, Step, next_step
from cutter.domain.run_record import RunSidecar
from cutter.domain.timestamps import utc
from cutter.errors import InvalidInput, NotFound, Unavailable
from cutter.kb.store import Store
from cutter.projections.run_view import ShownRefusal, ShownRejection, ShownRun, run_view
from cutter.settings import Settings
from cutter.storage import blocked_workers
from cutter.storage import runs as run_rows
from cutter.storage.answered_runs import Answered, answered
from cutter.storage.blocked_workers import BlockedWorker
from cutter.storage.pools import Connection
from cutter.storage.records import records
from cutter.storage.still_runs import STILL
from starter.operator import batch_ways, rejections
from starter.operator.newer_version import newer_versions

RUNS_SHOWN = 200
View = dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class RefusedMessage:
    """A message that a run refused."""

    gate: str
    message: str
    code: str
    reason: str
    at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class NewestRun:
    """The run that represents a document. `sealed` holds its receipts. `law_by` is the run that enacted the
    document. `corrected` says that a version of the document was registered after the run began.
    """

    run_id: str
    document_id: str
    mode: str
    state: str
    outcome: str | None
    batch_id: str | None
    created_at: datetime
    state_at: datetime
    ended_at: datetime | None
    latched: bool
    wrote: bool
    sealed: int
    expires_at: datetime | None
    law_by: str | None
    corrected: bool


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


REFUSED = records("refusals_of_run", RefusedMessage)
NEWEST = records("newest_runs", NewestRun)


def newest_runs(connection: Connection) -> list[RunLine]:
    """One run of each document (the open run, else the newest one), the newest first."""
    rows = NEWEST.all(connection, {"limit": RUNS_SHOWN})
    still = still_runs(connection)
    people = answered(connection)
    stuck = blocked_workers.blocked(connection)
    lines = [replace(_run_line(row, people), **_stillness(still.get(row.run_id))) for row in rows]
    return [replace(line, **_blockage(stuck, line.state, line.ended_utc, line.needs, line.next)) for line in lines]


def view_of(settings: Settings, connection: Connection, run_id: str) -> ShownRun:
    """One run in the form for people. Raises STOP_RUN_NOT_FOUND if there is none."""
    sidecar = run_rows.sidecar_of(connection, run_id)
    refusals = REFUSED.all(connection, {"run_id": run_id})
    still = still_runs(connection, run_id)
    people = answered(connection)
    run = sidecar.run
    rejected = rejections.read(settings, connection, [run_id]).get(run_id)
    step = batch_ways.step_of(connection, **{name: getattr(run, name) for name in _OF_BATCH})
    skipped = run.outcome == "skipped"
    law_by = run_rows.ENACTING.first(connection, {"document_id": run.document_id}) if skipped else None
    refused = [
        ShownRefusal(
            at=refusal.at.isoformat(), what=refusal.message, gate=refusal.gate, code=refusal.code, reason=refusal.reason
        )
        for refusal in refusals
    ]
    view = run_view(
        sidecar, refused, law_by, corrected=run_rows.CORRECTED.one(connection, {"run_id": run_id}),
        approved=run_id in people.runs, exec_worker=people.exec_worker,
    )  # fmt: skip
    held = run_rows.LANES.one(connection) if run.ended_at is None else []
    flaw = request_flaw(settings, sidecar)
    newer = newer_versions(connection, [run_id])
    moved = {"next": f"cutter rebuild {run_id}"} if flaw else _stillness(still.get(run_id))
    shown = replace(_with_rejection(view, rejected), **_as_shown(step))
    whole = replace(shown, lane=lanes.of_run(held, run_id), request_flaw=flaw, newer=newer.get(run_id), **moved)
    stuck = _blockage(blocked_workers.blocked(connection), whole.state, whole.ended_utc, whole.needs, whole.next)
    return replace(whole, **stuck)


_OF_BATCH = ("run_id", "document_id", "state", "batch_id")
"""What the batch of a run must know to name the run's next commands."""


def _as_shown(step: Step | None) -> View:
    return {"needs": step.needs.value, "first": step.first or None, "next": step.command} if step else {}


def _with_rejection(view: ShownRun, rejected: ShownRejection | None) -> ShownRun:
    """The view with the signed reason of the rejection, wherever it says that an approver rejected the run."""
    if rejected is None:
        return view
    sentence = rejections.sentence(rejected)
    timeline = [replace(entry, reason=sentence) if entry.to == view.state else entry for entry in view.timeline]
    signed = [
        replace(approval, reason=rejected.reason) if approval.decision == schema.REJECT else approval
        for approval in view.approvals
    ]
    return replace(view, rejected=rejected, reason=sentence, timeline=timeline, approvals=signed)


def still_runs(connection: Connection, run_id: str | None = None) -> dict[str, float]:
    """Seconds since the last move of open runs that wait for nobody, by run id. Runs that have moved lately are left
    out.
    """
    asked = {"run_id": run_id, "seconds": limits.STILL_SECONDS}
    return {run.run_id: run.still_seconds for run in STILL.all(connection, asked)}


def _stillness(seconds: float | None) -> View:
    """The advice for a run that no workflow seems to drive. Its workflow may know of a stop that PostgreSQL does not
    know.
    """
    if seconds is None:
        return {}
    return {"needs": f"a look: nothing has moved for {seconds / 60:.0f} minutes", "next": "cutter reconcile"}


BY_WORKERS = (Needs.NOTHING.value, Needs.EXECUTION.value)
"""The needs of an open run that no person keeps waiting."""


def _blockage(workers: Sequence[BlockedWorker], state: str, ended_utc: str | None, needs: str, next_: str) -> View:
    """The advice for an open run that no person keeps waiting, and whose next step needs a worker with a fault."""
    still = next_ == "cutter reconcile"
    if ended_utc is not None or not (still or needs in BY_WORKERS):
        return {}
    stuck = blocked_workers.of_state(workers, state)
    if not stuck:
        return {}
    return {
        "needs": "a repaired host: see `cutter workers`",
        "blocked": stuck[0].sentence,
        "next": blocked_workers.SHOW,
    }


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


def _run_line(row: NewestRun, people: Answered) -> RunLine:
    step = next_step(
        run_id=row.run_id, document_id=row.document_id, state=row.state, outcome=row.outcome,
        latched=row.latched, wrote=row.wrote, law_by=row.law_by, corrected=row.corrected,
        enacted=row.sealed >= BY_NAME["IG_lifecycle_enact_execute"].number,
        approved=row.run_id in people.runs, exec_worker=people.exec_worker,
    )  # fmt: skip
    return RunLine(
        document_id=row.document_id,
        run_id=row.run_id,
        mode=row.mode,
        state=row.state,
        outcome=row.outcome,
        law_by=row.law_by,
        batch_id=row.batch_id,
        gates_passed=row.sealed,
        since_utc=utc(row.state_at),
        ended_utc=utc(row.ended_at),
        expires_utc=utc(row.expires_at),
        needs=step.needs.value,
        next=step.command,
    )
