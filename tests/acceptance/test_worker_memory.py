"""How the allocator keeps memory, in a real worker and in a process of its own."""

from __future__ import annotations

import platform
import subprocess
import sys
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import psutil
import pytest

from cutter import limits
from tests.support.processes import CUTTER_WORKER, EXEC, VERIFY, Stack

ARENA_BYTES = 64 * 1024 * 1024
"""Where glibc puts an arena of a thread: at a multiple of this."""


def arenas(pid: int) -> Iterator[str]:
    """The memory of each arena but the first, which is the heap itself. An arena's part in use is followed by its
    reserve, and both together have the size of an arena.
    """
    parts = [line.split() for line in Path(f"/proc/{pid}/maps").read_text(encoding="ascii").splitlines()]
    for used, reserve in pairwise(parts):
        (start, _), (_, end) = used[0].split("-"), reserve[0].split("-")
        size = int(end, 16) - int(start, 16)
        if (used[1], reserve[1]) == ("rw-p", "---p") and size == ARENA_BYTES and int(start, 16) % ARENA_BYTES == 0:
            yield used[0]


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="only glibc has arenas")
@pytest.mark.parametrize("name", [CUTTER_WORKER, EXEC, VERIFY])
def test_the_threads_of_a_worker_share_a_few_arenas(standing: Stack, name: str) -> None:
    pid = standing.process(name).pid
    assert psutil.Process(pid).num_threads() > 2 * limits.ARENAS, "too few threads to prove anything"
    # A heap of an arena that grew beyond its size is a second one of the same arena.
    assert len(list(arenas(pid))) <= 2 * limits.ARENAS


FREED = """
from pathlib import Path
from activities.worker import process

def resident():
    return int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1]) * 4096

kept = [bytes(2_000) for _ in range(20_000)]
full = resident()
kept = kept[::100]
before = resident()
process.give_back()
print(full - before, before - resident())
"""


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="only glibc keeps such pages")
def test_free_pages_between_used_ones_go_back_to_the_system() -> None:
    done = subprocess.run([sys.executable, "-c", FREED], capture_output=True, text=True, check=True, timeout=60)
    freed_alone, given_back = map(int, done.stdout.split())
    assert freed_alone < 4_000_000, "glibc gave them back by itself"
    assert given_back > 20_000_000
