"""IO: GnuPG's agents. gpg starts one for each key folder by itself and never ends it; `down` does."""

from __future__ import annotations

import signal
from pathlib import Path

import psutil

from cutter import limits
from cutter.stack.processes import Process, end, identify

NAMES = ("gpg-agent", "scdaemon", "keyboxd")


def stop_agents(state_dir: Path) -> list[str]:
    """End the agents of the key folders below this state folder, and of no other; the folders' names."""
    stopped = []
    for home, process in agents(state_dir):
        if end(process, ask=signal.SIGTERM, seconds=limits.KILL_SECONDS):
            stopped.append(home.name)
    return sorted(stopped)


def agents(state_dir: Path) -> list[tuple[Path, Process]]:
    """Agents whose key folder lies below, as far as we may look."""
    found = []
    for pid in psutil.pids():
        home = _home_of(pid)
        if home is not None and home.is_relative_to(state_dir.resolve()) and (process := identify(pid)):
            found.append((home, process))
    return found


def _home_of(pid: int) -> Path | None:
    try:
        candidate = psutil.Process(pid)
        if candidate.name() not in NAMES:
            return None
        given = candidate.cmdline()
    except psutil.Error:
        return None
    return Path(given[given.index("--homedir") + 1]).resolve() if "--homedir" in given[:-1] else None
