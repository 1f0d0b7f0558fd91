"""IO: starting and messaging document runs through Temporal; shared by the commands, the demo and the tests."""

from __future__ import annotations

import getpass
from dataclasses import asdict
from typing import Any

from psycopg.types.json import Jsonb
from temporalio.client import Client, WorkflowHandle, WorkflowUpdateFailedError
from temporalio.common import Priority, WorkflowIDConflictPolicy, WorkflowIDReusePolicy
from temporalio.exceptions import WorkflowAlreadyStartedError
from temporalio.service import RPCError, RPCStatusCode

from cutter.domain import ids
from cutter.domain.urgency import Urgency
from cutter.errors import Conflict, NotFound, Refused, Unavailable
from cutter.messages import Mode, RunInput, RunResult
from cutter.registration import caps_of, mint_run_id, registered
from cutter.settings import Settings
from cutter.storage.faults import translated
from cutter.storage.gate_transaction import call
from cutter.storage.pools import connect
from cutter.storage.queries import query
from workflows import options

Json = dict[str, Any]
OPERATOR = "cutter_operator"


def register_run(settings: Settings, document_id: str, mode: Mode, *, amends: str | None = None) -> str:
    """Mint a run id and make the run's row, before any workflow knows of it; a live run that is open refuses."""
    run_id = mint_run_id()
    with translated(), connect(settings, OPERATOR) as connection:
        known = connection.execute(query("document_known"), {"document_id": ids.document_id(document_id)}).fetchone()
        if known is None or not known[0]:
            raise NotFound(
                f"{document_id} is unknown: type `cutter source add FILE --document-id {document_id} --profile …`",
                code="STOP_DOCUMENT_UNKNOWN",
            )
        answer = call(
            connection,
            "select cutter_governance.fn_run_register(%s, %s, %s, %s, %s, null, null, %s)",
            (run_id, document_id, mode, getpass.getuser(), Jsonb(asdict(caps_of(settings))), amends),
        )
    return registered(answer)


def sidecar(settings: Settings, run_id: str) -> Json:
    """Everything the database says of a run; STOP_RUN_NOT_FOUND when it knows none."""
    with translated(), connect(settings, OPERATOR) as connection:
        row = connection.execute("select cutter_governance.fn_run_sidecar(%s)", (ids.run_id(run_id),)).fetchone()
    if row is None or row[0] is None:
        raise NotFound(f"no run {run_id}: see `cutter status`", code="STOP_RUN_NOT_FOUND")
    found: Json = row[0]  # type: ignore[assignment]
    return found


def drift(settings: Settings, run_id: str) -> Json | None:
    """What differs now under a run that drift has stopped, and the fingerprint of it; None for any other run."""
    with translated(), connect(settings, OPERATOR) as connection:
        row = connection.execute("select cutter_governance.fn_drift_look(%s)", (ids.run_id(run_id),)).fetchone()
    found: Json | None = row[0] if row else None  # type: ignore[assignment]
    return found


def run_of_document(settings: Settings, document_id: str) -> str:
    """Run id of a document's open run, else of its newest: a later one that ended or was skipped is not meant."""
    with translated(), connect(settings, OPERATOR) as connection:
        row = connection.execute(query("run_of_document"), {"document_id": ids.document_id(document_id)}).fetchone()
    if row is None:
        raise NotFound(f"{document_id} has no run: type `cutter run {document_id}`", code="STOP_RUN_NOT_FOUND")
    return str(row[0])


def run_id_of(settings: Settings, name: str) -> str:
    """A run id from what a person types: a run id, or a document id (its open run, else its newest)."""
    return ids.run_id(name) if ids.is_run_id(name) else run_of_document(settings, name)


def enacting_run(settings: Settings, document_id: str) -> str | None:
    """Run id of the run that made the document law, or None."""
    with translated(), connect(settings, OPERATOR) as connection:
        row = connection.execute(query("enacting_run"), {"document_id": document_id}).fetchone()
    return str(row[0]) if row else None


def turn_of(settings: Settings, document_id: str) -> Priority:
    """Where a run that a person started stands: before every batch's, beside other persons' by its tenant's weight."""
    with translated(), connect(settings, OPERATOR) as connection:
        row = connection.execute(query("tenant_of_document"), {"document_id": document_id}).fetchone()
    tenant, weight = (str(row[0]), int(str(row[1]))) if row else ("", 1)
    return options.priority(Urgency.INTERACTIVE, tenant, weight)


async def start(client: Client, run: RunInput, turn: Priority | None = None) -> WorkflowHandle[Any, Any]:
    """Start the document's workflow, with its `turn_of` among others; STOP_RUN_BUSY when one is open."""
    try:
        return await client.start_workflow(
            options.DOCUMENT_RUN,
            run,
            result_type=RunResult,
            id=options.document_workflow_id(run.document_id),
            task_queue=options.WORKFLOW_QUEUE,
            id_reuse_policy=WorkflowIDReusePolicy.ALLOW_DUPLICATE,
            id_conflict_policy=WorkflowIDConflictPolicy.FAIL,
            static_summary=f"{run.document_id} · {run.mode}" + (f" · batch {run.batch_id[:8]}" if run.batch_id else ""),
            static_details=f"run `{run.run_id}` started by {run.starter}",
            priority=turn or options.priority(Urgency.INTERACTIVE),
        )
    except WorkflowAlreadyStartedError:
        raise Refused(
            f"{run.document_id} has an open run: see `cutter status {run.document_id}`", code="STOP_RUN_BUSY"
        ) from None
    except RPCError as problem:
        raise unanswered(problem) from None


async def require_no_open_run(client: Client, settings: Settings, document_id: str) -> None:
    """Refuse before a run is registered: a row without a workflow would stand before the run that is really open."""
    handle = client.get_workflow_handle(options.document_workflow_id(document_id))
    try:
        seen = await handle.describe()
    except RPCError as problem:
        if problem.status is RPCStatusCode.NOT_FOUND:
            return
        raise unanswered(problem) from None
    if seen.status is not None and seen.status.name == "RUNNING":
        run_id = _open_run(settings, document_id)
        named = f"the open run {run_id}" if run_id else "an open run"
        raise Refused(f"{document_id} has {named}: see `cutter status {run_id or document_id}`", code="STOP_RUN_BUSY")


def _open_run(settings: Settings, document_id: str) -> str | None:
    with translated(), connect(settings, OPERATOR) as connection:
        row = connection.execute(query("open_run_of_document"), {"document_id": document_id}).fetchone()
    return str(row[0]) if row else None


async def resume(client: Client, document_id: str, kb_id: str | None) -> Json:
    """Send the update `resume`; answers {status, code, reason}."""
    handle = client.get_workflow_handle(options.document_workflow_id(document_id))
    try:
        answer: Json = await handle.execute_update("resume", kb_id, result_type=dict)
        return answer
    except WorkflowUpdateFailedError as problem:
        raise Conflict(f"the run did not take it: {problem.cause}") from None
    except RPCError as problem:
        if problem.status is RPCStatusCode.NOT_FOUND:
            raise NotFound(f"{document_id} has no open run", code="STOP_RUN_NOT_FOUND") from None
        raise unanswered(problem) from None


def unanswered(problem: RPCError) -> Unavailable:
    """Temporal's own failure as ours."""
    return Unavailable(
        f"Temporal did not answer ({problem.status.name.lower()}): type `cutter up` or see `cutter doctor`",
        what="temporal",
    )
