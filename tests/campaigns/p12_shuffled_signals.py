"""IO: P12: ten signals to a run that waits, in any order: the run ends the same, to the digest.

Among them are the good approval, twice, and eight that must change nothing: a stranger's approval, resume and void,
another run's approval, names that nobody has, messages without sense. The control arm counts the orders in which a
judge that takes the first message for the answer would have refused the good approval.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from cutter.approvals import schema
from cutter.domain.digests import canonical_digest
from cutter.types import Json
from tests.cases.trials import Dice, Summary, command_line, write_lines
from tests.support.stack import THREE_UNITS, Run, Stack, played

LANES = 6
"""Runs at the same time."""

UNITS = "select count(*) from public.information_unit where starts_with(canonical_address, %s)"
CUT, LIFECYCLE = "SG_cut_authz", "SG_lifecycle_authz"

Signal = tuple[str, str, list[Any]]


async def ten(run: Run, other: str) -> list[Signal]:
    """What is sent: (what it is, the signal's name, its arguments)."""
    mallory = run.stack.kit.mallory
    good = await run.sign()
    stranger = await run.sign(who=mallory, text="me too")
    resume = await run.order(schema.RESUME, who=mallory, stopped_state="stopped_stop")
    void = await run.order(schema.VOID, who=mallory, reason="not yours")
    return [
        ("good", "submit_approval", [good]),
        ("good again", "submit_approval", [good]),
        ("stranger's approval", "submit_approval", [stranger]),
        ("another run's approval", "submit_approval", [other]),
        ("nothing there", "submit_approval", ["knowledge/dev/nothing.md"]),
        ("two arguments", "submit_approval", [good, good]),
        ("stranger's resume", "resume_stopped", [resume]),
        ("stranger's void", "void", [void]),
        ("drift that is none", "acknowledge_drift", [{"kb_id": 7}]),
        ("a name that nobody has", "approve_all", [True]),
    ]


def shuffled(dice: Dice, signals: Sequence[Signal]) -> list[Signal]:
    """The same signals in another order."""
    left, order = list(signals), []
    while left:
        order.append(left.pop(dice.below(len(left))))
    return order


async def one(stack: Stack, number: int, seed: int, other: str) -> Json:
    """A run, its ten signals, its end."""
    document = f"ICX-P12-{number}"
    stack.register(document, THREE_UNITS)
    run = await stack.start(document)
    await run.until_requested(CUT)
    sent = shuffled(Dice(seed, "order", number), await ten(run, other))
    for _, name, arguments in sent:
        await run.handle.signal(name, args=arguments)
    await run.approve(LIFECYCLE)
    result = await run.result()
    sidecar = await run.sidecar()
    units = await asyncio.to_thread(stack.database.value, UNITS, (f"{document}/",))
    last = {
        "state": result.state, "outcome": result.outcome, "units": units, "latch": sidecar["latch"]["stopped"],
        "gates": [receipt["gate"] for receipt in sidecar["receipts"]],
        "consumed": sorted([consumption["gate"], consumption["approver"]] for consumption in sidecar["consumptions"]),
        "requests": [request["status"] for request in sidecar["requests"]],
    }  # fmt: skip
    return {"trial": number, "order": [what for what, _, _ in sent], "digest": canonical_digest(last), "last": last}


async def others_approval(stack: Stack) -> str:
    """KB id of a good approval of a run that is no part of this."""
    stack.register("ICX-P12-OTHER", THREE_UNITS)
    run = await stack.start("ICX-P12-OTHER")
    await run.until_requested(CUT)
    kb_id = await run.sign()
    await run.handle.signal("cancel")
    await run.result()
    return kb_id


async def play(stack: Stack, *, trials: int, seed: int) -> list[Json]:
    """That many runs, some at a time."""
    rows: list[Json] = []
    async with stack.workers():
        other = await others_approval(stack)
        for first in range(0, trials, LANES):
            some = range(first, min(first + LANES, trials))
            rows += await asyncio.gather(*(one(stack, number, seed, other) for number in some))
    return rows


def summary(rows: Sequence[Json]) -> Summary:
    """Failures are runs whose end is not that of a run with two good approvals and nothing else."""
    good = [row for row in rows if row["last"]["state"] == "closeout_reported" and row["last"]["units"] == 3]
    usual = Counter(row["digest"] for row in good).most_common(1)
    result = Summary(
        name="P12 ten shuffled signals", n=len(rows),
        failures=sum(not usual or row["digest"] != usual[0][0] for row in rows),
        control=sum(not row["order"][0].startswith("good") for row in rows), control_n=len(rows),
    )  # fmt: skip
    result.counts["different ends"] = len({row["digest"] for row in rows})
    result.counts["different orders"] = len({tuple(row["order"]) for row in rows})
    return result


def run(*, trials: int, seed: int, out: Path | None = None) -> Summary:
    """The campaign on a stack of its own."""
    rows = played(play, trials=trials, seed=seed)
    write_lines(out, ({"seed": seed, **row} for row in rows))
    return summary(rows)


if __name__ == "__main__":
    raise SystemExit(command_line(run, "P12: ten shuffled signals", trials=1_000))
