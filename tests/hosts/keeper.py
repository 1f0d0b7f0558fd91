"""IO: the process manager of the cluster. It starts processes and starts again those that end, as systemd does."""

from __future__ import annotations

import signal
import threading
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from time import monotonic

from cutter.errors import Unavailable
from cutter.stack.processes import Process, ServiceUser, alive, end, last_line, send, spawn, until

RESTART_SECONDS = 1.0
LOOK_SECONDS = 0.25


@dataclass(frozen=True, slots=True, kw_only=True)
class Unit:
    """A process as a unit file describes it. `restarts`: the keeper starts it again after its end.

    `last` is the signal at the end of the cluster.
    """

    name: str
    command: Sequence[str]
    environment: Mapping[str, str]
    user: ServiceUser
    folder: Path
    log: Path
    restarts: bool = True
    last: signal.Signals = signal.SIGKILL


@dataclass(slots=True)
class Keeper:
    """All processes by name. `restarted` counts what the process manager did."""

    processes: dict[str, Process] = field(default_factory=dict)
    units: dict[str, Unit] = field(default_factory=dict)
    restarted: Counter[str] = field(default_factory=Counter)
    _ended: dict[str, float] = field(default_factory=dict)
    _lock: threading.RLock = field(default_factory=threading.RLock)
    _over: threading.Event = field(default_factory=threading.Event)

    def begin(self) -> None:
        threading.Thread(target=self._watch, daemon=True, name="keeper").start()

    def start(self, unit: Unit) -> None:
        """Start a process. Raises Unavailable if it ends at once."""
        with self._lock:
            process = spawn(
                unit.command, log=unit.log, environment=unit.environment, folder=unit.folder, user=unit.user
            )
            self.processes[unit.name], self.units[unit.name] = process, unit

    def signal(self, name: str, number: signal.Signals) -> None:
        """Send a signal to a process, which need not live."""
        send(self.processes[name], number)

    def kill(self, name: str) -> None:
        """SIGKILL, and wait until it is gone."""
        self.signal(name, signal.SIGKILL)
        until(lambda: not alive(self.processes[name]), seconds=10)

    def stop(self, name: str, *, seconds: float = 60) -> None:
        """SIGTERM to a process, which ends after its work and is started no more."""
        with self._lock:
            del self.units[name]
            process = self.processes[name]
        if not end(process, ask=signal.SIGTERM, seconds=seconds):
            end(process, ask=signal.SIGKILL, seconds=10)

    def close(self) -> None:
        """End everything, the newest first."""
        self._over.set()
        with self._lock:
            for name, unit in reversed(self.units.items()):
                self.signal(name, signal.SIGCONT)
                end(self.processes[name], ask=unit.last, seconds=10)

    def said(self, name: str) -> str:
        """The last line of a process's log."""
        return last_line(self.units[name].log)

    def _watch(self) -> None:
        while not self._over.wait(LOOK_SECONDS):
            with self._lock:
                for name, unit in list(self.units.items()):
                    if unit.restarts and not alive(self.processes[name]):
                        self._again(unit)

    def _again(self, unit: Unit) -> None:
        """Start an ended process again after a pause."""
        since = self._ended.setdefault(unit.name, monotonic())
        if monotonic() - since < RESTART_SECONDS:
            return
        del self._ended[unit.name]
        self.restarted[unit.name] += 1
        try:
            self.start(unit)
        except Unavailable:
            return
