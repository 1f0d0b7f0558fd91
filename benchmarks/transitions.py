"""IO: measures the check of files of transitions: CPU time and memory by the length of the file.

`python -m benchmarks.transitions [--lines 10000,100000,1000000] [--entities 1000,100000] [--output FILE]`. Each file is
made of tasks that live side by side, so many at once, in random turn, and checked by the stand-alone script in a
process of its own. The memory is that process's own maximum: it must not grow with the lines.
"""

from __future__ import annotations

import argparse
import json
import os
import random  # noqa: TID251 - seeded: the same file every time
import resource
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from benchmarks.result_file import RESULTS, machine, write
from cutter.lifecycle.declarations import TASK
from cutter.lifecycle.events import transition

ROOT = Path(__file__).resolve().parents[1]
SCRIPT = ROOT / "scripts" / "validate" / "validate_state_transitions.py"
WAY = ("pending", "queued", "running", "retrying", "queued", "running", "validating", "completed")
BEGAN = datetime(2026, 11, 21, 9, tzinfo=UTC)


def events(lines: int, entities: int) -> Iterator[str]:
    """So many events of tasks of which so many live at once."""
    chance = random.Random(1)
    living = [[number, 0] for number in range(entities)]
    made = entities
    for number in range(lines):
        turn = living[chance.randrange(len(living))]
        task, place = turn
        retries = int(place > 1)
        yield transition(
            TASK, f"task-{task}", WAY[place], WAY[place + 1], at=(BEGAN + timedelta(milliseconds=number)).isoformat(),
            metadata={"retry_count": retries, "max_retries": 3, "workstream_id": f"ws-{task % 50}"},
        ).line()  # fmt: skip
        turn[1] = place + 1
        if turn[1] == len(WAY) - 1:
            turn[:] = [made, 0]
            made += 1


def measured(lines: int, entities: int) -> dict[str, Any]:
    """One file, checked once."""
    with tempfile.NamedTemporaryFile("w", suffix=".jsonl", encoding="utf-8") as file:
        for line in events(lines, entities):
            file.write(f"{line}\n")
        file.flush()
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        # A process between us and the checker, so that the maximum is of this checker alone.
        probe = (
            "import json, resource, subprocess, sys; done = subprocess.run(sys.argv[1:], capture_output=True);"
            "print(json.dumps([done.returncode, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss]))"
        )
        asked = [sys.executable, "-c", probe, sys.executable, str(SCRIPT), file.name]
        done = subprocess.run(asked, capture_output=True, text=True, check=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        code, kilobytes = json.loads(done.stdout)
        if code:
            raise SystemExit(f"the file of {lines} lines has findings")
        return {
            "lines": lines, "entities": entities, "megabytes": round(os.path.getsize(file.name) / 1e6, 1),
            "cpu_seconds": round(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, 2),
            "rss_megabytes": round(kilobytes / 1024, 1),
        }  # fmt: skip


def main() -> None:
    """Measure every combination; a row each."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--lines", default="10000,100000,1000000")
    parser.add_argument("--entities", default="1000,100000")
    parser.add_argument("--output", type=Path, default=RESULTS / "transitions.jsonl")
    asked = parser.parse_args()
    print(f"{'lines':>9} {'living at once':>15} {'file, MB':>9} {'CPU, s':>7} {'µs a line':>10} {'RSS, MB':>8}")
    rows = []
    for lines in map(int, asked.lines.split(",")):
        for entities in map(int, asked.entities.split(",")):
            row = measured(lines, entities)
            rows.append(row)
            each = 1e6 * row["cpu_seconds"] / lines
            print(f"{lines:>9} {entities:>15} {row['megabytes']:>9} {row['cpu_seconds']:>7} {each:>10.0f} "
                  f"{row['rss_megabytes']:>8}", flush=True)  # fmt: skip
    write(asked.output, (machine(), *rows))


if __name__ == "__main__":
    main()
