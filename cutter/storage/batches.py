"""IO: compares a queue with the database, registers it as a batch, and reads the view of a batch."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from uuid import UUID

from psycopg.types.json import Jsonb

from cutter import limits
from cutter.approvals.policy_file import parse_policy
from cutter.batch.admission import Known, check_against, decided_before_start, items_of
from cutter.batch.item import Item
from cutter.batch.queue import Queue, QueueRefused, load_queue
from cutter.batch.view import FailurePolicy
from cutter.batch.ways import UnsignedFailure, include_command
from cutter.errors import Conflict
from cutter.marking import parse_profile
from cutter.messages import Mode
from cutter.storage.gate_transaction import call
from cutter.storage.policies import EPOCH
from cutter.storage.records import Connection, Rows, records, values
from cutter.types import Json


@dataclass(frozen=True, slots=True, kw_only=True)
class _Document(Known):
    """The registered facts about a document. Its profile and version are None if it has no text."""

    document_id: str
    version_id: UUID | None
    profile_sha256: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class _Profile:
    profile_sha256: str
    profile_body: str


DOCUMENTS = records("batch_known", _Document)
PROFILES = records("profiles_of_versions", _Profile)
WEIGHTS: Rows[dict[str, int]] = values("tenant_weights")
"""Takes `tenants`. A registered batch keeps the weights of its registration."""
REGISTERED: Rows[str] = values("batch_of_queue")


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """The options of a batch (seed 001 §2, §6, §7). An unattended document without an approval goes to human review."""

    mode: Mode = "live"
    policy: FailurePolicy = "default"
    lanes: int = limits.BATCH_LANES
    # The hard cap of a batch whose approvals people give at any time.
    hard_cap_minutes: float = 7 * 24 * 60
    unattended: bool = False
    skip_completed: bool = False
    items_max: int = limits.QUEUE_ITEMS_DEFAULT

    @classmethod
    def overnight(cls, mode: Mode = "live", items_max: int = limits.QUEUE_ITEMS_DEFAULT) -> Options:
        """The options of a batch at night: two lanes, quarantine, six hours, unattended."""
        return cls(
            # The hard cap of a batch that nobody watches (seed 001 §7).
            mode=mode, policy="quarantine", lanes=2, unattended=True,
            hard_cap_minutes=360, items_max=items_max,
        )  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class ItemRow:
    """An item of a batch in the form in which the database registers it.

    `position` counts from the top of the queue, and a higher `priority` comes first. `decided` says why the item gets
    no run, with its `reason`. Both are None for an item that may start.
    """

    document_id: str
    position: int
    priority: int
    depends_on: tuple[str, ...]
    critical: bool
    tenant: str
    source_uri: str | None
    marking_profile: str | None
    decided: str | None
    reason: str | None
    scope: str | None
    actor: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Admission:
    """The items that a batch would start: in the form of the database (`rows`), and in the form of the planner.

    `law_by` maps a document to the run that enacted its newest version. Its run in this batch would end as skipped.
    """

    queue: Queue
    rows: tuple[ItemRow, ...]
    items: tuple[Item, ...]
    law_by: Mapping[str, str]


def known_documents(connection: Connection, document_ids: Sequence[str]) -> dict[str, Known]:
    """The facts of the database about these documents. Unknown documents are missing from the result."""
    rows = DOCUMENTS.all(connection, {"document_ids": list(document_ids)})
    # The own scope of each profile, read from one of its source versions. None if the profile knows no status.
    versions = {row.profile_sha256: row.version_id for row in rows if row.version_id}
    profiles = PROFILES.all(connection, {"ids": list(versions.values())})
    scopes: dict[str | None, str | None] = {
        profile.profile_sha256: parse_profile(profile.profile_body.encode()).scope for profile in profiles
    }
    return {
        row.document_id: replace(
            row, scope=scopes.get(row.profile_sha256) and (row.scope or scopes[row.profile_sha256])
        )
        for row in rows
    }


def admit(connection: Connection, data: bytes, options: Options) -> Admission:
    """Compare a queue.yaml with the database. Raises QueueRefused if it is wrong. This function writes nothing."""
    queue = load_queue(data, items_max=options.items_max)
    known = known_documents(connection, [item.document_id for item in queue.items])
    # A registered batch keeps what was checked at its registration, so a resume is not refused by a later change.
    named = {"batch_id": name_of(queue, options), "queue_sha256": queue.sha256}
    if REGISTERED.first(connection, named) is None:
        epoch = EPOCH.first(connection)
        policy = parse_policy(epoch.body.encode()) if epoch is not None else None
        approvers = frozenset(approver.name for approver in policy.approvers) if policy is not None else None
        wrong = tuple(problem for problem in check_against(queue, known, approvers) if not problem.alone)
        if wrong:
            raise QueueRefused(wrong)
    decided = decided_before_start(queue, known, skip_completed=options.skip_completed)
    rows = []
    for item in queue.items:
        decision = decided.get(item.document_id)
        rows.append(
            ItemRow(
                document_id=item.document_id, position=item.position, priority=item.priority,
                depends_on=tuple(item.depends_on), critical=item.critical, tenant=known[item.document_id].tenant,
                source_uri=item.source_uri, marking_profile=item.marking_profile,
                decided=decision.outcome.value if decision else None, reason=decision.reason if decision else None,
                scope=item.scope or queue.default_scope, actor=item.actor,
            )
        )  # fmt: skip
    law_by = {name: document.enacted_run for name, document in known.items() if document.enacted_run}
    return Admission(queue=queue, rows=tuple(rows), items=tuple(items_of(queue, known, decided)), law_by=law_by)


def name_of(queue: Queue, options: Options) -> str:
    """The batch's id. The rehearsal of a queue is a separate batch with another id."""
    return f"{queue.batch_id}-dryrun" if options.mode == "dryrun" else queue.batch_id


def register(
    connection: Connection, admission: Admission, options: Options, *, run_caps: Json, starter: str
) -> tuple[str, bool]:
    """Register a batch and return (batch id, whether it is new). Raises Conflict if another queue has this id.

    No document gets a cap of `run_caps` that is longer than the batch's own.
    """
    queue = admission.queue
    batch_id = name_of(queue, options)
    hard_seconds = options.hard_cap_minutes * 60
    caps = {**run_caps, "hard_seconds": min(run_caps["hard_seconds"], hard_seconds)}
    answer = call(
        connection,
        dict,
        "select cutter_governance.fn_batch_register(%s, %s)",
        (
            Jsonb({
                "batch_id": batch_id, "queue_sha256": queue.sha256, "mode": options.mode, "policy": options.policy,
                "unattended": options.unattended, "lanes": options.lanes,
                "hard_cap_seconds": hard_seconds, "caps": caps, "created_by": queue.created_by,
                "starter": starter, "default_scope": queue.default_scope, "default_actor": queue.default_actor,
            }),
            Jsonb([asdict(row) for row in admission.rows]),
        ),
    )  # fmt: skip
    if answer["status"] == "conflict":
        raise Conflict(
            f"batch {batch_id} was made from another queue (sha256 {answer['queue_sha256'][:16]}, this one is "
            f"{queue.sha256[:16]}): give the changed queue a batch_id of its own",
            code="STOP_BATCH_CONFLICT",
        )
    return batch_id, answer["status"] == "registered"


def _unsigned_failure(document_id: str, run_id: str, state: str, batch_id: str | None) -> UnsignedFailure:
    again = include_command(batch_id, document_id) if batch_id else f"cutter run {document_id} --amends {run_id}"
    return UnsignedFailure(document_id=document_id, run_id=run_id, state=state, sign=again)


FAILED = records("failed_runs", _unsigned_failure)
"""Takes `document_ids`; the newest failed run of each document, with the command that continues it."""
