"""IO: how much CPU a document of a batch costs, by process; for several checkouts in turn, in one run.

    python -m benchmarks.cpu
    python -m benchmarks.cpu --documents 20 --repetitions 3 --checkout before=../cutter-before --checkout after=.

CPU time is what a busy machine distorts least. `children` of a worker are mostly gpg. After the
measured batches the last checkout cuts one more, and PostgreSQL counts the time in its functions. With `py-spy` in the
`.venv`, the functions of the workers are counted too. To count costs time itself, so this batch gives only the profile.
Each checkout needs its `.venv`.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
from collections import defaultdict
from pathlib import Path

from benchmarks import profile
from benchmarks.result_file import RESULTS, ROOT, commit, machine, write
from cutter.types import Json

SPY = Path(sys.executable).with_name("py-spy")
PYTHON_TOP = 8
"""Functions of each worker in the profile."""

BATCH = """
import json
import pathlib
import signal
import subprocess
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
        if {profiled}:
            connection.execute("{track}")
            connection.execute("select pg_reload_conf()")
    bench.batch(2, {units})
    made.rows("select pg_stat_reset()")
    looks = [
        (name, subprocess.Popen(["{spy}", "record", "--gil", "--format", "raw", "--rate", "100", "--duration",
            "unlimited", "--output", str(made.state / (name + ".raw")), "--pid", str(bench.stack.process(name).pid)],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL))
        for name in WORKERS if {profiled} and "{spy}"
    ]
    before = spent(bench)
    record = bench.batch({documents}, {units})
    after = spent(bench)
    for _, process in looks:
        process.send_signal(signal.SIGINT)
        process.wait(60)
    answer = {{
        "cpu_ms": {{name: (after[name] - before[name]) * 1000 / {documents} for name in after}},
        **{{name: record[name] for name in ("per_minute", "history_events", "history_bytes", "parent_events")}},
        "functions": made.rows('''{query}''') if {profiled} else [],
        "python": {{name: pathlib.Path(made.state / (name + ".raw")).read_text() for name, _ in looks}},
    }}
print("RESULT " + json.dumps(answer))
"""


def measured(checkout: Path, asked: argparse.Namespace, *, profiled: bool = False) -> Json:
    """One batch on a stack of its own, by the code of this checkout."""
    program = BATCH.format(
        documents=asked.documents, units=asked.units, profiled=profiled, track=profile.TRACK, query=profile.FUNCTIONS,
        spy=SPY if SPY.exists() else "",
    )  # fmt: skip
    command = (str(checkout / ".venv/bin/python"), "-c", program)
    done = subprocess.run(command, cwd=checkout, check=True, stdout=subprocess.PIPE, text=True)
    answer: Json = json.loads(done.stdout.rsplit("RESULT ", 1)[1])
    return answer


def median(name: str, asked: argparse.Namespace, taken: list[Json]) -> Json:
    """The record of one checkout: the median of each figure over its repetitions."""
    cpu = {of: round(statistics.median(record["cpu_ms"][of] for record in taken), 1) for of in taken[0]["cpu_ms"]}
    figures = ("per_minute", "history_events", "history_bytes", "parent_events")
    return {
        "kind": "cpu", "name": name, "code": taken[0]["code"], "documents": asked.documents, "units": asked.units,
        "n": len(taken), "cpu_ms": cpu, **{of: statistics.median(record[of] for record in taken) for of in figures},
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
    named = dict(option.split("=", 1) for option in asked.checkout or [f"this={ROOT}"])
    checkouts = {name: Path(folder).resolve() for name, folder in named.items()}
    taken: dict[str, list[Json]] = defaultdict(list)
    for _ in range(asked.repetitions):
        for name, checkout in checkouts.items():
            taken[name].append(measured(checkout, asked) | {"code": commit(checkout)})
            print(line(median(name, asked, taken[name][-1:])), flush=True)
    records = [median(name, asked, of_one) for name, of_one in taken.items()]
    if asked.functions:
        records[-1] |= functions(list(checkouts.values())[-1], asked)
    return records


def functions(checkout: Path, asked: argparse.Namespace) -> Json:
    """Where PostgreSQL and the workers spend their time, in a batch of its own."""
    answer = measured(checkout, asked, profiled=True)
    slowest = profile.top(answer["functions"], asked.documents, asked.functions)
    for row in slowest:
        print(f"  {row['self_ms']:8.2f} ms {row['share']:6.1%} {row['calls']:8.1f} calls a document: {row['name']}")
    python = {name: profile.python_top(raw, PYTHON_TOP) for name, raw in answer["python"].items()}
    for name, parts in python.items():
        print(f"  {name}: " + ", ".join(f"{part['name']} {part['share']:.0%}" for part in parts))
    return {"functions": slowest, "python": python}


def main() -> None:
    """Measure, print, write JSON lines."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--documents", type=int, default=100)
    parser.add_argument("--units", type=int, default=3)
    parser.add_argument("--repetitions", type=int, default=1)
    parser.add_argument("--functions", type=int, default=profile.TOP, help="functions of the profile; 0 for no profile")
    parser.add_argument("--checkout", action="append", help="NAME=FOLDER; may be given several times")
    parser.add_argument("--output", type=Path, default=RESULTS / "cpu.jsonl")
    asked = parser.parse_args()
    records = measure(asked)
    head = machine()
    print("\n".join(line(record) for record in records))
    write(asked.output, (head, *records))


if __name__ == "__main__":
    main()
