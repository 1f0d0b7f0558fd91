"""IO: `cutter workers`: who serves the task queues, from the workers' heartbeats and from the queues' pollers."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from datetime import timedelta
from typing import Annotated, Any

import typer
from psycopg.rows import dict_row
from rich.console import Console
from temporalio.api.enums.v1 import TaskQueueType
from temporalio.api.taskqueue.v1 import TaskQueue
from temporalio.api.workflowservice.v1 import DescribeTaskQueueRequest
from temporalio.client import Client
from temporalio.service import RPCError

from cutter.domain import recorded
from cutter.domain.amounts import counted
from cutter.domain.timestamps import utc
from cutter.domain.worker_status import crew
from cutter.errors import Unavailable
from cutter.lifecycle.history import of_audit
from cutter.settings import Settings, load
from cutter.storage.pools import OPERATOR, Connection, session
from cutter.storage.queries import query
from starter.console.failures import as_failure
from starter.console.terminal import ExitCode, Json, Listing, end, say, show, write
from starter.local import worker_versions as versions
from temporal import names
from temporal.client import connect, unanswered

View = dict[str, Any]

QUEUES = (*names.TASK_QUEUES.values(), names.BATCH_QUEUE)
KINDS = (TaskQueueType.TASK_QUEUE_TYPE_ACTIVITY, TaskQueueType.TASK_QUEUE_TYPE_WORKFLOW)


def workers(
    gone: Annotated[bool, typer.Option("--all", help="Also those that have shut down, for a week")] = False,
    transitions: Annotated[
        bool, typer.Option("--transitions", help="Print every worker's transitions instead, one JSON object a line")
    ] = False,
    as_json: Json = False,
) -> None:
    """List the workers of the task queues: state, slots, last heartbeat, build id.

    Unresponsive is one that missed three heartbeats.
    Exit 5: a queue has no worker, or Temporal does not answer. Exit 1: a worker is unresponsive, others do its work.

    Example: cutter workers --all
    """
    settings = load()
    if transitions:
        write(*events(settings))
        return
    seen = look(settings)
    if not gone:
        seen["workers"] = [one for one in seen["workers"] if one["state"] != "shutdown"]
    failed = bool(seen["unserved"] or seen["unavailable"] or seen["unresponsive"])
    told = as_failure(seen, code=_code(seen), message=_message(seen), next_command="cutter up") if failed else seen
    show(told, as_json=as_json, render=lambda out: _print(out, seen))
    if seen["unavailable"]:
        say(seen["unavailable"])
    if seen["unserved"] or seen["unavailable"]:
        end(ExitCode.UNAVAILABLE)
    end(ExitCode.FAILED if seen["unresponsive"] else ExitCode.DONE)


def _code(seen: View) -> str:
    return "UNAVAILABLE" if seen["unserved"] or seen["unavailable"] else "worker_unresponsive"


def _message(seen: View) -> str:
    """In a sentence, what is wrong with the workers."""
    if seen["unavailable"]:
        return str(seen["unavailable"])
    if seen["unserved"]:
        return f"no worker polls {', '.join(seen['unserved'])}"
    return f"{counted(len(seen['unresponsive']), 'worker')} missed three heartbeats"


def look(settings: Settings) -> View:
    """What `crew` sees now; first what silence means is recorded. `unavailable` says why pollers are not known."""
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
    """The workers' own rows, judged now."""
    connection.execute(query("judge_workers"))
    rows = connection.cursor(row_factory=dict_row).execute(query("workers")).fetchall()
    return [
        {**row, "queues": recorded.queues(row["queues"]), "started_at": utc(row["started_at"]),
         "seen_at": utc(row["seen_at"])}
        for row in rows
    ]  # fmt: skip


def events(settings: Settings) -> Iterator[str]:
    """The transitions of all workers in their order, as lines of a transitions.jsonl (seed 004 "Event Schema")."""
    with session(settings, OPERATOR) as connection:
        for (body,) in connection.execute(query("worker_events")):
            event = of_audit(str(body))
            if event is not None:
                yield event.line()


async def _asked(settings: Settings) -> tuple[dict[str, list[str]], dict[str, str]]:
    """What Temporal knows: who polls each queue, and which builds runs are pinned to."""
    client = await connect(settings)
    return {queue: await _pollers_of(client, queue) for queue in QUEUES}, await versions.statuses(client)


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


def _print(out: Console, seen: View) -> None:
    columns = ("worker", "state", "queue: used/slots", "last heartbeat", "build", "note")
    out.print(Listing(columns=columns, rows=[_row(one) for one in seen["workers"]]), soft_wrap=True)
    for build, status in seen["builds"].items():
        out.print(f"build {build}: {status}")
    for queue in seen["unserved"]:
        out.print(f"{queue} has no worker")
    if seen["unresponsive"] and not seen["unserved"]:
        out.print("others do the work of those that are unresponsive; after ten minutes of silence they are closed")
    if seen["next"]:
        out.print(f"next: {seen['next']}")


def _row(one: View) -> tuple[str, ...]:
    slots = (
        f"{its['queue']}: {its['used']}/{its['slots']}" if its["slots"] is not None else its["queue"]
        for its in one["queues"]
    )
    silent = [its["queue"] for its in one["queues"] if its["polls"] is False]
    age = f"{timedelta(seconds=one['age_seconds'])} ago" if one["age_seconds"] is not None else ""
    note = f"does not poll {', '.join(silent)}" if silent else ""
    return (one["worker_id"], one["state"], ", ".join(slots), age, one["build_id"], note)
