"""IO: P14: a finished run reset to each of its workflow tasks: no row and no consumption changes, and it ends again.

The engine runs later activities once more and applies later signals and updates again; that nothing comes of it is the
database's doing. Control arm: attempts that the engine asked for again, which a system without receipts would have
written for; it counts the gate activities that the reset executions scheduled.
"""

from __future__ import annotations

import asyncio
import uuid
from pathlib import Path
from typing import Any

from temporalio.api.common.v1 import WorkflowExecution
from temporalio.api.enums.v1 import EventType
from temporalio.api.workflowservice.v1 import ResetWorkflowExecutionRequest
from temporalio.client import WorkflowHistory

from cutter.catalogue import BY_NAME
from cutter.types import Json
from tests.cases.trials import Summary, command_line, write_lines
from tests.support.stack import THREE_UNITS, Run, Stack, played

PRINT = """
select md5(string_agg(line, '|' order by line)) from (
    select 'u' || u::text as line from public.information_unit u
    union all select 'v' || v::text from public.unit_version v
    union all select 'l' || l::text from public.iu_lifecycle_log l
    union all select 'c' || c::text from cutter_governance.approval_consumption c
    union all select 'r' || r::text from cutter_governance.gate_receipt r
    union all select 's' || s::text from cutter_governance.cut_change_set s
    union all select 'e' || e::text from public.enactment e
    union all select 'w' || w::text from cutter_governance.revision_row w
    union all select 'd' || d::text from cutter_governance.review_decision d
    union all select 'o' || o::text from cutter_governance.order_consumption o) as lines
"""
"""One digest of every row that a second execution must leave as it is."""


async def finished(stack: Stack, document_id: str, *, plain: bool) -> Run:
    """A run of the newest version through both gates; one that is not plain was stopped and resumed on its way."""
    run = await stack.start(document_id)
    if plain:
        await run.through()
        return run
    await run.until_requested("SG_cut_authz")
    await run.handle.signal("nonsense", 1)
    await run.handle.signal("stop", {"reason": "to have one"})
    await run.until_shown("stopped_stop")
    await run.resume(await run.order("resume"))
    await run.through()
    return run


def resettable(history: WorkflowHistory) -> list[int]:
    """Event ids of the completed workflow tasks; the last one ends the run, which no reset can undo."""
    kind = EventType.EVENT_TYPE_WORKFLOW_TASK_COMPLETED
    return [event.event_id for event in history.events if event.event_type == kind]


async def reset(stack: Stack, run: Run, first_execution: str, event_id: int) -> Json:
    """One reset and what came of it."""
    before = stack.database.value(PRINT)
    answer = await stack.client.workflow_service.reset_workflow_execution(
        ResetWorkflowExecutionRequest(
            namespace=stack.client.namespace,
            workflow_execution=WorkflowExecution(workflow_id=run.handle.id, run_id=first_execution),
            reason="P14",
            workflow_task_finish_event_id=event_id,
            request_id=str(uuid.uuid4()),
        )
    )
    handle = stack.client.get_workflow_handle(run.handle.id, run_id=answer.run_id)
    problems = []
    try:
        result = await asyncio.wait_for(handle.result(), 60)
        if result["state"] != "closeout_reported":
            problems.append(f"ended as {result['state']}")
    except TimeoutError:
        status = await handle.query("status", result_type=dict)
        problems.append(f"hangs in {status['state']}: {status['next_command']}")
        await handle.terminate()
    if stack.database.value(PRINT) != before:
        problems.append("rows changed")
    return {
        "event_id": event_id,
        "gates_again": await _gates_after(handle.fetch_history(), event_id),
        "problems": problems,
    }


async def _gates_after(history: Any, event_id: int) -> int:
    log = await history
    return sum(
        event.event_id > event_id
        and event.event_type == EventType.EVENT_TYPE_ACTIVITY_TASK_SCHEDULED
        and event.activity_task_scheduled_event_attributes.activity_type.name in BY_NAME
        for event in log.events
    )


async def play(stack: Stack, *, trials: int, seed: int) -> list[Json]:
    """Runs until there were so many resets, each run to each of its workflow tasks; `seed` says where to begin. Every
    other run is a revision.
    """
    rows: list[Json] = []
    number = 0
    async with stack.workers():
        while len(rows) < trials:
            document = f"ICX-P14-{number}"
            stack.register(document, THREE_UNITS)
            run = await finished(stack, document, plain=number % 2 == 0)
            if number % 2 == 0:
                stack.register(document, THREE_UNITS.replace(b"Two.", b"Three."))
                run = await finished(stack, document, plain=True)
            history = await run.history()
            events = resettable(history)
            left = min(trials - len(rows), len(events))
            step = max(1, len(events) // left)
            for event_id in [events[(seed + place * step) % len(events)] for place in range(left)]:
                rows.append({"run": number, **await reset(stack, run, history.run_id, event_id)})
            number += 1
    return rows


def summary(rows: list[Json]) -> Summary:
    """Failures are resets that changed a row or did not end."""
    result = Summary(
        name="P14 reset to each workflow task",
        n=len(rows),
        failures=sum(bool(row["problems"]) for row in rows),
        control=sum(row["gates_again"] > 0 for row in rows),
        control_n=len(rows),
    )
    result.counts["gate activities run again"] = sum(row["gates_again"] for row in rows)
    return result


def run(*, trials: int, seed: int, out: Path | None = None) -> Summary:
    """The campaign on a stack of its own."""
    rows = played(play, trials=trials, seed=seed)
    write_lines(out, ({"seed": seed, **row} for row in rows))
    return summary(rows)


if __name__ == "__main__":
    raise SystemExit(command_line(run, "P14: reset to each workflow task", trials=60))
