"""IO: repairs runs and batches without a workflow: marks runs, names batches, delivers stops, puts documents.

A workflow that was terminated, failed, timed out or lost with Temporal's data runs no code. Only the run's row says
that the run is not over. The reconciler marks such a run as `stopped_terminated`, and one command resumes it. It never
touches a run whose workflow is open. A run that has already stopped keeps its own reason, which may need a signature.

An open workflow may wait for the end of an outage that PostgreSQL has not recorded. The reconciler then sends the
workflow a message to record it.

`cutter reconcile` does this once. The activity `reconcile` does it whenever its Temporal schedule starts it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import asdict, dataclass

from temporalio.client import Client

from activities.outbox import publish
from activities.reconciler import batches as reconcile_batches
from activities.reconciler.batches import (
    DifferingRun,
    Drained,
    ExaminedRun,
    HeldRun,
    Kind,
    LostBatch,
    MarkedRun,
    PutOfRun,
    RunWaits,
    ToldRun,
)
from activities.run.approval_requests import resume_run
from activities.run.course import escalate
from activities.worker.dependencies import Deps
from cutter import limits
from cutter.catalogue import Role
from cutter.domain.next_step import StepFacts, next_step
from cutter.domain.run_state import RunState
from cutter.errors import CutterError, ProgrammingError, Refused, Unavailable
from cutter.messages import EscalateInput, Reconciled, ReconcileInput, ResumeInput
from cutter.settings import Settings
from cutter.storage.pools import session
from cutter.storage.records import Rows, query, records, values
from cutter.types import Json
from temporal import executions
from temporal.executions import Execution, open_execution_of, ours, tell
from temporal.runs import resume

REASON = "its workflow is not open: terminated, failed, timed out, or lost with Temporal's data"
NO_REASON = "no reason given"


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenRun(StepFacts):
    """A run that has not ended. `kind` and `stop_reason` come from the stop latch. `resume_agreed`: enough people
    approved a run that the policy has stopped.
    """

    batch_id: str | None
    first_execution_id: str | None
    kind: str | None
    stop_reason: str | None
    resume_agreed: bool
    attempted: bool
    age_seconds: float

    @property
    def stopped(self) -> bool:
        """True while the run waits for a person."""
        return RunState(self.state).stopped


NOT_ENDED = records("runs_not_ended", OpenRun)
WITH_DOCUMENTS: Rows[str] = values("runs_with_waiting_documents")


@dataclass(frozen=True, slots=True, kw_only=True)
class Reconciliation:
    """The examined runs with the action that was taken, the woken and the lost batches, and the foreign workflows."""

    runs: tuple[tuple[Kind, ExaminedRun], ...] = ()
    batches_woken: tuple[LostBatch, ...] = ()
    batches_without_workflow: tuple[LostBatch, ...] = ()
    foreign: tuple[executions.Foreign, ...] = ()

    def runs_of(self, kind: Kind) -> list[ExaminedRun]:
        """The runs for which this action was taken, in the order of their examination."""
        return [run for taken, run in self.runs if taken is kind]

    def run_ids(self, kind: Kind) -> tuple[str, ...]:
        """The ids of these runs."""
        return tuple(run.run_id for run in self.runs_of(kind))

    def as_json(self) -> Json:
        """The result as `cutter reconcile` shows it: one list for each action, then the batches and the workflows."""
        return {
            **{kind.value: [asdict(run) for run in self.runs_of(kind)] for kind in Kind},
            "batches_woken": [asdict(batch) for batch in self.batches_woken],
            "batches_without_workflow": [asdict(batch) for batch in self.batches_without_workflow],
            "foreign": [asdict(stranger) for stranger in self.foreign],
        }


def reconcile(deps: Deps, input: ReconcileInput) -> Reconciled:
    """Do the same as `cutter reconcile`. This is idempotent, and touches no run whose workflow is open."""
    del input  # a stranger may schedule this activity with any input
    if deps.reconcile_once is None:
        raise ProgrammingError("this process has no Temporal client to look with")
    return deps.reconcile_once()


def reconciler(client: Client, deps: Deps, loop: asyncio.AbstractEventLoop) -> Callable[[], Reconciled]:
    """What the activity's thread calls. It asks Temporal on the worker's event loop. Raises Unavailable."""

    def reconcile_once() -> Reconciled:
        drained = drain(deps)
        asked = asyncio.run_coroutine_threadsafe(runs(client, deps, limits.START_GRACE_SECONDS), loop)
        try:
            result = asked.result(limits.RECONCILE_SECONDS)
        except TimeoutError:
            asked.cancel()
            raise Unavailable("Temporal does not say in time which workflows are open", what="temporal") from None
        return Reconciled(
            marked=result.run_ids(Kind.MARKED),
            told=result.run_ids(Kind.TOLD),
            differs=result.run_ids(Kind.DIFFERS),
            batches_woken=tuple(batch.batch_id for batch in result.batches_woken),
            batches_without_workflow=tuple(batch.batch_id for batch in result.batches_without_workflow),
            left_alone=len(result.runs_of(Kind.LEFT_ALONE)),
            documents_put=len(drained.put),
            documents_waiting=len(drained.waiting),
        )

    return reconcile_once


def drain(deps: Deps) -> Drained:
    """Put every document that waits in the outbox."""
    with session(deps.settings, Role.READ) as connection:
        run_ids = WITH_DOCUMENTS.all(connection)
    batches = reconcile_batches.drain(deps)
    put, waiting = [*batches.put], [*batches.waiting]
    for run_id in run_ids:
        try:
            documents = publish(deps, Role.READ, run_id)
        except CutterError as problem:
            waiting.append(RunWaits(run_id=run_id, code=problem.code, reason=str(problem)))
            continue
        put += [PutOfRun(run_id=run_id, kb_id=done.kb_id, sha256=done.sha256) for done in documents.values()]
    return Drained(put=tuple(put), waiting=tuple(waiting))


async def runs(client: Client, deps: Deps, grace_seconds: float) -> Reconciliation:
    """Examine each run and batch that is not over. Raises Unavailable."""
    examined = [
        await _reconciled(client, deps, run, grace_seconds)
        for run in await asyncio.to_thread(_not_ended, deps.settings)
    ]
    strangers = await executions.foreign(client)
    woken, lost = await reconcile_batches.without_workflow(deps.settings, client, grace_seconds)
    return Reconciliation(
        runs=tuple(examined), batches_woken=tuple(woken), batches_without_workflow=tuple(lost), foreign=tuple(strangers)
    )


def _not_ended(settings: Settings) -> list[OpenRun]:
    with session(settings, Role.READ) as connection:
        connection.execute(query("judge_workers"))
        return NOT_ENDED.all(connection)


async def _reconciled(client: Client, deps: Deps, run: OpenRun, grace_seconds: float) -> tuple[Kind, ExaminedRun]:
    execution = await _driven_by(client, run)
    if execution is not None:
        return await _with_workflow(client, run, execution)
    if run.stopped:
        return Kind.WITHOUT_WORKFLOW, _examined(run)
    # A run of a batch with an open workflow may wait for its lane and have no workflow yet.
    if not run.attempted and (
        run.age_seconds < grace_seconds
        or (run.batch_id is not None and await ours(client, f"batch/{run.batch_id}") is not None)
    ):
        return Kind.LEFT_ALONE, _examined(run)
    cancelled = run.kind == "cancel" and run.latched and not run.wrote
    state = "voided_cancelled" if cancelled else "stopped_terminated"
    reason = run.stop_reason or NO_REASON if cancelled else REASON
    done = await asyncio.to_thread(escalate, deps, EscalateInput(run_id=run.run_id, state=state, reason=reason))
    if done.state == "stopped_terminated" and await _driven_by(client, run) is not None:
        # Somebody started the run again at this moment. The run continues as if it had not been examined.
        await asyncio.to_thread(resume_run, deps, ResumeInput(run_id=run.run_id))
        return Kind.LEFT_ALONE, _examined(run)
    return Kind.MARKED, MarkedRun(
        run_id=run.run_id, document_id=run.document_id, state=done.state, next=done.next_command,
        was=run.state, report=done.kb_doc_id,
    )  # fmt: skip


async def _driven_by(client: Client, run: OpenRun) -> Execution | None:
    """The run's own open workflow. A foreign workflow under its id does not drive the run."""
    try:
        return await open_execution_of(client, run)
    except Refused:
        return None


async def _with_workflow(client: Client, run: OpenRun, execution: Execution) -> tuple[Kind, ExaminedRun]:
    """Leave an open workflow alone, unless it does not know of a latched stop, enough people approved, somebody paused
    it in Temporal, or it waits out an unrecorded outage.
    """
    hold = execution.hold
    if hold is not None and not run.stopped:
        if run.latched:
            await tell(client, run, run.kind or "stop", run.stop_reason or NO_REASON)
        return Kind.HELD, HeldRun(
            run_id=run.run_id, document_id=run.document_id, state=run.state, next=hold.command, reason=hold.reason
        )
    if execution.in_outage and not run.stopped:
        await execution.handle(client).signal("look")
        return Kind.DIFFERS, DifferingRun(
            run_id=run.run_id, document_id=run.document_id, state=run.state, next=next_step(run).command,
            temporal=execution.shown,
        )  # fmt: skip
    if run.resume_agreed and not run.latched:
        reply = await resume(client, run.document_id, None)
        return Kind.TOLD, _told(run, "approved", reply.status)
    # A cancel ends even a stopped run if the run has written nothing.
    cancelled = run.kind == "cancel" and not run.wrote
    if not run.latched or (run.stopped and not cancelled):
        return Kind.LEFT_ALONE, _examined(run)
    delivered, note, _ = await tell(client, run, run.kind or "stop", run.stop_reason or NO_REASON)
    return (Kind.TOLD if delivered else Kind.LEFT_ALONE), _told(run, run.kind, note)


def _examined(run: OpenRun) -> ExaminedRun:
    return ExaminedRun(run_id=run.run_id, document_id=run.document_id, state=run.state, next=next_step(run).command)


def _told(run: OpenRun, stop: str | None, note: str) -> ToldRun:
    return ToldRun(
        run_id=run.run_id, document_id=run.document_id, state=run.state, next=next_step(run).command, stop=stop,
        note=note,
    )  # fmt: skip
