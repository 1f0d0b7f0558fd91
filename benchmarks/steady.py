"""IO: whether a batch on a database that holds 200 documents is as fast as the first batch.

    python -m benchmarks.steady --documents 40 --units 60 --batches 6

All batches run one after the other on one stack. The goal is that the last one is at least 0.95 times as fast as the
first. The CPU of a document says whether a difference is the machine's.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import structlog

from benchmarks.batch import BatchBench, line
from benchmarks.result_file import RESULTS, machine, write
from cutter.types import Json
from tests.support.processes import stack

GOAL = 0.95
WARM_UP = 4


def measure(documents: int, units: int, batches: int) -> list[Json]:
    """The records of all batches, in their order."""
    records = []
    with stack("bs") as made:
        made.up()
        bench = BatchBench(made)
        bench.batch(WARM_UP, units)
        for _ in range(batches):
            records.append(bench.batch(documents, units))
            print(line(records[-1]), file=sys.stderr, flush=True)
    return records


def ratio(records: list[Json]) -> float:
    """How fast the last batch was, as a multiple of the first."""
    return float(records[-1]["per_minute"] / records[0]["per_minute"])


def cpu_ratio(records: list[Json]) -> float:
    """The CPU of a document of the last batch, as a multiple of the first."""
    first, last = (sum(one["cpu_ms"].values()) for one in (records[0], records[-1]))
    return float(last / first)


def main() -> None:
    """Measure, print, write JSON lines."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--documents", type=int, default=40, help="documents of each batch")
    parser.add_argument("--units", type=int, default=60, help="units of each document")
    parser.add_argument("--batches", type=int, default=6)
    parser.add_argument("--output", type=Path, default=RESULTS / "steady.jsonl")
    asked = parser.parse_args()
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(40))
    records = measure(asked.documents, asked.units, asked.batches)
    head = machine()
    print("\n".join(line(record) for record in records))
    print(f"the last batch compared with the first: {ratio(records):.2f} times as fast, CPU {cpu_ratio(records):.2f}")
    write(asked.output, (head, *records))


if __name__ == "__main__":
    main()
