"""IO: `cutter reconcile`: finds runs that nobody drives any more, delivers stops, puts documents that still wait.

A workflow that was terminated, failed, timed out or lost with Temporal's data runs no code; its run's row alone says
that it is not over. Such a run is marked `stopped_terminated`, from where one command resumes it. A run whose workflow
is open is never touched, and a run that is stopped already keeps its own reason, which may need a signature.
"""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Annotated, Any

import typer
from psycopg.rows import dict_row
from temporalio.client import Client

from activities.deps import Deps, Signer
from activities.escalate import escalate
from activities.publish import publish
from activities.sovereign import resume_run
from cutter import __version__
from cutter.domain.next_step import next_step
from cutter.errors import CutterError, ProgrammingError, Unavailable
from cutter.gates.catalogue import Role, WorkerRole
from cutter.kb.store import Store
from cutter.messages import EscalateInput, ResumeInput
from cutter.settings import Settings, load
from cutter.storage.faults import translated
from cutter.storage.pools import connect as connect_database
from cutter.storage.pools import open_pool
from cutter.storage.queries import query
from starter import reconcile_batches, slack
from starter.client import connect
from starter.executions import is_open, open_execution_of
from starter.messages import tell
from starter.runs import resume
from starter.terminal import ExitCode, Json, end, say, show, table

START_GRACE_SECONDS = 60
"""Between a run's row and its workflow's start lies a moment; a younger run that never tried a gate is left alone."""

REASON = "its workflow is not open: terminated, failed, timed out, or lost with Temporal's data"
View = dict[str, Any]


def reconcile(
    grace_seconds: Annotated[
        float, typer.Option(help="Leave alone what is younger and never tried a gate")
    ] = START_GRACE_SECONDS,
    as_json: Json = False,
) -> None:
    """Mark runs whose workflow is gone, name such batches, deliver stops that Temporal missed, put what waits.

    Example: cutter reconcile
    """
    settings = load()
    with reading_deps(settings) as deps:
        put, waiting = drain(settings, deps)
        put_too, waiting_too = reconcile_batches.drain(settings, deps)
        cards = slack.drain(settings)
        try:
            seen = asyncio.run(_look_after_runs(settings, deps, grace_seconds))
        except Unavailable as problem:
            seen = {**_nothing(), "unavailable": str(problem)}
    found = {**seen, **cards, "documents_put": put + put_too, "documents_waiting": waiting + waiting_too}
    show(found, as_json=as_json, render=lambda out: _render(out, found))
    if found.get("unavailable"):
        say(found["unavailable"])
    end(ExitCode.UNAVAILABLE if found.get("unavailable") or waiting or found["cards_waiting"] else ExitCode.DONE)


@contextmanager
def reading_deps(settings: Settings) -> Iterator[Deps]:
    """What activities of the read role need; it has no signing key and no other role's pool."""
    pool = open_pool(settings, Role.READ.value)
    try:
        yield Deps(
            settings=settings,
            worker_role=WorkerRole.CUTTER,
            worker=f"{socket.gethostname()}:reconcile",
            tool_revision=f"cutter/{__version__}+reconcile",
            pools={Role.READ: pool},
            kb=Store(settings.kb),
            signer=_no_signer,
        )
    finally:
        pool.close()


def _no_signer() -> Signer:
    raise ProgrammingError("the reconciler signs nothing")


def drain(settings: Settings, deps: Deps) -> tuple[list[View], list[View]]:
    """Put every document that waits in the outbox: (those that were put, the runs whose documents still wait)."""
    with translated(), connect_database(settings, Role.READ.value) as connection:
        rows = connection.execute(query("runs_with_waiting_documents")).fetchall()
    put, waiting = [], []
    for (run_id,) in rows:
        try:
            documents = publish(deps, Role.READ, str(run_id))
        except CutterError as problem:
            waiting.append({"run_id": run_id, "code": problem.code, "reason": str(problem)})
            continue
        put += [{"run_id": run_id, "kb_id": kb_id, "sha256": sha256} for kb_id, sha256 in documents.values()]
    return put, waiting


async def _look_after_runs(settings: Settings, deps: Deps, grace_seconds: float) -> View:
    client = await connect(settings)
    with translated(), connect_database(settings, Role.READ.value) as connection:
        connection.execute(query("judge_workers"))
        rows = connection.cursor(row_factory=dict_row).execute(query("runs_not_ended"), {}).fetchall()
    found = _nothing()
    for run in rows:
        kind, entry = await _look_after(client, deps, run, grace_seconds)
        found[kind].append(entry)
    found["batches_without_workflow"] = await reconcile_batches.without_workflow(settings, client, grace_seconds)
    return found


def _nothing() -> View:
    return {"marked": [], "without_workflow": [], "told": [], "left_alone": [], "batches_without_workflow": []}


async def _look_after(client: Client, deps: Deps, run: View, grace_seconds: float) -> tuple[str, View]:
    if await open_execution_of(client, run) is not None:
        return await _with_workflow(client, run)
    if run["state"].startswith("stopped_"):
        return "without_workflow", _entry(run, run["state"])
    if not run["attempted"] and (run["age_seconds"] < grace_seconds or await _batch_is_open(client, run)):
        return "left_alone", _entry(run, run["state"])
    cancelled = run["kind"] == "cancel" and run["latched"] and not run["wrote"]
    state = "voided_cancelled" if cancelled else "stopped_terminated"
    reason = run["stop_reason"] if cancelled else REASON
    done = await asyncio.to_thread(escalate, deps, EscalateInput(run_id=run["run_id"], state=state, reason=reason))
    if done.state == "stopped_terminated" and await open_execution_of(client, run) is not None:
        # Someone started it again in the very moment; it goes on as if it had not been looked at.
        await asyncio.to_thread(resume_run, deps, ResumeInput(run_id=run["run_id"]))
        return "left_alone", _entry(run, run["state"])
    return "marked", {**_entry(run, done.state), "was": run["state"], "report": done.kb_doc_id}


async def _with_workflow(client: Client, run: View) -> tuple[str, View]:
    """An open workflow is left alone, unless a stop was latched that it has not heard of, or enough people approved."""
    if run["approved"] and not run["latched"]:
        answer = await resume(client, run["document_id"], None)
        return "told", {**_entry(run, run["state"]), "stop": "approved", "note": answer["status"]}
    # A cancel ends even a stopped run, as long as it has written nothing.
    cancelled = run["kind"] == "cancel" and not run["wrote"]
    if not run["latched"] or (run["state"].startswith("stopped_") and not cancelled):
        return "left_alone", _entry(run, run["state"])
    told, note = await tell(client, run, run["kind"], run["stop_reason"] or "no reason given")
    return ("told" if told else "left_alone"), {**_entry(run, run["state"]), "stop": run["kind"], "note": note}


async def _batch_is_open(client: Client, run: View) -> bool:
    """A run of a batch waits for its lane before it has a workflow of its own."""
    return run["batch_id"] is not None and await is_open(client, f"batch/{run['batch_id']}")


def _entry(run: View, state: str) -> View:
    step = next_step(
        run_id=run["run_id"], document_id=run["document_id"], state=state, latched=run["latched"], wrote=run["wrote"]
    )
    return {"run_id": run["run_id"], "document_id": run["document_id"], "state": state, "next": step.command}


def _render(out: Any, found: View) -> None:
    titles = {
        "marked": "marked: nobody drove them",
        "without_workflow": "stopped, and their workflow is closed",
        "told": "told of what Temporal had missed",
    }
    for kind, title in titles.items():
        if found[kind]:
            rows = [(one["document_id"], one["state"], one["next"]) for one in found[kind]]
            out.print(table(("document", "state", "next"), rows, title=title))
    if found["documents_waiting"]:
        rows = [
            (one.get("run_id") or one["batch_id"], one["code"], one["reason"]) for one in found["documents_waiting"]
        ]
        out.print(table(("of", "code", "reason"), rows, title="documents still wait"))
    slack.render(out, found)
    if found["batches_without_workflow"]:
        rows = [(one["batch_id"], one["state"], one["next"]) for one in found["batches_without_workflow"]]
        out.print(table(("batch", "state", "next"), rows, title="batches that nobody drives"))
    out.print(
        f"{len(found['marked'])} marked, {len(found['told'])} told, {len(found['left_alone'])} left alone, "
        f"{len(found['documents_put'])} documents put"
    )
