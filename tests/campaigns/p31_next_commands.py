"""IO: P31: every command that the product prints for a person works in the state in which it was printed.

    python -m tests.campaigns.p31_next_commands --seed 1 --out p31.jsonl

In each state of a run or a batch, what people type to look is typed, and so are their mistakes. Every command of the
answers (texts, `next` fields of JSON, tables) is run in a fresh instance of that state, with a person's words in place
of those in capitals. It must change the state or the answer: a command that is refused without effect, or whose answer
sends the person to where they came from, is a failure. The control arm plants commands that lead in a circle.
"""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from cutter.types import Json
from tests.acceptance.cli.conftest import Cutter, Told
from tests.cases.printed_states import ALL, DOCUMENTS, Ask, Builder, World, signed_by
from tests.cases.trials import Summary, command_line, write_lines
from tests.support.printed import Script, filled_in, first_next, scripts_printed
from tests.support.stack import Stack, played

FINGERPRINT = """
select coalesce(jsonb_object_agg(t.name, t.n), '{}') from (
    select 'run ' || run_id as name, to_jsonb(state || coalesce(outcome, '') || state_at) as n
    from cutter_governance.run
    union all select 'latch ' || run_id, to_jsonb(stopped::text || coalesce(kind, '')) from cutter_governance.stop_latch
    union all select 'batch ' || batch_id, to_jsonb(state || coalesce(halted, '')) from cutter_governance.batch
    union all select 'attempts', to_jsonb(count(*)) from cutter_governance.gate_attempt
    union all select 'requests', to_jsonb(count(*)) from cutter_governance.approval_request
    union all select 'verdicts', to_jsonb(count(*)) from cutter_governance.approval_verdict
    union all select 'queued', to_jsonb(count(*)) from cutter_governance.batch_queue
    union all select 'versions', to_jsonb(count(*)) from public.source_version
    union all select 'tenants', to_jsonb(count(*)) from cutter_governance.tenant_cap) t
"""
FOLLOWS = "--watch"
"""Looks on until a run has ended, which one that waits for people does not."""

BY_THE_TERMINAL = ("cutter up", "cutter down", "cutter demo")
"""They start and end processes of the whole machine; tests/acceptance/test_first_steps.py runs them."""

LOOKING = (
    "status", "inbox", "source list", "queues", "doctor", "report", "workers", "tenants", "backup list",
    "backup verify", "approvers show", "policy check", "audit export", "audit verify", "evidence export",
    "evidence verify",
)  # fmt: skip

WORKS, CIRCLE, REFUSED, WRONG = "works", "circle", "refused without effect", "cannot be typed"


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """One printed script: the question whose answer printed it, and what that answer was."""

    ask: Ask
    answer: str
    script: Script


async def play(stack: Stack, builders: Sequence[Builder] = ALL) -> list[Json]:
    """Every state; one row for each command that was run."""
    cutter = Cutter(stack=stack)
    rows: list[Json] = []
    async with stack.workers():
        for builder in builders:
            rows += await in_state(stack, cutter, builder)
    return rows


async def in_state(stack: Stack, cutter: Cutter, builder: Builder) -> list[Json]:
    """One state: what is printed in it, then each script in an instance of its own."""
    rows, done = [], set()
    world = await builder(stack, cutter)
    asks = [[general(world, word) for word in ask] for ask in world.asks]
    for ask in asks:
        before = state_of(stack)
        found = await printed(world, tuple(own(world, word) for word in ask))
        if state_of(stack) != before:
            # The question was an order: what it printed is about the state that it led to.
            world = await builder(stack, cutter)
            continue
        for key, one in found.items():
            if key not in done:
                done.add(key)
                rows += await run_script(stack, cutter, builder, world, one)
    return rows


def own(world: World, word: str) -> str:
    """A word with the names of this instance put in."""
    for meaning, name in world.names().items():
        word = word.replace(meaning, name)
    return word


async def printed(world: World, ask: Ask) -> dict[Script, Found]:
    """What the product prints when asked this, by the script with the names taken out."""
    found: dict[Script, Found] = {}
    told = world.read() if ask == DOCUMENTS else await world.type(*ask)
    if told:
        for script in scripts_printed(told.out, told.err):
            if any(command.startswith(BY_THE_TERMINAL) or FOLLOWS in command for command in script):
                continue
            if not mine(world, script):
                continue
            key = tuple(general(world, command) for command in script)
            found.setdefault(key, Found(ask=ask, answer=told.out + told.err, script=script))
    return found


def mine(world: World, script: Script) -> bool:
    """False for commands about other documents, which the lists print too."""
    return not any(
        word.startswith(("ictr-", "ICX-N0", "ICX-N1")) and word not in (world.run_id, world.document)
        for command in script
        for word in command.split()
    )


def general(world: World, command: str) -> str:
    """A command with the instance's names taken out."""
    for meaning, name in world.names().items():
        command = command.replace(name, meaning)
    return command


async def run_script(stack: Stack, cutter: Cutter, builder: Builder, world: World, found: Found) -> list[Json]:
    """The commands of a script one after the other; a row for each."""
    # Looking changes nothing, so it needs no instance of its own.
    looks = all(command.removeprefix("cutter ").startswith(LOOKING) or "--help" in command for command in found.script)
    here = world if looks else await builder(stack, cutter)
    rows = []
    for command in found.script:
        typed = command
        for meaning, name in world.names().items():
            typed = typed.replace(name, here.names().get(meaning, name))
        verdict, told = await judged(here, typed, found, looks=looks)
        rows.append({
            "state": builder.__name__, "asked": " ".join(("cutter", *found.ask)), "command": general(here, typed),
            "verdict": verdict, "code": told.code, "said": (told.err or told.out)[-400:] if verdict != WORKS else "",
        })  # fmt: skip
        await settled(here)
    return rows


async def judged(world: World, command: str, found: Found, *, looks: bool) -> tuple[str, Told]:
    """Type a command, and say whether it led anywhere."""
    words = filled_in(command, world.values())
    before = state_of(world.stack)
    told = await world.type(*words, *signed_by(world, words))
    changed = state_of(world.stack) != before
    if "…" in command or told.code == 2:
        return WRONG, told
    if not changed and (told.out + told.err == found.answer or leads_back(world, command, told)):
        return CIRCLE, told
    if not changed and (told.code != 0 and not looks):
        return REFUSED, told
    if looks and told.code not in (0, 1, 3, 5):
        return REFUSED, told
    return WORKS, told


def leads_back(world: World, command: str, told: Told) -> bool:
    """True when the answer sends the person to the command that they just typed."""
    return general(world, first_next(told.out, told.err)) == general(world, command)


def state_of(stack: Stack) -> str:
    """Everything that a command may change, as one text."""
    return json.dumps(stack.database.value(FINGERPRINT), sort_keys=True)


async def settled(world: World) -> None:
    """Let a run that was moved on come to where it waits or ends, before the next command of a script."""
    if not world.run_id:
        return
    last = ""
    for _ in range(100):
        seen = await world.run.sidecar()
        rest = seen["run"]["state"] + str(len(seen["attempts"]))
        if rest == last or seen["run"]["ended_at"]:
            return
        last = rest
        await asyncio.sleep(0.3)


async def control(stack: Stack) -> list[Json]:
    """Planted commands that lead nowhere; each must be found out."""
    from tests.cases.printed_states import enacted, waiting_at_the_cut

    cutter, rows = Cutter(stack=stack), []
    async with stack.workers():
        for builder, planted in (
            (waiting_at_the_cut, "cutter status <run>"), (waiting_at_the_cut, "cutter run <document>"),
            (waiting_at_the_cut, "cutter approve <run> --decision resume --reason TEXT"),
            (enacted, "cutter void <run> --reason TEXT"), (enacted, "cutter run <document>"),
            (enacted, "cutter approve …"),
        ):  # fmt: skip
            world = await builder(stack, cutter)
            for meaning, name in world.names().items():
                planted = planted.replace(meaning, name)
            ask = ("status", world.run_id)
            told = await world.type(*ask)
            found = Found(ask=ask, answer=told.out + told.err, script=(planted,))
            verdict, _ = await judged(world, planted, found, looks=planted.startswith("cutter status"))
            rows.append({"state": "control", "command": general(world, planted), "verdict": verdict})
    return rows


def run(seed: int = 1, out: Path | None = None) -> Summary:  # noqa: ARG001 - there is nothing to draw
    """The campaign."""
    rows = played(play)
    planted = played(control)
    write_lines(out, [*rows, *planted])
    return summary(rows, planted)


def summary(rows: Sequence[Json], planted: Sequence[Json]) -> Summary:
    """What the rows say; distinct are the commands by state."""
    bad = [row for row in rows if row["verdict"] != WORKS]
    counts = Counter({
        "states": len({row["state"] for row in rows}),
        "distinct commands by state": len({(row["state"], row["command"]) for row in rows}),
        "distinct commands": len({row["command"] for row in rows}),
        **{f"{word}": sum(row["verdict"] == word for row in rows) for word in (WORKS, CIRCLE, REFUSED, WRONG)},
    })  # fmt: skip
    for row in bad[:20]:
        counts[f"{row['verdict']}: {row['state']}: {row['command']}"] += 1
    caught = sum(row["verdict"] != WORKS for row in planted)
    return Summary("P31", n=len(rows), failures=len(bad), control=caught, control_n=len(planted), counts=counts)


if __name__ == "__main__":
    raise SystemExit(command_line(run, "P31: printed commands, each in the state in which it was printed"))
