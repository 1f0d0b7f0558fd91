"""Pure: decides what a batch does next from the database's view of it (`fn_batch_seen`): starts, stops, queues, its
state.

This module remembers nothing between two looks, so the same view always gives the same answer.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Literal

from cutter import limits
from cutter.batch import plan
from cutter.batch.item import BATCH, REVIEW, Item, Stage
from cutter.batch.state import ENDS, batch_state, is_partial, stops_the_rest
from cutter.batch.view import BatchRecord, BatchView, ItemRecord
from cutter.catalogue import LONGEST_CAP_SECONDS
from cutter.domain.run_state import BatchState, RunState
from cutter.messages import BatchStop

ERROR, QUARANTINE = "error_queue", "quarantine_queue"
QUEUES = (ERROR, QUARANTINE, REVIEW)

SOVEREIGN_STAGES = {Stage.AT_SG1: "SG_cut_authz", Stage.AT_SG2: "SG_lifecycle_authz"}
AWAITED = {BatchState.AWAITING_CUT: "SG_cut_authz", BatchState.AWAITING_LIFECYCLE: "SG_lifecycle_authz"}
ACTIVE_STAGES = (Stage.PLANNING, Stage.WRITING, Stage.ENACTING)

# A halted batch waits so long for its documents. Then it ends without those that have not stopped.
HEARD_BY_SECONDS = LONGEST_CAP_SECONDS + 300
"""If a document has not stopped within this time after a halt, it will not stop: its workflow may be gone."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Halt:
    """A halt: the batch starts nothing more. `kind` is the reason in one word. `document_id` caused it, if one did."""

    kind: str
    reason: str
    document_id: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """An item that enters a queue."""

    document_id: str
    queue: str
    state: str
    code: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchActions:
    """The steps to take now. `decided` has items without a run: document id, decision, reason."""

    halt: Halt | None = None
    starts: tuple[str, ...] = ()
    decided: tuple[tuple[str, str, str], ...] = ()
    stops: tuple[tuple[str, str], ...] = ()
    enters: tuple[Entry, ...] = ()
    leaves: tuple[tuple[str, str], ...] = ()

    @property
    def anything(self) -> bool:
        """True if these orders change the view when they are carried out."""
        return bool(self.halt or self.starts or self.decided or self.stops or self.enters or self.leaves)

    @property
    def documents(self) -> set[str]:
        pairs = (*self.decided, *self.stops, *self.leaves)
        return {*self.starts, *(pair[0] for pair in pairs), *(enter.document_id for enter in self.enters)}


@dataclass(frozen=True, slots=True, kw_only=True)
class Summary:
    """The batch as a whole: one of nine states, its counts, and `over` if its workflow has nothing left to do."""

    state: BatchState
    totals: dict[str, int]
    partial: bool
    over: bool
    gate: str


def items_of(view: BatchView) -> list[Item]:
    """The view's items in the form that the planner takes, in the order of the queue."""
    return [item.item for item in view.items]


def _for_the_planner(view: BatchView, items: Sequence[Item]) -> list[Item]:
    """The items that the planner decides about. Documents that are included again count as pending. So do blocked
    documents, because their dependency may have been enacted since.
    """
    names = {
        item.document_id
        for item in view.items
        if item.included or (item.decided == "blocked" and item.run_id is None and not item.kept_out)
    }
    if not names:
        return list(items)
    return [replace(item, stage=Stage.PENDING, outcome=None) if item.document_id in names else item for item in items]


def decide(
    view: BatchView, *, window: int, rooms: Mapping[str, int] | None = None, reviews: Sequence[Entry] = ()
) -> BatchActions:
    """The steps to take now. `reviews` lack an approval that should exist. `rooms`: how many items each tenant with a
    cap may begin now.
    """
    batch, items = view.batch, items_of(view)
    by_id = view.by_document
    again = [item.document_id for item in view.items if item.included]
    ignored = {*again, *(item.document_id for item in view.items if stopped_by_the_batch(item))}
    halt = _halt(batch, [item for item in items if item.document_id not in ignored], view.age_seconds)
    kind = halt.kind if halt else batch.halted
    reason = (halt.reason if halt else batch.halted_reason) or ""
    decided: list[tuple[str, str, str]] = []
    starts: list[str] = []
    if kind in ("failure", "critical", "cancel"):
        decided = [(item.document_id, "voided", reason) for item in items if item.stage is Stage.PENDING]
    elif kind is None:
        planned = _for_the_planner(view, items)
        for name, blocked in plan.blocked(planned).items():
            if name not in again and by_id[name].decided != "blocked":
                chain = f", because {blocked.cause} is not enacted" if blocked.cause != blocked.dependency else ""
                why = f"it depends on {blocked.dependency}, which is not enacted{chain}"
                decided.append((name, "blocked", why))
        starts = plan.next_starts(planned, lanes=batch.lanes, window=window, weights=batch.weights, rooms=rooms)
    return BatchActions(
        halt=halt,
        starts=tuple(starts),
        decided=tuple(decided),
        stops=tuple(_stops(items, by_id, kind)),
        enters=(*_failures(batch, items, by_id, kind), *reviews),
        leaves=tuple(_leaves(view)),
    )


def summarise(view: BatchView, *, attended: bool) -> Summary:
    """Summarise the batch. The view must be newer than the orders that were carried out."""
    batch, items = view.batch, items_of(view)
    state = batch_state(items, halted=batch.halted is not None)
    moving = any(item.stage in ACTIVE_STAGES for item in items)
    at_people = [item for item in items if item.stage in SOVEREIGN_STAGES]
    planned = _for_the_planner(view, items)
    # Documents that were included again, and those whose dependency is now enacted, begin as soon as a lane is free.
    signed = {item.document_id for item in view.items if item.included} - set(plan.blocked(planned))
    pending = bool(signed or plan.startable(planned)) or Stage.PENDING in {item.stage for item in items}
    late = batch.halted is not None and (view.halted_seconds or 0.0) > HEARD_BY_SECONDS
    if batch.halted and (late or not moving):
        # The batch can end although some documents have not started, wait for people, or do not react to a stop.
        # `resume-batch` continues with these documents later.
        state = state if state in ENDS else BatchState.FAILED_PARTIAL
        over = late or batch.halted == "hard_cap" or not at_people
    else:
        waiting = [*at_people, *(item for item in items if item.held_at)]
        unanswered = [item for item in waiting if attended or not item.in_review]
        over = not (moving or pending or unanswered)
    # If an item must still leave its queue, the next look removes it, so the batch is not over yet.
    over = over and not _leaves(view)
    gates = {SOVEREIGN_STAGES[at_person.stage] for at_person in at_people}
    awaited = AWAITED.get(state, "")
    return Summary(
        state=state, totals=totals_of(items, view), partial=is_partial(items), over=over,
        gate=awaited if awaited in gates else "",
    )  # fmt: skip


def adopted(view: BatchView, after: int) -> tuple[list[ItemRecord], int]:
    """The next open items after the place `after`, and the place of the last one, or 0 if no further one is left."""
    opened = [item for item in view.items if item.position > after and item.run_id and not item.ended]
    some = opened[: limits.BATCH_ORDERS_AT_ONCE]
    return some, some[-1].position if len(some) < len(opened) else 0


def unstarted(view: BatchView, seconds: float) -> list[ItemRecord]:
    """The items whose run was registered more than `seconds` ago and has not begun."""
    return [
        item
        for item in view.items
        if item.state == "pending" and not item.ended and longer_ago(view, item.created_at, seconds)
    ]


def longer_ago(view: BatchView, at: str | None, seconds: float) -> bool:
    """True if `at`, a time from the database, is more than `seconds` before the time of the view."""
    now = datetime.fromisoformat(view.batch.began_at) + timedelta(seconds=view.age_seconds)
    return at is not None and datetime.fromisoformat(at) < now - timedelta(seconds=seconds)


def stop_pending(item: ItemRecord) -> bool:
    """True for an item whose latch is set and whose run has not stopped yet."""
    return bool(item.latched and not item.ended and not item.stopped)


def deliveries(view: BatchView, orders: BatchActions, *, again: bool) -> list[BatchStop]:
    """The stop messages of these orders, and with `again` also those to documents that have not stopped yet. Every look
    tries to set a latch that a gate holds, but only `again` sends another message.
    """
    batch, now = view.batch, {document_id for document_id, _ in orders.stops}
    kind = stop_word(orders.halt.kind if orders.halt else batch.halted)
    named = [
        item.document_id
        for item in view.items
        if (item.document_id in now and (again or item.latched)) or (again and stop_pending(item))
    ]
    # Those of these orders come first, because an answer has room for some only.
    named.sort(key=lambda document_id: document_id not in now)
    return [BatchStop(document_id=document_id, kind=kind, reason=reason_of(batch, orders)) for document_id in named]


def reason_of(batch: BatchRecord, orders: BatchActions) -> str:
    """The sentence that tells the documents why the batch stops them."""
    return (orders.halt.reason if orders.halt else batch.halted_reason) or "the batch was stopped"


def totals_of(items: Sequence[Item], view: BatchView) -> dict[str, int]:
    """The number of items by stage, by outcome and by queue, without zeros."""
    stages, outcomes = Counter(item.stage for item in items), Counter(item.outcome for item in items if item.outcome)
    counts = Counter({name.value: count for name, count in (*stages.items(), *outcomes.items())})
    gone = {document_id for document_id, _ in _leaves(view)}
    counts.update(item.queue for item in view.items if item.queue and item.document_id not in gone)
    return dict(sorted(counts.items()))


def waiting_at(view: BatchView, gate: str) -> list[ItemRecord]:
    stage = next(sovereign for sovereign, name in SOVEREIGN_STAGES.items() if name == gate)
    waiting = {item.document_id for item in items_of(view) if item.stage is stage}
    return [item for item in view.items if item.document_id in waiting]


def stopped_by_the_batch(item: ItemRecord) -> bool:
    """True for an item that its own batch has stopped. The effect of a halt must not cause another halt."""
    return item.stopped_by == BATCH and item.stopped


def _halt(batch: BatchRecord, items: Sequence[Item], age_seconds: float) -> Halt | None:
    """The halt due now. `items` lack failed ones that a signature includes again, and those that the batch stopped."""
    if batch.halted is not None:
        return None
    critical = stops_the_rest(items, strict=False)
    if critical is not None:
        reason = f"{critical.document_id} is critical and {critical.outcome}"
        return Halt(kind="critical", reason=reason, document_id=critical.document_id)
    failed = stops_the_rest(items, strict=batch.policy == "strict")
    if failed is not None:
        reason = f"--stop-on-first-failure: {failed.document_id} {failed.outcome}"
        return Halt(kind="failure", reason=reason, document_id=failed.document_id)
    # When a batch that rested looks again, the database has not yet left out the time of its rest (`fn_batch_move`).
    rested = batch.state in ENDS or (batch.unattended and batch.state in AWAITED)
    if age_seconds > batch.hard_cap_seconds and not rested:
        return Halt(kind="hard_cap", reason=f"STOP_OVER_BATCH_HARDCAP: more than {batch.hard_cap_seconds / 60:.0f} min")
    return None


def _stops(items: Sequence[Item], by_id: Mapping[str, ItemRecord], kind: str | None) -> list[tuple[str, str]]:
    if kind is None:
        return []
    touched = ACTIVE_STAGES if kind == "hard_cap" else (*ACTIVE_STAGES, *SOVEREIGN_STAGES)
    stopped: list[tuple[str, str]] = []
    for item in items:
        row = by_id[item.document_id]
        # A run that has stopped without a cancel would wait forever if it did not get the cancel too.
        waits = kind == "cancel" and row.stopped and not row.ended and row.latch_kind != "cancel"
        if waits or (item.stage in touched and not row.latched):
            stopped.append((item.document_id, stop_word(kind)))
    # The next look finds the others.
    return stopped[: limits.BATCH_ORDERS_AT_ONCE]


def stop_word(halted: str | None) -> Literal["stop", "cancel"]:
    """The message that a halted batch sends to its documents: `cancel` if the batch was cancelled, else `stop`."""
    return "cancel" if halted == "cancel" else "stop"


def _failures(
    batch: BatchRecord, items: Sequence[Item], by_id: Mapping[str, ItemRecord], kind: str | None
) -> list[Entry]:
    """The failed items that enter a queue. At night, an item that a person holds waits in human review."""
    of_failures = QUARANTINE if batch.policy == "quarantine" else ERROR
    entries = []
    for item in items:
        if not item.failed and not (item.held_at and batch.unattended):
            continue
        queue = of_failures if item.failed else REVIEW
        row = by_id[item.document_id]
        state = row.state or ""
        ours = kind is not None and RunState(state).on_order
        if not ours and (row.queue, row.queue_state) != (queue, state):
            entries.append(
                Entry(
                    document_id=item.document_id,
                    queue=queue,
                    state=state,
                    code=RunState(state).stop_code or state,
                    reason=row.reason or state,
                )
            )
    return entries


def _leaves(view: BatchView) -> list[tuple[str, str]]:
    """The items that have continued since they entered their queue, with their present state."""
    gone = []
    for item in view.items:
        if item.queue is None:
            continue
        waits = item.item.stage in SOVEREIGN_STAGES or item.held
        if not (waits if item.queue == REVIEW else item.item.failed):
            gone.append((item.document_id, item.state or "decided"))
    return gone
