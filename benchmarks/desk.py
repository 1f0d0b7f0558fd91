"""IO: the first page of a long law in `cutter desk`, beside the bare SQL query for the same rows.

Run: python -m benchmarks.desk [--units 60,1000] [--repeat 30]

Method: one embedded cluster with the real schema. Each law is driven through every gate by the workers' own functions,
with real signatures. The server is a process of its own. Each round asks for the page and sends the query, one after
the other, on connections that are open. Medians and maxima are of `--repeat` rounds after three that are not counted.
CPU is the mean of a round: of the server with PostgreSQL for the page, and of PostgreSQL for the query. A machine that
does other work prolongs the times, and hardly the CPU.
"""

from __future__ import annotations

import argparse
import http.client
import json
import statistics
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import psutil
import structlog

from benchmarks.result_file import RESULTS, machine, write
from cutter.storage import enacted_law
from cutter.storage.enacted_law import OUTLINE
from cutter.types import Json
from tests.support import database, desks
from tests.support.desks import Desk
from tests.support.runs import Deployment, deployment, drive, keyring, law

WARM = 3
BYTES_MAX, MS_MAX = 300_000, 200.0
"""What the first page of a law of 1,000 units may take."""


def enacted(made: Deployment, units: int) -> str:
    """A law of that many units, through every gate: its document id."""
    document = f"ICX-LONG-{units}"
    made.register(law(units), document_id=document)
    drive(made, document_id=document)
    return document


def measure(made: Deployment, desk: Desk, document: str, repeat: int) -> Json:
    """Medians and maxima in milliseconds, and the bytes of the page."""
    pages = http.client.HTTPConnection("127.0.0.1", desk.port)
    size = 0

    def page() -> None:
        nonlocal size
        pages.request("GET", f"/laws/{document}")
        answer = pages.getresponse()
        size = len(answer.read())
        assert answer.status == 200

    with made.database.connect("cutter_desk", autocommit=True) as connection:
        version = enacted_law.versions(connection, document)[0]
        asked = {"document": document, "version": version.version}
        page()
        sides = {"page": [psutil.Process(desk.process.pid), *backends(made)], "query": [backend(connection)]}
        sides["page"].remove(sides["query"][0])
        before = {name: spent(processes) for name, processes in sides.items()}
        times = rounds({"page": page, "query": lambda: OUTLINE.all(connection, asked)}, repeat)
        cpu = {name: (spent(processes) - before[name]) / (WARM + repeat) for name, processes in sides.items()}
    return {"kind": "desk", "units": version.units, "bytes": size, "n": repeat} | {
        f"{name}_{word}_ms": round(1000 * figure, 2)
        for name, taken in times.items()
        for word, figure in (("median", statistics.median(taken)), ("max", max(taken)), ("cpu", cpu[name]))
    }


def backend(connection: Any) -> psutil.Process:
    """The process of PostgreSQL that serves a connection."""
    return psutil.Process(connection.info.backend_pid)


def backends(made: Deployment) -> list[psutil.Process]:
    """Every process of PostgreSQL that serves a connection of the desk."""
    pids = made.database.value("select array_agg(pid) from pg_stat_activity where usename = 'cutter_desk'")
    return [psutil.Process(pid) for pid in pids]


def spent(processes: list[psutil.Process]) -> float:
    """CPU seconds of these processes so far."""
    return sum(times.user + times.system for times in (process.cpu_times() for process in processes))


def rounds(works: dict[str, Callable[[], object]], repeat: int) -> dict[str, list[float]]:
    """Seconds of each work in each round; the works take turns."""
    times: dict[str, list[float]] = {name: [] for name in works}
    for number in range(WARM + repeat):
        for name, work in works.items():
            started = time.perf_counter()
            work()
            if number >= WARM:
                times[name].append(time.perf_counter() - started)
    return times


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--units", default="60,1000")
    parser.add_argument("--repeat", type=int, default=30)
    parser.add_argument("--output", type=Path, default=RESULTS / "desk.jsonl")
    given = parser.parse_args()
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(40))
    owns = database.claim()
    try:
        with (
            keyring() as keys,
            database.session_cluster().database(prefix="desk") as base,
            deployment(base, keys) as made,
        ):
            documents = [enacted(made, int(units)) for units in given.units.split(",")]
            with desks.desk(made.settings) as desk:
                records = [measure(made, desk, document, given.repeat) for document in documents]
    finally:
        if owns:
            database.release()
    head = machine()
    write(given.output, (head, *records))
    print(json.dumps(head))
    show(records)


def show(records: list[Json]) -> None:
    """A table, and whether the goal for 1,000 units is met."""
    print(f"{'units':>6} {'bytes':>8} {'page ms':>17} {'CPU':>6} {'query ms':>17} {'CPU':>6}   (median / maximum, CPU)")
    for row in records:
        page, query = (f"{row[f'{name}_median_ms']:7.1f} / {row[f'{name}_max_ms']:7.1f}" for name in ("page", "query"))
        print(
            f"{row['units']:>6} {row['bytes']:>8} {page:>17} {row['page_cpu_ms']:>6.1f} {query:>17}"
            f" {row['query_cpu_ms']:>6.1f}"
        )
        if row["units"] == 1000:
            print(f"       goal: below {BYTES_MAX} bytes and {MS_MAX:.0f} ms: {'met' if met(row) else 'NOT met'}")


def met(record: Json) -> bool:
    """Whether the page of 1,000 units is small and quick enough."""
    return bool(record["bytes"] < BYTES_MAX and record["page_median_ms"] < MS_MAX)


if __name__ == "__main__":
    main()
