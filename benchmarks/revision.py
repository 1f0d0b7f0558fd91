"""IO: what a revision costs that changes one unit in a hundred, next to the first cut of the same law in one run.

    python -m benchmarks.revision --units 1000 --repetitions 3

Both are the gates' own functions in one loop, without the engine and without people's time. CPU is that of this process
with the programs that it starts, and of PostgreSQL. The ratio of CPU counts: other work on the machine prolongs times.

The backup of a first cut has no rows, and that of a revision has the rows of the first cut.
"""

from __future__ import annotations

import argparse
import json
import resource
import statistics
from collections import defaultdict
from pathlib import Path
from typing import Any

import structlog

from activities.worker.dependencies import Deps
from benchmarks import process_cpu
from benchmarks.document import OPTIONS, Bench, Sample
from benchmarks.result_file import RESULTS, machine, write
from benchmarks.wire import relay
from cutter import sources
from tests.support.laws import law
from tests.support.processes import CUTTER_WORKER, EXEC, VERIFY, Stack, stack
from worker import leave_out_of_collections

CHANGED_SHARE = 100
"""One unit in so many has another text in the revision."""
SIDES = ("python", "postgres")
ENOUGH = 0.5
"""The share of the first cut's cost that a revision must stay below."""


Spent = dict[str, dict[str, float]]
"""CPU milliseconds by step and by side (`python`, `postgres`)."""


class Revisions(Bench):
    """Cuts laws, and then revises them. `spent` is the CPU of each step of the newest run."""

    spent: Spent

    def first_cut(self, units: int) -> tuple[str, Sample]:
        """A law that has been cut and enacted, and what that cost."""
        document_id = self.register(units)
        self.spent = {}
        return document_id, self.gates_of(document_id)

    def revision(self, document_id: str, units: int) -> Sample:
        """The next version of that law, with one unit in a hundred changed."""
        text = law(units, title=f"Act {self.number}")
        sources.register(
            self.settings, amended(text, units).encode(), document_id=document_id, docprefix=document_id,
            profile="generic-markdown", options=OPTIONS,
        )  # fmt: skip
        self.spent = {}
        return self.gates_of(document_id)

    def _timed(self, sample: Sample, name: str, deps: Deps, function: Any, argument: Any) -> Any:
        # Python's own clock is read last before and first after, so that the reading itself costs the step nothing.
        postgres, python = postgres_seconds(self.stack), python_seconds()
        answer = super()._timed(sample, name, deps, function, argument)
        python = python_seconds() - python
        self.spent[name] = {"python": python * 1000, "postgres": (postgres_seconds(self.stack) - postgres) * 1000}
        return answer


def amended(text: str, units: int) -> str:
    """The law with the texts of the last units changed: at least one, and one in `CHANGED_SHARE`."""
    lines = text.split("\n")
    bodies = [n for n, line in enumerate(lines) if line and not line.startswith("#")]
    for place in bodies[-max(units // CHANGED_SHARE, 1) :]:
        lines[place] += " The council may say how."
    return "\n".join(lines)


def postgres_seconds(made: Stack) -> float:
    """CPU seconds of PostgreSQL so far."""
    return process_cpu.tree_seconds(made.process("postgres").pid)


def python_seconds() -> float:
    """CPU seconds of this process and of the programs that it has waited for."""
    return sum(
        used.ru_utime + used.ru_stime
        for used in (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    )


def measure(units: int, repetitions: int) -> list[dict[str, Any]]:
    """First cut and revision in turn, `repetitions` times, then the medians and their ratios."""
    taken: dict[str, list[tuple[Sample, Spent]]] = defaultdict(list)
    with stack("br") as made:
        made.up()
        for worker in (CUTTER_WORKER, EXEC, VERIFY):  # the reconciler would stop these runs, which have no workflow
            made.kill(worker)
        server = int(made.settings.state.joinpath("postgres.url").read_text().rsplit(":", 1)[1].split("/")[0])
        with relay(server) as (port, counted):
            bench = Revisions(made, port, counted)
            bench.revision(bench.first_cut(3)[0], 3)
            leave_out_of_collections()  # as each worker does after its start
            for _ in range(repetitions):
                document_id, sample = bench.first_cut(units)
                taken["first cut"].append((sample, bench.spent))
                taken["revision"].append((bench.revision(document_id, units), bench.spent))
    return [record(kind, units, samples) for kind, samples in taken.items()]


def record(kind: str, units: int, taken: list[tuple[Sample, Spent]]) -> dict[str, Any]:
    """The medians of one kind."""
    names = dict.fromkeys(name for sample, _ in taken for name in sample.gates)
    sides = [{side: sum(step[side] for step in spent.values()) for side in SIDES} for _, spent in taken]
    return {
        "kind": kind, "units": units, "n": len(taken),
        "wall_ms": statistics.median(sample.total for sample, _ in taken),
        "cpu_ms": {side: statistics.median(cost[side] for cost in sides) for side in SIDES},
        "cpu_total_ms": statistics.median(sum(side.values()) for side in sides),
        "gates_ms": {name: statistics.median(sample.gates[name] for sample, _ in taken) for name in names},
        "gates_cpu_ms": {name: statistics.median(sum(spent[name].values()) for _, spent in taken) for name in names},
    }  # fmt: skip


def show(records: list[dict[str, Any]]) -> None:
    """Each gate of both, and the two ratios."""
    first, second = records
    print(f"{'gate':30}{'first cut':>14}{'CPU':>11}{'revision':>14}{'CPU':>11}")
    for name, wall in first["gates_ms"].items():
        cells = [(wall, first["gates_cpu_ms"][name]), (second["gates_ms"][name], second["gates_cpu_ms"][name])]
        print(f"{name:30}" + "".join(f"{took:>11.0f} ms{spent:>8.0f} ms" for took, spent in cells))
    for name, what in (("wall_ms", "wall"), ("cpu_total_ms", "CPU")):
        ratio = second[name] / first[name]
        verdict = "below" if ratio < ENOUGH else "NOT below"
        print(f"{what:30}{first[name]:>11.0f} ms{second[name]:>11.0f} ms{ratio:>8.2f}  {verdict} {ENOUGH}")
    for side in SIDES:
        print(f"  CPU of {side:21}{first['cpu_ms'][side]:>11.0f} ms{second['cpu_ms'][side]:>11.0f} ms")


def main() -> None:
    """Measure, print, write JSON lines."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n\n", 1)[0])
    parser.add_argument("--units", type=int, default=1000)
    parser.add_argument("--repetitions", type=int, default=3)
    parser.add_argument("--output", type=Path, default=RESULTS / "revision.jsonl")
    chosen = parser.parse_args()
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(40))
    records = measure(chosen.units, chosen.repetitions)
    head = machine()
    print(json.dumps(head))
    show(records)
    write(chosen.output, (head, *records))


if __name__ == "__main__":
    main()
