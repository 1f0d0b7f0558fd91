"""IO: what one document costs: the floor (the same functions, SQL and subprocesses in one loop, no engine) next to the
full run on Temporal with three workers; for several sizes, interleaved, medians. Also the CPU of the full run by
process, and the functions in which PostgreSQL spends the time of leg A.

    python -m benchmarks.document --units 3,60,1000 --repetitions 3
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import statistics
import time
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import psutil
import psycopg
import structlog
from psycopg.rows import dict_row
from temporalio.api.enums.v1 import EventType

from activities.gates.cut_leg_a import create_units
from activities.gates.cutplan import plan_of
from activities.gates.pinned_source import pinned_read
from activities.registry import GATE_FUNCTIONS
from activities.run.approval_requests import judge_approval, open_request
from activities.worker.dependencies import Deps
from benchmarks import process_cpu, profile
from benchmarks.result_file import RESULTS, machine, write
from benchmarks.wire import Counted, relay
from cutter import sources
from cutter.catalogue import GATES, PLANNED, REHEARSED, Role, WorkerRole
from cutter.domain.run_record import RequestRecord
from cutter.messages import GateInput, GateOutcome, JudgeInput, RequestInput, RunInput
from cutter.settings import Settings
from cutter.storage import runs as run_rows
from cutter.storage.gate_transaction import Attempt, GateTerms, OpenGate, begin_attempt, gate_transaction
from cutter.storage.pools import open_pool
from cutter.types import Json
from starter.approver import signing_desk
from starter.commands import demo
from temporal import names, runs
from temporal.client import connect
from tests.support.gate_calls import allowed
from tests.support.laws import law
from tests.support.processes import Stack, stack
from tests.support.signatures import sign_answer
from worker import build_deps

QUICK_LOOKS, RARE_LOOKS = 0.005, 0.25
"""Seconds between two looks at a request. Quick looks keep the time small in which nobody has seen the request yet, but
PostgreSQL works for them. So the CPU is measured in a run of its own with rare looks.
"""
TASKS = {
    "workflow tasks": EventType.EVENT_TYPE_WORKFLOW_TASK_COMPLETED,
    "activity tasks": EventType.EVENT_TYPE_ACTIVITY_TASK_COMPLETED,
}
"""What Temporal hands out and writes down for a run, by the event that ends it."""

OPTIONS = {"duplicates": "refuse", "empty": "refuse", "max_candidates": 10_000}


@dataclass(slots=True)
class Sample:
    """One document: wall milliseconds by gate, and what else was counted."""

    gates: dict[str, float] = field(default_factory=dict)
    round_trips: dict[str, int] = field(default_factory=dict)
    bytes: dict[str, int] = field(default_factory=dict)
    people: float = 0.0
    total: float = 0.0
    cpu: dict[str, float] = field(default_factory=dict)
    more: dict[str, float] = field(default_factory=dict)


def every_role(settings: Settings) -> dict[WorkerRole, Deps]:
    """What the activities of all three workers need, in this one process.

    The verifier refuses in a process that holds the executor's password, so each has its own folder of passwords.
    """
    held = settings.state / "workers"
    return {
        role: build_deps(settings.model_copy(update={"secrets_dir": held / role.value / "secrets"}), role)
        for role in WorkerRole
    }


LEG_A = "IG_cut_leg_a_execute"


def pause_reconciler(made: Stack) -> None:
    """Keep the reconciler from stopping the runs of a loop, which have no workflow."""
    made.temporal("schedule", "toggle", "--pause", "--schedule-id", names.RECONCILE_SCHEDULE)


class Bench:
    """A running stack, a floor of deps over a counting relay, and a sovereign's key."""

    def __init__(self, made: Stack, port: int, counted: Counted) -> None:
        self.stack, self.settings, self.counted = made, made.settings, counted
        home = demo.ensure_approver(self.settings)
        self.signer = signing_desk.who(self.settings, demo.APPROVER, None, home)
        options = "sslmode=disable&gssencmode=disable"
        wired = self.settings.model_copy(update={"database_url": f"postgresql://127.0.0.1:{port}/cutter?{options}"})
        self.direct, self.wired = every_role(self.settings), every_role(wired)
        self.number = 0

    def register(self, units: int) -> str:
        self.number += 1
        document_id = f"ICX-BENCH-{units}-{self.number}"
        sources.register(
            self.settings, law(units, title=f"Act {self.number}").encode(), document_id=document_id,
            docprefix=document_id, profile="generic-markdown", options=OPTIONS,
        )  # fmt: skip
        return document_id

    def sign(self, run_id: str, kb_id: str) -> str:
        return sign_answer(self.settings, self.signer, run_id, kb_id)

    # --- the floor ------------------------------------------------------------------------------------------------

    def floor(self, units: int, *, counting: bool = False) -> Sample:
        """Every gate's function in one loop, in this process; `counting` goes through the relay, which costs time."""
        return self.gates_of(self.register(units), counting=counting)

    def gates_of(self, document_id: str, *, counting: bool = False) -> Sample:
        """Every gate of a run of the document's newest version."""
        sample, deps = Sample(), self.wired if counting else self.direct
        run_id = run_rows.register_run(self.settings, document_id, "live")
        began = time.perf_counter()
        for gate in GATES:
            approvals: tuple[str, ...] = ()
            if gate.sovereign is not None:
                approvals = (self._approved(deps, sample, run_id, gate.sovereign.value),)
            outcome = self._timed(
                sample, gate.name, deps[gate.worker], GATE_FUNCTIONS[gate.name],
                GateInput(run_id=run_id, approval_kb_ids=approvals),
            )  # fmt: skip
            assert isinstance(outcome, GateOutcome)
            assert outcome.status == "passed", f"{gate.name}: {outcome.code} {outcome.reason}"
        sample.total = (time.perf_counter() - began) * 1000 - sample.people
        return sample

    def _approved(self, deps: dict[WorkerRole, Deps], sample: Sample, run_id: str, gate: str) -> str:
        cutter = deps[WorkerRole.CUTTER]
        asked = RequestInput(run_id=run_id, gate=gate)
        request = self._timed(sample, f"{gate} request", cutter, open_request, asked)
        began = time.perf_counter()
        kb_id = self.sign(run_id, request.kb_id)
        sample.people += (time.perf_counter() - began) * 1000
        judged = JudgeInput(run_id=run_id, gate=gate, kb_id=kb_id)
        verdict = self._timed(sample, f"{gate} verdict", cutter, judge_approval, judged)
        assert verdict.accepted, verdict.reason
        return kb_id

    def _timed(self, sample: Sample, name: str, deps: Deps, function: Any, argument: Any) -> Any:
        trips, moved = self.counted.round_trips, self.counted.bytes_sent + self.counted.bytes_received
        began = time.perf_counter()
        answer = function(deps, argument)
        sample.gates[name] = (time.perf_counter() - began) * 1000
        sample.round_trips[name] = self.counted.round_trips - trips
        sample.bytes[name] = self.counted.bytes_sent + self.counted.bytes_received - moved
        return answer

    def bare_calls(self, units: int) -> float:
        """N calls of fn_iu_create alone, in ms: in the transaction of a rehearsal, since no other may make them."""
        document_id = self.register(units)
        run_id = run_rows.register_run(self.settings, document_id, "dryrun")
        for gate in PLANNED:
            GATE_FUNCTIONS[gate.name](self.direct[gate.worker], GateInput(run_id=run_id))
        deps, leg = self.direct[WorkerRole.EXEC], REHEARSED[-1]
        attempt = begin_attempt(deps.pool(leg.role), leg, run_id, worker="bench", lease_seconds=600)
        assert isinstance(attempt, Attempt)
        terms = GateTerms(policy=allowed(leg.name), rehearse=True, cap_seconds=600, reads=[pinned_read(attempt)])
        with gate_transaction(deps.pool(leg.role), attempt, terms) as opened:
            assert isinstance(opened, OpenGate), opened
            _, plan = plan_of(deps, opened)
            began = time.perf_counter()
            create_units(opened.connection, plan, actor="bench")
            return (time.perf_counter() - began) * 1000

    # --- the full run ---------------------------------------------------------------------------------------------

    async def full(self, units: int, *, look_seconds: float = QUICK_LOOKS) -> Sample:
        """The run on the engine, approvals given at once; people's time is taken out."""
        document_id, sample = self.register(units), Sample()
        client, before = await connect(self.settings), self.cpu()
        run_id = run_rows.register_run(self.settings, document_id, "live")
        began = time.perf_counter()
        handle = await runs.start(client, RunInput(document_id=document_id, run_id=run_id, starter="bench"))
        signalled: dict[str, datetime] = {}
        for gate in ("SG_cut_authz", "SG_lifecycle_authz"):
            request = await self._request(run_id, gate, look_seconds)
            requested = time.perf_counter()
            kb_id = await asyncio.to_thread(self.sign, run_id, request.kb_id or "")
            sample.people += (time.perf_counter() - requested) * 1000
            signalled[gate] = datetime.now(UTC)
            await handle.signal("submit_approval", kb_id)
        result = await handle.result()
        sample.total = (time.perf_counter() - began) * 1000 - sample.people
        assert result.state == "closeout_reported", result
        sample.cpu = process_cpu.per_document(before, self.cpu(), 1)
        self._read(sample, run_id, signalled)
        seen_history = (await handle.describe()).raw_description.workflow_execution_info
        sample.more["history events"] = seen_history.history_length
        sample.more["history bytes"] = seen_history.history_size_bytes
        events = Counter(event.event_type for event in (await handle.fetch_history()).events)
        sample.more |= {name: float(events[event]) for name, event in TASKS.items()}
        return sample

    def cpu(self) -> dict[str, float]:
        """CPU seconds so far of each process of the stack, and of the approver, which is this process."""
        return {**process_cpu.by_process(self.stack), "approver": process_cpu.seconds(os.getpid())}

    async def _request(self, run_id: str, gate: str, look_seconds: float) -> RequestRecord:
        while True:
            sidecar = await asyncio.to_thread(run_rows.sidecar, self.settings, run_id)
            for request in sidecar.requests:
                put = any(document.kb_id == request.kb_id and document.sha256 for document in sidecar.documents)
                if request.gate == gate and put:
                    return request
            assert not sidecar.run.state.startswith(("failed", "stopped")), sidecar.run.last_error
            await asyncio.sleep(look_seconds)

    def _read(self, sample: Sample, run_id: str, signalled: dict[str, datetime]) -> None:
        sidecar = run_rows.sidecar(self.settings, run_id)
        for attempt in sidecar.attempts:
            start, end = (datetime.fromisoformat(at or "") for at in (attempt.started_at, attempt.finished_at))
            sample.gates[attempt.gate] = (end - start).total_seconds() * 1000
            for gate in GATES:
                if gate.name == attempt.gate and gate.sovereign is not None:
                    waited = start - signalled[gate.sovereign.value]
                    sample.more[f"{gate.sovereign.value} signal to gate ms"] = waited.total_seconds() * 1000


class Profiled(Bench):
    """Has PostgreSQL count the time in its functions while leg A runs. This costs time, so no time is taken."""

    functions: Sequence[Json] = ()

    def _timed(self, sample: Sample, name: str, deps: Deps, function: Any, argument: Any) -> Any:
        if name != LEG_A:
            return super()._timed(sample, name, deps, function, argument)
        with psycopg.connect(self.stack.superuser(), autocommit=True, row_factory=dict_row) as eyes:
            for statement in (profile.TRACK, profile.RELOAD, profile.RESET):
                eyes.execute(statement)
            answer = super()._timed(sample, name, deps, function, argument)
            self._close(deps)
            self.functions = profile.top(profile.counted(eyes), 1)
            for statement in (profile.UNTRACK, profile.RELOAD):
                eyes.execute(statement)
        return answer

    def _close(self, deps: Deps) -> None:
        # A connection hands over what it has counted when it ends, which takes a moment.
        deps.pools[Role.EXEC].close()
        deps.pools[Role.EXEC] = open_pool(deps.settings, Role.EXEC)
        time.sleep(1)


def memory(made: Stack) -> dict[str, float]:
    """RSS in MiB of the three workers and the Temporal server."""
    names = ("worker-cutter", "worker-exec", "worker-verify", "temporal")
    return {name: psutil.Process(made.process(name).pid).memory_info().rss / 2**20 for name in names}


def measure(sizes: list[int], repetitions: int) -> list[dict[str, Any]]:
    """Interleaved: floor and full of each size in turn, `repetitions` times; medians."""
    records: list[dict[str, Any]] = []
    with stack("bd") as made:
        made.up()
        pause_reconciler(made)
        server = int(made.settings.state.joinpath("postgres.url").read_text().rsplit(":", 1)[1].split("/")[0])
        with relay(server) as (port, counted):
            bench = Bench(made, port, counted)
            samples: dict[tuple[str, int], list[Sample]] = defaultdict(list)
            bare: dict[int, list[float]] = defaultdict(list)
            for units in (3, max(sizes)):
                bench.floor(units)
                asyncio.run(bench.full(units))
            analyse(made)
            for _ in range(repetitions):
                for units in sizes:
                    samples["floor", units].append(bench.floor(units))
                    samples["full", units].append(asyncio.run(bench.full(units)))
                    samples["cpu", units].append(asyncio.run(bench.full(units, look_seconds=RARE_LOOKS)))
                    bare[units].append(bench.bare_calls(units))
            counts = {units: bench.floor(units, counting=True) for units in sizes}
            for (kind, units), taken in samples.items():
                if kind == "cpu":
                    records.append(_cpu(units, taken))
                    continue
                records.append(
                    _median(kind, units, taken)
                    | {"bare_calls_ms": statistics.median(bare[units])}
                    | {"round_trips": counts[units].round_trips, "bytes": counts[units].bytes}
                )
            profiled = Profiled(made, port, counted)
            profiled.number = bench.number
            profiled.floor(max(sizes))
            records.append({"kind": "leg A", "units": max(sizes), "functions": profiled.functions})
            records.append({"kind": "memory", **{name: round(mib, 1) for name, mib in memory(made).items()}})
    return records


def analyse(made: Stack) -> None:
    """Let PostgreSQL count the rows of each table.

    It does so by itself after a minute. Until then, a long connection keeps the plans that it made for empty tables.
    """
    with psycopg.connect(made.superuser(), autocommit=True) as connection:
        connection.execute("analyze")


def _cpu(units: int, taken: list[Sample]) -> dict[str, Any]:
    spent = {name: round(statistics.median(sample.cpu[name] for sample in taken)) for name in taken[0].cpu}
    return {"kind": "cpu", "units": units, "n": len(taken), "cpu_ms": spent}


def _median(kind: str, units: int, taken: list[Sample]) -> dict[str, Any]:
    def middle(pick: str) -> dict[str, float]:
        names = dict.fromkeys(name for sample in taken for name in getattr(sample, pick))
        return {name: statistics.median(getattr(s, pick).get(name, 0) for s in taken) for name in names}

    return {
        "kind": kind,
        "units": units,
        "n": len(taken),
        "total_ms": statistics.median(sample.total for sample in taken),
        "people_ms": statistics.median(sample.people for sample in taken),
        "gates_ms": middle("gates"),
        "more": middle("more"),
    }


def show(records: list[dict[str, Any]]) -> None:
    """The table of spec 08."""
    runs_of = {(r["kind"], r["units"]): r for r in records if r["kind"] in ("floor", "full")}
    sizes = sorted({units for _, units in runs_of})
    print(f"{'gate':30}" + "".join(f"{f'floor {u}':>12}{f'full {u}':>12}{'trips':>7}{'KiB':>8}" for u in sizes))
    names = list(runs_of["floor", sizes[0]]["gates_ms"])
    for name in names:
        line = f"{name:30}"
        for units in sizes:
            floor, full = runs_of["floor", units], runs_of["full", units]
            line += f"{floor['gates_ms'][name]:>9.0f} ms"
            line += f"{full['gates_ms'][name]:>9.0f} ms" if name in full["gates_ms"] else f"{'':>12}"
            line += f"{floor['round_trips'][name]:>7.0f}{floor['bytes'][name] / 1024:>8.1f}"
        print(line)
    for units in sizes:
        floor, full = runs_of["floor", units], runs_of["full", units]
        share = 1 - floor["total_ms"] / full["total_ms"]
        bare = floor["gates_ms"][LEG_A] / full["bare_calls_ms"]
        print(
            f"\n{units} units: floor {floor['total_ms']:.0f} ms, full {full['total_ms']:.0f} ms (without people), "
            f"engine's share {share:.0%}; leg A {bare:.2f} times the bare calls ({full['bare_calls_ms']:.0f} ms)"
        )
        print("  " + ", ".join(f"{name} {value:.0f}" for name, value in sorted(full["more"].items())))
    for record in records:
        if record["kind"] == "cpu":
            spent = ", ".join(f"{name} {ms}" for name, ms in record["cpu_ms"].items())
            print(f"\nCPU of one document of {record['units']} units by process, ms: {spent}")
        if record["kind"] == "leg A":
            print(f"\nFunctions of PostgreSQL in leg A of {record['units']} units:")
            for function in record["functions"]:
                numbers = f"{function['self_ms']:8.1f} ms {function['share']:6.1%} {function['calls']:8.0f} calls"
                print(f"  {numbers}: {function['name']}")
        if record["kind"] == "memory":
            print("\nRSS, MiB: " + ", ".join(f"{name} {value}" for name, value in record.items() if name != "kind"))


def main() -> None:
    """Measure, print, write JSON lines."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n\n", 1)[0])
    parser.add_argument("--units", default="3,60,1000", help="sizes, such as 3,60,1000")
    parser.add_argument("--repetitions", type=int, default=3)
    parser.add_argument("--output", type=Path, default=RESULTS / "document.jsonl")
    chosen = parser.parse_args()
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(40))
    records = measure([int(size) for size in chosen.units.split(",")], chosen.repetitions)
    head = machine()
    print(json.dumps(head))
    show(records)
    write(chosen.output, (head, *records))


if __name__ == "__main__":
    main()
