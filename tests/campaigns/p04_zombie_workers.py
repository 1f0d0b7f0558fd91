"""IO: P4: a worker is stopped in the middle of a gate until another one has its work, then it wakes: it writes nothing.

    python -m tests.campaigns.p04_zombie_workers --trials 500 --seed 1 --out p04.jsonl

Two worker processes serve every run, each behind a proxy to PostgreSQL. Whichever takes a gate is held at a statement
and gets SIGSTOP; Temporal misses its heartbeats and gives the gate to the other one; then SIGCONT, and the statement
goes on. Four kinds: the sleeper had not opened the gate, or stood in its transaction; it wakes while its successor is
at work, or after it. The successor alone may have sealed the gate, and each run must end as if nothing had been.

The control arm are databases whose gate functions do not ask whether an attempt is the newest: there sleepers write.
"""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import threading
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from typing import LiteralString

import psycopg
from psycopg.rows import dict_row
from temporalio.worker import UnsandboxedWorkflowRunner, Worker

from cutter.catalogue import GATES, WorkerRole
from cutter.stack.processes import until
from cutter.storage.runs import register_run
from cutter.types import Json
from temporal import names
from temporal.signal_guard import MessageGuard
from tests.campaigns.p03_crash_points import STEPS, differences, wanted
from tests.cases.trials import Dice, Summary, command_line, write_lines
from tests.support import runs
from tests.support.database import Database
from tests.support.processes import ROOT
from tests.support.proxy import CommitProxy, Cut
from tests.support.stack import Ground, Run, Stack, ground
from workflows.document_run import DocumentRun

LANES = 4
"""Processes that play at once: most of a trial is waiting."""
CONTROL_TRIALS = 11
HEARTBEAT_SECONDS = 1.0
WAIT_SECONDS = 60
RUN_SECONDS = 300


NOTHING = {"gate": "", "kind": "nobody slept at all", "attempts": 0, "stale_write": False}


@dataclass(frozen=True, slots=True, kw_only=True)
class Kind:
    """Where the sleeper falls asleep, and whether its successor is still at work when it wakes."""

    name: str
    word: str
    beside: bool


KINDS = (
    Kind(name="before it opened, woke beside its successor", word="fn_gate_open", beside=True),
    Kind(name="in its transaction, woke beside its successor", word="fn_gate_close", beside=True),
    Kind(name="before it opened, woke when all was done", word="fn_gate_open", beside=False),
    Kind(name="in its transaction, woke when all was done", word="fn_gate_close", beside=False),
)

ATTEMPTS: LiteralString = (
    "select count(*) as n, (select outcome || ': ' || coalesce(reason, '') from cutter_governance.gate_attempt f"
    "    where f.run_id = %(run)s and f.gate = %(gate)s and f.n = 1) as first,"
    "  (select attempt from cutter_governance.gate_receipt r"
    "    where r.run_id = %(run)s and r.gate = %(gate)s and r.sealed_at is not null) as sealed"
    " from cutter_governance.gate_attempt a where a.run_id = %(run)s and a.gate = %(gate)s"
)

STALE: LiteralString = """
select r.gate, r.attempt from cutter_governance.gate_receipt r
where r.run_id = %(run)s and r.sealed_at is not null and exists (
    select from cutter_governance.gate_attempt a
    where a.run_id = r.run_id and a.gate = r.gate and a.n > r.attempt and a.started_at < r.sealed_at)
"""
"""Gates that were sealed by an attempt when a newer one was registered already."""

WITHOUT_FENCE: LiteralString = r"""
do $do$
declare
    one regprocedure;
begin
    foreach one in array array(select oid::regprocedure from pg_proc where proname in ('fn_gate_open', 'fn_gate_close'))
    loop
        execute regexp_replace(pg_get_functiondef(one),
            'p_attempt is distinct from \(\s*select max\(n\)[^)]*\)', 'false', 'g');
    end loop;
end
$do$;
select cutter_governance.fn_baseline_record(0)
"""


@dataclass(slots=True, kw_only=True)
class Sleeper:
    """A worker process and the proxy through which it reaches PostgreSQL."""

    process: subprocess.Popen[str]
    proxy: CommitProxy

    def stop(self) -> None:
        os.kill(self.process.pid, signal.SIGSTOP)

    def wake(self) -> None:
        os.kill(self.process.pid, signal.SIGCONT)


@dataclass(slots=True, kw_only=True)
class Bed:
    """One run in which a worker falls asleep at each gate. The threads of the proxies call it."""

    database: Database
    run_id: str
    sleepers: tuple[Sleeper, Sleeper]
    kinds: Sequence[Kind]
    rows: list[Json] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    slept: set[int] = field(default_factory=set)
    lock: threading.RLock = field(default_factory=threading.RLock)

    def arm(self, place: int, *whose: Sleeper) -> None:
        """Whoever of them takes the gate of that place falls asleep in it, unless somebody sleeps there already."""
        with self.lock:
            if place < len(GATES) and place not in self.slept:
                for sleeper in whose or self.sleepers:
                    self._hold(sleeper, self.kinds[place].word, place, partial(self._asleep, sleeper, place))

    def _hold(self, sleeper: Sleeper, word: str, place: int, meanwhile: Callable[[], None]) -> None:
        sleeper.proxy.arm(Cut.HOLD, word=word, given=GATES[place].name, meanwhile=meanwhile)

    def _asleep(self, sleeper: Sleeper, place: int) -> None:
        """The sleeper is held at its statement: stop it, wait for its successor, wake it."""
        kind, successor = self.kinds[place], next(other for other in self.sleepers if other is not sleeper)
        woken = threading.Event()
        with self.lock:
            sleeper.stop()
            self.slept.add(place)
            successor.proxy.disarm()
            if kind.beside and kind.word == "fn_gate_open":
                # Held too, with its attempt registered and nothing opened, until the sleeper's own attempt is over.
                self._hold(successor, "fn_gate_open", place, partial(self._beside, successor, place, woken))
            else:
                self.arm(place + 1, successor)
        row = self._until(place, lambda now: now["n"] >= 2 if kind.beside else now["sealed"] is not None)
        self.rows.append({"run": self.run_id, "gate": GATES[place].name, "kind": kind.name, "attempts": row["n"]})
        self.arm(place + 1, sleeper)
        sleeper.wake()
        woken.set()

    def _beside(self, successor: Sleeper, place: int, woken: threading.Event) -> None:
        woken.wait(WAIT_SECONDS)
        self._until(place, lambda now: now["first"] is not None or now["sealed"] is not None)
        self.arm(place + 1, successor)

    def _until(self, place: int, enough: Callable[[Json], bool]) -> Json:
        """What the database says of the gate's attempts, once it is enough."""
        asked, rows = {"run": self.run_id, "gate": GATES[place].name}, [{}]
        with psycopg.connect(self.database.url("postgres"), autocommit=True, row_factory=dict_row) as eye:

            def looked() -> bool:
                rows[0] = eye.execute(ATTEMPTS, asked).fetchone() or {}
                return enough(rows[0])

            if not until(looked, seconds=WAIT_SECONDS):
                self.problems.append(f"{GATES[place].name}: in vain: {rows[0]}")
        return rows[0]


@contextmanager
def sleepers(stack: Stack) -> Iterator[tuple[Sleeper, Sleeper]]:
    """Two worker processes of all roles, ready."""
    for role in WorkerRole:
        for pool in stack.deps(role).pools.values():
            pool.close()
    with ExitStack() as exits:
        yield _sleeper(stack, exits), _sleeper(stack, exits)


def _sleeper(stack: Stack, exits: ExitStack) -> Sleeper:
    settings = stack.settings
    proxy = exits.enter_context(CommitProxy(stack.database.server.cluster.port))
    given = {
        "CUTTER_STATE_DIR": str(settings.state), "CUTTER_TEMPORAL_ADDRESS": str(settings.temporal_address),
        "CUTTER_DATABASE_URL": f"postgresql://127.0.0.1:{proxy.port}/{stack.database.name}",
    }  # fmt: skip
    plain = {name: value for name, value in os.environ.items() if not name.startswith(("CUTTER_", "TEMPORAL_"))}
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.campaigns.zombie"], cwd=ROOT, env={**plain, **given}, stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL, text=True,
    )  # fmt: skip
    exits.callback(process.communicate)
    exits.callback(process.kill)
    assert process.stdout is not None
    assert process.stdout.readline().startswith("ready")
    return Sleeper(process=process, proxy=proxy)


async def _one_run(stack: Stack, pair: tuple[Sleeper, Sleeper], name: str, kinds: Sequence[Kind]) -> list[Json]:
    """A run with a sleeper at each gate; a row a gate, what was wrong with the run at the last one."""
    stack.register(name, runs.law(3).encode())
    run_id = await asyncio.to_thread(register_run, stack.settings, name, "live")
    bed = Bed(database=stack.database, run_id=run_id, sleepers=pair, kinds=kinds)
    bed.arm(0)
    run: Run = await stack.start(name, run_id=run_id)
    try:
        for gate in ("SG_cut_authz", "SG_lifecycle_authz"):
            await run.until_requested(gate, seconds=RUN_SECONDS)
            await run.approve(gate)
        await run.result(seconds=RUN_SECONDS)
    except (TimeoutError, AssertionError):
        bed.problems.append(f"the run does not end: {await run.explain()}"[:300])
        await run.handle.terminate()
    for sleeper in pair:
        sleeper.proxy.disarm()
    return await asyncio.to_thread(_judged, bed, name)


def _judged(bed: Bed, name: str) -> list[Json]:
    with psycopg.connect(bed.database.url("postgres"), autocommit=True, row_factory=dict_row) as eye:
        stale = {row["gate"] for row in eye.execute(STALE, {"run": bed.run_id})}
        bed.problems += differences(eye, name, wanted(STEPS))
    slept = {row["gate"] for row in bed.rows}
    bed.problems += [f"{gate.name}: nobody slept" for gate in GATES if gate.name not in slept]
    rows = [{**row, "stale_write": row["gate"] in stale, "problems": []} for row in bed.rows]
    return [*rows[:-1], {**(rows[-1] if rows else NOTHING), "problems": bed.problems}]


async def play(stack: Stack, *, trials: int, seed: int, lane: int = 0, fenced: bool = True) -> list[Json]:
    """As many runs as so many sleepers need; without the fence only of the kinds that it is there for."""
    if not fenced:
        stack.database.run(WITHOUT_FENCE)
    kinds = KINDS if fenced else KINDS[:2]
    rows: list[Json] = []
    with sleepers(stack) as pair:
        orchestration = Worker(
            stack.client, task_queue=names.TASK_QUEUES[WorkerRole.CUTTER], workflows=[DocumentRun],
            workflow_runner=UnsandboxedWorkflowRunner(), interceptors=[MessageGuard()],
        )  # fmt: skip
        async with orchestration:
            for number in range(-(-trials // len(GATES))):
                first = Dice(seed, "kind", lane, number).below(len(kinds))
                chosen = [kinds[(first + place) % len(kinds)] for place in range(len(GATES))]
                rows += await _one_run(stack, pair, f"ICX-P4-{number}", chosen)
    return [{"lane": lane, "fenced": fenced, **row} for row in rows]


def _share(lane: int, trials: int, control: int, seed: int) -> list[Json]:
    """One process's part of the campaign: the trials, and the control arm in a database of its own."""

    async def played(under: Ground) -> list[Json]:
        rows = []
        for fenced, count in ((True, trials), (False, control)):
            if count:
                async with under.stack(heartbeat_timeout_seconds=HEARTBEAT_SECONDS) as stack:
                    rows += await play(stack, trials=count, seed=seed, lane=lane, fenced=fenced)
        return rows

    with ground() as under:
        return asyncio.run(played(under))


def run(*, trials: int, seed: int, out: Path | None = None) -> Summary:
    """The campaign, on some processes; the first of them plays the control arm too."""
    lanes = min(LANES, -(-trials // len(GATES)))
    controls = [CONTROL_TRIALS if lane == 0 else 0 for lane in range(lanes)]
    with ProcessPoolExecutor(lanes, mp_context=get_context("spawn")) as pool:
        parts = list(pool.map(_share, range(lanes), [-(-trials // lanes)] * lanes, controls, [seed] * lanes))
    rows = [row for some in parts for row in some]
    write_lines(out, ({"seed": seed, **row} for row in rows))
    return summary(rows)


def summary(rows: Sequence[Json]) -> Summary:
    """A failure is a stale attempt's write, a sleeper woken before it had a successor, or a run that ended wrongly."""
    trials, control = [row for row in rows if row["fenced"]], [row for row in rows if not row["fenced"]]
    result = Summary(
        name="P4 zombie workers", n=len(trials),
        failures=sum(bool(row["problems"]) or row["stale_write"] or row["attempts"] < 2 for row in trials),
        control=sum(row["stale_write"] for row in control), control_n=len(control),
    )  # fmt: skip
    result.counts = Counter(row["kind"] for row in trials)
    result.counts["writes by a stale attempt"] = sum(row["stale_write"] for row in trials)
    result.counts.update(f"problem: {row['gate']}: {problem}" for row in trials for problem in row["problems"])
    return result


if __name__ == "__main__":
    raise SystemExit(command_line(run, "P4: zombie workers", trials=500))
