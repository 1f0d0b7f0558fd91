"""IO: one queue of thousands of documents compared with one of a hundred: CPU of a document, and a worker's memory.

    python -m benchmarks.queue --documents 1000 --signed 300

`METHOD` says how. The CPU between the first and the last signature is that of as many documents, because others take
the places of the signed ones. The stack is then taken down with the batch in it.
"""

from __future__ import annotations

import argparse
import asyncio
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import LiteralString

import structlog

from benchmarks import process_cpu
from benchmarks.batch import GATES, BatchBench, line
from benchmarks.result_file import RESULTS, machine, write
from cutter import limits
from cutter.catalogue import Role
from cutter.storage.pools import connect as connect_database
from cutter.storage.records import answer
from cutter.types import Json
from temporal import batches
from temporal.client import connect
from tests.support.processes import stack

METHOD = (
    "The large queue is not cut to its end, because that would take hours. Its documents are planned until as many "
    "wait for people as may be open at once. Then some of them are signed and enacted, and as many others take their "
    "places. So its CPU is that of as many documents, from their start to their end. That of the first documents is "
    "not in it."
)
"""How the large queue is measured, also for the page."""

SMALL, UNITS, WARM_UP = 100, 3, 4
ENDED: LiteralString = "select count(*) from cutter_governance.run where batch_id = %s and state = 'closeout_reported'"


def large(bench: BatchBench, documents: int, signed: int) -> Json:
    """The record of the large queue."""
    print(f"registering {documents:,} documents", file=sys.stderr, flush=True)
    batch_id = bench.admitted([bench.bench.register(UNITS) for _ in range(documents)])
    return asyncio.run(_measured(bench, batch_id, documents, signed))


async def _measured(bench: BatchBench, batch_id: str, documents: int, signed: int) -> Json:
    client = await connect(bench.settings)
    await batches.start(client, batch_id, "bench")
    opened = min(documents, limits.BATCH_WINDOW)
    planned = await _planned(bench, batch_id, opened)
    waiting = bench.rss()
    print(f"{opened:,} wait: {waiting}", file=sys.stderr, flush=True)
    before, began = bench.cpu(), time.perf_counter()
    people = 0.0
    for gate in GATES:
        await bench.until_all_ask(batch_id, gate, signed)
        people += await bench.signed(client, batch_id, gate, signed)
    await _until_ended(bench, batch_id, signed)
    await bench.until_all_ask(batch_id, GATES[0], min(opened, documents - signed))
    seconds = time.perf_counter() - began - people
    after = bench.cpu()
    return {
        "kind": "queue", "documents": documents, "units": UNITS, "open": opened, "signed": signed,
        "per_minute": round(signed / seconds * 60, 1), "rss_mib": waiting, "planned_cpu_ms": planned,
        "cpu_ms": process_cpu.per_document(before, after, signed),
    }  # fmt: skip


async def _planned(bench: BatchBench, batch_id: str, opened: int) -> list[float]:
    """The CPU in ms of a planned document, for each thousand."""
    milliseconds = []
    for first in range(0, opened, limits.SET_STATEMENTS_MAX):
        last = min(first + limits.SET_STATEMENTS_MAX, opened)
        before, began = sum(bench.cpu().values()), time.perf_counter()
        await bench.until_all_ask(batch_id, GATES[0], last)
        milliseconds.append(round((sum(bench.cpu().values()) - before) * 1000 / (last - first), 1))
        speed = (last - first) / (time.perf_counter() - began) * 60
        print(f"{last:,} planned: {milliseconds[-1]} ms, {speed:.0f} a minute", file=sys.stderr, flush=True)
    return milliseconds


async def _until_ended(bench: BatchBench, batch_id: str, count: int) -> None:
    with connect_database(bench.settings, Role.OPERATOR) as connection:
        while (await asyncio.to_thread(answer, connection, ENDED, (batch_id,))) < count:
            await asyncio.sleep(0.5)


def measure(documents: int, signed: int) -> Iterator[Json]:
    """A batch of a hundred, and then the large one, on one stack."""
    with stack("bq") as made:
        made.up()
        bench = BatchBench(made)
        bench.batch(WARM_UP, UNITS)
        small = bench.batch(SMALL, UNITS) | {"kind": "queue"}
        print(line(small), file=sys.stderr, flush=True)
        yield small
        yield large(bench, documents, signed)


def main() -> None:
    """Measure, print, write JSON lines."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--documents", type=int, default=limits.QUEUE_ITEMS_MAX, help="documents of the large queue")
    parser.add_argument("--signed", type=int, default=300, help="how many of them are signed and enacted")
    parser.add_argument("--output", type=Path, default=RESULTS / "queue.jsonl")
    asked = parser.parse_args()
    if not SMALL < asked.documents <= limits.QUEUE_ITEMS_MAX:
        parser.error(f"--documents: more than {SMALL}, at most {limits.QUEUE_ITEMS_MAX}")
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(40))
    records: list[Json] = []
    for row in measure(asked.documents, asked.signed):
        records.append(row)
        write(asked.output, (machine(), *records))
        spent = sum(row["cpu_ms"].values())
        print(
            f"{row['documents']:,} documents: {spent:.0f} ms a document, {row['per_minute']} a minute, {row['rss_mib']}"
        )


if __name__ == "__main__":
    main()
