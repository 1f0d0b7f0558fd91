"""IO: P11: a stop and a good approval in the same workflow task, in both orders: the stop wins, always.

A run waits at SG_1; while no worker decides, both messages arrive, so that one workflow task brings them. Then the
worker comes back. Accepted when nothing is consumed and no unit is written before someone signs a resume. The control
arm sends the approval alone: it must write, or the stop would have won against nothing.
"""

from __future__ import annotations

import asyncio
from pathlib import Path

from temporalio.api.enums.v1 import EventType

from cutter.catalogue import WorkerRole
from cutter.types import Json
from tests.cases.trials import Dice, Summary, command_line, write_lines
from tests.support.stack import THREE_UNITS, Run, Stack, played

CONTROL_SHARE = 20
LANES = 8
"""Runs that wait at the same time; the workers are stopped and started once for all of them."""

UNITS = "select count(*) from public.information_unit where starts_with(canonical_address, %s)"


async def lane(stack: Stack, number: int) -> Run:
    """A run that waits at SG_1."""
    document = f"ICX-P11-{number}"
    await asyncio.to_thread(stack.register, document, THREE_UNITS)
    run = await stack.start(document)
    await run.until_requested("SG_cut_authz", seconds=120)
    return run


async def round_of(stack: Stack, numbers: range, dice: Dice) -> list[Json]:
    """One trial a number; every CONTROL_SHARE-th sends no stop."""
    async with stack.workers():
        runs = await asyncio.gather(*(lane(stack, number) for number in numbers))
    trials = []
    for number, run in zip(numbers, runs, strict=True):
        kb_id = await run.sign()
        first = dice.choose(("stop", "approve"))
        control = number % CONTROL_SHARE == CONTROL_SHARE - 1
        if first == "stop" and not control:
            await run.handle.signal("stop", {"reason": "P11"})
        await run.handle.signal("submit_approval", kb_id)
        if first == "approve" and not control:
            await run.handle.signal("stop", {"reason": "P11"})
        trials.append((run, {"trial": number, "first": first, "control": control}))
    async with stack.workers(WorkerRole.EXEC), stack.workers(WorkerRole.CUTTER):
        return list(await asyncio.gather(*(_judged(stack, run, row) for run, row in trials)))


async def _judged(stack: Stack, run: Run, row: Json) -> Json:
    wanted = "structural_verified" if row["control"] else "stopped_stop"
    problem = ""
    try:
        await run.until_state(wanted, seconds=120)
        if not row["control"]:
            await run.until_shown(wanted)
    except AssertionError as late:
        problem = str(late)[:300]
    written = await asyncio.to_thread(stack.database.value, UNITS, (run.document_id,))
    sidecar = await run.sidecar()
    await run.handle.terminate("the trial is over")
    return {
        **row,
        "units": written,
        "consumed": len(sidecar["consumptions"]),
        "same_task": await _same_task(run),
        "problem": problem,
    }


async def _same_task(run: Run) -> bool:
    """True when the last two signals came in a row, with no workflow task started in between."""
    history = await run.history()
    kinds = [event.event_type for event in history.events]
    places = [n for n, kind in enumerate(kinds) if kind == EventType.EVENT_TYPE_WORKFLOW_EXECUTION_SIGNALED]
    between = kinds[places[-2] : places[-1]] if len(places) > 1 else kinds
    return EventType.EVENT_TYPE_WORKFLOW_TASK_STARTED not in between


async def play(stack: Stack, *, trials: int, seed: int) -> list[Json]:
    """Rounds of LANES trials; about every twentieth is of the control arm and comes on top."""
    rows: list[Json] = []
    dice = Dice(seed, "p11")
    number = 0
    while sum(not row["control"] for row in rows) < trials or not any(row["control"] for row in rows):
        numbers = range(number, number + LANES)
        if not rows:
            # However few trials there are, one of them is of the control arm.
            numbers = range(CONTROL_SHARE - 1, CONTROL_SHARE - 1 + LANES)
        rows += await round_of(stack, numbers, dice)
        number = numbers.stop
    return rows


def summary(rows: list[Json]) -> Summary:
    """Failures: a unit written, an approval consumed, a run that is not stopped, or two tasks instead of one."""
    tried = [row for row in rows if not row["control"]]
    control = [row for row in rows if row["control"]]
    result = Summary(
        name="P11 stop against approve",
        n=len(tried),
        failures=sum(bool(row["units"] or row["consumed"] or row["problem"] or not row["same_task"]) for row in tried),
        control=sum(row["units"] > 0 and row["consumed"] == 1 for row in control),
        control_n=len(control),
    )
    for row in tried:
        result.counts[f"{row['first']} first: {'stopped' if not row['units'] else 'written'}"] += 1
    return result


def run(*, trials: int, seed: int, out: Path | None = None) -> Summary:
    """The campaign on a stack of its own."""
    rows = played(play, trials=trials, seed=seed)
    write_lines(out, ({"seed": seed, **row} for row in rows))
    return summary(rows)


if __name__ == "__main__":
    raise SystemExit(command_line(run, "P11: stop against approve", trials=400))
