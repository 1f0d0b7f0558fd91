"""IO: how much CPU a document of a batch costs, by process; for several checkouts in turn, in one run.

    python -m benchmarks.cpu --documents 20
    python -m benchmarks.cpu --documents 20 --repetitions 3 --checkout before=../cutter-before --checkout after=.
    python -m benchmarks.cpu --functions 15

CPU time is what a busy machine distorts least. `children` of a worker are mostly gpg, pg_dump and pg_restore. With
`--functions`, PostgreSQL also says in which functions it spent its time, which costs time itself. Each checkout needs
its `.venv`.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
from collections import defaultdict
from pathlib import Path

from benchmarks.result_file import RESULTS, machine, write
from cutter.types import Json

FUNCTIONS = """
select funcname, calls, round(self_time::numeric, 1)::float8 as self_ms from pg_stat_user_functions
order by self_time desc limit {functions}
"""

BATCH = """
import json
import psutil
import psycopg
from benchmarks.batch import BatchBench
from tests.support.processes import stack

WORKERS = ("worker-cutter", "worker-exec", "worker-verify")

def spent(bench):
    found = {{}}
    for name in WORKERS:
        times = psutil.Process(bench.stack.process(name).pid).cpu_times()
        found[name] = times.user + times.system
        found["children of " + name] = times.children_user + times.children_system
    own, total = psutil.Process().cpu_times(), (getattr(bench, "cpu", None) or bench._cpu)()
    return found | {{"temporal": total["temporal"], "postgres": total["postgres"], "client": own.user + own.system}}

with stack("bc") as made:
    made.up()
    bench = BatchBench(made)
    with psycopg.connect(made.superuser(), autocommit=True) as connection:
        if {functions}:
            connection.execute("alter system set track_functions = 'all'")
            connection.execute("select pg_reload_conf()")
    bench.batch(2, {units})
    made.rows("select pg_stat_reset()")
    before = spent(bench)
    record = bench.batch({documents}, {units})
    after = spent(bench)
    answer = {{
        "cpu_ms": {{name: (after[name] - before[name]) * 1000 / {documents} for name in after}},
        **{{name: record[name] for name in ("per_minute", "history_events", "history_bytes", "parent_events")}},
        "functions": made.rows('''{query}''') if {functions} else [],
    }}
print("RESULT " + json.dumps(answer))
"""


def measured(checkout: Path, documents: int, units: int, functions: int) -> Json:
    """One batch on a stack of its own, by the code of this checkout."""
    query = FUNCTIONS.format(functions=functions)
    program = BATCH.format(documents=documents, units=units, functions=functions, query=query)
    command = (str(checkout / ".venv/bin/python"), "-c", program)
    done = subprocess.run(command, cwd=checkout, check=True, stdout=subprocess.PIPE, text=True)
    answer: Json = json.loads(done.stdout.rsplit("RESULT ", 1)[1])
    return answer


def median(name: str, asked: argparse.Namespace, taken: list[Json]) -> Json:
    """The record of one checkout: the median of each figure over its repetitions."""
    cpu = {of: round(statistics.median(one["cpu_ms"][of] for one in taken), 1) for of in taken[0]["cpu_ms"]}
    figures = ("per_minute", "history_events", "history_bytes", "parent_events")
    return {
        "kind": "cpu", "name": name, "documents": asked.documents, "units": asked.units, "n": len(taken),
        "cpu_ms": cpu, **{of: statistics.median(one[of] for one in taken) for of in figures},
    }  # fmt: skip


def line(record: Json) -> str:
    """One record in a line."""
    product = sum(ms for name, ms in record["cpu_ms"].items() if name != "client")
    by_process = ", ".join(f"{name} {ms:.0f}" for name, ms in record["cpu_ms"].items())
    return (
        f"{record['name']}: {product:.0f} ms a document without the client ({by_process}); "
        f"{record['per_minute']:.0f} a minute; {record['history_events']:.0f} events, "
        f"{record['history_bytes']:,.0f} B; parent {record['parent_events']:.0f} events"
    )


def measure(asked: argparse.Namespace) -> list[Json]:
    """Every checkout in turn, `repetitions` times."""
    checkouts = dict(one.split("=", 1) for one in asked.checkout or ["this=."])
    taken: dict[str, list[Json]] = defaultdict(list)
    for _ in range(asked.repetitions):
        for name, checkout in checkouts.items():
            one = measured(Path(checkout).resolve(), asked.documents, asked.units, asked.functions)
            taken[name].append(one)
            print(line(median(name, asked, [one])), flush=True)
            for function in one["functions"]:
                print(f"  {function['self_ms']:10.1f} ms {function['calls']:8} {function['funcname']}")
    return [median(name, asked, records) for name, records in taken.items()]


def main() -> None:
    """Measure, print, write JSON lines."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--documents", type=int, default=20)
    parser.add_argument("--units", type=int, default=3)
    parser.add_argument("--repetitions", type=int, default=1)
    parser.add_argument("--functions", type=int, default=0, help="how many of PostgreSQL's functions to show")
    parser.add_argument("--checkout", action="append", help="NAME=FOLDER; may be given several times")
    parser.add_argument("--output", type=Path, default=RESULTS / "cpu.jsonl")
    asked = parser.parse_args()
    records = measure(asked)
    head = machine()
    print("\n".join(line(record) for record in records))
    write(asked.output, (head, *records))


if __name__ == "__main__":
    main()
