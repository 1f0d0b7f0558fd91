"""No hostile queue file is taken, and none costs its reader more than a second or 100 MiB.

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
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml
from pydantic import ValidationError

from cutter.batch.queue import QueueRefused, load_queue
from cutter.batch.queue_file import QueueFile
from cutter.limits import MIB
from cutter.projections.run_folder import read_queue
from tests.cases.queue_cases import KINDS, good, hostile
from tests.cases.trials import Dice

SEED = 1
TRIALS = max(map(len, KINDS.values()))
"""Of each kind, so that each form comes once."""

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


@pytest.mark.parametrize("kind", KINDS)
def test_no_hostile_queue_is_taken_and_one_of_each_kind_fools_a_plain_reader(tmp_path: Path, kind: str) -> None:
    path, fooled = tmp_path / "queue.yaml", 0
    for number in range(list(KINDS).index(kind), TRIALS * len(KINDS), len(KINDS)):
        drawn, form, data = hostile(Dice(SEED, "hostile", number), number)
        path.write_bytes(data)
        row, control = measured(product, path), measured(plain, path)
        assert (drawn, row["said"], within(row)) == (kind, REFUSED, True), (form, row)
        fooled += control["said"] != REFUSED or not within(control)
    assert fooled


def test_every_well_formed_queue_is_taken(tmp_path: Path) -> None:
    path = tmp_path / "queue.yaml"
    for number in range(TRIALS * len(KINDS)):
        path.write_text(good(Dice(SEED, "good", number)))
        row = measured(product, path)
        assert (row["said"], within(row)) == (TAKEN, True), (number, row)


def test_a_reader_that_takes_too_much_is_ended(tmp_path: Path) -> None:
    def forever(_: Path) -> str:
        while True:
            pass

    assert measured(forever, tmp_path)["said"] == OVER
    assert measured(lambda _: "x" * (1 << 30), tmp_path)["said"] == OVER
    assert measured(lambda _: str(1 // 0), tmp_path)["said"] not in (TAKEN, REFUSED, OVER)
