"""IO: the measured costs from which docs/concepts/scale.md derives the size of a deployment, and batches with one and
with two workers of each role, against which the simulation is validated.

    python -m benchmarks.scale                       # measure on one stack, about six minutes
    python -m benchmarks.scale_page                  # simulate, and write the page
"""

from __future__ import annotations

import argparse
import asyncio
import os
import sqlite3
import statistics
import sys
import threading
import time
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

import psutil
import structlog
from temporalio.api.enums.v1 import EventType
from temporalio.api.history.v1 import HistoryEvent

from benchmarks.batch import BatchBench
from benchmarks.batch import line as batch_line
from benchmarks.result_file import RESULTS, machine, write
from benchmarks.revision import Revisions
from benchmarks.wire import Counted
from cutter.catalogue import BY_NAME, WorkerRole
from cutter.stack import workers
from cutter.stack.detached_process import spawn
from cutter.stack.processes import Process, until
from cutter.types import Json
from temporal import names
from temporal.client import connect
from tests.support.processes import ROOT, Stack, stack

START_SECONDS = 60
"""The time in which a second worker begins to serve."""
IDLE_SECONDS = 5.0
"""The time for which the stack is watched while it does nothing."""
SMALL_UNITS = 3
"""Units of the smaller documents, from which follows what a unit leaves on the disks."""
LOOKS = 9
"""Looks at a batch, of which the median counts."""

HOLDS = """
select gate, percentile_cont(0.5) within group (order by extract(epoch from sealed_at - opened_at)) * 1000 as ms
from cutter_governance.gate_receipt join cutter_governance.run using (run_id)
where sealed_at is not null and document_id = any(%s) group by gate
"""
"""How long a gate's transaction is open, until its receipt is sealed."""
BUSY = """
select count(*) from cutter_governance.gate_attempt join cutter_governance.run using (run_id)
where gate_attempt.outcome = 'lane_busy' and batch_id = %s
"""
SESSIONS = "select usename as role, count(*)::int as n from pg_stat_activity where datname = 'cutter' group by 1"
RELATIONS = """
select sum(pg_table_size(c.oid))::int8 as tables, sum(pg_indexes_size(c.oid))::int8 as indexes
from pg_class c join pg_namespace n on n.oid = c.relnamespace
where c.relkind in ('r', 'm') and n.nspname not in ('pg_catalog', 'information_schema', 'pg_toast')
"""
WAL = "select pg_wal_lsn_diff(pg_current_wal_lsn(), '0/0')::int8"


@dataclass(slots=True)
class Step:
    """One activity of a document in Temporal's history, in milliseconds: the wait for a worker, its own time, and the
    time from the step before it to its scheduling. `turn` is None after a signal or a timer.
    """

    name: str
    queue: float
    service: float
    turn: float | None
    began: datetime
    ended: datetime


@dataclass(slots=True)
class History:
    """What Temporal recorded of one workflow."""

    steps: list[Step] = field(default_factory=list)
    signals: list[datetime] = field(default_factory=list)
    began: datetime | None = None
    events: int = 0


def read_history(events: Sequence[HistoryEvent]) -> History:
    """The steps of a history in their order, without those that a worker lost."""
    history = History(events=len(events))
    scheduled: dict[int, tuple[str, datetime, float | None]] = {}
    started: dict[int, datetime] = {}
    before: datetime | None = None
    for event in events:
        at = event.event_time.ToDatetime()
        if event.event_type == EventType.EVENT_TYPE_WORKFLOW_EXECUTION_STARTED:
            history.began = before = at
        elif event.event_type == EventType.EVENT_TYPE_WORKFLOW_EXECUTION_SIGNALED:
            history.signals.append(at)
            before = None
        elif event.event_type == EventType.EVENT_TYPE_TIMER_FIRED:
            before = None
        elif event.event_type == EventType.EVENT_TYPE_ACTIVITY_TASK_SCHEDULED:
            turn = None if before is None else (at - before).total_seconds() * 1000
            name = event.activity_task_scheduled_event_attributes.activity_type.name
            scheduled[event.event_id] = (name, at, turn)
        elif event.event_type == EventType.EVENT_TYPE_ACTIVITY_TASK_STARTED:
            started[event.activity_task_started_event_attributes.scheduled_event_id] = at
        elif event.event_type == EventType.EVENT_TYPE_ACTIVITY_TASK_COMPLETED:
            number = event.activity_task_completed_event_attributes.scheduled_event_id
            (name, asked, turn), began, before = scheduled[number], started[number], at
            queue, service = ((end - start).total_seconds() * 1000 for start, end in ((asked, began), (began, at)))
            history.steps.append(Step(name=name, queue=queue, service=service, turn=turn, began=began, ended=at))
    return history


class ScaleBench(BatchBench):
    """The batches of `benchmarks.batch`, with a second worker of each role if asked, and with everything that a batch
    leaves counted.
    """

    def __init__(self, made: Stack) -> None:
        super().__init__(made)
        self.steps = Revisions(made, 0, Counted())
        self.bench = self.steps
        self.seconds: dict[WorkerRole, Process] = {}

    @contextmanager
    def second_workers(self) -> Iterator[None]:
        """A second worker of each role, until the block ends."""
        for role in WorkerRole:
            self.seconds[role] = self._start(role)
        try:
            yield
        finally:
            for process in self.seconds.values():
                psutil.Process(process.pid).terminate()
            for process in self.seconds.values():
                assert until(lambda pid=process.pid: not psutil.pid_exists(pid), seconds=START_SECONDS)  # type: ignore[misc]
            self.seconds = {}

    def _start(self, role: WorkerRole) -> Process:
        """Start a worker with the folders of the first one, as on a host with two workers of that role."""
        ready = workers.ready_file(self.settings, role)
        process = spawn(
            [sys.executable, str(ROOT / "worker.py"), "--role", role.value],
            log=self.settings.state / "logs" / f"second-{role.value}.log",
            environment=workers.environment(self.settings, role),
            folder=ROOT,
        )
        serves = until(lambda: ready.read_text(encoding="ascii") == str(process.pid), seconds=START_SECONDS)
        assert serves, f"the second {role.value} worker does not serve"
        return process

    def cpu(self) -> dict[str, float]:
        """CPU seconds so far by role. Programs that a worker has started count apart, because each of them may use a
        core of its own.
        """
        spent: dict[str, float] = defaultdict(float)
        for role in WorkerRole:
            first = self.stack.process(f"worker-{role.value}").pid
            for pid in (first, *(process.pid for held, process in self.seconds.items() if held is role)):
                times = psutil.Process(pid).cpu_times()
                spent[role.value] += times.user + times.system
                spent[f"{role.value} programs"] += times.children_user + times.children_system
        total = super().cpu()
        return {**spent, "temporal": total["temporal"], "postgres": total["postgres"]}

    def idle(self) -> dict[str, float]:
        """The share of a core that each role uses while nothing happens."""
        before = self.cpu()
        time.sleep(IDLE_SECONDS)
        after = self.cpu()
        return {name: round((after[name] - before[name]) / IDLE_SECONDS, 4) for name in after}

    # --- a document -----------------------------------------------------------------------------------------------

    def floor_costs(self, units: int, count: int) -> dict[str, dict[str, float]]:
        """Mean CPU in milliseconds of each gate's function without the engine, in Python and in PostgreSQL."""
        taken = []
        for _ in range(count):
            self.steps.first_cut(units)
            taken.append(self.steps.spent)
        return {
            name: {
                side: round(statistics.mean(spent[name][side] for spent in taken), 2) for side in ("python", "postgres")
            }
            for name in taken[0]
        }

    def alone(self, units: int, count: int) -> tuple[list[History], dict[str, float]]:
        """Documents on the engine, one after the other, so that none waits for another one. The second answer is how
        many milliseconds each gate's transaction was open.
        """
        first = self.steps.number
        for _ in range(count):
            asyncio.run(self.steps.full(units))
        document_ids = [f"ICX-BENCH-{units}-{number}" for number in range(first + 1, first + count + 1)]
        holds = {str(row["gate"]): float(row["ms"]) for row in self.stack.rows(HOLDS, (document_ids,))}
        return self.histories(document_ids), holds

    def histories(self, document_ids: Sequence[str]) -> list[History]:
        """Temporal's histories of these documents."""
        return asyncio.run(self._fetched([names.document_workflow_id(name) for name in document_ids]))

    async def _fetched(self, workflow_ids: Sequence[str]) -> list[History]:
        client = await connect(self.settings)
        fetched = [await client.get_workflow_handle(name).fetch_history() for name in workflow_ids]
        return [read_history(history.events) for history in fetched]

    # --- a batch --------------------------------------------------------------------------------------------------

    def measured_batch(self, count: int, units: int) -> tuple[Json, list[History]]:
        """A batch with the time of its three phases, its most connections, and the histories of its documents."""
        first = self.steps.number
        with self._watched() as sessions:
            record = self.batch(count, units)
        batch_id = str(self.stack.value("select max(batch_id) from cutter_governance.batch"))
        documents = self.histories([f"ICX-BENCH-{units}-{number}" for number in range(first + 1, first + count + 1)])
        (parent,) = asyncio.run(self._fetched([names.batch_workflow_id(batch_id)]))
        judged = [step.service for step in parent.steps if step.name == "judge_set"]
        record |= {
            "workers": 1 + bool(self.seconds),
            "phases_seconds": phases(documents),
            "connections": dict(sessions),
            "lane_busy": self.stack.value(BUSY, (batch_id,)),
            "judge_set_ms": round(sum(judged) / count / len(judged), 2),
            "load": round(os.getloadavg()[0], 1),
        }
        return record, documents

    def looks(self) -> Iterator[Json]:
        """The time of a look at each batch of this stack, by its number of documents."""
        for row in self.stack.rows("select batch_id, count(*)::int as n from cutter_governance.batch_item group by 1"):
            yield {"kind": "look", "documents": row["n"], "ms": self._look_ms(row["batch_id"])}

    def _look_ms(self, batch_id: str) -> float:
        """The time of one look of PostgreSQL at a batch."""
        query = "select cutter_governance.fn_batch_seen(%s)"
        taken = []
        for _ in range(LOOKS):
            began = time.perf_counter()
            self.stack.value(query, (batch_id,))
            looked = time.perf_counter() - began
            began = time.perf_counter()
            self.stack.value("select 1")
            taken.append((looked - (time.perf_counter() - began)) * 1000)
        return round(statistics.median(taken), 2)

    @contextmanager
    def _watched(self) -> Iterator[Counter[str]]:
        """The most connections of each role while the block runs."""
        most: Counter[str] = Counter()
        ended = threading.Event()

        def watch() -> None:
            while not ended.wait(0.5):
                for row in self.stack.rows(SESSIONS):
                    most[row["role"]] = max(most[row["role"]], row["n"])

        thread = threading.Thread(target=watch)
        thread.start()
        try:
            yield most
        finally:
            ended.set()
            thread.join()

    # --- disk -----------------------------------------------------------------------------------------------------

    def bytes_so_far(self) -> dict[str, int]:
        """Bytes on disk by what they are for."""
        (relations,) = self.stack.rows(RELATIONS)
        runs = self.settings.runs
        bundles = _files(runs, "evidence-*")
        backups = _files(runs, "pre_write*") + _files(runs / "backup-tree", "*")
        pages = "select (select page_count from pragma_page_count) * (select page_size from pragma_page_size)"
        return {
            "tables": int(relations["tables"]),
            "indexes": int(relations["indexes"]),
            "write-ahead log": int(self.stack.value(WAL)),
            "temporal": self._temporal(pages),
            "evidence bundles": bundles,
            "backups": backups,
            "run folders": _files(runs, "*") - bundles - backups,
            "batch folders": _files(self.settings.batches, "*"),
            "knowledge base": _files(self.settings.state / "kb", "*"),
        }

    def shard_writes(self) -> int:
        """Updates of the newest document's execution that Temporal has written: each is one write of its shard."""
        name = names.document_workflow_id(f"ICX-BENCH-%-{self.steps.number}")
        return self._temporal("select max(db_record_version) from executions where workflow_id like ?", name)

    def _temporal(self, query: str, *values: str) -> int:
        """A figure of the local Temporal server's database."""
        file = self.settings.state / "temporal" / "temporal.db"
        connection = sqlite3.connect(f"file:{file}?mode=ro", uri=True)
        try:
            return int(connection.execute(query, values).fetchone()[0])
        finally:
            connection.close()


def _files(folder: Path, pattern: str) -> int:
    """Bytes that the files of a folder take on the disk, in whole blocks."""
    return sum(
        path.stat().st_blocks * 512 for path in folder.rglob(pattern) if path.is_file() and not path.is_symlink()
    )


def phases(documents: Sequence[History]) -> dict[str, float]:
    """Seconds from the first start to the last request, and from each hand-over to the last step after it."""
    began = min(document.began for document in documents if document.began)
    asked = [[step.ended for step in document.steps if step.name == "open_request"] for document in documents]
    signed = [min(document.signals[number] for document in documents) for number in (0, 1)]
    ends = [
        max(moments[0] for moments in asked),
        max(moments[1] for moments in asked),
        max(document.steps[-1].ended for document in documents),
    ]
    spans = zip(("plan", "write", "enact"), (began, *signed), ends, strict=True)
    return {name: round((end - start).total_seconds(), 2) for name, start, end in spans}


def costs(alone: Sequence[History], floor: Json, batched: Sequence[History], holds: dict[str, float]) -> list[Json]:
    """Each step of a document: medians of the documents that ran alone, and the CPU of the same function without the
    engine. `shared_ms` is the gate of the backup for a document that shares the backup of its batch.
    """
    counts: Counter[str] = Counter()
    records: list[Json] = []
    for place, step in enumerate(alone[0].steps):
        counts[step.name] += 1
        gate = BY_NAME.get(step.name)
        name = _floor_name(step.name, counts[step.name])
        spent = floor.get(name, {})
        services = [document.steps[place].service for document in alone]
        turns = [turn for document in alone if (turn := document.steps[place].turn) is not None]
        record = {
            "name": step.name,
            "worker": gate.worker.value if gate else WorkerRole.CUTTER.value,
            "service_ms": round(statistics.median(services), 1),
            "queue_ms": round(statistics.median(document.steps[place].queue for document in alone), 1),
            "turn_ms": round(statistics.median(turns), 1) if turns else None,
            "hold_ms": round(holds.get(step.name, 0.0), 1),
            "python_ms": spent.get("python"), "postgres_ms": spent.get("postgres"),
        }  # fmt: skip
        if step.name == "IG_backup":
            shared = sorted(doc.steps[place].service for doc in batched)
            record["shared_ms"] = round(statistics.median(shared[: max(1, len(shared) // 2)]), 1)
        records.append(record)
    return records


def _floor_name(activity: str, occurrence: int) -> str:
    """The name of a step in the loop without the engine."""
    sovereign = ("SG_cut_authz", "SG_lifecycle_authz")[min(occurrence, 2) - 1]
    return {"open_request": f"{sovereign} request", "judge_approval": f"{sovereign} verdict"}.get(activity, activity)


@dataclass(frozen=True, slots=True, kw_only=True)
class Sizes:
    """How much is measured."""

    units: int
    floor: int
    alone: int
    calibration: int
    small: int
    validation: int
    rounds: int


def measure(sizes: Sizes) -> Iterator[Json]:
    """Everything on one stack: first the costs, then batches with one and with two workers of each role, in turn."""
    with stack("bs") as made:
        made.up()
        bench = ScaleBench(made)
        bench.batch(2, sizes.units)
        idle = bench.idle()
        floor = bench.floor_costs(sizes.units, sizes.floor)
        alone, holds = bench.alone(sizes.units, sizes.alone)
        batch, batched = bench.measured_batch(sizes.calibration, sizes.units)
        print(batch_line(batch), flush=True)
        yield {
            "kind": "costs", "units": sizes.units, "sizes": asdict(sizes), "idle_cores": idle,
            "steps": costs(alone, floor, batched, holds), "shard_writes": bench.shard_writes(), "batch": batch,
        }  # fmt: skip
        left = bench.bytes_so_far()
        for number in range(sizes.rounds):
            for pair in (False, True) if number % 2 == 0 else (True, False):
                record = _validation(bench, sizes, pair=pair)
                print(batch_line(record), record["phases_seconds"], flush=True)
                yield record
        yield _disk(left, bench.bytes_so_far(), sizes.units, sizes.validation * sizes.rounds * 2)
        # The backup of a batch holds the documents that changed before it, so small documents come before small ones.
        bench.batch(sizes.small, SMALL_UNITS)
        left = bench.bytes_so_far()
        bench.batch(sizes.small, SMALL_UNITS)
        yield _disk(left, bench.bytes_so_far(), SMALL_UNITS, sizes.small)
        yield from bench.looks()


def _disk(before: dict[str, int], after: dict[str, int], units: int, count: int) -> Json:
    """What each of so many documents left on the disks."""
    each = {name: round((after[name] - before[name]) / count) for name in after}
    print(f"disk, {units} units: {each}", flush=True)
    return {"kind": "disk", "units": units, "documents": count, "bytes": each}


def _validation(bench: ScaleBench, sizes: Sizes, *, pair: bool) -> Json:
    """One batch with one or with two workers of each role."""
    if not pair:
        return {**bench.measured_batch(sizes.validation, sizes.units)[0], "kind": "validation"}
    with bench.second_workers():
        return {**bench.measured_batch(sizes.validation, sizes.units)[0], "kind": "validation"}


def main() -> None:
    """Measure, print, and write each record as a JSON line as soon as there is one."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n\n", 1)[0])
    parser.add_argument("--units", type=int, default=60, help="units of a document")
    parser.add_argument("--floor", type=int, default=6, help="documents through all gates without the engine")
    parser.add_argument("--alone", type=int, default=4, help="documents on the engine, one after the other")
    parser.add_argument("--calibration", type=int, default=12, help="documents of the batch that gives the CPU")
    parser.add_argument(
        "--small", type=int, default=16, help="documents of each batch of small documents, for the disks"
    )
    parser.add_argument("--validation", type=int, default=32, help="documents of each batch to validate with")
    parser.add_argument("--rounds", type=int, default=2, help="batches with one and with two workers of each role")
    parser.add_argument("--output", type=Path, default=RESULTS / "scale.jsonl")
    given: dict[str, Any] = vars(parser.parse_args())
    output: Path = given.pop("output")
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(40))
    records: list[Json] = []
    for record in measure(Sizes(**given)):
        records.append(record)
        write(output, (machine(), *records))
    print(output)


if __name__ == "__main__":
    main()
