"""IO: P19: no hostile queue file is taken, and none costs its reader more than a second or 100 MiB.

    python -m tests.campaigns.p19_hostile_queues --trials 500 --seed 1 --out p19.jsonl

Each trial is a file on disk, read by a process of its own as the command reads it, whose time is the processor's and
whose memory is what it takes beyond that of the process it was forked from. As many well-formed files must be taken
within the same bounds. The control arm reads the hostile files with PyYAML's plainest loader and the same closed model
of fields, within the same bounds: each kind must fool it, by being taken or by what it costs.
"""

from __future__ import annotations

import json
import os
import resource
import signal
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import yaml
from pydantic import ValidationError

from cutter.batch.queue import QueueRefused, load_queue
from cutter.batch.queue_file import QueueFile
from cutter.limits import MIB
from cutter.projections.batch_queue_file import read_queue
from tests.cases.queue_cases import KINDS, good, hostile
from tests.cases.trials import Dice, Summary, command_line, write_lines

SECONDS_MAX = 1.0
MEMORY_MAX_MIB = 100
MARGIN = 1.1
TAKEN, REFUSED, OVER = "taken", "refused", "over"

Row = dict[str, Any]


def product(path: Path) -> str:
    """As `cutter orchestrate batch` reads it; anything but a refusal with its reasons is an error that goes on."""
    try:
        load_queue(read_queue(path))
    except QueueRefused as refusal:
        return REFUSED if refusal.problems else "refused without a reason"
    return TAKEN


def plain(path: Path) -> str:
    """The control: all values are texts, what is written out is typed by the product's own model."""
    try:
        QueueFile.model_validate(written_out(yaml.load(path.read_bytes(), Loader=yaml.CBaseLoader)))
    except (yaml.YAMLError, ValidationError, RecursionError, TypeError):
        return REFUSED
    return TAKEN


def written_out(value: Any) -> Any:
    """A value with its lists as tuples and its nulls as such, for the model; fields that it does not know are left."""
    if isinstance(value, dict):
        return {name: written_out(item) for name, item in value.items() if name in KNOWN}
    if isinstance(value, list):
        return tuple(written_out(item) for item in value)
    return None if value in ("", "~", "null") else value


KNOWN = {"document_id", "source_uri", "priority", "depends_on", "critical", "tenant", "marking_profile",
         *QueueFile.model_fields}  # fmt: skip


def measured(read: Callable[[Path], str], path: Path) -> Row:
    """What a process of its own says of the file, in how many seconds and MiB; one that is over them is ended."""
    into, out = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(into)
        _bounded(read, path, out)
    os.close(out)
    with os.fdopen(into, "rb") as answer:
        text = answer.read()
    _, status = os.waitpid(child, 0)
    if status == 0 and text:
        return dict(json.loads(text))
    over = (os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGPROF) or os.WEXITSTATUS(status) == 2
    return {"said": OVER if over else f"ended with {status}", "seconds": SECONDS_MAX, "mib": 0}


def _bounded(read: Callable[[Path], str], path: Path, out: int) -> None:
    """Never returns. A little more than the time and memory that are allowed ends the process."""
    code = 1
    try:
        before = _peak_mib()
        pages = int(Path("/proc/self/statm").read_text().split()[0])
        room = pages * resource.getpagesize() + int(MARGIN * MEMORY_MAX_MIB * MIB)
        resource.setrlimit(resource.RLIMIT_AS, (room, room))
        signal.signal(signal.SIGPROF, signal.SIG_DFL)
        signal.setitimer(signal.ITIMER_PROF, MARGIN * SECONDS_MAX)
        began = time.process_time()
        answer = read(path)
        row = {"said": answer, "seconds": round(time.process_time() - began, 3), "mib": round(_peak_mib() - before, 1)}
        os.write(out, json.dumps(row).encode())
        code = 0
    except MemoryError:
        code = 2
    finally:
        os._exit(code)


def _peak_mib() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def within(row: Row) -> bool:
    return bool(row["seconds"] <= SECONDS_MAX and row["mib"] <= MEMORY_MAX_MIB and row["said"] != OVER)


def trial(folder: Path, seed: int, number: int) -> list[Row]:
    """A hostile file, read twice, and a well-formed one."""
    path = folder / "queue.yaml"
    kind, form, data = hostile(Dice(seed, "hostile", number), number)
    path.write_bytes(data)
    rows = [
        {"arm": arm, "trial": number, "kind": kind, "form": form, "bytes": len(data), **measured(read, path)}
        for arm, read in (("product", product), ("plain", plain))
    ]
    path.write_bytes(good(Dice(seed, "good", number)).encode())
    return [*rows, {"arm": "good", "trial": number, "kind": "good", "form": "good", **measured(product, path)}]


def run(*, trials: int, seed: int, out: Path | None = None) -> Summary:
    """So many hostile files and as many good ones."""
    with tempfile.TemporaryDirectory(prefix="p19") as folder:
        rows = [row for number in range(trials) for row in trial(Path(folder), seed, number)]
    write_lines(out, ({"seed": seed, **row} for row in rows))
    return summary(rows)


def summary(rows: list[Row]) -> Summary:
    """Failures: a hostile file that is not refused, a good one that is, and either over the bounds."""
    ours = [row for row in rows if row["arm"] == "product"]
    well = [row for row in rows if row["arm"] == "good"]
    fooled = [row for row in rows if row["arm"] == "plain" and (row["said"] != REFUSED or not within(row))]
    wrong = [row for row in ours if row["said"] != REFUSED or not within(row)]
    wrong += [row for row in well if row["said"] != TAKEN or not within(row)]
    every_kind = {row["kind"] for row in fooled} == set(KINDS)
    result = Summary(
        name="P19 hostile queue files",
        n=len(ours),
        failures=len(wrong),
        control=len(fooled) if every_kind else 0,
        control_n=len(ours),
        counts=Counter(f"{row['kind']}: {row['said']}" for row in (*ours, *well)),
    )
    result.counts.update(f"the control: {row['kind']}" for row in fooled)
    result.counts.update(f"WRONG: {row['kind']}, {row['form']}, trial {row['trial']}: {row['said']}" for row in wrong)
    result.counts["most milliseconds"] = round(1000 * max(row["seconds"] for row in (*ours, *well)))
    result.counts["most MiB"] = round(max(row["mib"] for row in (*ours, *well)))
    return result


if __name__ == "__main__":
    raise SystemExit(command_line(run, "P19: hostile queue files", trials=500))
