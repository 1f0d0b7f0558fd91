"""IO: the dependencies of a worker's activities: settings, pools of its own roles, stores, keys. worker.py builds them
once.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING

from cutter.catalogue import Role, WorkerRole
from cutter.domain.run_record import RunRecord
from cutter.errors import ProgrammingError
from cutter.kb import ids as kb_ids
from cutter.settings import Settings
from cutter.storage.pools import SCRATCH, Pool, open_pool

if TYPE_CHECKING:
    # A gate loads only the modules that it needs.
    from activities.worker.batch_watch import Watches
    from activities.worker.process import Signer
    from cutter.domain.run_record import FrozenHistory
    from cutter.kb.store import Store
    from cutter.messages import Reconciled
    from cutter.storage.gate_transaction import Sealed

ROLES_OF = {
    WorkerRole.CUTTER: (Role.READ, Role.BACKUP),
    WorkerRole.EXEC: (Role.EXEC,),
    WorkerRole.VERIFY: (Role.VERIFY,),
}
"""The database roles of each worker process. In live mode no process has all of them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Deps:
    """Dependencies of the activities of one worker process. `worker` names it in attempts.

    Nothing else is global, except remembered results of pure functions (`gates.pinned_source`).

    `build_id` names the code that the worker runs; it is empty if the process drives no workflow. `history` freezes the
    digest of the history of the workflow that called an activity (`activities.worker.history_digest`). It is None
    outside a workflow. `reconcile_once` runs the reconciler once, and `wake_batch` lets a batch's workflow look at its
    documents; both need a Temporal client. `publish_report` puts the documents that a sealed gate left in the outbox,
    and answers with the (KB id, sha256) of its report (`activities.outbox`).
    """

    settings: Settings
    worker_role: WorkerRole
    worker: str
    tool_revision: str
    pools: dict[str, Pool]
    kb: Store
    signer: Callable[[], Signer]
    watches: Watches
    publish_report: Callable[[Deps, Role, Sealed], tuple[str, str]]
    build_id: str = ""
    history: Callable[[], FrozenHistory | None] = lambda: None
    reconcile_once: Callable[[], Reconciled] | None = None
    wake_batch: Callable[[str], None] = lambda _: None
    after_commit: list[Callable[[str], None]] = field(default_factory=list)

    def pool(self, role: Role) -> Pool:
        """The pool of a role that this worker holds. `pools` may also have one for the database `SCRATCH`."""
        try:
            return self.pools[role]
        except KeyError:
            raise ProgrammingError(f"a {self.worker_role.value} worker does not connect as {role.value}") from None


def open_pools(settings: Settings, worker_role: WorkerRole) -> dict[str, Pool]:
    """One pool for each role of this worker, and one for the database in which a cutter worker proves backups."""
    cap = settings.cap_seconds("backup")
    pools: dict[str, Pool] = {
        role: open_pool(settings, role, statement_seconds=cap if role is Role.BACKUP else 0)
        for role in ROLES_OF[worker_role]
    }
    if Role.BACKUP in pools:
        pools[SCRATCH] = open_pool(settings, Role.BACKUP, database=SCRATCH, statement_seconds=cap)
    return pools


def folder_of(run: RunRecord, content_sha256: str | None) -> str:
    """The run's folder in the knowledge base. A run that has pinned nothing has a folder under its run id."""
    if not run.docprefix or not content_sha256:
        return f"knowledge/dev/runs/{run.run_id}"
    return kb_ids.run_folder(run.docprefix, content_sha256, day_of(run).date(), run.run_id)


def day_of(run: RunRecord) -> datetime:
    """When the run was made, by the database's clock."""
    return datetime.fromisoformat(run.created_at)
