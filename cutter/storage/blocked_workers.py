"""IO: finds the workers whose preflight failed, because a run that needs such a worker waits for a repaired host."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from cutter.catalogue import GATES, WorkerRole
from cutter.domain import recorded_values
from cutter.storage.pools import Connection
from cutter.storage.records import records


@dataclass(frozen=True, slots=True, kw_only=True)
class BlockedWorker:
    """A living worker with the failed checks of its last preflight. `waits` says that it serves nothing yet."""

    worker_id: str
    role: str
    waits: bool
    reasons: Any

    @property
    def sentence(self) -> str:
        """The worker and its reasons, each with its remedy."""
        what = "does not serve" if self.waits else "serves, but its host has a fault"
        return f"{self.worker_id} {what}: {' · '.join(recorded_values.texts(self.reasons))}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Living:
    role: str
    number: int


BLOCKED = records("blocked_workers", BlockedWorker)
LIVING = records("living_workers", Living)

SHOW = "cutter workers"
"""The next command. It shows each reason with its remedy. No command is taken from a reason, which a worker wrote."""


def blocked(connection: Connection) -> list[BlockedWorker]:
    return BLOCKED.all(connection)


def of_state(workers: Sequence[BlockedWorker], state: str) -> list[BlockedWorker]:
    """The blocked workers that a run in this state needs: that of its next gate, and the cutter worker."""
    needed = {WorkerRole.CUTTER.value} | {gate.worker.value for gate in GATES if gate.from_state.value == state}
    return [worker for worker in workers if worker.role in needed]
