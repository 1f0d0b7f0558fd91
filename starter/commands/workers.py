"""IO: `cutter workers`: lists the workers of the task queues, from their heartbeats and from the queues' pollers."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from datetime import datetime, timedelta
from typing import Annotated, Any

import typer
from rich.console import Console
from temporalio.api.enums.v1 import TaskQueueType
from temporalio.api.taskqueue.v1 import TaskQueue
from temporalio.api.workflowservice.v1 import DescribeTaskQueueRequest
from temporalio.client import Client
from temporalio.service import RPCError

from cutter.domain import recorded_values
from cutter.domain.amounts import counted
from cutter.domain.timestamps import utc
from cutter.domain.worker_status import crew
from cutter.errors import Unavailable
from cutter.lifecycle.history import of_audit
from cutter.settings import Settings, load
from cutter.storage.pools import OPERATOR, Connection, session
from cutter.storage.queries import query
from cutter.storage.records import Rows, records, values
from starter.console.failures import as_failure
from starter.console.terminal import ExitCode, Json, Listing, end, say, show, write
from starter.local import worker_versions
from temporal import names
from temporal.client import connect, unanswered

View = dict[str, Any]

QUEUES = (*names.TASK_QUEUES.values(), names.BATCH_QUEUE)
KINDS = (TaskQueueType.TASK_QUEUE_TYPE_ACTIVITY, TaskQueueType.TASK_QUEUE_TYPE_WORKFLOW)


@dataclass(frozen=True, slots=True, kw_only=True)
class Heartbeat:
    """A worker's row. `queues` is the worker's own claim, in any form. `silent` says that it missed three
    heartbeats.
    """

    worker_id: str
    role: str
    state: str
    build_id: str
    queues: Any
    started_at: datetime
    seen_at: datetime
    beat_seconds: int
    age_seconds: int
    silent: bool


WORKERS = records("workers", Heartbeat)
EVENTS: Rows[str] = values("worker_events")


def workers(
    gone: Annotated[bool, typer.Option("--all", help="Also list workers that shut down within a week")] = False,
    transitions: Annotated[
        bool, typer.Option("--transitions", help="Print every worker's transitions instead, one JSON object a line")
    ] = False,
    as_json: Json = False,
) -> None:
    """List the workers of the task queues: state, slots, last heartbeat, build id.

    An unresponsive worker has missed three heartbeats. Exit 5: a queue has no worker, or Temporal does not answer. Exit
    1: a worker is unresponsive, but other workers do its work.

    Example: cutter workers --all
    """
    settings = load()
    if transitions:
        write(*events(settings))
        return
    view = look(settings)
    if not gone:
        view["workers"] = [worker for worker in view["workers"] if worker["state"] != "shutdown"]
    failed = bool(view["unserved"] or view["unavailable"] or view["unresponsive"])
    answer = as_failure(view, code=_code(view), message=_message(view), next_command="cutter up") if failed else view
    show(answer, as_json=as_json, render=lambda out: _print(out, view))
    if view["unavailable"]:
        say(view["unavailable"])
    if view["unserved"] or view["unavailable"]:
        end(ExitCode.UNAVAILABLE)
    end(ExitCode.FAILED if view["unresponsive"] else ExitCode.DONE)


def _code(view: View) -> str:
    return "UNAVAILABLE" if view["unserved"] or view["unavailable"] else "worker_unresponsive"


def _message(view: View) -> str:
    """The problem with the workers in one sentence."""
    if view["unavailable"]:
        return str(view["unavailable"])
    if view["unserved"]:
        return f"no worker polls {', '.join(view['unserved'])}"
    return f"{counted(len(view['unresponsive']), 'worker')} missed three heartbeats"


def look(settings: Settings) -> View:
    """The present workers, after silent ones were recorded. `unavailable` says why the pollers are unknown."""
    with session(settings, OPERATOR) as connection:
        rows = rows_of(connection)
    pollers, unavailable = None, None
    builds: dict[str, str] = {}
    try:
        pollers, builds = asyncio.run(_asked(settings))
    except Unavailable as problem:
        unavailable = str(problem)
    return {**crew(rows, pollers, QUEUES, builds), "unavailable": unavailable}


def rows_of(connection: Connection) -> list[View]:
    """The rows of the workers with their present states."""
    connection.execute(query("judge_workers"))
    return [
        {**asdict(worker), "queues": recorded_values.queues(worker.queues), "started_at": utc(worker.started_at),
         "seen_at": utc(worker.seen_at)}
        for worker in WORKERS.all(connection)
    ]  # fmt: skip


def events(settings: Settings) -> Iterator[str]:
    """The transitions of all workers in their order, as lines of a transitions.jsonl (seed 004 "Event Schema")."""
    with session(settings, OPERATOR) as connection:
        for body in EVENTS.sent(connection):
            event = of_audit(str(body))
            if event is not None:
                yield event.line()


async def _asked(settings: Settings) -> tuple[dict[str, list[str]], dict[str, str]]:
    """Temporal's knowledge: the pollers of each queue, and the builds to which runs are pinned."""
    client = await connect(settings)
    return {queue: await _pollers_of(client, queue) for queue in QUEUES}, await worker_versions.statuses(client)


async def _pollers_of(client: Client, queue: str) -> list[str]:
    identities: dict[str, None] = {}
    for kind in KINDS:
        try:
            answer = await client.workflow_service.describe_task_queue(
                DescribeTaskQueueRequest(
                    namespace=client.namespace, task_queue=TaskQueue(name=queue), task_queue_type=kind
                )
            )
        except RPCError as problem:
            raise unanswered(problem) from None
        identities |= dict.fromkeys(poller.identity for poller in answer.pollers)
    return list(identities)


def _print(out: Console, view: View) -> None:
    columns = ("worker", "state", "queue: used/slots", "last heartbeat", "build", "note")
    out.print(Listing(columns=columns, rows=[_row(worker) for worker in view["workers"]]), soft_wrap=True)
    for build, status in view["builds"].items():
        out.print(f"build {build}: {status}")
    for queue in view["unserved"]:
        out.print(f"{queue} has no worker")
    if view["unresponsive"] and not view["unserved"]:
        out.print("others do the work of those that are unresponsive; after ten minutes of silence they are closed")
    if view["next"]:
        out.print(f"next: {view['next']}")


def _row(view: View) -> tuple[str, ...]:
    slots = (
        f"{its['queue']}: {its['used']}/{its['slots']}" if its["slots"] is not None else its["queue"]
        for its in view["queues"]
    )
    silent = [its["queue"] for its in view["queues"] if its["polls"] is False]
    age = f"{timedelta(seconds=view['age_seconds'])} ago" if view["age_seconds"] is not None else ""
    note = f"does not poll {', '.join(silent)}" if silent else ""
    return (view["worker_id"], view["state"], ", ".join(slots), age, view["build_id"], note)
