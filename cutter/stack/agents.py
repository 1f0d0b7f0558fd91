"""IO: ends GnuPG's agents. gpg starts an agent for each key folder and never ends it, so `cutter down` ends it."""

from __future__ import annotations

import signal
from pathlib import Path

import psutil

from cutter import limits
from cutter.stack.processes import Process, end, identify

NAMES = ("gpg-agent", "scdaemon", "keyboxd")


def stop_agents(state_dir: Path) -> list[str]:
    """End only the agents of the key folders below this state folder. Return the names of these folders."""
    stopped = []
    for home, process in agents(state_dir):
        if end(process, ask=signal.SIGTERM, seconds=limits.KILL_SECONDS):
            stopped.append(home.name)
    return sorted(stopped)


def agents(state_dir: Path) -> list[tuple[Path, Process]]:
    """The agents whose key folder is below the state folder. Processes that we may not look at are left out."""
    pairs = []
    for pid in psutil.pids():
        home = _home_of(pid)
        if home is not None and home.is_relative_to(state_dir.resolve()) and (process := identify(pid)):
            pairs.append((home, process))
    return pairs


def _home_of(pid: int) -> Path | None:
    try:
        candidate = psutil.Process(pid)
        if candidate.name() not in NAMES:
            return None
        given = candidate.cmdline()
    except psutil.Error:
        return None
    return Path(given[given.index("--homedir") + 1]).resolve() if "--homedir" in given[:-1] else None
