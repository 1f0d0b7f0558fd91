"""IO: what a survey of the definitions costs, on a new database and on a grown one, in turn. The goal is at most 1 ms.

    python -m benchmarks.survey --units 50000 --repetitions 400

Each gate surveys the definitions twice (`fn_definition_pins`). Both databases are in one embedded cluster with the real
schema. In each a law of 60 units is cut by the real gates, and in one its rows are copied. A survey is asked for on an
open connection that has asked before, in a transaction of its own. Time is that of the client. CPU is that of the
backend. The parts are measured in the same way, each alone.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections import defaultdict
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import LiteralString

import psutil
import psycopg
import structlog

from benchmarks.result_file import RESULTS, machine, write
from cutter.types import Json
from tests.support import grown
from tests.support.database import Connection, TestCluster, own_cluster
from tests.support.laws import law
from tests.support.runs import Keys, deployment, drive, keyring

GOAL_MS = 1.0
UNITS_A_LAW = 60
WARM_UP = 20
ROUND = 20
"""Surveys of one database before the other's turn. A clock tick of CPU is longer than one survey."""

HASHED = "select count(*), bit_xor(hashtidextended(ctid, hashxidextended(xmin, oid::bigint))) from "
SPACES = "any (array['public'::regnamespace, 'cutter_governance'::regnamespace, 'api'::regnamespace]::oid[])"
WHOLE = "definitions"
PARTS: dict[str, LiteralString] = {
    WHOLE: "select cutter_governance.fn_definition_pins()",
    "keys of the catalogue": "select cutter_governance.fn_catalog_keys()",
    "keys: roles": "select cutter_governance.fn_role_key()",
    "keys: `pg_proc`": f"{HASHED} pg_proc where pronamespace = {SPACES}",
    "keys: `pg_class`": f"{HASHED} pg_class where relnamespace = {SPACES}",
}
"""The survey, and its parts. The rest of the keys reads the columns, indexes and constraints of each table."""


@dataclass(slots=True)
class Taken:
    """Milliseconds of one part on one database: each time, and the CPU of all together."""

    wall: list[float] = field(default_factory=list)
    cpu: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Side:
    """One database with an open connection."""

    name: str
    units: int
    connection: Connection
    taken: dict[str, Taken] = field(default_factory=lambda: defaultdict(Taken))

    def ask(self, part: str, times: int) -> None:
        """That many surveys, one after the other."""
        backend, taken = psutil.Process(self.connection.info.backend_pid), self.taken[part]
        before = backend.cpu_times()
        for _ in range(times):
            began = time.perf_counter()
            self.connection.execute(PARTS[part]).fetchall()
            taken.wall.append((time.perf_counter() - began) * 1000)
        after = backend.cpu_times()
        taken.cpu += (after.user + after.system - before.user - before.system) * 1000

    def record(self) -> Json:
        """Medians of the times, and the mean CPU."""
        parts = {
            name: {"wall_ms": round(statistics.median(times.wall), 2), "cpu_ms": round(times.cpu / len(times.wall), 2)}
            for name, times in self.taken.items()
        }
        return {"kind": "survey", "database": self.name, "units": self.units, **parts[WHOLE], "parts": parts,
                "n": len(self.taken[WHOLE].wall)}  # fmt: skip


@contextmanager
def side(cluster: TestCluster, keys: Keys, name: str, units: int) -> Iterator[Side]:
    """A database with at least so many enacted units, as the role of the cutter worker."""
    with cluster.database(prefix="survey") as database:
        with deployment(database, keys) as made:
            drive(made, law(UNITS_A_LAW))
        database.close()
        grown.fill(database, max(0, -(-units // UNITS_A_LAW) - 1))
        database.run("vacuum analyze")
        count = database.value("select count(*) from public.information_unit")
        with psycopg.connect(database.url("postgres"), autocommit=True) as connection:
            made_side = Side(name=name, units=count, connection=connection)
            for part in PARTS:
                made_side.ask(part, WARM_UP)
            made_side.taken.clear()
            yield made_side


def measure(units: int, repetitions: int) -> list[Json]:
    """Every part on both databases in turn."""
    with own_cluster() as cluster, keyring() as keys, ExitStack() as stack:
        sides = [stack.enter_context(side(cluster, keys, *of)) for of in (("new", UNITS_A_LAW), ("grown", units))]
        for number in range(-(-repetitions // ROUND)):
            for part in PARTS:
                for database in sides if number % 2 == 0 else reversed(sides):
                    database.ask(part, ROUND)
        return [each.record() for each in sides]


def worst(records: list[Json]) -> Json:
    """The record of the database whose survey took longer."""
    return max(records, key=lambda record: float(record["wall_ms"]))


def main() -> None:
    """Measure, print, write JSON lines."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n\n", 1)[0])
    parser.add_argument("--units", type=int, default=50_000, help="enacted units of the grown database")
    parser.add_argument("--repetitions", type=int, default=400)
    parser.add_argument("--output", type=Path, default=RESULTS / "survey.jsonl")
    asked = parser.parse_args()
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(40))
    records = measure(asked.units, asked.repetitions)
    for record in records:
        print(f"{record['database']}, {record['units']:,} units:")
        for name, took in record["parts"].items():
            print(f"  {name:24} {took['wall_ms']:6.2f} ms, CPU {took['cpu_ms']:6.2f} ms")
    print(f"goal: at most {GOAL_MS} ms: {'met' if worst(records)['wall_ms'] <= GOAL_MS else 'NOT met'}")
    write(asked.output, (machine(), *records))


if __name__ == "__main__":
    main()
