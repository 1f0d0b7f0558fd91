"""IO: processes by an identity that survives a reused process number and a stepped clock."""

from __future__ import annotations

import signal
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from time import monotonic, sleep

import psutil

from cutter import limits

_BOOT_ID = Path("/proc/sys/kernel/random/boot_id")


@dataclass(frozen=True, slots=True, kw_only=True)
class Process:
    """A process number together with its birth, so that a later process of the same number is another one."""

    pid: int
    birth: str


def identify(pid: int) -> Process | None:
    """The living process of that number; None when there is none (a zombie counts as none)."""
    try:
        process = psutil.Process(pid)
        if process.status() == psutil.STATUS_ZOMBIE:
            return None
        return Process(pid=pid, birth=_birth(process))
    except psutil.NoSuchProcess:
        return None


def alive(process: Process) -> bool:
    return identify(process.pid) == process


def working_in(folder: Path, name: str) -> list[Process]:
    """Processes of that executable name whose working directory is `folder`, as far as we may look."""
    found = (works_in(pid, folder, name) for pid in psutil.pids())
    return [process for process in found if process is not None]


def works_in(pid: int, folder: Path, name: str) -> Process | None:
    """The same for one process number. A server is known by where it works: a number alone may be another's."""
    try:
        candidate = psutil.Process(pid)
        if candidate.name() != name or Path(candidate.cwd()) != folder.resolve():
            return None
    except (psutil.Error, OSError):
        return None
    return identify(pid)


def send(process: Process, number: signal.Signals) -> bool:
    """Send a signal to exactly this process; False when it is gone already."""
    if not alive(process):
        return False
    try:
        psutil.Process(process.pid).send_signal(number)
    except psutil.NoSuchProcess:
        return False
    return True


def end(process: Process, *, ask: signal.Signals, seconds: float) -> bool:
    """Ask it to end and wait; False when it still lives after `seconds`."""
    send(process, ask)
    return until(lambda: not alive(process), seconds=seconds)


def until(condition: Callable[[], bool], *, seconds: float) -> bool:
    """Wait for a condition by asking again and again; its last answer."""
    deadline = monotonic() + seconds
    while not condition():
        if monotonic() > deadline:
            return False
        sleep(limits.POLL_SECONDS)
    return True


def _birth(process: psutil.Process) -> str:
    """Ticks since boot and the boot's id where /proc has them: wall-clock start times move when the clock steps."""
    if not _BOOT_ID.exists():
        return f"{process.create_time():.2f}"
    try:
        stat = Path(f"/proc/{process.pid}/stat").read_text(encoding="utf-8", errors="replace")
    except (FileNotFoundError, ProcessLookupError):
        # It ended just now; between opening and reading, the kernel answers the second.
        raise psutil.NoSuchProcess(process.pid) from None
    return f"{_BOOT_ID.read_text(encoding='ascii').strip()}:{stat.rpartition(')')[2].split()[19]}"
