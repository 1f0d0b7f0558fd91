"""IO: the CPU seconds of a stack's processes so far, with those of their children."""

from __future__ import annotations

import psutil

from tests.support.processes import CUTTER_WORKER, EXEC, POSTGRES, TEMPORAL, VERIFY, Stack

WORKERS = (CUTTER_WORKER, EXEC, VERIFY)
PROCESSES = (*WORKERS, TEMPORAL)
"""The processes of a stack whose children have ended when they are counted. PostgreSQL's children live on."""


def seconds(pid: int) -> float:
    """CPU seconds of a process, those of its ended children included."""
    try:
        spent = psutil.Process(pid).cpu_times()
    except psutil.NoSuchProcess:
        return 0.0  # a backend that ended a moment ago: its parent has its figure now
    return float(spent.user + spent.system + spent.children_user + spent.children_system)


def tree_seconds(pid: int) -> float:
    """CPU seconds of a process and of all that live below it."""
    return sum(map(seconds, (pid, *(child.pid for child in psutil.Process(pid).children(recursive=True)))))


def by_process(made: Stack) -> dict[str, float]:
    """CPU seconds of each worker, of Temporal and of PostgreSQL."""
    spent = {name: seconds(made.process(name).pid) for name in PROCESSES}
    return spent | {"postgres": tree_seconds(made.process(POSTGRES).pid)}


def per_document(before: dict[str, float], after: dict[str, float], documents: int) -> dict[str, float]:
    """Milliseconds of each process for a document, between two readings."""
    return {name: round((after[name] - before[name]) * 1000 / documents, 1) for name in after}
