"""IO: what waits for people, from PostgreSQL alone: the inbox, and the queues of batches (seed 001 §10, §11)."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime

from cutter.approvals.eligibility import ineligibility_reason
from cutter.approvals.policy import Approver, ApproverPolicy
from cutter.approvals.schema import APPROVE, RESUME
from cutter.batch import ways
from cutter.catalogue import Sovereign
from cutter.domain import lanes
from cutter.domain.next_step import Needs, StepFacts, next_step
from cutter.domain.timestamps import utc
from cutter.settings import Settings
from cutter.storage import batch_views
from cutter.storage.records import Connection, Rows, records, values
from cutter.storage.runs import BLOCKED_WORKERS, LANES, SHOW_WORKERS
from starter.operator import request_state
from starter.operator.batch_status import age_text
from starter.operator.request_state import newer_versions


@dataclass(frozen=True, slots=True, kw_only=True)
class Waiting(StepFacts):
    """An open run that waits for a person: at a gate with its open request, or stopped (then `gate` is None)."""

    starter: str
    batch_id: str | None
    reason: str | None
    gate: str | None
    kb_id: str | None
    expires_at: datetime | None
    expired: bool | None
    since: datetime
    needed: int
    accepted: list[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class InboxEntry:
    """An open request or a stopped run, as people and programs see it. Times are UTC texts.

    `approvers_accepted` names the people whose approval counts. `you_may_not` says why the person who looks may not
    sign, else it is None. `command` is the next command, and `lane` the run's place in a lane or None. `newer` says
    that a newer version is registered, or is None.
    """

    run_id: str
    document_id: str
    batch_id: str | None
    state: str
    gate: str | None
    needs: str
    reason: str | None
    since_utc: str | None
    expires_utc: str | None
    approvers_needed: int
    approvers_accepted: list[str]
    request_kb_id: str | None
    you_may_not: str | None
    stop_latched: bool
    command: str
    lane: str | None
    newer: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class HostRepair:
    """A worker whose host needs a repair: the fault in one sentence, and the next command."""

    reason: str
    command: str


INBOX = records("inbox", Waiting)

Person = tuple[ApproverPolicy, Approver]
"""The person who looks at the inbox, if known, and the policy that names them."""


def entries(connection: Connection, person: Person | None = None) -> list[InboxEntry]:
    """Open requests and stopped runs, the longest waiting first."""
    rows = INBOX.all(connection)
    held = LANES.one(connection)
    newer = newer_versions(connection, [row.run_id for row in rows])
    listed = []
    for row in rows:
        step = next_step(row)
        of_batch = row.batch_id is not None and step.needs is Needs.APPROVAL
        command = f"cutter approve --batch {row.batch_id}" if of_batch else step.command
        if row.expired:
            # A running workflow ends an expired request by itself.
            command = "cutter reconcile"
        listed.append(InboxEntry(
            run_id=row.run_id, document_id=row.document_id, batch_id=row.batch_id, state=row.state, gate=row.gate,
            needs="expired" if row.expired else step.needs.value, reason=row.reason if row.gate is None else None,
            since_utc=utc(row.since), expires_utc=utc(row.expires_at), approvers_needed=row.needed,
            approvers_accepted=row.accepted, request_kb_id=row.kb_id, you_may_not=_why_not(row, step.needs, person),
            stop_latched=row.latched, command=command, lane=lanes.of_run(held, row.run_id), newer=newer.get(row.run_id),
        ))  # fmt: skip
    return listed


SIGNED = (Needs.APPROVAL, Needs.SIGNED_RESUME, Needs.SIGNED_VOID, Needs.SIGNED_ACKNOWLEDGEMENT)
"""The kinds of decision that need a person's key."""


def _why_not(row: Waiting, needs: Needs, person: Person | None) -> str | None:
    """Why that person may not give the needed signature. None if they may, if no signature is needed, or if the person
    is unknown.
    """
    if person is None or needs not in SIGNED:
        return None
    gate = row.gate or (Sovereign.LIFECYCLE if row.wrote else Sovereign.CUT).value
    decision = APPROVE if needs is Needs.APPROVAL else RESUME
    return ineligibility_reason(*person, gate, decision, starter=row.starter, now=datetime.now(UTC))


def blocked(connection: Connection) -> list[HostRepair]:
    """The workers whose host needs a repair. Runs wait for them as for a person."""
    workers = BLOCKED_WORKERS.all(connection)
    return [HostRepair(reason=worker.sentence, command=SHOW_WORKERS) for worker in workers]


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenEntry:
    """An entry of a queue on which a person can act, with the present state of its run. `now` is the database's
    clock.
    """

    batch_id: str
    document_id: str
    run_id: str | None
    queue: str
    code: str
    reason: str
    kb_id: str
    entered_at: datetime
    state: str | None
    now: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class QueueEntry:
    """An open entry of a queue, as people and programs see it. `since_utc` is a UTC text, and `age` is for people.

    `kb_id` names the document about the entry. `commands` continue the entry's document, in the order to type them.
    """

    queue: str
    document_id: str
    run_id: str | None
    batch_id: str
    state: str | None
    code: str
    reason: str
    since_utc: str | None
    age: str
    kb_id: str
    commands: list[str]


ENTRIES = records("queues", OpenEntry)
DOCUMENT: Rows[str] = values("queue_document")


def queue_entries(
    settings: Settings, connection: Connection, *, batch_id: str | None = None, run_id: str | None = None
) -> list[QueueEntry]:
    """Open entries, the longest waiting first."""
    rows = ENTRIES.all(connection, {"batch_id": batch_id, "run_id": run_id})
    rejected = request_state.rejections(settings, connection, (row.run_id for row in rows if row.run_id))
    named: dict[str, list[str]] = {}
    for row in rows:
        named.setdefault(row.batch_id, []).append(row.document_id)
    steps = {
        (name, item.document_id): ways.item_step(name, item)
        for name, documents in named.items()
        for item in batch_views.view(connection, name, documents).items
    }
    listed = []
    for row in rows:
        step, rejection = steps[(row.batch_id, row.document_id)], rejected.get(row.run_id or "")
        listed.append(QueueEntry(
            queue=row.queue, document_id=row.document_id, run_id=row.run_id, batch_id=row.batch_id, state=row.state,
            code=row.code, reason=request_state.rejection_sentence(rejection) if rejection else row.reason,
            since_utc=utc(row.entered_at), age=age_text(row.entered_at.isoformat(), row.now.isoformat()),
            kb_id=row.kb_id, commands=list(step.commands) if step else [f"cutter status {row.document_id}"],
        ))  # fmt: skip
    return listed


def queue_document(connection: Connection, kb_id: str) -> str:
    """The text of the document about an entry; empty if there is none."""
    return DOCUMENT.first(connection, {"kb_id": kb_id}) or ""
