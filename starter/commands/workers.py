"""IO: `cutter workers`: lists the workers of the task queues, from their heartbeats and from the queues' pollers."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import timedelta
from typing import Annotated

import typer
from rich.console import Console
from temporalio.api.enums.v1 import TaskQueueType, WorkerDeploymentVersionStatus
from temporalio.api.taskqueue.v1 import TaskQueue
from temporalio.api.workflowservice.v1 import DescribeTaskQueueRequest, DescribeWorkerDeploymentRequest
from temporalio.client import Client
from temporalio.service import RPCError, RPCStatusCode

from cutter.catalogue import Role
from cutter.domain.amounts import counted
from cutter.domain.worker_status import Heartbeat, ShownWorker, WorkerReport, worker_report
from cutter.errors import Unavailable
from cutter.settings import Settings, load
from cutter.storage.pools import session
from cutter.storage.records import Connection, query, records
from starter.console.failures import as_failure
from starter.console.terminal import AsJson, ExitCode, Listing, end, say, show
from temporal import names
from temporal.client import connect, unanswered

QUEUES = (*names.TASK_QUEUES.values(), names.BATCH_QUEUE)
KINDS = (TaskQueueType.TASK_QUEUE_TYPE_ACTIVITY, TaskQueueType.TASK_QUEUE_TYPE_WORKFLOW)


WORKERS = records("workers", Heartbeat)


def workers(
    gone: Annotated[bool, typer.Option("--all", help="Also list workers that shut down within a week")] = False,
    as_json: AsJson = False,
) -> None:
    """List the workers of the task queues: state, slots, last heartbeat, build id.

    An unresponsive worker has missed three heartbeats. Exit 5: a queue has no worker, or Temporal does not answer. Exit
    1: a worker is unresponsive, but other workers do its work.

    Example: cutter workers --all
    """
    settings = load()
    report = look(settings)
    if not gone:
        report = replace(report, workers=tuple(worker for worker in report.workers if worker.state != "shutdown"))
    answer = report.as_json()
    if report.unserved or report.unavailable or report.unresponsive:
        silent = f"{counted(len(report.unresponsive), 'worker')} missed three heartbeats"
        unserved = f"no worker polls {', '.join(report.unserved)}" if report.unserved else silent
        answer = as_failure(
            answer,
            code="UNAVAILABLE" if report.unserved or report.unavailable else "worker_unresponsive",
            message=report.unavailable or unserved,
            next_command="cutter up" if report.next or not report.unserved else "cutter workers",
        )
    show(answer, as_json=as_json, render=lambda out: _print(out, report))
    if report.unavailable:
        say(report.unavailable)
    if report.unserved or report.unavailable:
        end(ExitCode.UNAVAILABLE)
    end(ExitCode.FAILED if report.unresponsive else ExitCode.DONE)


def look(settings: Settings) -> WorkerReport:
    """The present workers, after silent ones were recorded. `unavailable` says why the pollers are unknown."""
    with session(settings, Role.OPERATOR) as connection:
        heartbeats = heartbeats_of(connection)
    pollers, unavailable = None, None
    builds: dict[str, str] = {}
    try:
        pollers, builds = asyncio.run(_asked(settings))
    except Unavailable as problem:
        unavailable = str(problem)
    return replace(worker_report(heartbeats, pollers, QUEUES, builds), unavailable=unavailable)


def heartbeats_of(connection: Connection) -> list[Heartbeat]:
    """The last heartbeats of the workers with their present states."""
    connection.execute(query("judge_workers"))
    return WORKERS.all(connection)


async def _asked(settings: Settings) -> tuple[dict[str, list[str]], dict[str, str]]:
    """Temporal's knowledge: the pollers of each queue, and the builds to which runs are pinned."""
    client = await connect(settings)
    pollers: dict[str, list[str]] = {}
    for queue in QUEUES:
        identities: dict[str, None] = {}
        for kind in KINDS:
            request = DescribeTaskQueueRequest(
                namespace=client.namespace, task_queue=TaskQueue(name=queue), task_queue_type=kind
            )
            try:
                answer = await client.workflow_service.describe_task_queue(request)
            except RPCError as problem:
                raise unanswered(problem) from None
            identities |= dict.fromkeys(poller.identity for poller in answer.pollers)
        pollers[queue] = list(identities)
    return pollers, await _builds_of(client)


async def _builds_of(client: Client) -> dict[str, str]:
    """Every build with its status: current, draining, drained or inactive. Empty if builds were never pinned."""
    request = DescribeWorkerDeploymentRequest(namespace=client.namespace, deployment_name=names.DEPLOYMENT)
    try:
        info = (await client.workflow_service.describe_worker_deployment(request)).worker_deployment_info
    except RPCError as problem:
        # A server that knows no deployments has none of ours.
        if problem.status in (RPCStatusCode.NOT_FOUND, RPCStatusCode.UNIMPLEMENTED):
            return {}
        raise unanswered(problem) from None
    status_of = WorkerDeploymentVersionStatus.Name
    builds = {
        summary.deployment_version.build_id: status_of(summary.status).rpartition("_")[2].lower()
        for summary in info.version_summaries
    }
    current = info.routing_config.current_deployment_version.build_id
    return builds | ({current: "current"} if current else {})


def _print(out: Console, report: WorkerReport) -> None:
    columns = ("worker", "state", "queue: used/slots", "last heartbeat", "build", "note")
    out.print(Listing(columns=columns, rows=[_row(worker) for worker in report.workers]), soft_wrap=True)
    for build, status in report.builds.items():
        out.print(f"build {build}: {status}")
    for queue in report.unserved:
        out.print(f"{queue} has no worker")
    if report.unresponsive and not report.unserved:
        out.print("others do the work of those that are unresponsive; after ten minutes of silence they are closed")
    if report.next:
        out.print(f"next: {report.next}")
    elif report.unserved:
        out.print("start the workers of a pinned build where it is installed")


def _row(worker: ShownWorker) -> tuple[str, ...]:
    slots = (f"{its.queue}: {its.used}/{its.slots}" if its.slots is not None else its.queue for its in worker.queues)
    silent = [its.queue for its in worker.queues if its.polls is False]
    age = f"{timedelta(seconds=worker.age_seconds)} ago" if worker.age_seconds is not None else ""
    note = f"does not poll {', '.join(silent)}" if silent else ""
    return (worker.worker_id, worker.state, ", ".join(slots), age, worker.build_id, note)
