"""IO: P29: each role spends time on everything that its password allows, while a run passes through.

    python -m tests.campaigns.p29_noisy_roles --seconds 7 --seed 1 --out p29.jsonl

For every role and every kind of noise (tests/campaigns/noise.py) a document is cut while the noise lasts: `seconds`, or
for the roles that only read, which no run needs, until the document is law. Afterwards the run has a bounded time to be
enacted. The control arm is a database without the guards: lanes as advisory locks, PostgreSQL's functions open to all,
no share of connections, and a survey of every setting. There the noise of `directus` must stall or stop the run.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from time import monotonic

import psycopg
from psycopg import sql

from cutter.errors import CutterError
from cutter.storage.records import query
from cutter.storage.roles import READERS
from cutter.types import Json
from tests.campaigns.noise import KINDS, noisy
from tests.cases.trials import Summary, command_line, write_lines
from tests.support.database import OWNER, ROLES, Database, TestCluster, own_cluster, short_folder
from tests.support.stack import THREE_UNITS, Kit, Run, Stack, kit, stack
from tests.support.temporal import server

BOUND_SECONDS = 90.0
"""A run is enacted within this after the noise has ended; alone it takes some four seconds."""

CONTROL_SECONDS = 20.0
"""So long the control arm's run has: five times what it takes alone."""

CONTROL_KINDS = ("locks", "connections", "settings")

SERVER = {"max_connections": "100", "max_notify_queue_pages": "64"}
RETRIES = (1.0, 4.0, 16.0, 32.0)
"""The product's own four tries, closer together: a minute instead of a quarter of an hour."""

UNGUARDED = Path(__file__).with_name("unguarded.sql")
"""The functions that the guards have replaced, as they were."""


def unguarded(database: Database) -> None:
    """Take the guards out of one database, and the limit from directus."""
    with psycopg.connect(database.url(OWNER), autocommit=True) as owner:
        owner.execute(UNGUARDED.read_bytes())
    with psycopg.connect(database.url("postgres"), autocommit=True) as superuser:
        for function, _ in superuser.execute(query("guarded_functions")).fetchall():
            superuser.execute(sql.SQL("grant execute on function {} to public").format(sql.SQL(str(function))))  # type: ignore[arg-type]
        superuser.execute("alter role directus connection limit -1")
        superuser.execute("select cutter_governance.fn_baseline_record(999)")


async def enacted(run: Run) -> str:
    """Bring the run to its end; the state that it ended in. Who signs comes again when the database is busy."""
    for gate in ("SG_cut_authz", "SG_lifecycle_authz"):
        await run.until_requested(gate, seconds=BOUND_SECONDS * 2)
        kb_id = await _again(run.sign)
        await run.handle.signal("submit_approval", kb_id)
    return (await run.result(seconds=BOUND_SECONDS * 2)).state


async def _again(step: Callable[[], Awaitable[str]]) -> str:
    while True:
        try:
            return await step()
        except CutterError:
            await asyncio.sleep(0.2)


async def trial(made: Stack, role: str, kind: str, seconds: float, bound: float) -> Json:
    """One document under one kind of noise."""
    document = f"P29-{role.removeprefix('cutter_').upper()}-{kind.upper()}"
    made.register(document, THREE_UNITS)
    began = monotonic()
    # Started first: who starts and signs is an operator, whom the operator's own noise keeps out.
    run = await made.start(document)
    with noisy(made.database.url(role), role, kind) as noise:
        going = asyncio.create_task(enacted(run))
        await asyncio.wait({going}, timeout=bound if role in READERS else seconds)
        during = going.done()
        # What the role may do is done for all of its time, also when the run was quicker.
        await asyncio.sleep(max(0.0, seconds - (monotonic() - began)))
    quiet = monotonic()
    await asyncio.wait({going}, timeout=bound)
    over, failed = going.done(), going.done() and going.exception() is not None
    state = going.result() if over and not failed else await asyncio.to_thread(_state, made, run.run_id)
    if not over:
        going.cancel()
    row = {
        "role": role, "kind": kind, "state": state, "during": during, "seconds": round(monotonic() - began, 1),
        "after": 0.0 if during else round(monotonic() - quiet, 1), **noise.counts,
    }  # fmt: skip
    print(f"  {row}", file=sys.stderr, flush=True)
    return row


def _state(made: Stack, run_id: str) -> str:
    return str(made.database.value("select state from cutter_governance.run where run_id = %s", (run_id,)))


@asynccontextmanager
async def serving(cluster: TestCluster, address: str, keys: Kit, *, guarded: bool = True) -> AsyncIterator[Stack]:
    """A deployment with all its workers."""
    with cluster.database() as database, short_folder() as state:
        if not guarded:
            unguarded(database)
        async with stack(database, state, address, keys, retry_delays_seconds=RETRIES) as made, made.workers():
            yield made


async def play(
    address: str, keys: Kit, *, seconds: float, roles: Sequence[str] = ROLES, kinds: Sequence[str] = tuple(KINDS),
    control: Sequence[str] = CONTROL_KINDS,
) -> tuple[list[Json], list[Json]]:  # fmt: skip
    """(Trials, control arm), on servers of their own: what is done to roles is done to the whole server."""
    rows: list[Json] = []
    without: list[Json] = []
    with own_cluster(**SERVER) as cluster:
        for role in roles:
            async with serving(cluster, address, keys) as made:
                for kind in kinds:
                    rows.append(await trial(made, role, kind, seconds, BOUND_SECONDS))
    with own_cluster(**SERVER) as cluster:
        for kind in control:
            async with serving(cluster, address, keys, guarded=False) as made:
                without.append(await trial(made, "directus", kind, CONTROL_SECONDS, CONTROL_SECONDS))
    return rows, without


def is_law(row: Json) -> bool:
    return bool(row["state"] == "closeout_reported")


def summary(rows: Sequence[Json], without: Sequence[Json]) -> Summary:
    """A failure: not law in bounded time; under the noise of a reader, not law while it lasts."""
    result = Summary(
        name="P29 noisy roles", n=len(rows),
        failures=sum(not is_law(row) or (row["role"] in READERS and not row["during"]) for row in rows),
        control=sum(not (is_law(row) and row["during"]) for row in without), control_n=len(without),
    )  # fmt: skip
    for row in rows:
        result.counts[f"{row['role']}: law {'during' if row['during'] else 'after'} the noise"] += is_law(row)
        result.counts[f"{row['role']}: statements refused"] += row.get("refused", 0)
    for row in without:
        result.counts[f"control, {row['kind']}: {row['state']}"] += 1
    slow = max((row["after"] for row in rows), default=0.0)
    result.counts["slowest run after the noise, in seconds"] = round(slow)
    return result


def run(*, seconds: int, seed: int, out: Path | None = None) -> Summary:
    """Every role, every kind, then the control arm; nothing is drawn by lot."""
    with server() as address, kit() as keys:
        rows, without = asyncio.run(play(address, keys, seconds=float(seconds)))
    write_lines(out, ({"seed": seed, **row} for row in (*rows, *without)))
    return summary(rows, without)


if __name__ == "__main__":
    raise SystemExit(command_line(run, "P29: noisy roles", seconds=7))
