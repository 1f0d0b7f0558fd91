"""IO: what a document costs if the database already has much enacted law, or many finished runs, compared with an empty
one. Both are measured in turn on the same machine. The goal is at most 1.2 times the empty database. `LIMITS` says what
this does not show.

    python -m benchmarks.growth --units 0,50000 --runs 0,20000 --repetitions 3
"""

from __future__ import annotations

import argparse
import statistics
import sys
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path

import psycopg
import structlog

from benchmarks import profile
from benchmarks.batch import BatchBench, line
from benchmarks.document import Sample, pause_reconciler
from benchmarks.filled import UNITS_OF_LAW, UNITS_OF_RUN, fill, seeds
from benchmarks.result_file import RESULTS, machine, write
from benchmarks.revision import postgres_seconds
from cutter.types import Json
from tests.support.processes import Stack, stack

UNITS = 60
"""Units of the document that goes through all gates without the engine."""
BATCH, BATCH_UNITS = 12, 3
"""Documents of the batch, and the units of each."""
GOAL = 1.2

TABLES = "select schemaname || '.' || relname, seq_scan, seq_tup_read from pg_stat_user_tables where seq_scan > 0"
FUNCTIONS = "select funcname, sum(calls)::bigint, sum(self_time) from pg_stat_user_functions group by 1"

LIMITS = (
    "Units and runs grow on two axes. No measured database has a million units and 100,000 runs at once.",
    "The document of 60 units passes its gates in one loop without the engine. Only the batch runs on Temporal.",
    "The schedule of the reconciler is paused.",
    "The copied documents have no backup in the store.",
    "SQL copies the rows of two laws, so all copies of a law have the same size and text.",
)
"""What this benchmark does not show. The page repeats it."""

Counters = dict[tuple[str, str], tuple[float, float]]
"""By kind (table, function) and name: scans and rows that they read, or calls and milliseconds."""


@dataclass(slots=True)
class Side:
    """One of the two databases, with what was measured there."""

    made: Stack
    bench: BatchBench
    documents: list[tuple[Sample, float]] = field(default_factory=list)
    batches: list[Json] = field(default_factory=list)
    began: Counters = field(default_factory=dict)

    def measure(self, *, batch: bool) -> None:
        """One document through all gates, with PostgreSQL's CPU in milliseconds; then a batch."""
        before = postgres_seconds(self.made)
        sample = self.bench.bench.floor(UNITS)
        self.documents.append((sample, (postgres_seconds(self.made) - before) * 1000))
        print(
            f"  document: {sample.total:.0f} ms, PostgreSQL {self.documents[-1][1]:.0f} ms", file=sys.stderr, flush=True
        )
        if batch:
            self.batches.append(self.bench.batch(BATCH, BATCH_UNITS))
            print(f"  {line(self.batches[-1])}", file=sys.stderr, flush=True)

    def counters(self) -> Counters:
        """PostgreSQL's own counters so far."""
        with psycopg.connect(self.made.superuser(), autocommit=True) as connection:
            return {
                (kind, str(name)): (float(number), float(amount))
                for kind, query in (("table", TABLES), ("function", FUNCTIONS))
                for name, number, amount in connection.execute(query).fetchall()
            }

    def spent(self) -> Counters:
        """What each table and function cost for each document since `began`."""
        count = len(self.documents) + BATCH * len(self.batches)
        zero = (0.0, 0.0)
        return {
            key: ((number - self.began.get(key, zero)[0]) / count, (amount - self.began.get(key, zero)[1]) / count)
            for key, (number, amount) in self.counters().items()
        }

    def record(self) -> Json:
        """Medians."""
        names = dict.fromkeys(name for sample, _ in self.documents for name in sample.gates)
        return {
            "gates_ms": {
                name: round(statistics.median(sample.gates[name] for sample, _ in self.documents), 1) for name in names
            },
            "document_ms": round(statistics.median(sample.total for sample, _ in self.documents)),
            "document_postgres_ms": round(statistics.median(cpu for _, cpu in self.documents)),
            "per_minute": round(statistics.median([batch["per_minute"] for batch in self.batches] or [0]), 1),
            "batch_postgres_ms": round(
                statistics.median([batch["cpu_ms"]["postgres"] for batch in self.batches] or [0])
            ),
        }


@contextmanager
def _side(prefix: str, *, law: int, copies: int) -> Iterator[tuple[Side, Json]]:
    """A running stack whose database has that many copies of a law of `law` units."""
    with stack(prefix) as made:
        made.up()
        with psycopg.connect(made.superuser(), autocommit=True) as connection:
            connection.execute(profile.TRACK)
            connection.execute(profile.RELOAD)
        pause_reconciler(made)
        bench = BatchBench(made)
        seeds(bench.bench, units=law)
        filled = fill(made, copies=copies)
        print(f"  filled: {filled}", file=sys.stderr, flush=True)
        bench.batch(2, BATCH_UNITS)
        yield Side(made=made, bench=bench), asdict(filled)


def compare(
    axis: str, law: int, size: int, repetitions: int, batches: int, keep: Callable[[Json], None]
) -> None:  # fmt: skip
    """An empty and a filled database, in turn; each begins every second time. Keep the result at once."""
    per_copy = law + UNITS_OF_RUN if axis == "units" else 2
    with ExitStack() as running:
        # The filled one first, because nobody should wait while the other already runs.
        grown, filled = running.enter_context(_side("gf", law=law, copies=round(size / per_copy)))
        empty, _ = running.enter_context(_side("ge", law=UNITS_OF_RUN, copies=0))
        sides = [empty, grown]
        for side in sides:
            side.measure(batch=False)
            side.documents.clear()
            side.began = side.counters()
        for number in range(repetitions):
            for side in sides if number % 2 == 0 else reversed(sides):
                side.measure(batch=number < batches)
        keep({
            "kind": "growth", "axis": axis, "size": size, "n": repetitions, "batches": batches, "filled": filled,
            "empty": empty.record(), "grown": grown.record(), "suspects": suspects(empty.spent(), grown.spent()),
        })  # fmt: skip


def suspects(empty: Counters, grown: Counters) -> list[Json]:
    """Tables of which a document reads more rows by sequential scans, and functions that take longer, the worst first.

    A table counts from a thousand rows, and a function from two milliseconds for each document.
    """
    rows = []
    for (kind, name), (number, amount) in grown.items():
        before = empty.get((kind, name), (0.0, 0.0))[1]
        if amount - before > {"table": 1000, "function": 2}[kind] and amount > before * GOAL:
            rows.append({"kind": kind, "name": name, "number": round(number, 1), "before": round(before, 1),
                          "after": round(amount, 1)})  # fmt: skip
    return sorted(rows, key=lambda row: (str(row["kind"]), -float(str(row["after"]))))


def size_of(record: Json) -> str:
    """How a person names the size of a filled database."""
    return f"{record['size']:,} {record['axis']}"


def ratios(record: Json) -> dict[str, float]:
    """The four ratios that the goal is about, each above 1 if the filled database costs more."""
    empty, grown = record["empty"], record["grown"]
    times = {"gates": grown["document_ms"] / empty["document_ms"],
             "PostgreSQL's CPU, document": grown["document_postgres_ms"] / empty["document_postgres_ms"]}  # fmt: skip
    if record["batches"]:
        times["documents a minute"] = empty["per_minute"] / grown["per_minute"]
        times["PostgreSQL's CPU, batch"] = grown["batch_postgres_ms"] / empty["batch_postgres_ms"]
    return times


def show(record: Json) -> str:
    """One comparison for people: each gate, the ratios, and what grew."""
    empty, grown = record["empty"], record["grown"]
    lines = [f"\n{record['axis']} {record['size']:,}: {record['filled']}", f"{'':30}{'empty':>10}{'filled':>10}{'':>8}"]
    rows = [(name, value, grown["gates_ms"][name]) for name, value in empty["gates_ms"].items()]
    rows += [(name, empty[name], grown[name]) for name in empty if name != "gates_ms"]
    for name, before, after in rows:
        lines.append(f"{name:30}{before:>10.0f}{after:>10.0f}{after / before if before else 0:>8.2f}")
    for name, ratio in ratios(record).items():
        lines.append(f"{name}: {ratio:.2f} times, goal {GOAL}: {'met' if ratio <= GOAL else 'MISSED'}")
    for suspect in record["suspects"][:12]:
        grew = f"{suspect['before']} to {suspect['after']} in {suspect['number']} calls"
        lines.append(f"  grew: {suspect['kind']} {suspect['name']}: {grew}")
    return "\n".join(lines)


def measure(sizes: dict[str, list[int]], repetitions: int, batches: int, keep: Callable[[Json], None]) -> None:
    """Each size of each axis."""
    laws = {"units": UNITS_OF_LAW, "runs": UNITS_OF_RUN}
    for axis, chosen in sizes.items():
        for size in chosen:
            # A quick look at few units takes a smaller law, so that there is something to copy.
            law = min(laws[axis], max(size, UNITS_OF_RUN))
            compare(axis, law, size, repetitions, batches, keep)


def main() -> None:
    """Measure, print, and write each comparison as a JSON line as soon as there is one."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n\n", 1)[0])
    parser.add_argument("--units", default="0,50000,300000,1000000", help="enacted units; empty for none of these")
    parser.add_argument("--runs", default="0,20000,100000", help="finished runs; empty for none of these")
    parser.add_argument("--repetitions", type=int, default=5, help="documents of 60 units, for each database and size")
    parser.add_argument("--batches", type=int, default=2, help="batches of 12 documents, for each database and size")
    parser.add_argument("--output", type=Path, default=RESULTS / "growth.jsonl")
    chosen = parser.parse_args()
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(40))
    records: defaultdict[str, list[Json]] = defaultdict(list)

    def keep(record: Json) -> None:
        head = machine()
        print(show(record), flush=True)
        records["all"].append(record)
        write(chosen.output, (head, *records["all"]))

    sizes = {name: [int(number) for number in text.split(",") if number] for name, text in
             (("units", chosen.units), ("runs", chosen.runs))}  # fmt: skip
    measure(sizes, chosen.repetitions, chosen.batches, keep)


if __name__ == "__main__":
    main()
