"""IO: `cutter reconcile`: repairs runs and batches without a workflow, once or on a Temporal schedule.

With the schedule, and for `cutter up`, it also creates the search attributes, which is idempotent.
"""

from __future__ import annotations

import asyncio
import socket
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict
from datetime import timedelta
from typing import Annotated, Any

import structlog
import typer
from temporalio.api.enums.v1 import IndexedValueType
from temporalio.api.operatorservice.v1 import AddSearchAttributesRequest, ListSearchAttributesRequest
from temporalio.client import (
    Schedule,
    ScheduleActionStartWorkflow,
    ScheduleAlreadyRunningError,
    ScheduleIntervalSpec,
    ScheduleOverlapPolicy,
    SchedulePolicy,
    ScheduleSpec,
    ScheduleUpdate,
)
from temporalio.service import RPCError, RPCStatusCode

from activities.outbox import publish_report
from activities.reconciler import runs as reconciler_runs
from activities.reconciler.runs import Reconciliation
from activities.worker.batch_watch import Watches
from activities.worker.dependencies import Deps
from activities.worker.process import Signer
from cutter import __version__, limits
from cutter import log_lines as logs
from cutter.catalogue import Role, WorkerRole
from cutter.domain.amounts import counted
from cutter.errors import CutterError, ProgrammingError, Refused, Unavailable
from cutter.kb.store import Store
from cutter.settings import Settings, load
from cutter.storage.pools import open_pool
from cutter.types import Json
from starter.commands import notify
from starter.console.failures import as_failure
from starter.console.terminal import AsJson, ExitCode, end, fields, say, show, table
from temporal import names
from temporal.client import connect, unanswered
from temporal.names import SEARCH_ATTRIBUTE_TYPES


def reconcile(
    grace_seconds: Annotated[
        float, typer.Option(help="Ignore runs that are younger and have tried no gate")
    ] = limits.START_GRACE_SECONDS,
    every: Annotated[
        int | None,
        typer.Option(
            help="Make the search attributes, and let a Temporal schedule do this every so many minutes; 0 removes it",
            min=0,
            max=24 * 60,
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Mark runs whose workflow is gone, name such batches, deliver missed stops and messages, put waiting documents.

    Example: cutter reconcile
    """
    settings = load()
    if every is not None:
        if every:
            ensure_attributes_or_say(settings)
        answer = asyncio.run(_schedule(settings, every) if every else _unschedule(settings))
        show(answer, as_json=as_json, render=lambda out: out.print(fields(answer), soft_wrap=True))
        return
    logs.to_standard_error()
    with reading_deps(settings) as deps:
        drained = reconciler_runs.drain(deps)
        messages = notify.drain(settings)
        try:
            view = asyncio.run(_runs(settings, deps, grace_seconds)).as_json()
        except Unavailable as problem:
            view = {**Reconciliation().as_json(), "unavailable": str(problem)}
    answer = {
        **view, **messages, "documents_put": [asdict(document) for document in drained.put],
        "documents_waiting": [asdict(document) for document in drained.waiting],
    }  # fmt: skip
    waits = answer.get("unavailable") or answer["documents_waiting"] or answer["messages_waiting"]
    if waits:
        message = answer.get("unavailable") or "documents or messages still wait: type `cutter doctor`"
        answer = as_failure(answer, code="UNAVAILABLE", message=str(message), next_command="cutter doctor")
    show(answer, as_json=as_json, render=lambda out: _render(out, answer))
    if answer.get("unavailable"):
        say(answer["unavailable"])
    end(ExitCode.UNAVAILABLE if waits else ExitCode.DONE)


async def _runs(settings: Settings, deps: Deps, grace_seconds: float) -> Reconciliation:
    return await reconciler_runs.runs(await connect(settings), deps, grace_seconds)


@contextmanager
def reading_deps(settings: Settings) -> Iterator[Deps]:
    """The dependencies that activities of the read role need. They include no signing key and no pool of another
    role.
    """
    # Activities write logs, but a command's standard output must hold only its answer.
    structlog.configure(logger_factory=structlog.PrintLoggerFactory(sys.stderr))
    pool = open_pool(settings, Role.READ)
    try:
        yield Deps(
            settings=settings,
            worker_role=WorkerRole.CUTTER,
            worker=f"{socket.gethostname()}:reconcile",
            tool_revision=f"cutter/{__version__}+reconcile",
            pools={Role.READ: pool},
            kb=Store(settings.kb),
            signer=_no_signer,
            watches=Watches(),
            publish_report=publish_report,
        )
    finally:
        pool.close()


def _no_signer() -> Signer:
    raise ProgrammingError("the reconciler signs nothing")


# --- on a schedule ----------------------------------------------------------------------------------------------------


def ensure_schedule(settings: Settings) -> None:
    """Make the schedule if there is none. A schedule that an operator has set keeps its interval. Raises
    Unavailable.
    """
    asyncio.run(_schedule(settings, limits.RECONCILE_MINUTES, keep=True))


async def _schedule(settings: Settings, minutes: int, *, keep: bool = False) -> Json:
    """Make the schedule, or change the existing one unless `keep` is set. Repeating the command leaves one schedule."""
    client = await connect(settings)
    schedule = Schedule(
        action=ScheduleActionStartWorkflow(
            names.RECONCILE, id="reconcile", task_queue=names.WORKFLOW_QUEUE,
            static_summary="repair runs and batches without a workflow",
        ),
        spec=ScheduleSpec(intervals=[ScheduleIntervalSpec(every=timedelta(minutes=minutes))]),
        policy=SchedulePolicy(overlap=ScheduleOverlapPolicy.SKIP, catchup_window=timedelta(minutes=1)),
    )  # fmt: skip
    try:
        try:
            await client.create_schedule(names.RECONCILE_SCHEDULE, schedule)
        except ScheduleAlreadyRunningError:
            if keep:
                return {}
            await client.get_schedule_handle(names.RECONCILE_SCHEDULE).update(lambda _: ScheduleUpdate(schedule))
    except RPCError as problem:
        raise unanswered(problem) from None
    return {"schedule_id": names.RECONCILE_SCHEDULE, "every_minutes": minutes, "next": "cutter reconcile --every 0"}


async def _unschedule(settings: Settings) -> Json:
    client = await connect(settings)
    status = "removed"
    try:
        await client.get_schedule_handle(names.RECONCILE_SCHEDULE).delete()
    except RPCError as problem:
        if problem.status is not RPCStatusCode.NOT_FOUND:
            raise unanswered(problem) from None
        status = "there was none"
    return {"schedule_id": names.RECONCILE_SCHEDULE, "status": status, "next": "cutter reconcile --every 10"}


def _render(out: Any, answer: Json) -> None:
    titles = {
        "marked": "marked: nobody drove them",
        "without_workflow": "stopped, and their workflow is closed",
        "told": "told of what Temporal had missed",
        "held": "somebody paused them in Temporal; the command takes this back",
    }
    for kind, title in titles.items():
        if answer[kind]:
            rows = [(run["document_id"], run["state"], run["next"]) for run in answer[kind]]
            out.print(table(("document", "state", "next"), rows, title=title))
    if answer["differs"]:
        rows = [(run["document_id"], run["state"], run["temporal"]) for run in answer["differs"]]
        title = "PostgreSQL had no record of a stop; the workflow got a message to make it"
        out.print(table(("document", "in PostgreSQL", "in Temporal"), rows, title=title))
    if answer["documents_waiting"]:
        rows = [
            (document.get("run_id") or document["batch_id"], document["code"], document["reason"])
            for document in answer["documents_waiting"]
        ]
        out.print(table(("of", "code", "reason"), rows, title="documents still wait"))
    if answer["foreign"]:
        named = [(workflow["workflow_id"], workflow["command"]) for workflow in answer["foreign"]]
        out.print(table(("workflow that is not cutter's", "removed by"), named))
    notify.render(out, answer)
    for kind, title in (
        ("batches_woken", "batches that look at a change again"),
        ("batches_without_workflow", "batches that nobody drives"),
    ):
        if answer[kind]:
            rows = [(batch["batch_id"], batch["state"], batch["next"]) for batch in answer[kind]]
            out.print(table(("batch", "state", "next"), rows, title=title))
    counts = [
        f"{len(answer[kind])} {kind.replace('_', ' ')}" for kind in ("marked", "told", "differs", "held", "left_alone")
    ]
    out.print(", ".join([*counts, f"{counted(len(answer['documents_put']), 'document')} put"]))


NOT_BY_CUTTER = "not_by_cutter"
"""The code of the error if the server shows cutter no search attributes, as Temporal Cloud. They can be there."""

_KINDS = {
    "Keyword": IndexedValueType.INDEXED_VALUE_TYPE_KEYWORD,
    "Int": IndexedValueType.INDEXED_VALUE_TYPE_INT,
    "Datetime": IndexedValueType.INDEXED_VALUE_TYPE_DATETIME,
}


def ensure_attributes(settings: Settings) -> None:
    """Create the missing search attributes. Repeating this is harmless."""
    asyncio.run(_ensure_attributes(settings))


def ensure_attributes_or_say(settings: Settings) -> None:
    """Create the missing search attributes. If cutter may not, say so: they can be there nevertheless."""
    try:
        ensure_attributes(settings)
    except Refused as problem:
        if problem.code != NOT_BY_CUTTER:
            raise
        say(str(problem))


async def _ensure_attributes(settings: Settings) -> None:
    client = await connect(settings)
    missing: Mapping[str, str] | None = None
    try:
        listed = await client.operator_service.list_search_attributes(
            ListSearchAttributesRequest(namespace=client.namespace)
        )
        missing = {name: kind for name, kind in SEARCH_ATTRIBUTE_TYPES.items() if name not in listed.custom_attributes}
        if missing:
            await client.operator_service.add_search_attributes(
                AddSearchAttributesRequest(
                    namespace=client.namespace, search_attributes={name: _KINDS[kind] for name, kind in missing.items()}
                )
            )
    except RPCError as problem:
        raise attributes_refused(problem, client.namespace, missing) from None


def attributes_refused(problem: RPCError, namespace: str, missing: Mapping[str, str] | None) -> CutterError | RPCError:
    """The error if the namespace has no room for the `missing` attributes, or if cutter may not create them there.

    `missing` is None if the server does not show which there are. Another error is returned as it is.
    """
    if problem.status in (RPCStatusCode.PERMISSION_DENIED, RPCStatusCode.UNIMPLEMENTED):
        if missing is not None:
            listed = " ".join(f"--name {name} --type {kind}" for name, kind in missing.items())
            return Refused(
                f"the server does not let cutter create search attributes in {namespace} ({problem.message}): ask its "
                f"administrator to type `temporal operator search-attribute create --namespace {namespace} {listed}`",
                code="may_not_create",
            )
        listed = " ".join(f"--search-attribute {name}={kind}" for name, kind in SEARCH_ATTRIBUTE_TYPES.items())
        return Refused(
            f"the server does not let cutter create search attributes in {namespace} ({problem.message}). Create those "
            "that are missing with the tools of the server, on Temporal Cloud with "
            f"`tcld namespace search-attributes add --namespace {namespace} {listed}`: see "
            "docs/guides/temporal-cloud.md",
            code=NOT_BY_CUTTER,
        )
    if problem.status is not RPCStatusCode.INVALID_ARGUMENT:
        return problem
    return Refused(
        f"the namespace {namespace} has no room for cutter's search attributes ({problem.message}): remove others "
        f"with `temporal operator search-attribute remove --namespace {namespace} --name NAME`, or name another "
        "namespace in CUTTER_TEMPORAL_NAMESPACE",
        code="no_room",
    )
