"""IO: P25: hours of work close to saturation: nothing grows, and nothing becomes slower.

    python -m tests.campaigns.p25_soak --minutes 120 --seed 1 --out p25.jsonl

Two streams of batches cut new laws and revise the laws of their batch before. A third stream starts runs that a person
stops, resumes with a signature, and cancels. Now and then another worker joins and is killed at a random moment. A
sampler looks at each process (memory, open files), at PostgreSQL (memory, connections, dead tuples, the oldest
transaction), and measures the CPU of a fixed piece of work, which shows how fast the machine is. The gates' latencies
come from their own records. After a warm-up, the second half of the time must not be worse than the first by more than
5 %.

The control arm does the same work for a shorter time, with a leak of each kind: an exec worker that keeps memory and
open files and whose statements become slower, connections that nobody closes, and from late in the first half on a
transaction that nobody ends, so that dead tuples stay. Each leak must be found.
"""

from __future__ import annotations

import asyncio
import gc
import json
import sys
import threading
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager, suppress
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from time import monotonic, thread_time
from typing import Any, LiteralString

import psutil
import psycopg

from benchmarks import process_cpu
from benchmarks.batch import BatchBench
from benchmarks.document import OPTIONS
from benchmarks.revision import amended
from cutter import sources
from cutter.approvals import schema
from cutter.catalogue import BY_NAME, WorkerRole
from cutter.limits import MIB
from cutter.messages import RunInput
from cutter.stack import supervisor, workers
from cutter.stack.processes import spawn
from cutter.storage import runs as run_rows
from cutter.types import Json
from temporal import runs
from temporal.client import connect
from tests.campaigns import leaking_worker
from tests.cases.soak_halves import SAMPLES_MIN, WARM_UP, Halves, Series, cost, slowdown, together, verdicts
from tests.cases.trials import Dice, Summary, command_line, write_lines
from tests.support.laws import law
from tests.support.processes import (
    CUTTER_WORKER,
    EXEC,
    ROOT,
    TEMPORAL,
    VERIFY,
    Stack,
    extra_worker,
    kill,
    stack,
    wait,
)
from tests.support.signatures import sign_order

PROCESSES = (CUTTER_WORKER, EXEC, VERIFY, TEMPORAL)
STREAMS, BATCH, UNITS = 2, 8, 12
LASTING_SECONDS = 60
"""A process of PostgreSQL that was seen so long ago belongs to a worker that stays."""

SAMPLES = 400
"""So often the sampler looks, but not more than once in a second."""

DONE = "documents"
"""The name of the series that counts enacted documents."""

KILLS = 24
"""Killed workers in the whole time, but not more than one in twenty seconds."""
KILL_EVERY_MIN_SECONDS, KILLED_WITHIN_MS = 20.0, 8000

CONTROL_SHARE, CONTROL_SECONDS_MIN = 0.1, 150.0
"""The control arm takes this share of the time, but at least so many seconds."""

LEAKED, LEAKED_CONNECTIONS = 200, 80
"""What is kept in all: MiB and open files, and connections, of which the server has two hundred."""

FLOORS = {"memory": 2.0, "open files": 3.0, "connections": 2.0, "dead tuples": 0.01, "oldest transaction": 2.0}
"""Differences that are the granularity of a measure: MiB, files, connections, a share, seconds."""

QUICK = {"CUTTER_HEARTBEAT_TIMEOUT_SECONDS": "5"}
"""A killed worker's gate is tried again soon, so that kills cost little time."""

SERVER: LiteralString = """
select (select count(*) from pg_stat_activity where backend_type = 'client backend')::float as "connections",
    (select coalesce(sum(n_dead_tup)::float / nullif(sum(n_live_tup + n_dead_tup), 0), 0) from pg_stat_user_tables)
        as "dead tuples, share",
    (select coalesce(max(extract(epoch from now() - xact_start)), 0)::float from pg_stat_activity
     where backend_type = 'client backend' and pid <> pg_backend_pid()) as "oldest transaction, s"
"""
LATENCIES: LiteralString = """
select a.gate, extract(epoch from a.started_at - %(began)s)::float as moment,
    extract(epoch from a.finished_at - a.started_at)::float * 1000 as milliseconds
from cutter_governance.gate_attempt a where a.started_at >= %(began)s and a.finished_at is not null
"""
NOW: LiteralString = "select clock_timestamp()"

LEAKS = {
    "memory": f"memory of {EXEC}, MiB",
    "open files": f"open files of {EXEC}",
    "slower statements": "latency of all gates of exec, times the usual",
    "connections": "connections",
    "an open transaction": "dead tuples, share",
}
"""Each planted leak, and the measure that must find it."""


@dataclass(slots=True)
class Sampler:
    """Looks at everything at regular times, in a thread of its own."""

    made: Stack
    every: float
    began: float = field(default_factory=monotonic)
    done: Callable[[], int] = lambda: 0
    """How many documents are law so far."""
    series: defaultdict[str, list[tuple[float, float]]] = field(default_factory=lambda: defaultdict(list))
    spent: defaultdict[str, list[tuple[float, float]]] = field(default_factory=lambda: defaultdict(list))
    """CPU seconds of each process so far, and the documents that were done."""
    met: dict[int, float] = field(default_factory=dict)
    """When each process of PostgreSQL was first seen, by its pid."""
    over: threading.Event = field(default_factory=threading.Event)
    problems: list[str] = field(default_factory=list)

    @contextmanager
    def looking(self) -> Iterator[None]:
        """Sample as long as the block lasts."""
        thread = threading.Thread(target=self._look, daemon=True)
        thread.start()
        try:
            yield
        finally:
            self.over.set()
            thread.join(60)

    def _look(self) -> None:
        # A sampler that ended early would leave the second half empty, and nothing would be worse in it.
        try:
            self._look_until_over()
        except Exception as problem:
            self.problems.append(f"sampler: {type(problem).__name__}: {str(problem)[:300]}")

    def _look_until_over(self) -> None:
        with psycopg.connect(self.made.superuser(), autocommit=True) as eyes:
            while not self.over.wait(self.every):
                moment = monotonic() - self.began
                for name, value in (*self._processes(), *self._server(eyes), ("probe", probe())):
                    self.series[name].append((moment, value))
                for name, value in (*self._cpu(), (DONE, float(self.done()))):
                    self.spent[name].append((moment, value))

    def _processes(self) -> Iterator[tuple[str, float]]:
        for name in PROCESSES:
            with suppress(psutil.Error):
                process = psutil.Process(self.made.process(name).pid)
                yield f"memory of {name}, MiB", process.memory_full_info().uss / MIB
                yield f"open files of {name}", float(process.num_fds())

    def _cpu(self) -> Iterator[tuple[str, float]]:
        for name in (*PROCESSES, "postgres"):
            with suppress(psutil.Error):
                process = psutil.Process(self.made.process(name).pid)
                living = process.children() if name == "postgres" else []
                yield name, sum(process_cpu.seconds(each.pid) for each in (process, *living))

    def _server(self, eyes: psycopg.Connection[Any]) -> Iterator[tuple[str, float]]:
        postmaster = psutil.Process(self.made.process("postgres").pid)
        own, now = 0.0, monotonic()
        for process in (postmaster, *postmaster.children()):
            with suppress(psutil.Error):
                # Connections of the extra workers, of commands and of backups come and go.
                if now - self.met.setdefault(process.pid, now) > LASTING_SECONDS:
                    own += process.memory_full_info().uss / MIB
        yield "memory of postgres, MiB", own
        cursor = eyes.execute(SERVER)
        assert cursor.description is not None
        row = cursor.fetchone()
        assert row is not None
        yield from zip((column.name for column in cursor.description), map(float, row), strict=True)


PROBED = [{"unit": number, "text": f"the text of unit {number}"} for number in range(20_000)]


def probe() -> float:
    """CPU milliseconds of a fixed piece of work: how fast the machine is at this moment.

    The work is of the product's kind: the interpreter, much memory. Its CPU time says how much slower other machines on
    the same hardware make it, and not for how long it waited for a processor, because the load is the product's own.
    """
    began = thread_time()
    json.loads(json.dumps(PROBED))
    return (thread_time() - began) * 1000


@dataclass(slots=True)
class Load:
    """Everything that goes through the stack until the end of the time."""

    made: Stack
    dice: Dice
    end: float
    counts: Counter[str] = field(default_factory=Counter)
    problems: list[str] = field(default_factory=list)

    @property
    def over(self) -> bool:
        return monotonic() >= self.end or bool(self.problems)

    async def run(self, kill_every: float) -> None:
        """All streams at once; the first problem ends them."""
        bench = BatchBench(self.made)
        streams = [self._stream(self.batches, bench) for _ in range(STREAMS)]
        await asyncio.gather(*streams, self._stream(self.interrupted, bench), self._stream(self.kills, kill_every))

    async def _stream(self, stream: Callable[..., Any], *arguments: Any) -> None:
        try:
            await stream(*arguments)
        except Exception as problem:
            self.problems.append(f"{stream.__name__}: {type(problem).__name__}: {str(problem)[:300]}")
            print(f"  {self.problems[-1]}", file=sys.stderr, flush=True)

    async def batches(self, bench: BatchBench) -> None:
        """One batch after the other: new laws, and new versions of the new laws of the batch before."""
        before: list[str] = []
        while not self.over:
            revised = [self._revised(name) for name in before]
            before = [bench.bench.register(UNITS) for _ in range(BATCH // 2)]
            answer = await asyncio.to_thread(bench.batch_of, [*revised, *before], UNITS)
            self.counts["documents enacted by batches"] += answer["documents"]
            self.counts["of them revisions"] += len(revised)
            # The SDK closes a client's connection after the client is collected, and these are open files of Temporal.
            gc.collect()

    def _revised(self, name: str) -> str:
        text = amended(law(UNITS, title=f"Act {name.rsplit('-', 1)[1]}"), UNITS)
        sources.register(
            self.made.settings, text.encode(), document_id=name, docprefix=name, profile="generic-markdown",
            options=OPTIONS,
        )  # fmt: skip
        return name

    async def interrupted(self, bench: BatchBench) -> None:
        """Runs that a person stops and resumes, and then cancels, each while they wait for a signature."""
        client, settings = await connect(self.made.settings), self.made.settings
        while not self.over:
            name = f"ICX-CANCELLED-{self.counts['runs cancelled']}"
            text = law(3, title=name).encode()
            sources.register(settings, text, document_id=name, docprefix=name, profile="generic-markdown",
                             options=OPTIONS)  # fmt: skip
            run_id = run_rows.register_run(settings, name, "live")
            handle = await runs.start(client, RunInput(document_id=name, run_id=run_id, starter="bench"))
            await self._until_waits(run_id, "awaiting_cut_authorization")
            await handle.signal("stop", {"reason": "a person wants to think"})
            await self._until_waits(run_id, "stopped_stop")
            order = await asyncio.to_thread(
                sign_order, settings, bench.bench.signer, run_id, schema.RESUME, "it is right"
            )
            answer = await runs.resume(client, name, order)
            assert answer.status == "accepted", answer
            self.counts["runs stopped and resumed"] += 1
            await self._until_waits(run_id, "awaiting_cut_authorization")
            await handle.signal("cancel", {"reason": "a person changed their mind"})
            await self._until_waits(run_id, "voided_cancelled")
            self.counts["runs cancelled"] += 1
            await asyncio.sleep(2)

    async def _until_waits(self, run_id: str, state: str) -> None:
        await asyncio.to_thread(
            wait, lambda: self.made.waits_in(run_id) == state, seconds=240, what=f"{run_id} is {state}"
        )

    async def kills(self, every: float) -> None:
        """Another worker joins, and dies at a random moment."""
        address = self.made.settings.state.joinpath("postgres.url").read_text(encoding="ascii").strip()
        while not self.over:
            await asyncio.sleep(every)
            if self.over:
                return
            role = self.dice.choose(list(WorkerRole))
            process = await asyncio.to_thread(extra_worker, self.made, role, database_url=address)
            await asyncio.sleep(self.dice.between(1, KILLED_WITHIN_MS) / 1000)
            await asyncio.to_thread(kill, process)
            self.counts[f"extra workers killed: {role.value}"] += 1


@contextmanager
def leaks(made: Stack, seconds: float) -> Iterator[None]:
    """Plant a leak of each kind: most evenly over the time, but the transaction after two thirds of the first half.

    From then on the share of dead tuples grows. If the transaction were open from the beginning, the share would soon
    stop growing, because live rows increase too.
    """
    _leaking_worker(made, seconds / LEAKED)
    over, late = threading.Event(), monotonic() + seconds * (WARM_UP + (1 - WARM_UP) / 3)
    with ExitStack() as kept:

        def leaking() -> None:
            held: list[psycopg.Connection[Any]] = []
            while not over.wait(seconds / LEAKED_CONNECTIONS):
                with suppress(psycopg.OperationalError):
                    kept.enter_context(closing(psycopg.connect(made.superuser(), autocommit=True)))
                    if not held and monotonic() > late:
                        held.append(kept.enter_context(closing(_in_a_transaction(made))))

        thread = threading.Thread(target=leaking, daemon=True)
        thread.start()
        try:
            yield
        finally:
            over.set()
            thread.join(30)


def _in_a_transaction(made: Stack) -> psycopg.Connection[Any]:
    held = psycopg.connect(made.superuser())
    held.isolation_level = psycopg.IsolationLevel.REPEATABLE_READ
    held.execute("select count(*) from cutter_governance.run")
    return held


def _leaking_worker(made: Stack, every: float) -> None:
    """Put a leaking exec worker in the place of the other one."""
    service, role = supervisor.read(made.state)[EXEC], WorkerRole.EXEC
    kill(service.process)
    ready = workers.ready_file(made.settings, role)
    ready.unlink(missing_ok=True)
    process = spawn(
        [sys.executable, "-m", "tests.campaigns.leaking_worker", "--role", role.value],
        log=made.state / "logs" / "leaking.log", folder=ROOT,
        environment=workers.environment(made.settings, role) | {leaking_worker.EVERY: str(every)},
    )  # fmt: skip
    wait(ready.exists, seconds=60, what="a leaking worker")
    supervisor.remember(made.state, replace(service, process=process))


@dataclass(frozen=True, slots=True, kw_only=True)
class Soaked:
    """What one arm showed."""

    halves: list[Halves]
    counts: Counter[str]
    problems: list[str]
    notes: list[str]


def soak(seconds: float, seed: int, *, leaking: bool) -> Soaked:
    """One arm on a stack of its own."""
    with stack("cs", **QUICK) as made, ExitStack() as running:
        made.up()
        made.approver()
        if leaking:
            running.enter_context(leaks(made, seconds))
        started = made.value(NOW)
        load = Load(made=made, dice=Dice(seed, leaking), end=monotonic() + seconds)
        sampler = Sampler(
            made=made, every=max(1.0, seconds / SAMPLES), done=lambda: load.counts["documents enacted by batches"]
        )
        with sampler.looking():
            asyncio.run(load.run(max(KILL_EVERY_MIN_SECONDS, seconds / KILLS)))
        latencies = _latencies(made, started)
    probed = sampler.series.pop("probe", [])
    return Soaked(
        notes=_notes(sampler, probed, seconds),
        halves=verdicts(sampler.series, FLOORS, latencies, probed, seconds=seconds), counts=load.counts,
        problems=[*load.problems, *sampler.problems],
    )  # fmt: skip


def _notes(sampler: Sampler, probed: Series, seconds: float) -> list[str]:
    """What is not judged, but says why a latency is worse: the machine's speed, and the CPU of a document."""
    done = sampler.spent.pop(DONE, [])
    notes = [f"the machine: {slowdown(probed, seconds=seconds):.3f} times as slow in the second half"]
    for name, spent in sampler.spent.items():
        first, second = cost(spent, done, seconds=seconds)
        notes.append(f"CPU of {name}, ms for each enacted document: {first:.0f} to {second:.0f}")
    return notes


def _latencies(made: Stack, started: Any) -> dict[str, Series]:
    points: defaultdict[str, list[tuple[float, float]]] = defaultdict(list)
    for row in made.rows(LATENCIES, {"began": started}):
        points[row["gate"]].append((row["moment"], row["milliseconds"]))
    return with_roles(points)


def with_roles(gates: Mapping[str, Series]) -> dict[str, Series]:
    """Each gate, and all gates of each worker as one measure, which also a short run has enough samples of."""
    roles: dict[str, Series] = {}
    for role in WorkerRole:
        of_role = {gate: series for gate, series in gates.items() if BY_NAME[gate].worker is role}
        roles[f"all gates of {role.value}, times the usual"] = together(of_role)
    return {**dict(sorted(gates.items())), **roles}


def summary(soaked: Soaked, control: Soaked) -> Summary:
    """A failure is a measure that became worse, or work that went wrong. A leak counts if its measure found it."""
    worse = {half.name for half in control.halves if half.worse}
    judged = [half for half in soaked.halves if half.samples >= SAMPLES_MIN]
    failures = sum(half.worse for half in judged) + len(soaked.problems) + (not judged)
    result = Summary(
        name="P25 soak", n=len(judged), failures=failures,
        control=len(LEAKS) if set(LEAKS.values()) <= worse else 0, control_n=len(LEAKS),
    )  # fmt: skip
    result.counts.update(soaked.counts)
    result.counts.update(str(half) for half in soaked.halves)
    result.counts.update(soaked.notes)
    result.counts.update(f"PROBLEM: {problem}" for problem in (*soaked.problems, *control.problems))
    for leak, measure in LEAKS.items():
        text = next((str(half) for half in control.halves if half.name == measure), f"{measure}: nothing")
        result.counts[f"control, {'found' if measure in worse else 'NOT FOUND'}: {leak}: {text}"] += 1
    return result


def run(*, minutes: float, control: float, seed: int, out: Path | None = None) -> Summary:
    """Both arms, one after the other."""
    seconds = minutes * 60
    shorter = control * 60 or max(CONTROL_SECONDS_MIN, seconds * CONTROL_SHARE)
    leaking = soak(shorter, seed, leaking=True)
    for half in leaking.halves:
        print(f"  control: {half}", file=sys.stderr, flush=True)
    soaked = soak(seconds, seed, leaking=False)
    write_lines(out, (*_rows(soaked, "soak"), *_rows(leaking, "control")))
    return summary(soaked, leaking)


def _rows(soaked: Soaked, arm: str) -> Sequence[Json]:
    return [{"arm": arm, **asdict(half)} for half in soaked.halves]


if __name__ == "__main__":
    raise SystemExit(command_line(run, "Hours of work close to saturation", minutes=120.0, control=0.0))
