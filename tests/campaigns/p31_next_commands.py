"""IO: P31: every command that the product prints for a person works in the state in which it was printed.

    python -m tests.campaigns.p31_next_commands --seed 1 --out p31.jsonl
    python -m tests.campaigns.p31_next_commands --only enacted,mistakes    # these states, each command's verdict

In each state of a run or a batch, what people type to look is typed, and so are their mistakes. Every command of the
answers (texts, `next` fields of JSON, tables) is run in a fresh instance of that state, with a person's words in place
of those in capitals. It must change the state or the answer: a command that is refused, or whose answer
sends the person to where they came from, is a failure. The control arm plants commands that lead in a circle.
"""

from __future__ import annotations

import asyncio
import sys
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

from cutter.catalogue import WorkerRole
from cutter.types import Json
from tests.cases import printed_machine
from tests.cases.printed_batches import BATCHES
from tests.cases.printed_commands import VERDICTS, control, play
from tests.cases.printed_laws import LAWS
from tests.cases.printed_machine import WORKS
from tests.cases.printed_mistakes import MISTAKES
from tests.cases.printed_states import RUNS, Builder
from tests.cases.printed_stops import STOPS, WITHOUT_EXEC
from tests.cases.trials import Summary, command_line, write_lines
from tests.support.printed import placeholders
from tests.support.stack import ground, played

PROCESSES = 3
"""At work at once; most of a state's time is waiting."""
STATES_A_SHARE = 6
BATCHES_A_SHARE = 2

Place = tuple[tuple[Builder, ...], tuple[WorkerRole, ...]]
"""States, and the workers of the deployment that they share."""


def places() -> list[list[Place]]:
    """The shares of the campaign. Each state of a batch has a deployment of its own: one worker drives so many only."""
    every = tuple(WorkerRole)
    alone: list[Place] = [((batch,), every) for batch in BATCHES]
    others = (*RUNS, *STOPS, *MISTAKES, *LAWS)
    return [
        *(alone[n : n + BATCHES_A_SHARE] for n in range(0, len(alone), BATCHES_A_SHARE)),
        *([(others[n : n + STATES_A_SHARE], every)] for n in range(0, len(others), STATES_A_SHARE)),
        [(WITHOUT_EXEC, (WorkerRole.CUTTER, WorkerRole.VERIFY))],
    ]


def shared(number: int) -> list[Json]:
    """One share, in a process of its own; the first is the commands of a machine."""
    return on_grounds(places()[number - 1]) if number else printed_machine.play()


def on_grounds(share: list[Place]) -> list[Json]:
    """The states of these places, each on a deployment of its own."""

    async def each() -> list[Json]:
        rows: list[Json] = []
        for builders, roles in share:
            async with under.stack() as stack:
                rows += await play(stack, builders, roles)
        return rows

    with ground() as under:
        return asyncio.run(each())


def some(only: str, out: Path | None = None) -> int:
    """The states with these names, separated by commas, to find out what is wrong with one; 1 when something is."""
    wanted = only.split(",")
    every = [(builders, roles) for share in places() for builders, roles in share]
    chosen = [
        (tuple(builder for builder in builders if builder.__name__ in wanted), roles) for builders, roles in every
    ]
    rows = printed_machine.play() if "machine" in wanted else []
    shares = [(builders, roles) for builders, roles in chosen if builders]
    rows += on_grounds(shares) if shares else []
    write_lines(out, rows)
    for row in rows:
        print(row["verdict"], row["state"], row["command"], row["said"], sep=" | ")
    return int(not rows or any(row["verdict"] != WORKS for row in rows))


def run(seed: int = 1, out: Path | None = None) -> Summary:  # noqa: ARG001 - there is nothing to draw
    """The campaign."""
    with ProcessPoolExecutor(PROCESSES, mp_context=get_context("spawn")) as pool:
        rows = [row for rows in pool.map(shared, range(len(places()) + 1)) for row in rows]
    planted = played(control)
    write_lines(out, [*rows, *planted])
    return summary(rows, planted)


def summary(rows: Sequence[Json], planted: Sequence[Json]) -> Summary:
    """What the rows say; distinct are the commands by state, then by their names alone, then without any name."""
    bad = [row for row in rows if row["verdict"] != WORKS]
    counts = Counter({
        "states": len({row["state"] for row in rows}),
        "commands run": len(rows),
        "distinct commands by state": len({(row["state"], row["command"]) for row in rows}),
        "distinct commands": len({row["command"] for row in rows}),
        "distinct commands without ids, paths and texts": len({placeholders(row["command"]) for row in rows}),
        **{word: sum(row["verdict"] == word for row in rows) for word in VERDICTS},
    })  # fmt: skip
    for row in bad[:20]:
        counts[f"{row['verdict']}: {row['state']}: {row['command']}"] += 1
    caught = sum(row["verdict"] != WORKS for row in planted)
    return Summary("P31", n=len(rows), failures=len(bad), control=caught, control_n=len(planted), counts=counts)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--only"]:
        raise SystemExit(some(sys.argv[2]))
    raise SystemExit(command_line(run, "P31: printed commands, each in the state in which it was printed"))
