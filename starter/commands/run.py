"""IO: `cutter run` and `cutter orchestrate resume`: starts or continues a document run."""

from __future__ import annotations

import asyncio
import getpass
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from typing import Annotated, Any

import typer
from temporalio.client import Client, WorkflowHandle

from cutter import limits
from cutter.domain import ids
from cutter.domain.next_step import Needs, next_step
from cutter.domain.run_record import RunRecord
from cutter.domain.run_state import RunState
from cutter.errors import Conflict, InvalidInput, NotFound
from cutter.messages import Mode, RunInput, RunResult
from cutter.projections.run_view import law_already, run_view
from cutter.settings import Settings, load
from cutter.stack.addresses import ui_url
from cutter.storage import runs as run_rows
from starter.approver import orders
from starter.commands.batch import resume_batch
from starter.commands.options import BATCH_ID, WATCH, ApprovalSet, RunMode, SourceUri, Wait
from starter.commands.status import lines_of_run, render_run
from starter.console.failures import as_failure
from starter.console.terminal import AsJson, ExitCode, end, fields, say, show
from starter.console.watch import following
from starter.operator.run_status import step_of
from starter.operator.run_watch import WAITING_STATES, Moment, Shown, Tell, said, wait_for_people
from temporal import executions, runs
from temporal.client import connect
from temporal.executions import open_execution_of
from temporal.names import document_workflow_id
from temporal.runs import OrderReply


def run(
    document: Annotated[str, typer.Argument(help="Document id, such as ICX-LAW-2026-001")],
    mode: RunMode = "live",
    wait: Wait = False,
    watch: Annotated[bool, WATCH] = False,
    amends: Annotated[str | None, typer.Option(help="The failed run that this one corrects")] = None,
    source_uri: SourceUri = None,
    priority: Annotated[
        int,
        typer.Option(help=f"0 to {limits.PRIORITY_MAX} as in a queue, lower first; large numbers come after batches"),
    ] = limits.PRIORITY_DEFAULT,
    as_json: AsJson = False,
) -> None:
    """Start one document run.

    Example: cutter run ICX-LAW-2026-001 --watch
    """
    settings = load()
    if not 0 <= priority <= limits.PRIORITY_MAX:
        raise InvalidInput(f"--priority {priority}: 0 to {limits.PRIORITY_MAX}, lower first")
    shown = watched if watch and not as_json else said if wait or watch else None
    run_rows.require_tenant(settings)
    if mode == "live":
        run_rows.require_can_be_enacted(settings, document, waits=shown is not None)
    started = asyncio.run(_start(settings, ids.document_id(document), mode, amends, source_uri, shown, priority))
    _report(settings, started, as_json=as_json, wait=shown is not None)


def resume(
    run_id: Annotated[str | None, typer.Option(help="The run's id")] = None,
    document_id: Annotated[str | None, typer.Option(help="Or the document's: its open run, else its newest")] = None,
    approval_kb_id: Annotated[str | None, typer.Option(help="KB id of a signed approval")] = None,
    batch_id: Annotated[str | None, BATCH_ID] = None,
    approval_set: ApprovalSet = None,
    wait: Wait = False,
    as_json: AsJson = False,
) -> None:
    """Continue a run or a batch: hand over approvals, resume a stop, or restart a lost workflow.

    Example: cutter orchestrate resume --run-id ictr-… --approval-kb-id knowledge/…/SG1-cut-authz-approval-….md

    Example: cutter orchestrate resume --batch-id 0199… --approval-set SG1-approvals/
    """
    if sum(name is not None for name in (run_id, document_id, batch_id)) != 1:
        raise InvalidInput("name what continues: --run-id ictr-…, --document-id ICX-… or --batch-id 0199…")
    if (approval_set is not None and batch_id is None) or (approval_kb_id is not None and batch_id is not None):
        raise InvalidInput("--approval-kb-id goes with a run, --approval-set with --batch-id")
    if batch_id is not None:
        resume_batch(batch_id, approval_set, wait=wait, watch=None, as_json=as_json)
        return
    settings = load()
    record = run_rows.sidecar(settings, executions.run_id_of(settings, str(run_id or document_id))).run
    answer = asyncio.run(_resume(settings, record, approval_kb_id, said if wait else None))
    _report(settings, answer, as_json=as_json, wait=wait)


async def _start(
    settings: Settings, document_id: str, mode: Mode, amends: str | None, source_uri: str | None, shown: Shown | None,
    priority: int = limits.PRIORITY_DEFAULT,
) -> dict[str, Any]:  # fmt: skip
    client = await connect(settings)
    await runs.require_no_open_run(client, settings, document_id)
    run_id = run_rows.register_run(settings, document_id, mode, amends=amends, priority=priority)
    first = RunInput(
        document_id=document_id, run_id=run_id, mode=mode, starter=getpass.getuser(), source_uri=source_uri,
        amends=amends,
    )  # fmt: skip
    handle = await runs.start(client, first, runs.turn_of(settings, document_id, priority))
    return await _outcome(settings, handle, run_id, document_id, shown)


async def _resume(settings: Settings, record: RunRecord, kb_id: str | None, shown: Shown | None) -> dict[str, Any]:
    run_id, document_id = record.run_id, record.document_id
    client = await connect(settings)
    if record.ended_at is not None:
        # A workflow that waits for the end of an outage holds its document until it has checked the run again.
        if await open_execution_of(client, record) is not None:
            with suppress(Conflict, NotFound):  # the workflow has closed meanwhile
                await runs.resume(client, document_id, None)
        return {"run_id": run_id, "document_id": document_id, "state": record.state, "outcome": record.outcome}
    handle = client.get_workflow_handle(document_workflow_id(document_id), result_type=RunResult)
    reply: OrderReply | None = None
    if await orders.ensure_open(settings, client, record):
        reply = OrderReply(status="accepted", code="started_again", reason="the run had no open workflow")
    # A new execution of a stopped run waits as the old one did. So the resume is sent too, because one command must be
    # enough.
    if reply is None and kb_id is None and await _waits_for_a_worker(settings, client, record):
        reply = OrderReply(status="queued", code="no_worker", reason=f"the run needs {Needs.WORKER}")
        if shown is not None:
            say(f"{document_id} needs {Needs.WORKER}: type `cutter up`")
    elif kb_id is not None or reply is None or RunState(record.state).stopped:
        reply = await runs.resume(client, document_id, kb_id)
    accepted = reply.status in ("accepted", "queued")
    left = (str(record.state), str(record.state_at)) if accepted else None
    return {**await _outcome(settings, handle, run_id, document_id, shown, left=left), "answer": reply.as_json()}


async def _waits_for_a_worker(settings: Settings, client: Client, run: RunRecord) -> bool:
    """True if the workflow could answer only after a gate that has no worker. In an outage it answers at once."""
    if step_of(settings, run.run_id).needs is not Needs.WORKER:
        return False
    execution = await open_execution_of(client, run)
    return execution is not None and not execution.in_outage and execution.hold is None


async def _outcome(
    settings: Settings, handle: WorkflowHandle[Any, Any], run_id: str, document_id: str, shown: Shown | None, *,
    left: Moment | None = None,
) -> dict[str, Any]:  # fmt: skip
    outcome: dict[str, Any] = {"run_id": run_id, "document_id": document_id, "workflow_id": handle.id}
    if shown is None:
        run = run_rows.sidecar(settings, run_id).run
        return {**outcome, "state": run.state, "goes_on": left == (str(run.state), str(run.state_at))}
    with shown() as tell:
        outcome |= await wait_for_people(settings, handle, run_id, tell, left=left)
    skipped = outcome.get("outcome") == "skipped"
    law_by = run_rows.sidecar(settings, run_id).step_facts.law_by if skipped else None
    return {**outcome, "law_by": law_by, "reason": law_already(law_by)} if law_by else outcome


@contextmanager
def watched() -> Iterator[Tell]:
    """A wait in the form of `cutter status --watch`."""
    with following(render_run, lines_of_run) as tell:
        yield lambda sidecar: tell(run_view(sidecar))


def _report(settings: Settings, outcome: dict[str, Any], *, as_json: bool, wait: bool) -> None:
    state, goes_on = outcome["state"], outcome.pop("goes_on", False)
    facts = run_rows.sidecar(settings, outcome["run_id"]).step_facts
    # What the workflow answered counts. The run may have left this state since.
    step = next_step(replace(facts, state=state, outcome=outcome.get("outcome") or facts.outcome))
    # A run that continues is about to leave its state, unless no worker is there to take it.
    watches = goes_on and step.needs is not Needs.WORKER
    outcome["next"] = f"cutter status {outcome['document_id']} --watch" if watches else step.command
    outcome["ui"] = ui_url(settings)
    code = exit_code(outcome, state, wait=wait, goes_on=goes_on)
    if code in (ExitCode.FAILED, ExitCode.STOPPED):
        answer = outcome.get("answer") or {}
        refused = answer.get("status") == "refused"
        failure = str(answer.get("code") or state) if refused else RunState(state).stop_code or state
        reason = answer.get("reason") if refused else outcome.get("reason")
        outcome = as_failure(outcome, code=failure, message=str(reason or f"the run is {state}"))
    show(outcome, as_json=as_json, render=lambda out: out.print(fields(_on_lines(outcome)), soft_wrap=True))
    end(code)


def _on_lines(outcome: dict[str, Any]) -> dict[str, Any]:
    """The outcome with the answer as a text: its status, then its reason or code."""
    answer = outcome.get("answer")
    if not answer:
        return outcome
    parts = (answer.get("status"), answer.get("reason") or answer.get("code"))
    return {**outcome, "answer": ": ".join(part for part in parts if part)}


def exit_code(outcome: dict[str, Any], state: str, *, wait: bool, goes_on: bool = False) -> ExitCode:
    """The exit code: 0 done (or started), 1 failed, 3 waiting for a person, 4 stopped or refused (spec "Commands").

    `goes_on` says that the answer was accepted, but the run's workflow has not yet recorded that it left the state.
    """
    answer = outcome.get("answer") or {}
    # A resume without an approval only asks for what the run waits, so it is not a refusal.
    if answer.get("status") == "refused" and answer.get("code") != "approval_needed":
        return ExitCode.STOPPED
    if goes_on:
        return ExitCode.DONE
    if RunState(state).failed:
        return ExitCode.FAILED
    if RunState(state).stopped or RunState(state).voided:
        return ExitCode.STOPPED
    if wait and state in WAITING_STATES and outcome.get("outcome") != "rehearsed":
        return ExitCode.WAITING
    return ExitCode.DONE
