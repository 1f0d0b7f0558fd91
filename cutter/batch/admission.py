"""Pure: compares a queue with the facts of the database about its documents.

It finds reasons to refuse the queue, and items to settle before the start. The caller reads the facts. A document
without facts does not exist.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass

from cutter.batch.item import Item, Outcome, Stage
from cutter.batch.queue import Problem, Queue, QueueItem
from cutter.errors import InvalidInput

UNKNOWN = "STOP_DOCUMENT_UNKNOWN"
BUSY = "STOP_RUN_BUSY"
OTHER_SCOPE = "STOP_OTHER_SCOPE"
NO_APPROVER = "STOP_NO_SUCH_APPROVER"


@dataclass(frozen=True, slots=True, kw_only=True)
class Known:
    """A registered document, with runs of its newest version, but `open_run` of any version and mode. `scope` is that
    in which the version is cut; None: its profile knows no status.
    """

    docprefix: str
    tenant: str
    profile: str | None
    open_run: str | None = None
    enacted_run: str | None = None
    failed_run: str | None = None
    scope: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """The outcome of an item that the batch does not start, and the reason."""

    outcome: Outcome
    reason: str


def check_against(queue: Queue, known: Mapping[str, Known], approvers: Collection[str] | None = None) -> list[Problem]:
    """All problems by line. One that is `alone` refuses only its own item (STOP_RUN_BUSY). `approvers` are those of the
    policy in force; None: there is no policy yet.
    """
    problems = []
    for item in queue.items:
        facts, profile = known.get(item.document_id), item.marking_profile
        add = f"cutter source add FILE --document-id {item.document_id} --profile {profile or 'NAME'}"
        if facts is None:
            text = f"{item.document_id} is not registered: type `{add}`"
            problems.append(_problem(item, "document_id", text, code=UNKNOWN, then=add))
            continue
        if item.tenant not in (None, facts.tenant):
            text = f"{item.tenant} is not the tenant of this document, which is {facts.tenant}; leave the field out"
            problems.append(_problem(item, "tenant", text))
        if profile not in (None, facts.profile):
            text = f"{profile} is not the profile of the newest version, which is {facts.profile}: type `{add}`"
            problems.append(_problem(item, "marking_profile", text, then=add))
        if facts.open_run:
            look = f"cutter status {facts.open_run}"
            text = f"{item.document_id} is busy: see `{look}`"
            problems.append(_problem(item, "document_id", text, code=BUSY, alone=True, then=look))
        wanted = item.scope or queue.default_scope
        if facts.scope not in (None, wanted):
            add = f"cutter source add FILE --document-id {item.document_id} --profile {facts.profile} --scope {wanted}"
            text = (
                f"{wanted}, but {item.document_id} is registered with scope {facts.scope}: type `{add}`, or give the "
                f"item `scope: {facts.scope}`"
            )
            problems.append(_problem(item, "scope" if item.scope else "document_id", text, code=OTHER_SCOPE, then=add))
    return sorted(problems + _overlaps(queue, known) + _strangers(queue, approvers))


def decided_before_start(
    queue: Queue, known: Mapping[str, Known], *, skip_completed: bool = False
) -> dict[str, Decision]:
    """Items that are settled without a run of this batch (seed 001 §9 "skip-completed_semantics"). A failed document is
    blocked, not skipped, so that its dependents wait until a signature includes it again.
    """
    decided = {}
    for item in queue.items:
        facts = known.get(item.document_id)
        if facts is None:
            continue
        if facts.open_run:
            outcome, reason = Outcome.BUSY, f"{BUSY}: its run {facts.open_run} is open"
        elif skip_completed and facts.enacted_run:
            outcome, reason = Outcome.SKIPPED, f"this version is already enacted, by run {facts.enacted_run}"
        elif skip_completed and facts.failed_run:
            outcome = Outcome.BLOCKED
            reason = f"its run {facts.failed_run} failed: --include-failed and a signature include it again"
        else:
            continue
        decided[item.document_id] = Decision(outcome=outcome, reason=reason)
    return decided


def items_of(queue: Queue, known: Mapping[str, Known], decided: Mapping[str, Decision] | None = None) -> list[Item]:
    """The plan's items, in the file's order, each in its document's tenant."""
    items = []
    for item in queue.items:
        decision = (decided or {}).get(item.document_id)
        items.append(
            Item(
                document_id=item.document_id,
                position=item.position,
                priority=item.priority,
                depends_on=item.depends_on,
                critical=item.critical,
                tenant=known[item.document_id].tenant,
                stage=Stage.SETTLED if decision else Stage.PENDING,
                outcome=decision.outcome if decision else None,
            )
        )
    return items


def _strangers(queue: Queue, approvers: Collection[str] | None) -> list[Problem]:
    """Finds actors whom the policy does not know, because nobody would see a request that is addressed to them."""
    if approvers is None:
        return []
    known = f"is no approver; the policy names {', '.join(sorted(approvers)) or 'nobody'}"
    problems = [
        _problem(item, "actor", f"{item.actor} {known}", code=NO_APPROVER)
        for item in queue.items
        if item.actor is not None and item.actor not in approvers
    ]
    if queue.default_actor is not None and queue.default_actor not in approvers:
        text = f"{queue.default_actor} {known}"
        problems.append(Problem(line=0, field="default_actor", text=text, code=NO_APPROVER))
    return problems


def _overlaps(queue: Queue, known: Mapping[str, Known]) -> list[Problem]:
    """Finds documents whose addresses could collide, by whole segments: ICX-LAW-1 and ICX-LAW-10 do not."""
    owners: dict[tuple[str, ...], QueueItem] = {}
    for item in queue.items:
        if item.document_id in known:
            owners.setdefault(_segments(known[item.document_id].docprefix), item)
    problems = []
    for item in queue.items:
        segments = _segments(known[item.document_id].docprefix) if item.document_id in known else ()
        above = (owners.get(segments[:end]) for end in range(1, len(segments) + 1))
        other = next((owner for owner in above if owner not in (None, item)), None)
        if other is not None:
            text = f"its docprefix overlaps that of {other.document_id} (line {other.line}): put them into two queues"
            problems.append(_problem(item, "document_id", text))
    return problems


def _segments(docprefix: str) -> tuple[str, ...]:
    return tuple(docprefix.split("/"))


def _problem(
    item: QueueItem, field: str, text: str, *, code: str = InvalidInput.code, alone: bool = False, then: str = ""
) -> Problem:
    return Problem(
        line=item.line, field=f"items[{item.position - 1}].{field}", text=text, document_id=item.document_id,
        code=code, alone=alone, then=then,
    )  # fmt: skip
