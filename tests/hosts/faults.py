"""IO: the faults in turn: each worker, node and server is killed or stopped, and each way between them is cut.

Nobody repairs anything afterwards. The process managers of the hosts start what has ended, and a cluster manager
promotes the standby, as in any deployment with two servers.
"""

from __future__ import annotations

import signal
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from time import sleep

from cutter.limits import HEARTBEAT_TIMEOUT_SECONDS
from cutter.stack.processes import alive, until
from tests.hosts.cluster import Cluster

STOPPED_SECONDS = 8
ZOMBIE_SECONDS = HEARTBEAT_TIMEOUT_SECONDS + 3
"""Another worker has the gate of a worker that was stopped for so long."""

CUT_SECONDS = 6
BUILD = "a"


@dataclass(frozen=True, slots=True)
class Fault:
    """What happens, and the function that does it."""

    name: str
    play: Callable[[], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Played:
    """A fault with the seconds until the batch sealed its next gate, or was ready for signatures.

    `at_work`: the phase had gates to seal when it came.
    """

    name: str
    sealed: int
    seconds: float
    at_work: bool


@dataclass(frozen=True, slots=True)
class Faults:
    """The faults of a cluster, by the phase of the batch in which they come."""

    cluster: Cluster

    def while_planning(self) -> list[Fault]:
        """Cutter workers and the engine work."""
        return [
            self._killed("cutter-1"), self._node_killed("node-1"), self._frozen("cutter-2", "law_a", "law_b"),
            self._stopped("cutter-2"), self._node_killed("node-2"), self._store_stopped(),
        ]  # fmt: skip

    def while_writing(self) -> list[Fault]:
        """All workers work. What writes comes first, because these gates take the least time."""
        return [
            self._killed("exec-1"),
            Fault("primary killed (SIGKILL), standby promoted, a new standby follows", self._failed_over),
            self._killed("verify-1"),
            Fault(f"primary stopped for {STOPPED_SECONDS} s (SIGSTOP)", self._primary_stopped),
            self._cut("exec-1", "law_a", "law_b", "temporal"), self._stopped("exec-2", ZOMBIE_SECONDS),
            self._frozen("cutter-1", "temporal"),
        ]  # fmt: skip

    def while_enacting(self) -> list[Fault]:
        """Once more on the new primary, and both nodes at once."""
        return [
            self._killed("exec-2"), self._killed("verify-2"), self._killed("cutter-2"),
            Fault(f"standby stopped for {STOPPED_SECONDS} s (SIGSTOP)", self._standby_stopped),
            Fault("both nodes killed (SIGKILL)", self._both_nodes_killed),
            Fault("the engine's PostgreSQL killed (SIGKILL)", self._engine_database_killed),
            Fault(f"every wire of every host cut for {CUT_SECONDS} s", self._all_cut),
        ]  # fmt: skip

    # --- processes ------------------------------------------------------------------------------------------------

    def _killed(self, host: str) -> Fault:
        return Fault(f"{host} killed (SIGKILL)", partial(self._kill, f"{host}@{BUILD}"))

    def _node_killed(self, node: str) -> Fault:
        return Fault(f"{node} of Temporal killed (SIGKILL)", partial(self._kill, node))

    def _stopped(self, host: str, seconds: int = STOPPED_SECONDS) -> Fault:
        return Fault(f"{host} stopped for {seconds} s (SIGSTOP)", partial(self._pause, f"{host}@{BUILD}", seconds))

    def _store_stopped(self) -> Fault:
        return Fault(f"S3 stopped for {STOPPED_SECONDS} s (SIGSTOP)", partial(self._pause, "store"))

    def _kill(self, name: str) -> None:
        """The victim lives when it is killed."""
        keeper = self.cluster.keeper
        assert until(lambda: alive(keeper.processes[name]), seconds=60), f"{name} was not started again"
        keeper.kill(name)

    def _pause(self, name: str, seconds: int = STOPPED_SECONDS) -> None:
        self.cluster.keeper.signal(name, signal.SIGSTOP)
        sleep(seconds)
        self.cluster.keeper.signal(name, signal.SIGCONT)

    def _both_nodes_killed(self) -> None:
        for node in ("node-1", "node-2"):
            self._kill(node)

    # --- databases ------------------------------------------------------------------------------------------------

    def _primary_stopped(self) -> None:
        self.cluster.laws.primary.send(signal.SIGSTOP)
        sleep(STOPPED_SECONDS)
        self.cluster.laws.primary.send(signal.SIGCONT)

    def _standby_stopped(self) -> None:
        """No COMMIT is answered meanwhile."""
        self.cluster.laws.standby.send(signal.SIGSTOP)
        sleep(STOPPED_SECONDS)
        self.cluster.laws.standby.send(signal.SIGCONT)

    def _failed_over(self) -> None:
        self.cluster.laws.fail_over()
        self.cluster.laws.follow()

    def _engine_database_killed(self) -> None:
        self.cluster.engine.database.send(signal.SIGKILL)

    # --- the network ----------------------------------------------------------------------------------------------

    def _cut(self, host: str, *ways: str) -> Fault:
        name = f"{host} without network for {CUT_SECONDS} s (connections end)"
        return Fault(name, partial(self._away, [f"{host} {way}" for way in ways], "cut"))

    def _frozen(self, host: str, *ways: str) -> Fault:
        name = f"{host} hears nothing of {' and '.join(ways)} for {STOPPED_SECONDS} s (packets are lost)"
        return Fault(name, partial(self._away, [f"{host} {way}" for way in ways], "freeze"))

    def _all_cut(self) -> None:
        self._away(list(self.cluster.network.wires), "cut")

    def _away(self, wires: list[str], how: str) -> None:
        chosen = [self.cluster.network.wires[name] for name in wires]
        for wire in chosen:
            getattr(wire, how)()
        sleep(CUT_SECONDS if how == "cut" else STOPPED_SECONDS)
        for wire in chosen:
            wire.mend()
