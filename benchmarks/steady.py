"""IO: whether batches on a database that holds 200 documents are as fast as on a new one.

    python -m benchmarks.steady --documents 40 --units 60 --batches 5 --rounds 2

One stack is filled with some batches. Then it and a new stack cut a batch each, in turn and in balanced order, because
a machine can change its speed within minutes. The goal is that the filled stack is at least 0.95 times as fast. The CPU
of a document says whether a difference is the machine's.
"""

from __future__ import annotations

import argparse
import statistics
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import structlog

from benchmarks.batch import BatchBench, line
from benchmarks.result_file import RESULTS, machine, write
from cutter.types import Json
from tests.support.processes import stack

GOAL = 0.95
WARM_UP = 4


def measure(documents: int, units: int, batches: int, rounds: int) -> Iterator[Json]:
    """The records of all batches, in their order. Each has the name of its stack: `filled` or `new`."""
    with _bench("bs", units) as filled:
        for _ in range(batches):
            filled.batch(documents, units)
        with _bench("bt", units) as new:
            for number in range(rounds):
                turn = [("new", new), ("filled", filled)]
                for arm, bench in turn if number % 2 == 0 else reversed(turn):
                    yield {"arm": arm, "before": batches * documents, **bench.batch(documents, units)}


@contextmanager
def _bench(prefix: str, units: int) -> Iterator[BatchBench]:
    """A stack that is warm."""
    with stack(prefix) as made:
        made.up()
        bench = BatchBench(made)
        bench.batch(WARM_UP, units)
        yield bench


def ratio(records: Sequence[Json]) -> float:
    """How fast the filled stack was, as a multiple of the new one."""
    return _median(records, "filled", _speed) / _median(records, "new", _speed)


def cpu_ratio(records: Sequence[Json]) -> float:
    """The CPU of a document on the filled stack, as a multiple of the new one."""
    return _median(records, "filled", _cpu) / _median(records, "new", _cpu)


def _median(records: Sequence[Json], arm: str, figure: Callable[[Json], float]) -> float:
    return statistics.median(figure(record) for record in records if record["arm"] == arm)


def _speed(record: Json) -> float:
    return float(record["per_minute"])


def _cpu(record: Json) -> float:
    return float(sum(record["cpu_ms"].values()))


def main() -> None:
    """Measure, print, write JSON lines."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--documents", type=int, default=40, help="documents of each batch")
    parser.add_argument("--units", type=int, default=60, help="units of each document")
    parser.add_argument("--batches", type=int, default=5, help="batches that fill the filled stack")
    parser.add_argument("--rounds", type=int, default=2, help="batches of each stack that are compared")
    parser.add_argument("--output", type=Path, default=RESULTS / "steady.jsonl")
    asked = parser.parse_args()
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(40))
    records = []
    for record in measure(asked.documents, asked.units, asked.batches, asked.rounds):
        records.append(record)
        print(f"{record['arm']:6} {line(record)}", flush=True)
    print(f"filled compared with new: {ratio(records):.2f} times as fast, CPU {cpu_ratio(records):.2f}")
    write(asked.output, (machine(), *records))


if __name__ == "__main__":
    main()
