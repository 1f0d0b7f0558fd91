"""IO: types every command that the product prints in a state, each in a fresh instance of the state.

A command must change the state or the answer. Planted commands that lead in a circle show that this is noticed.
"""

from __future__ import annotations

import asyncio
import json
import re
import sys
from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from time import monotonic

import psycopg

from cutter.catalogue import WorkerRole
from cutter.errors import CutterError
from cutter.types import Json
from starter.console.terminal import ExitCode
from tests.acceptance.cli.conftest import Cutter, Told
from tests.cases.printed_batches import batch_of
from tests.cases.printed_machine import REFUSED, UNREACHED, WORKS
from tests.cases.printed_states import AWAY, DOCUMENTS, Ask, Builder, World, left_behind, put_back, signed_by
from tests.cases.printed_stops import LOSING
from tests.support.printed import Script, examples_in, filled_in, first_next, scripts_printed
from tests.support.stack import Stack

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
    union all select 'policies', to_jsonb(count(*)) from cutter_governance.effect_policy
    union all select 'tenants', to_jsonb(count(*)) from cutter_governance.tenant_cap) t
"""
BY_THE_TERMINAL = ("cutter up", "cutter down", "cutter demo")
"""They start and end processes of the whole machine: `printed_machine` has a machine of its own for them."""

LOOKING = (
    "status", "inbox", "queues", "doctor", "report", "workers", "tenants", "backup list", "backup verify",
    "audit export", "evidence export", "verify", "policy explain", "notify check", "transitions", "migrate --check",
    "rebuild", "law",
)  # fmt: skip

LEFT = 130
"""Exit code of a command that looks on until it is left with Ctrl-C."""
DONE = (ExitCode.DONE, ExitCode.WAITING, LEFT)
ANSWERED = (*DONE, ExitCode.FAILED, ExitCode.UNAVAILABLE)
"""What looking may find out: something is wrong, or away."""
WAITING = frozenset(("--wait", "--watch"))
"""With one of them a command ends with the exit code of what it waited for."""
POOL_SECONDS = 0.5
"""A worker waits so long for a connection; a deployment's waits longer."""

CIRCLE, WRONG = "circle", "cannot be typed"
VERDICTS = (WORKS, CIRCLE, REFUSED, WRONG, UNREACHED)


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """One printed script: the question whose answer printed it, and what that answer was."""

    ask: Ask
    answer: str
    script: Script
    ordered: bool = False
    """The question changed the state."""


async def play(
    stack: Stack, builders: Sequence[Builder], roles: Sequence[WorkerRole] = tuple(WorkerRole)
) -> list[Json]:
    """Every state, on workers of these roles; one row for each command that was run."""
    cutter = Cutter(stack=stack)
    AFTER_ORDERS.clear()
    FIRST_STOOD.clear()
    rows: list[Json] = []
    async with stack.workers(*roles, interceptors=[LOSING]) as held:
        for pool in (pool for deps in held.values() for pool in deps.pools.values()):
            pool.timeout = POOL_SECONDS
        for builder in builders:
            began = monotonic()
            try:
                await in_state(stack, cutter, builder, rows)
            except Exception as problem:
                rows.append(unreached(builder, "", problem))  # the other states are looked at all the same
            try:
                left_behind(stack)
            except Exception as problem:
                rows.append(unreached(builder, "", problem))
            for row in (row for row in rows if row["state"] == builder.__name__ and row["verdict"] != WORKS):
                print(f"  {json.dumps(row)}", file=sys.stderr)
            counts = Counter(row["verdict"] for row in rows if row["state"] == builder.__name__)
            print(f"{builder.__name__}: {monotonic() - began:.0f} s, {dict(counts)}", file=sys.stderr, flush=True)
    return rows


def unreached(builder: Builder, command: str, problem: Exception) -> Json:
    """The row of a state, or of a command in it, that could not be tried."""
    reason = f"{type(problem).__name__}: {problem}"[:400]
    return {"state": builder.__name__, "command": command, "verdict": UNREACHED, "said": reason}


async def fresh(stack: Stack, cutter: Cutter, builder: Builder) -> World:
    """An instance of the state, where nothing is away or changed but by the state.

    What a clock decides differs from one instance to the next, so that another one is made if it stands elsewhere.
    """
    for _ in range(INSTANCES):
        left_behind(stack)
        world = await builder(stack, cutter)
        await settled(world)
        stood = general(world, await at_rest(world))
        if FIRST_STOOD.setdefault(builder.__name__, stood) == stood:
            break
    return world


INSTANCES = 6
FIRST_STOOD: dict[str, str] = {}
"""Where the first instance of each state stood, by the state's name."""


async def in_state(stack: Stack, cutter: Cutter, builder: Builder, rows: list[Json]) -> None:
    """One state: what is printed in it, then each script in an instance of its own; a row for each command.

    When a question was an order, what it printed is about the state that it led to: there it is typed.
    """
    done = set()
    world = await fresh(stack, cutter, builder)
    first, away = await standing(world), len(AWAY)
    for ask in [[general(world, word) for word in ask] for ask in world.asks]:
        if len(AWAY) < away or await standing(world) != first:
            world = await fresh(stack, cutter, builder)  # what was typed for others moved it on
        before = state_of(stack)
        hints = await printed(world, tuple(own(world, word) for word in ask))
        ordered = tuple(ask) != DOCUMENTS and state_of(stack) != before
        where = f"{'batch' if world.batch else 'run'} {await settled(world)}" if ordered else builder.__name__
        for key, hint in hints.items():
            if (where, key) not in (AFTER_ORDERS if ordered else done):
                (AFTER_ORDERS if ordered else done).add((where, key))
                try:
                    rows += await run_script(stack, cutter, builder, world, replace(hint, ordered=ordered))
                except Exception as problem:
                    rows.append(unreached(builder, " # then: ".join(key), problem))
        if ordered:
            world = await fresh(stack, cutter, builder)


AFTER_ORDERS: set[tuple[str, Script]] = set()
"""(State, script) that an order printed and that was typed there already, in whatever state the order was given."""


def own(world: World, word: str) -> str:
    """A word with the names of this instance put in."""
    for meaning, name in world.names().items():
        word = word.replace(meaning, name)
    return word


async def printed(world: World, ask: Ask) -> dict[Script, Found]:
    """What the product prints when asked this, by the script with the names taken out."""
    hints: dict[Script, Found] = {}
    answer = world.read() if ask == DOCUMENTS else await world.type(*ask)
    if answer:
        examples = [(example,) for example in examples_in(answer.out) if world.has(example)] if "--help" in ask else []
        for script in [*scripts_printed(answer.out, answer.err), *examples]:
            if any(command.startswith(BY_THE_TERMINAL) for command in script) or not mine(world, script):
                continue
            key = tuple(general(world, command) for command in script)
            hints.setdefault(key, Found(ask=ask, answer=answer.out + answer.err, script=script))
    return hints


def mine(world: World, script: Script) -> bool:
    """False for commands about other documents, which the lists print too."""
    ours = {name.removesuffix("-dryrun") for name in world.names().values()}
    return not any(
        FOREIGN.match(word) and word.removesuffix("-dryrun") not in ours
        for command in script
        for word in command.split()
    )


FOREIGN = re.compile(r"ictr-2|ICX-N\d{3,}$|[0-9a-f]{8}-[0-9a-f]{4}-7")
"""Names that a run, a document of a state or a batch has."""


def general(world: World, command: str) -> str:
    """A command with the instance's names taken out."""
    for meaning, name in world.names().items():
        command = command.replace(name, meaning)
    return command


async def run_script(stack: Stack, cutter: Cutter, builder: Builder, world: World, hint: Found) -> list[Json]:
    """The commands of a script one after the other; a row for each."""
    # Looking changes nothing, so it needs no instance of its own.
    looks = all(looks_only(command) for command in hint.script)
    here = world if looks else await fresh(stack, cutter, builder)
    if hint.ordered and not looks:
        await here.type(*(own(here, general(world, word)) for word in hint.ask))
        await settled(here)
    if not looks:
        put_back()
        await signed_before(here, world, hint)
    rows = []
    for command in hint.script:
        typed = own(here, general(world, command))
        verdict, answer = await judged(here, typed, hint, looks=looks)
        if answer.code == ExitCode.UNAVAILABLE and here.environment and not looks:
            typed, verdict, answer = await after_the_outage(here, typed, answer, hint)
        rows.append({
            "state": builder.__name__, "asked": general(here, " ".join(("cutter", *hint.ask))),
            "command": general(here, typed), "verdict": verdict, "code": answer.code,
            "said": answer.err[-400:] + answer.out[-400:] if verdict != WORKS else "",
        })  # fmt: skip
        if not looks:
            await settled(here)
    return rows


async def signed_before(here: World, world: World, hint: Found) -> None:
    """Sign what a command hands over, as the document or the answer said that was done before it."""
    if not any("--approval-kb-id" in command for command in hint.script) or hint.ordered:
        return
    if hint.ask == DOCUMENTS or hint.ask[:2] == SHOWS_A_DOCUMENT:
        (typed,) = (own(here, general(world, command)) for command in hint.script)
        words = typed.split()
        run, kb_id = (words[words.index(option) + 1] for option in ("--run-id", "--approval-kb-id"))
        if order := BY_HAND.search(kb_id):
            await here.stack.run_of(run).order(order[1].replace("-", "_"), kb_id=kb_id)
        else:
            await here.stack.run_of(run).sign()
    else:
        words = tuple(own(here, general(world, word)) for word in hint.ask)
        await here.type(*words, *signed_by(here, words))


async def after_the_outage(here: World, typed: str, answer: Told, hint: Found) -> tuple[str, str, Told]:
    """What came of a command that nobody answered, when it is typed again after what its answer said to do first.

    An answer that says what to type then is taken at its word.
    """
    if not any(f"`{first}`" in answer.err + answer.out for first in FIRST_IN_AN_OUTAGE):
        return typed, REFUSED, answer
    here.environment.clear()
    follows = [
        command
        for script in scripts_printed(answer.out, answer.err)
        for command in script
        if command not in FIRST_IN_AN_OUTAGE
    ]
    typed = (follows or [typed])[-1]
    verdict, answer = await judged(here, typed, hint, looks=False)
    return typed, verdict if answer.code != ExitCode.UNAVAILABLE else REFUSED, answer


SHOWS_A_DOCUMENT = ("queues", "show")
"""Its answer holds the document about a waiting run, with the commands of that document."""

BY_HAND = re.compile(r"/SG3-(resume|acknowledge-drift)-\d+-by-hand\.md$")
"""What a stop-route report has a person sign, which is no answer to a request."""

FIRST_IN_AN_OUTAGE = ("cutter up", "cutter doctor")


def looks_only(command: str) -> bool:
    """True for a command that changes nothing in the deployment."""
    words = command.removeprefix("cutter ")
    return words.startswith(LOOKING) or "--help" in words or "--check" in words


async def judged(world: World, command: str, hint: Found, *, looks: bool) -> tuple[str, Told]:
    """Type a command, and say whether it led anywhere."""
    words = filled_in(world.filled(command), world.values(command))
    before = state_of(world.stack)
    answer = await world.type(*words, *signed_by(world, words))
    changed = state_of(world.stack) != before
    if any("…" in word for word in words) or answer.code == 2:
        return WRONG, answer
    if not changed and (answer.out + answer.err == hint.answer or leads_back(world, command, answer)):
        return CIRCLE, answer
    if answer.code in (ANSWERED if looks else DONE) or await tells_the_outcome(world, words, answer):
        return WORKS, answer
    return REFUSED, answer


async def tells_the_outcome(world: World, words: Sequence[str], answer: Told) -> bool:
    """True for a command that waited, or that delivered a rejection, and ended with the exit code of the failed outcome
    that it names.
    """
    if answer.code != ExitCode.FAILED:
        return False
    state = await standing(world)
    expected = WAITING.intersection(words) or ("--approval-kb-id" in words and state == "failed_rejected")
    return bool(expected and state and state in answer.out + answer.err)


def leads_back(world: World, command: str, answer: Told) -> bool:
    """True when the answer sends the person to the command that they just typed."""
    return general(world, first_next(answer.out, answer.err)) == general(world, command)


def state_of(stack: Stack) -> str:
    """Everything that a command may change, as one text."""
    try:
        rows = json.dumps(stack.database.value(FINGERPRINT), sort_keys=True)
    except psycopg.OperationalError:
        rows = "the database is away"
    files = stack.settings.approvers.rglob("*")
    return rows + "".join(f"\n{file} {file.stat().st_mtime_ns}" for file in sorted(files) if file.is_file())


async def settled(world: World) -> str:
    """Where a run or batch that was moved on came to: it waits there, or has ended.

    On a slow machine a run that moves stands still for a moment, so more looks must agree while nothing is waited for.
    """
    last, agreed = "", 0
    for _ in range(100):
        with suppress(psycopg.OperationalError, CutterError):
            state, rest, ended = await stands(world)
            agreed = agreed + 1 if rest == last else 0
            if not state or ended or agreed >= (1 if WAITS in state else LOOKS_THAT_AGREE):
                return state
            last = rest
        await asyncio.sleep(0.3)
    return last


WAITS = "awaiting"
"""Part of each state in which a run or batch waits for people."""
LOOKS_THAT_AGREE = 8
"""A run or batch that names nobody to wait for rests if it stood still for so many looks."""


async def standing(world: World) -> str:
    """The state of the run or batch; empty when nobody can say."""
    with suppress(psycopg.OperationalError, CutterError):
        return (await stands(world))[0]
    return ""


async def at_rest(world: World) -> str:
    """The state with those of a batch's documents; empty when nobody can say."""
    with suppress(psycopg.OperationalError, CutterError):
        state, with_documents, _ = await stands(world)
        return with_documents if world.batch else state
    return ""


async def stands(world: World) -> tuple[str, str, bool]:
    """State, the same with what tells whether it moves, and whether it is over."""
    if world.batch:
        view = await batch_of(world).view()
        items = str([(item["state"], item["outcome"]) for item in view["items"]])
        return view["batch"]["state"], view["batch"]["state"] + items, bool(view["batch"]["ended_at"])
    if world.run_id:
        sidecar = await world.run.sidecar()
        state = str(sidecar["run"]["state"])
        return state, state + str(len(sidecar["attempts"])), bool(sidecar["run"]["ended_at"])
    return "", "", True


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
            answer = await world.type(*ask)
            hint = Found(ask=ask, answer=answer.out + answer.err, script=(planted,))
            verdict, _ = await judged(world, planted, hint, looks=planted.startswith("cutter status"))
            rows.append({"state": "control", "command": general(world, planted), "verdict": verdict})
    return rows
