"""IO: the inbox: the requests and stopped runs that wait for people, oldest first, from PostgreSQL alone."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime

from cutter.approvals.eligibility import ineligibility_reason
from cutter.approvals.policy import Approver, ApproverPolicy
from cutter.approvals.schema import APPROVE, RESUME
from cutter.catalogue import Sovereign
from cutter.domain import lanes
from cutter.domain.next_step import Needs, StepFacts, next_step
from cutter.domain.timestamps import utc
from cutter.storage.records import Connection, records
from cutter.storage.runs import BLOCKED_WORKERS, LANES, SHOW_WORKERS
from starter.operator.newer_version import newer_versions


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
