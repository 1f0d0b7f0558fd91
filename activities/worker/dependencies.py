"""IO: the dependencies of a worker's activities: settings, pools of its own roles, stores, keys. worker.py builds them
once.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, Any, NoReturn

from activities.worker.batch_watch import Watches
from cutter.approvals import approver_store
from cutter.approvals.policy import ApproverPolicy
from cutter.catalogue import Role, WorkerRole
from cutter.domain.frozen_history import FrozenHistory
from cutter.domain.run_record import RunRecord
from cutter.errors import ProgrammingError, Unavailable
from cutter.gpg import Gpg
from cutter.kb import folder as kb_folder
from cutter.kb.store import Store
from cutter.messages import Reconciled
from cutter.settings import Settings
from cutter.storage.pools import SCRATCH, Pool, open_pool

if TYPE_CHECKING:
    # A gate that makes no backup loads none of its modules.
    from cutter.backup.record import BackupRefusal, Proved

ROLES_OF = {
    WorkerRole.CUTTER: (Role.READ, Role.BACKUP),
    WorkerRole.EXEC: (Role.EXEC,),
    WorkerRole.VERIFY: (Role.VERIFY,),
}
"""The database roles of each worker process. In live mode no process has all of them."""


def _makes_no_backup(**_: Any) -> NoReturn:
    raise ProgrammingError("this process makes no backups")


@dataclass(frozen=True, slots=True, kw_only=True)
class Signer:
    """This worker's own signing key (executor or verifier)."""

    gpg: Gpg
    fingerprint: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Deps:
    """Dependencies of the activities of one worker process. `worker` names it in attempts.

    Nothing else is global, except remembered results of pure functions (`gates.pinned_source`).

    `build_id` names the code that the worker runs; it is empty if the process drives no workflow. `history` freezes the
    digest of the history of the workflow that called an activity (`activities.worker.history_digest`). It is None
    outside a workflow. `reconcile_once` runs the reconciler once, and `wake_batch` lets a batch's workflow look at its
    documents; both need a Temporal client. `back_up` makes and proves a backup (`cutter.backup.take`).
    """

    settings: Settings
    worker_role: WorkerRole
    worker: str
    tool_revision: str
    pools: dict[str, Pool]
    kb: Store
    signer: Callable[[], Signer]
    build_id: str = ""
    history: Callable[[], FrozenHistory | None] = lambda: None
    reconcile_once: Callable[[], Reconciled] | None = None
    wake_batch: Callable[[str], None] = lambda _: None
    back_up: Callable[..., Proved | BackupRefusal] = _makes_no_backup
    after_commit: list[Callable[[str], None]] = field(default_factory=list)
    watches: Watches = field(default_factory=Watches)

    def pool(self, role: Role) -> Pool:
        """The pool of a role that this worker holds. `pools` may also have one for the database `SCRATCH`."""
        try:
            return self.pools[role]
        except KeyError:
            raise ProgrammingError(f"a {self.worker_role.value} worker does not connect as {role.value}") from None

    def policy(self, sha256: str) -> tuple[ApproverPolicy, Gpg]:
        """The policy epoch whose sha256 the database names, with the approvers' keyring."""
        return approver_store.load_current(self.settings.approvers, sha256)


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


def signer_of(settings: Settings, name: str) -> Callable[[], Signer]:
    """The key in `<keys_dir>/<name>`. It is looked up at its first use, and again after the home has changed."""
    opened: list[Gpg] = []

    def load() -> Signer:
        home = settings.key_home(name)
        if not home.is_dir():
            raise Unavailable(
                f"no {name} key at {settings.keys / name}: type",
                then="cutter up",
                rest=", or put the GnuPG home there",
                what="gpg",
            )
        if not opened:
            opened.append(Gpg(home))
        gpg = opened[0]
        fingerprints = gpg.primary_fingerprints(secret=True)
        if len(fingerprints) != 1:
            raise Unavailable(f"{home} holds {len(fingerprints)} secret keys, it must hold one", what="gpg")
        return Signer(gpg=gpg, fingerprint=fingerprints[0])

    return load


def folder_of(run: RunRecord, content_sha256: str | None) -> str:
    """The run's folder in the knowledge base. A run that has pinned nothing has a folder under its run id."""
    if not run.docprefix or not content_sha256:
        return f"knowledge/dev/runs/{run.run_id}"
    return kb_folder.run_folder(run.docprefix, content_sha256, day_of(run).date(), run.run_id)


def day_of(run: RunRecord) -> datetime:
    """When the run was made, by the database's clock."""
    return datetime.fromisoformat(run.created_at)
