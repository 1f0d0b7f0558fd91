"""IO: starts, identifies and ends processes, so that neither a reused process number nor a changed clock causes a
mistake. A lock lets one command at a time work in a folder, and gpg's agents are ended.
"""

from __future__ import annotations

import fcntl
import os
import signal
import subprocess
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from time import monotonic, sleep
from typing import Any

import psutil

from cutter import limits
from cutter.errors import Unavailable

AGENTS = ("gpg-agent", "scdaemon", "keyboxd")
_BOOT_ID = Path("/proc/sys/kernel/random/boot_id")
_LAUNCH = '"$@" >&2 & echo $!'
"""A shell that starts the command in the background, prints its number and ends. The system adopts the command."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Process:
    """A process number with the birth of its process. A later process with the same number has another birth."""

    pid: int
    birth: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ServiceUser:
    """The system user that runs a server process."""

    uid: int
    gid: int


def identify(pid: int) -> Process | None:
    """The living process with that number, or None. A zombie does not count as living.

    Its birth is in ticks since boot with the id of the boot, if /proc has them. A start time of the wall clock would
    change if a person or program sets the clock.
    """
    try:
        process = psutil.Process(pid)
        if process.status() == psutil.STATUS_ZOMBIE:
            return None
        if not _BOOT_ID.exists():
            return Process(pid=pid, birth=f"{process.create_time():.2f}")
        stat = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
    except (psutil.NoSuchProcess, FileNotFoundError, ProcessLookupError):
        # If a process ends between opening and reading its file, the kernel gives ProcessLookupError.
        return None
    boot = _BOOT_ID.read_text(encoding="ascii").strip()
    return Process(pid=pid, birth=f"{boot}:{stat.rpartition(')')[2].split()[19]}")


def version_text(program: Path | str) -> str:
    """The answer of a program to `--version`. Raises OSError or TimeoutExpired if it does not run."""
    return subprocess.run(
        [program, "--version"],
        capture_output=True,
        text=True,
        check=False,
        stdin=subprocess.DEVNULL,
        # The time for a program to answer with its version. A program of 250 MB on a slow disk needs a few seconds.
        timeout=30,
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


def spawn(
    command: Sequence[str], *, log: Path, environment: Mapping[str, str], folder: Path, user: ServiceUser | None = None
) -> Process:
    """Start `command` in a session of its own with exactly `environment`. Both its outputs are appended to `log`.

    The process outlives us. It is not our child, so its death leaves no zombie process. The shell makes it ignore
    SIGINT. So SIGTERM stops it, or it sets its own handler as PostgreSQL does. Raises Unavailable if it ends before it
    can be identified.
    """
    log.parent.mkdir(parents=True, exist_ok=True)
    with log.open("ab") as output:
        launch = subprocess.run(
            ["/bin/sh", "-c", _LAUNCH, "sh", *command],
            check=True,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=output,
            env=dict(environment),
            cwd=folder,
            start_new_session=True,
            umask=0o077,
            **as_user(user),
        )
    process = identify(int(launch.stdout))
    if process is None:
        raise Unavailable(f"{Path(command[0]).name} ended at once: {last_line(log)} (whole log: {log})", what="stack")
    return process


def as_user(user: ServiceUser | None) -> dict[str, Any]:
    """The arguments of `subprocess` that drop root's rights. Empty if we are not root."""
    return {} if user is None else {"user": user.uid, "group": user.gid, "extra_groups": []}


def last_line(log: Path) -> str:
    """The last line of a process's log, for the sentence of an error."""
    try:
        lines = log.read_text(encoding="utf-8", errors="replace").strip().splitlines()
    except OSError:
        lines = []
    return lines[-1] if lines else "it said nothing"


def stop_agents(state_dir: Path) -> list[str]:
    """End only the agents of the key folders below this state folder. Return the names of these folders.

    gpg starts an agent for each key folder and never ends it.
    """
    stopped = []
    for home, process in agents(state_dir):
        if end(process, ask=signal.SIGTERM, seconds=limits.KILL_SECONDS):
            stopped.append(home.name)
    return sorted(stopped)


def agents(state_dir: Path) -> list[tuple[Path, Process]]:
    """The agents whose key folder is below the state folder. Processes that we may not look at are left out."""
    pairs = []
    for pid in psutil.pids():
        try:
            candidate = psutil.Process(pid)
            given = candidate.cmdline() if candidate.name() in AGENTS else []
        except psutil.Error:
            continue
        if "--homedir" in given[:-1]:
            home = Path(given[given.index("--homedir") + 1]).resolve()
            if home.is_relative_to(state_dir.resolve()) and (process := identify(pid)):
                pairs.append((home, process))
    return pairs


@contextmanager
def held(path: Path, *, seconds: float, busy: str) -> Iterator[None]:
    """Hold the lock of `path`. If another process holds it for `seconds`, raise Unavailable with the sentence `busy`.

    Child processes do not inherit the descriptor, so a server that is started inside does not keep the lock.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        if not until(lambda: _taken(descriptor), seconds=seconds):
            raise Unavailable(busy, what="state")
        yield
    finally:
        os.close(descriptor)


def _taken(descriptor: int) -> bool:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
