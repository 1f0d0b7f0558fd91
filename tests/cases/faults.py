"""IO: the table of faults: what a campaign does to a stack of processes at work. Each is over when it returns."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from time import sleep

import psutil

from cutter.catalogue import WorkerRole
from cutter.limits import MIB
from tests.cases.trials import Dice
from tests.support.processes import CUTTER_WORKER, EXEC, POSTGRES, TEMPORAL, VERIFY, Stack, behind_proxy, kill
from tests.support.proxy import CommitProxy, Cut

WORKERS = (CUTTER_WORKER, EXEC, VERIFY)
STOPPED_SECONDS = (1, 6)
"""A stopped process, a knowledge base or a disk that is away: below and above the heartbeat timeout."""
CUT_SECONDS = 20
"""A gate that writes comes by within this while a batch works; else there was nothing to cut."""
DISK_BYTES = 3 * 1024 * MIB
"""Of the file system that is filled: a stack asks for a gigabyte of free space before it starts."""


@dataclass(slots=True, kw_only=True)
class Faults:
    """Strikes at one stack. `proxy` is where connections may be cut."""

    stack: Stack
    dice: Dice
    proxy: CommitProxy | None = None

    def strike(self, kind: str) -> bool:
        """Do it, and undo it; False when there was nothing to do it to."""
        return KINDS[kind](self) is not False

    def up(self) -> None:
        """`cutter up` after a death; once more when the first one met what was still going down."""
        if self.stack.cutter("up").returncode != 0:
            self.stack.up()

    def kill(self, *names: str) -> None:
        """SIGKILL to each, then `cutter up`."""
        for name in names:
            kill(self.stack.process(name))
        self.up()

    def stop(self, processes: Sequence[psutil.Process]) -> None:
        """SIGSTOP, a while, SIGCONT."""
        for process in processes:
            _signal(process, signal.SIGSTOP)
        sleep(self.dice.between(*STOPPED_SECONDS))
        for process in processes:
            _signal(process, signal.SIGCONT)

    def process(self, name: str) -> psutil.Process:
        return psutil.Process(self.stack.process(name).pid)

    def cut(self) -> bool:
        """The exec worker's connection ends at some COMMIT or before it."""
        assert self.proxy is not None
        behind_proxy(self.stack, EXEC, WorkerRole.EXEC, self.proxy)
        how = self.dice.choose([Cut.ANSWER, Cut.ANSWER, Cut.RACE, Cut.REQUEST, Cut.STATEMENT])
        happened = self.proxy.arm(how, word="fn_gate_close").happened(CUT_SECONDS)
        self.proxy.disarm()
        return happened

    def away(self) -> None:
        """The knowledge base's folder has another name for a while."""
        kb = self.stack.state / "kb"
        hidden = kb.with_name("kb.away")
        kb.rename(hidden)
        sleep(self.dice.between(*STOPPED_SECONDS))
        hidden.rename(kb)

    def fill(self) -> None:
        """Not a byte is free, for anything that the stack writes: database, engine, documents, logs."""
        with full(self.stack.state):
            sleep(self.dice.between(*STOPPED_SECONDS))
        self.stack.up()  # at the first attempt

    def end_agents(self) -> None:
        """Every gpg-agent of the stack dies; each gpg starts another."""
        ours = str(self.stack.state)
        for process in psutil.process_iter(["name", "cmdline"]):
            if process.info["name"] == "gpg-agent" and any(
                word.startswith(ours) for word in process.info["cmdline"] or ()
            ):
                _signal(process, signal.SIGKILL)


KINDS: dict[str, Callable[[Faults], bool | None]] = {
    "worker killed": lambda f: f.kill(f.dice.choose(WORKERS)),
    "worker stopped": lambda f: f.stop([f.process(f.dice.choose(WORKERS))]),
    "Temporal killed": lambda f: f.kill(TEMPORAL),
    "Temporal stopped": lambda f: f.stop([f.process(TEMPORAL)]),
    "PostgreSQL killed": lambda f: f.kill(POSTGRES),
    "PostgreSQL stopped": lambda f: f.stop([f.process(POSTGRES), *f.process(POSTGRES).children(recursive=True)]),
    "connection cut": Faults.cut,
    "knowledge base away": Faults.away,
    "disk full": Faults.fill,
    "gpg agents gone": Faults.end_agents,
}
"""By name. A stepped clock is not among them: the product reads the database's, which no test may move; a campaign
signs with a stepped clock instead."""


def _signal(process: psutil.Process, number: signal.Signals) -> None:
    with suppress(psutil.NoSuchProcess):
        process.send_signal(number)


@contextmanager
def own_disk(folder: Path) -> Iterator[str]:
    """Mount a small file system at an empty folder; the reason where this machine does not allow it."""
    if os.geteuid() != 0:
        yield "a full disk needs a mount, and that needs root"
        return
    words = ["mount", "-t", "tmpfs", "-o", f"size={DISK_BYTES},mode=0700", "tmpfs", str(folder)]
    if subprocess.run(words, check=False, capture_output=True).returncode != 0:
        yield "this machine does not let root mount a small file system"
        return
    try:
        yield ""
    finally:
        subprocess.run(["umount", "-l", str(folder)], check=True)


@contextmanager
def full(folder: Path) -> Iterator[None]:
    """No byte is free on the folder's file system until the block ends."""
    filler = folder / "filler"
    try:
        with filler.open("wb", buffering=0) as file:
            with suppress(OSError):
                os.posix_fallocate(file.fileno(), 0, shutil.disk_usage(folder).free - MIB)
            file.seek(0, os.SEEK_END)
            with suppress(OSError):
                while file.write(bytes(4096)) == 4096:
                    pass
        yield
    finally:
        filler.unlink()
