"""IO: the same gates driven by the product, by DBOS, by plain Temporal, and by a serial loop, in turn.

    python -m benchmarks.peers --documents 20 --units 60 --rounds 4

Every arm has its own stack, so each database holds equally many documents at each moment. All arms call the same
functions, with the same SQL, gpg and backup for each document. One approver signs for all of them, at once. The order
of the arms changes from round to round, so that each arm follows each other one.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Protocol

import psutil
import psycopg
import structlog

from benchmarks import peer_temporal, process_cpu
from benchmarks.document import Bench, pause_reconciler
from benchmarks.peer_steps import AT_ONCE
from benchmarks.result_file import RESULTS, machine, write
from benchmarks.wire import Counted
from cutter.messages import RunInput
from cutter.stack import temporal
from cutter.storage import runs as run_rows
from cutter.types import Json
from temporal import names, runs
from temporal.client import connect
from tests.support.processes import CUTTER_WORKER, EXEC, TEMPORAL, VERIFY, Stack, stack

WORKERS = (CUTTER_WORKER, EXEC, VERIFY)
LOOK_SECONDS = 0.03

ASKED = """
select q.run_id, q.gate, q.kb_id from cutter_governance.approval_request q
join cutter_governance.outbox o on o.kb_id = q.kb_id
where q.run_id = any (%s) and q.status = 'requested' and o.sha256 is not null
"""
ENDED = "select run_id, state from cutter_governance.run where run_id = any (%s) and ended_at is not null"


class Engine(Protocol):
    """How an arm starts a run and gets an approval."""

    async def start(self, run_id: str, document_id: str) -> None: ...

    async def approve(self, document_id: str, run_id: str, gate: str, kb_id: str) -> None: ...


@dataclass(slots=True)
class Product:
    """The product's own workflow and its three workers."""

    client: Any

    async def start(self, run_id: str, document_id: str) -> None:
        await runs.start(self.client, RunInput(document_id=document_id, run_id=run_id, starter="bench"))

    async def approve(self, document_id: str, run_id: str, gate: str, kb_id: str) -> None:  # noqa: ARG002
        handle = self.client.get_workflow_handle(names.document_workflow_id(document_id))
        await handle.signal("submit_approval", kb_id)


@dataclass(slots=True)
class Plain:
    """Temporal without governance."""

    client: Any

    async def start(self, run_id: str, document_id: str) -> None:  # noqa: ARG002
        await self.client.start_workflow(peer_temporal.WORKFLOW, run_id, id=run_id, task_queue=peer_temporal.QUEUE)

    async def approve(self, document_id: str, run_id: str, gate: str, kb_id: str) -> None:  # noqa: ARG002
        await self.client.get_workflow_handle(run_id).signal(peer_temporal.SIGNAL, args=[gate, kb_id])


@dataclass(slots=True)
class Dbos:
    """DBOS, reached as its own client does."""

    client: Any

    async def start(self, run_id: str, document_id: str) -> None:  # noqa: ARG002
        from benchmarks import peer_dbos as peer

        options = {
            "queue_name": peer.QUEUE, "workflow_name": peer.WORKFLOW, "workflow_id": run_id,
            "app_version": peer.VERSION,
        }  # fmt: skip
        await asyncio.to_thread(self.client.enqueue, options, run_id)

    async def approve(self, document_id: str, run_id: str, gate: str, kb_id: str) -> None:  # noqa: ARG002
        await asyncio.to_thread(self.client.send, run_id, kb_id, gate)


@dataclass(slots=True)
class Loop:
    """The serial loop reads lines."""

    process: subprocess.Popen[str]

    async def start(self, run_id: str, document_id: str) -> None:  # noqa: ARG002
        self._write(run_id)

    async def approve(self, document_id: str, run_id: str, gate: str, kb_id: str) -> None:  # noqa: ARG002
        self._write(kb_id)

    def _write(self, line: str) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(f"{line}\n")
        self.process.stdin.flush()


@dataclass(slots=True)
class Arm:
    """One way to drive the gates: its stack, its engine and its processes by name."""

    name: str
    bench: Bench
    engine: Engine
    processes: dict[str, list[int]]
    at_once: int = AT_ONCE
    samples: list[Json] = field(default_factory=list)

    async def sample(self, count: int, units: int) -> Json:
        """Bring that many documents from their registration to their closeout."""
        waiting = [self.bench.register(units) for _ in range(count)]
        before, began = self._cpu(), time.perf_counter()
        with psycopg.connect(self.bench.stack.superuser(), autocommit=True) as eyes:
            await self._drive(waiting, eyes)
        seconds, after = time.perf_counter() - began, self._cpu()
        return {
            "kind": "peer", "arm": self.name, "documents": count, "units": units, "before": self.bench.number - count,
            "per_minute": round(count / seconds * 60, 1),
            "cpu_ms": {name: round((after[name] - before[name]) * 1000 / count) for name in after},
        }  # fmt: skip

    async def _drive(self, waiting: list[str], eyes: psycopg.Connection[Any]) -> None:
        """Start runs, sign what they ask, and see them end."""
        running: dict[str, str] = {}
        signed: set[str] = set()
        while waiting or running:
            while waiting and len(running) < self.at_once:
                document_id = waiting.pop(0)
                run_id = run_rows.register_run(self.bench.settings, document_id, "live")
                running[run_id] = document_id
                await self.engine.start(run_id, document_id)
            for run_id, gate, kb_id in eyes.execute(ASKED, (list(running),)).fetchall():
                if kb_id not in signed:
                    signed.add(kb_id)
                    statement = await asyncio.to_thread(self.bench.sign, run_id, kb_id)
                    await self.engine.approve(running[run_id], run_id, gate, statement)
            for run_id, state in eyes.execute(ENDED, (list(running),)).fetchall():
                assert state == "closeout_reported", (self.name, run_id, state)
                del running[run_id]
            await asyncio.sleep(LOOK_SECONDS)

    def _cpu(self) -> dict[str, float]:
        """CPU seconds so far of each process with its children, and of the approver, which is this process."""
        made = self.bench.stack.process("postgres").pid
        backends = [made, *(child.pid for child in psutil.Process(made).children(recursive=True))]
        groups = {**self.processes, "postgres": backends, "approver": [os.getpid()]}
        return {name: sum(map(process_cpu.seconds, pids)) for name, pids in groups.items()}


@contextmanager
def _served(module: str, made: Stack) -> Iterator[subprocess.Popen[str]]:
    """A peer's own process, ready to work; it ends with the block. Its log is a file, as a worker's is."""
    with made.state.joinpath("logs", f"{module}.log").open("ab") as log:
        process = subprocess.Popen(
            [sys.executable, "-m", f"benchmarks.{module}", str(made.state)], stdin=subprocess.PIPE,
            stdout=subprocess.PIPE, stderr=log, text=True, env=made.shell(),
        )  # fmt: skip
    try:
        assert process.stdout is not None
        assert process.stdout.readline().strip() == "ready", f"{module} did not start"
        yield process
    finally:
        process.terminate()
        process.wait(30)


async def _engine(name: str, made: Stack, running: ExitStack) -> tuple[Engine, dict[str, list[int]]]:
    """Start what the arm needs, and end what only the product needs."""
    pids = {worker: made.process(worker).pid for worker in (*WORKERS, TEMPORAL)}
    if name == "product":
        workers = [pids[worker] for worker in WORKERS]
        return Product(await connect(made.settings)), {"workers": workers, "temporal": [pids[TEMPORAL]]}
    for program in (*WORKERS, *((TEMPORAL,) if name != "plain temporal" else ())):
        made.kill(program)
    if name == "dbos":
        return _dbos(made, running)
    module = "peer_temporal" if name == "plain temporal" else "peer_loop"
    process = running.enter_context(_served(module, made))
    if name == "loop":
        return Loop(process), {"workers": [process.pid]}
    return Plain(await connect(made.settings)), {"workers": [process.pid], "temporal": [pids[TEMPORAL]]}


def _dbos(made: Stack, running: ExitStack) -> tuple[Engine, dict[str, list[int]]]:
    from dbos import DBOSClient

    from benchmarks import peer_dbos

    with psycopg.connect(made.superuser(), autocommit=True) as connection:
        connection.execute(f"create database {peer_dbos.DATABASE}".encode())
    process = running.enter_context(_served("peer_dbos", made))
    client = DBOSClient(system_database_url=peer_dbos.url(made.state), application_name=peer_dbos.NAME)
    running.callback(client.destroy)
    return Dbos(client), {"workers": [process.pid]}


ARMS = ("product", "dbos", "plain temporal", "loop")


def order(arms: list[Arm], number: int) -> list[Arm]:
    """The arms of a round. In as many rounds as arms, each has each place, and four follow each other once."""
    count = len(arms)
    zigzag = [(place // 2 + 1 if place % 2 else count - place // 2) % count for place in range(count)]
    return [arms[(place + number) % count] for place in zigzag]


async def measure(chosen: list[str], documents: int, units: int, rounds: int) -> list[Json]:
    """Every arm in each round, after one that is not counted."""
    with ExitStack() as running:
        arms = [await _arm(name, running) for name in chosen]
        for arm in arms:
            await arm.sample(2, units)
        for number in range(rounds):
            for arm in order(arms, number):
                arm.samples.append({"round": number, **await arm.sample(documents, units)})
                print(line(arm.samples[-1]), flush=True)
        return [sample for arm in arms for sample in arm.samples]


async def _arm(name: str, running: ExitStack) -> Arm:
    made = running.enter_context(stack("bp"))
    made.up()
    pause_reconciler(made)
    port = int((made.state / "postgres" / "port").read_text(encoding="ascii"))
    bench = Bench(made, port, Counted())
    engine, processes = await _engine(name, made, running)
    return Arm(name=name, bench=bench, engine=engine, processes=processes, at_once=1 if name == "loop" else AT_ONCE)


def line(record: Json) -> str:
    """One sample for people."""
    cpu = ", ".join(f"{name} {value}" for name, value in record["cpu_ms"].items())
    return (
        f"round {record['round']} {record['arm']:15} {record['before']:5} documents before: "
        f"{record['per_minute']:6.1f} a minute; CPU ms a document {cost(record)}: {cpu}"
    )


def cost(record: Json) -> int:
    """CPU milliseconds of a document, without the approver's."""
    return int(sum(value for name, value in record["cpu_ms"].items() if name != "approver"))


def summary(records: list[Json]) -> list[Json]:
    """For each arm the medians, and the medians of its ratios to the product in the same round."""
    rounds = {(record["arm"], record["round"]): record for record in records}
    rows = []
    for arm in dict.fromkeys(record["arm"] for record in records):
        mine = [record for record in records if record["arm"] == arm]
        pairs = [(row, rounds["product", row["round"]]) for row in mine if ("product", row["round"]) in rounds]
        rows.append({
            "arm": arm, "n": len(mine), "per_minute": round(statistics.median(row["per_minute"] for row in mine), 1),
            "cpu_ms": round(statistics.median(map(cost, mine))),
            "processes_ms": {name: round(statistics.median(row["cpu_ms"][name] for row in mine))
                             for name in mine[0]["cpu_ms"] if name != "approver"},
            "speed_ratio": _middle([row["per_minute"] / base["per_minute"] for row, base in pairs]),
            "cpu_ratio": _middle([cost(row) / cost(base) for row, base in pairs]),
        })  # fmt: skip
    return rows


def _middle(values: list[float]) -> float | None:
    return round(statistics.median(values), 2) if values else None


def show(records: list[Json]) -> str:
    """The table."""
    lines = [f"{'':16}{'a minute':>10}{'CPU ms':>9}{'speed, product = 1':>20}{'CPU, product = 1':>18}"]
    for row in summary(records):
        ratios = f"{row['speed_ratio'] or '':>20}{row['cpu_ratio'] or '':>18}"
        lines.append(f"{row['arm']:16}{row['per_minute']:>10}{row['cpu_ms']:>9}{ratios}")
    return "\n".join(lines)


def main() -> None:
    """Measure, print, write JSON lines."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n\n", 1)[0])
    parser.add_argument("--documents", type=int, default=20, help="documents of each sample")
    parser.add_argument("--units", type=int, default=60)
    parser.add_argument("--rounds", type=int, default=4, help="a multiple of the number of arms balances their order")
    parser.add_argument("--arms", default=",".join(ARMS), help="some of them, such as product,dbos")
    parser.add_argument("--output", type=Path, default=RESULTS / "peers.jsonl")
    chosen = parser.parse_args()
    arms = chosen.arms.split(",")
    if "dbos" in arms and find_spec("dbos") is None:
        parser.error("the package dbos is missing: type `make bench-peers`, or leave it out with --arms")
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(40))
    records = asyncio.run(measure(arms, chosen.documents, chosen.units, chosen.rounds))
    head = {**machine(), "temporal": temporal.resolve().version}
    print(show(records))
    write(chosen.output, (head, *records))


if __name__ == "__main__":
    main()
