"""IO: identifies processes so that neither a reused process number nor a changed clock causes a mistake."""

from __future__ import annotations

import signal
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from time import monotonic, sleep

import psutil

from cutter import limits

_BOOT_ID = Path("/proc/sys/kernel/random/boot_id")


@dataclass(frozen=True, slots=True, kw_only=True)
class Process:
    """A process number with the birth of its process. A later process with the same number has another birth."""

    pid: int
    birth: str


def identify(pid: int) -> Process | None:
    """The living process with that number, or None. A zombie does not count as living."""
    try:
        process = psutil.Process(pid)
        if process.status() == psutil.STATUS_ZOMBIE:
            return None
        return Process(pid=pid, birth=_birth(process))
    except psutil.NoSuchProcess:
        return None


def version_text(program: Path | str) -> str:
    """The answer of a program to `--version`. Raises OSError or TimeoutExpired if it does not run."""
    return subprocess.run(
        [program, "--version"],
        capture_output=True,
        text=True,
        check=False,
        stdin=subprocess.DEVNULL,
        timeout=limits.PROGRAM_VERSION_SECONDS,
    ).stdout


def alive(process: Process) -> bool:
    return identify(process.pid) == process


def working_in(folder: Path, name: str) -> list[Process]:
    """The processes with that program name and the working directory `folder`.

    Processes that we may not look at are left out.
    """
    candidates = (works_in(pid, folder, name) for pid in psutil.pids())
    return [process for process in candidates if process is not None]


def works_in(pid: int, folder: Path, name: str) -> Process | None:
    """The process with that number, if it has that program name and works in `folder`, else None.

    The folder identifies a server. The number alone may belong to another process now.
    """
    try:
        candidate = psutil.Process(pid)
        if candidate.name() != name or Path(candidate.cwd()) != folder.resolve():
            return None
    except (psutil.Error, OSError):
        return None
    return identify(pid)


def send(process: Process, number: signal.Signals) -> bool:
    """Send a signal to exactly this process. Return False if the process has ended already."""
    if not alive(process):
        return False
    try:
        psutil.Process(process.pid).send_signal(number)
    except psutil.NoSuchProcess:
        return False
    return True


def end(process: Process, *, ask: signal.Signals, seconds: float) -> bool:
    """Send the signal `ask` and wait for the end of the process. Return False if it still lives after `seconds`."""
    send(process, ask)
    return until(lambda: not alive(process), seconds=seconds)


def until(condition: Callable[[], bool], *, seconds: float) -> bool:
    """Check a condition repeatedly for at most `seconds`. Return its last result."""
    deadline = monotonic() + seconds
    while not condition():
        if monotonic() > deadline:
            return False
        sleep(limits.POLL_SECONDS)
    return True


def _birth(process: psutil.Process) -> str:
    """The start of a process: ticks since boot and the id of the boot, if /proc has them.

    A start time of the wall clock would change if a person or program sets the clock.
    """
    if not _BOOT_ID.exists():
        return f"{process.create_time():.2f}"
    try:
        stat = Path(f"/proc/{process.pid}/stat").read_text(encoding="utf-8", errors="replace")
    except (FileNotFoundError, ProcessLookupError):
        # The process has just ended. If it ends between opening and reading, the kernel gives ProcessLookupError.
        raise psutil.NoSuchProcess(process.pid) from None
    return f"{_BOOT_ID.read_text(encoding='ascii').strip()}:{stat.rpartition(')')[2].split()[19]}"
