"""IO: `cutter run` and `cutter orchestrate run|resume`: start a document run, or go on with one."""

from __future__ import annotations

import asyncio
import getpass
from typing import Annotated, Any, cast

import typer
from temporalio.client import WorkflowHandle

from cutter.domain import ids
from cutter.domain import next_step as steps
from cutter.errors import InvalidInput
from cutter.messages import Mode, RunInput, RunResult
from cutter.settings import Settings, load
from cutter.stack.addresses import ui_url
from starter import runs
from starter.client import connect
from starter.terminal import ExitCode, Json, end, progress, show, table
from workflows.options import document_workflow_id

WAITING_STATES = ("awaiting_cut_authorization", "awaiting_lifecycle_authorization")
POLL_SECONDS = 0.3


def run(
    document: Annotated[str, typer.Argument(help="Document id, such as ICX-LAW-2026-001")],
    mode: Annotated[str, typer.Option(help="live, or dryrun: rehearse the write and roll it back")] = "live",
    wait: Annotated[bool, typer.Option("--wait", help="Wait until it ends or waits for a person (exit 3).")] = False,
    amends: Annotated[str | None, typer.Option(help="The failed run that this one corrects")] = None,
    source_uri: Annotated[str | None, typer.Option(help="Refuse unless the source was registered from here")] = None,
    as_json: Json = False,
) -> None:
    """Start one document run.

    Example: cutter run ICX-LAW-2026-001 --wait
    """
    settings = load()
    if mode not in ("live", "dryrun"):
        raise InvalidInput(f"--mode {mode}: live or dryrun")
    started = asyncio.run(_start(settings, ids.document_id(document), cast(Mode, mode), amends, source_uri, wait=wait))
    _report(settings, started, as_json=as_json, wait=wait)


def resume(
    run_id: Annotated[str | None, typer.Option(help="The run's id")] = None,
    document_id: Annotated[str | None, typer.Option(help="Or the document's: its newest run")] = None,
    approval_kb_id: Annotated[str | None, typer.Option(help="KB id of a signed approval")] = None,
    wait: Annotated[bool, typer.Option("--wait", help="Wait until it ends or waits for a person (exit 3).")] = False,
    as_json: Json = False,
) -> None:
    """Go on with a run: hand over an approval, resume a stop, or start its workflow again after it was lost.

    Example: cutter orchestrate resume --run-id ictr-… --approval-kb-id knowledge/…/SG1-cut-authz-approval-….md
    """
    settings = load()
    if (run_id is None) == (document_id is None):
        raise InvalidInput("name the run: --run-id ictr-… or --document-id ICX-…")
    seen = runs.sidecar(settings, runs.run_id_of(settings, str(run_id or document_id)))["run"]
    answer = asyncio.run(_resume(settings, seen, approval_kb_id, wait=wait))
    _report(settings, answer, as_json=as_json, wait=wait)


async def _start(
    settings: Settings, document_id: str, mode: Mode, amends: str | None, source_uri: str | None, *, wait: bool
) -> dict[str, Any]:
    client = await connect(settings)
    await runs.require_no_open_run(client, document_id)
    run_id = runs.register_run(settings, document_id, mode, amends=amends)
    handle = await runs.start(client, RunInput(
        document_id=document_id, run_id=run_id, mode=mode, starter=getpass.getuser(), source_uri=source_uri,
        amends=amends))  # fmt: skip
    return await _outcome(settings, handle, run_id, document_id, wait=wait)


async def _resume(settings: Settings, seen: dict[str, Any], kb_id: str | None, *, wait: bool) -> dict[str, Any]:
    run_id, document_id = seen["run_id"], seen["document_id"]
    if seen["ended_at"] is not None:
        return {"run_id": run_id, "document_id": document_id, "state": seen["state"], "outcome": seen["outcome"]}
    client = await connect(settings)
    handle = client.get_workflow_handle(document_workflow_id(document_id), result_type=RunResult)
    answer: dict[str, Any] = {}
    if not await runs.is_open(client, document_id, run_id):
        handle = await runs.start(
            client, RunInput(document_id=document_id, run_id=run_id, mode=seen["mode"], starter=seen["starter"])
        )
        answer = {"status": "accepted", "code": "started_again", "reason": "the run had no open workflow"}
    # A new execution of a stopped run waits as the old one did: one command is to move it on.
    if kb_id is not None or not answer or str(seen["state"]).startswith("stopped_"):
        answer = await runs.resume(client, document_id, kb_id)
    return {**await _outcome(settings, handle, run_id, document_id, wait=wait), "answer": answer}


async def _outcome(
    settings: Settings, handle: WorkflowHandle[Any, Any], run_id: str, document_id: str, *, wait: bool
) -> dict[str, Any]:
    found: dict[str, Any] = {"run_id": run_id, "document_id": document_id, "workflow_id": handle.id}
    if wait:
        with progress(f"{document_id}: running") as say:
            found |= await wait_for_people(settings, handle, run_id, say)
    else:
        found["state"] = runs.sidecar(settings, run_id)["run"]["state"]
    return found


async def wait_for_people(
    settings: Settings, handle: WorkflowHandle[Any, Any], run_id: str, say: Any
) -> dict[str, Any]:
    """Until the run ends, stops, or waits for a person; the database says which."""
    result = asyncio.ensure_future(handle.result(follow_runs=False))
    state = ""
    try:
        while not result.done():
            seen = await asyncio.to_thread(runs.sidecar, settings, run_id)
            if seen["run"]["state"] != state:
                state = seen["run"]["state"]
                say(f"{seen['run']['document_id']}: {state}")
            # The request's row is there a moment before its document: nobody is to be sent to what is not there yet.
            put = {one["kb_id"] for one in seen["documents"] if one["sha256"]}
            waiting = [one for one in seen["requests"] if one["status"] == "requested" and one["kb_id"] in put]
            if state.startswith("stopped_") or (state in WAITING_STATES and waiting):
                return {"state": state, "request": waiting[-1]["kb_id"] if waiting else None}
            await asyncio.wait([result], timeout=POLL_SECONDS)
        ended: RunResult = await result
        return {"state": ended.state, "outcome": ended.outcome, "reason": ended.reason, "kb_doc_id": ended.kb_doc_id}
    finally:
        result.cancel()


def _report(settings: Settings, found: dict[str, Any], *, as_json: bool, wait: bool) -> None:
    state = found["state"]
    found["next"] = next_step(found)
    found["ui"] = ui_url(settings)
    rows = [(key, value) for key, value in found.items() if value not in (None, "", {})]
    show(found, as_json=as_json, render=lambda out: out.print(table(("field", "value"), rows)))
    end(exit_code(found, state, wait=wait))


def exit_code(found: dict[str, Any], state: str, *, wait: bool) -> ExitCode:
    """0 done (or started), 1 failed, 3 waiting for a person, 4 stopped or refused (spec "Commands")."""
    answer = found.get("answer") or {}
    # Asking without an approval is a question about what is awaited, not something refused.
    if answer.get("status") == "refused" and answer.get("code") != "approval_needed":
        return ExitCode.STOPPED
    if state.startswith("failed_"):
        return ExitCode.FAILED
    if state.startswith(("stopped_", "voided_")):
        return ExitCode.STOPPED
    if wait and state in WAITING_STATES and found.get("outcome") != "rehearsed":
        return ExitCode.WAITING
    return ExitCode.DONE


def next_step(found: dict[str, Any]) -> str:
    """The one command that moves the run on."""
    step = steps.next_step(
        run_id=found["run_id"], document_id=found["document_id"], state=found["state"], outcome=found.get("outcome"),
        wrote=True,
    )  # fmt: skip
    return step.command
