"""IO: repairs runs and batches without a workflow: marks runs, names batches, delivers stops, puts documents.

A workflow that was terminated, failed, timed out or lost with Temporal's data runs no code; its run's row alone says
that it is not over. Such a run is marked `stopped_terminated`, from where one command resumes it. A run whose workflow
is open is never touched, and a run that is stopped already keeps its own reason, which may need a signature.

An open workflow may wait out an outage of which PostgreSQL has no record yet: it then gets a message to record it.

`cutter reconcile` does this when it is typed, the activity `reconcile` whenever its Temporal schedule asks.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import asdict
from typing import Any

from psycopg.rows import dict_row
from temporalio.client import Client

from activities.outbox import publish
from activities.reconciler import batches as reconcile_batches
from activities.run.approval_requests import resume_run
from activities.run.escalate import escalate
from activities.worker.dependencies import Deps
from cutter import limits
from cutter.catalogue import Role
from cutter.domain.next_step import next_step
from cutter.domain.run_state import RunState
from cutter.errors import CutterError, Refused, Unavailable
from cutter.messages import EscalateInput, Reconciled, ResumeInput
from cutter.settings import Settings
from cutter.storage.pools import session
from cutter.storage.queries import query
from temporal import foreign_workflows as foreign
from temporal.executions import Execution, is_ours, open_execution_of, tell
from temporal.runs import resume

START_GRACE_SECONDS = 60
"""Between a run's row and its workflow's start lies a moment; a younger run that never tried a gate is left alone."""

OUTAGE = "stopped_unavailable_"
"""What a workflow shows that waits out an outage."""

REASON = "its workflow is not open: terminated, failed, timed out, or lost with Temporal's data"
View = dict[str, Any]


def nothing() -> View:
    """What there is to tell when nothing was looked at."""
    kinds = ("marked", "without_workflow", "told", "differs", "left_alone", "batches_without_workflow", "foreign")
    return {kind: [] for kind in kinds}


def looking_after(client: Client, deps: Deps, loop: asyncio.AbstractEventLoop) -> Callable[[], Reconciled]:
    """What the activity's thread calls; Temporal is asked on the worker's own loop. Raises Unavailable."""

    def look() -> Reconciled:
        put, waiting = drain(deps)
        asked = asyncio.run_coroutine_threadsafe(runs(client, deps, START_GRACE_SECONDS), loop)
        try:
            seen = asked.result(limits.RECONCILE_SECONDS)
        except TimeoutError:
            asked.cancel()
            raise Unavailable("Temporal does not say in time which workflows are open", what="temporal") from None
        return Reconciled(
            marked=tuple(str(one["run_id"]) for one in seen["marked"]),
            told=tuple(str(one["run_id"]) for one in seen["told"]),
            differs=tuple(str(one["run_id"]) for one in seen["differs"]),
            batches_without_workflow=tuple(str(one["batch_id"]) for one in seen["batches_without_workflow"]),
            left_alone=len(seen["left_alone"]),
            documents_put=len(put),
            documents_waiting=len(waiting),
        )

    return look


def drain(deps: Deps) -> tuple[list[View], list[View]]:
    """Put every document that waits in the outbox: (those that were put, what still waits and why)."""
    with session(deps.settings, Role.READ) as connection:
        rows = connection.execute(query("runs_with_waiting_documents")).fetchall()
    put, waiting = reconcile_batches.drain(deps)
    for (run_id,) in rows:
        try:
            documents = publish(deps, Role.READ, str(run_id))
        except CutterError as problem:
            waiting.append({"run_id": run_id, "code": problem.code, "reason": str(problem)})
            continue
        put += [{"run_id": run_id, "kb_id": kb_id, "sha256": sha256} for kb_id, sha256 in documents.values()]
    return put, waiting


async def runs(client: Client, deps: Deps, grace_seconds: float) -> View:
    """Each run and batch that is not over, by what was done about it. Raises Unavailable."""
    found = nothing()
    for run in await asyncio.to_thread(_not_ended, deps.settings):
        kind, entry = await _look_after(client, deps, run, grace_seconds)
        found[kind].append(entry)
    found["foreign"] = [asdict(one) for one in await foreign.every(client)]
    found["batches_without_workflow"] = await reconcile_batches.without_workflow(deps.settings, client, grace_seconds)
    return found


def _not_ended(settings: Settings) -> list[View]:
    with session(settings, Role.READ) as connection:
        connection.execute(query("judge_workers"))
        return connection.cursor(row_factory=dict_row).execute(query("runs_not_ended"), {}).fetchall()


async def _look_after(client: Client, deps: Deps, run: View, grace_seconds: float) -> tuple[str, View]:
    execution = await _driven_by(client, run)
    if execution is not None:
        return await _with_workflow(client, run, execution)
    if RunState(run["state"]).stopped:
        return "without_workflow", _entry(run, run["state"])
    if not run["attempted"] and (run["age_seconds"] < grace_seconds or await _batch_is_open(client, run)):
        return "left_alone", _entry(run, run["state"])
    cancelled = run["kind"] == "cancel" and run["latched"] and not run["wrote"]
    state = "voided_cancelled" if cancelled else "stopped_terminated"
    reason = run["stop_reason"] if cancelled else REASON
    done = await asyncio.to_thread(escalate, deps, EscalateInput(run_id=run["run_id"], state=state, reason=reason))
    if done.state == "stopped_terminated" and await _driven_by(client, run) is not None:
        # Someone started it again at this moment; it continues as if it had not been examined.
        await asyncio.to_thread(resume_run, deps, ResumeInput(run_id=run["run_id"]))
        return "left_alone", _entry(run, run["state"])
    return "marked", {**_entry(run, done.state), "was": run["state"], "report": done.kb_doc_id}


async def _driven_by(client: Client, run: View) -> Execution | None:
    """The run's own open workflow; a foreign one under its id drives nothing."""
    try:
        return await open_execution_of(client, run)
    except Refused:
        return None


async def _with_workflow(client: Client, run: View, execution: Execution) -> tuple[str, View]:
    """An open workflow is left alone, unless a stop was latched that it has not heard of, enough people approved, or
    it waits out an outage that PostgreSQL has no record of.
    """
    if execution.shown.startswith(OUTAGE) and not RunState(run["state"]).stopped:
        await execution.handle(client).signal("look")
        return "differs", {**_entry(run, run["state"]), "temporal": execution.shown}
    if run["approved"] and not run["latched"]:
        answer = await resume(client, run["document_id"], None)
        return "told", {**_entry(run, run["state"]), "stop": "approved", "note": answer["status"]}
    # A cancel ends even a stopped run, as long as it has written nothing.
    cancelled = run["kind"] == "cancel" and not run["wrote"]
    if not run["latched"] or (RunState(run["state"]).stopped and not cancelled):
        return "left_alone", _entry(run, run["state"])
    told, note = await tell(client, run, run["kind"], run["stop_reason"] or "no reason given")
    return ("told" if told else "left_alone"), {**_entry(run, run["state"]), "stop": run["kind"], "note": note}


async def _batch_is_open(client: Client, run: View) -> bool:
    """A run of a batch waits for its lane before it has a workflow of its own."""
    return run["batch_id"] is not None and await is_ours(client, f"batch/{run['batch_id']}")


def _entry(run: View, state: str) -> View:
    step = next_step(
        run_id=run["run_id"], document_id=run["document_id"], state=state, latched=run["latched"], wrote=run["wrote"]
    )
    return {"run_id": run["run_id"], "document_id": run["document_id"], "state": state, "next": step.command}
