"""Pure: what a batch does next, from what the database says of it (`fn_batch_seen`): starts, stops, queues, its state.

Nothing here is remembered between two looks; the same view gives the same answer.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Literal

from cutter import limits
from cutter.batch import plan
from cutter.batch.item import Item, Outcome, Stage, outcome_of, stage_of
from cutter.batch.state import ENDS, FAILURES, BatchState, batch_state, is_partial, stops_the_rest
from cutter.batch.triage import seed_code
from cutter.catalogue import LONGEST_CAP_SECONDS
from cutter.domain.run_state import RunState
from cutter.messages import BatchStop
from cutter.types import Json

ERROR, QUARANTINE, REVIEW = "error_queue", "quarantine_queue", "human_review_queue"
QUEUES = (ERROR, QUARANTINE, REVIEW)

BATCH = "batch"
"""Who has set a stop latch, where a batch did."""

SOVEREIGN_STAGES = {Stage.AT_SG1: "SG_cut_authz", Stage.AT_SG2: "SG_lifecycle_authz"}
AWAITED = {BatchState.AWAITING_CUT: "SG_cut_authz", BatchState.AWAITING_LIFECYCLE: "SG_lifecycle_authz"}
IN_MOTION = (Stage.PLANNING, Stage.WRITING, Stage.ENACTING)

HEARD_BY_SECONDS = LONGEST_CAP_SECONDS + limits.HALT_MARGIN_SECONDS
"""After a halt a document has stopped within this time, or will not: its workflow may be gone."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Halt:
    """Nothing more is started: why, in one word and in a sentence, and because of which document, if of one."""

    kind: str
    reason: str
    document_id: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """An item that takes its place in a queue."""

    document_id: str
    queue: str
    state: str
    code: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Orders:
    """What to do now. `decided`: items that get no run, with the word and the reason."""

    halt: Halt | None = None
    starts: tuple[str, ...] = ()
    decided: tuple[tuple[str, str, str], ...] = ()
    stops: tuple[tuple[str, str], ...] = ()
    enters: tuple[Entry, ...] = ()
    leaves: tuple[tuple[str, str], ...] = ()

    @property
    def anything(self) -> bool:
        """True when the view will be another one afterwards."""
        return bool(self.halt or self.starts or self.decided or self.stops or self.enters or self.leaves)


@dataclass(frozen=True, slots=True, kw_only=True)
class Summary:
    """The batch as a whole: one of the nine states, its counts, whether its workflow has nothing left to do."""

    state: BatchState
    totals: dict[str, int]
    partial: bool
    over: bool
    gate: str


def items_of(view: Json) -> list[Item]:
    """The view's items as the planner sees them, in the order of the queue."""
    return [_item(one) for one in view["items"]]


def _item(one: Json) -> Item:
    stage = stage_of(one["state"], outcome=one["outcome"], ended=one["ended"], approved=one["approved"])
    outcome = outcome_of(one["state"], outcome=one["outcome"], ended=one["ended"])
    if one["run_id"] is None and one["decided"]:
        stage, outcome = Stage.SETTLED, Outcome(one["decided"])
    return Item(
        document_id=one["document_id"], position=one["position"], priority=one["priority"],
        depends_on=tuple(one["depends_on"]), critical=one["critical"], tenant=one["tenant"], stage=stage,
        outcome=outcome, in_review=one["queue"] == REVIEW, law=one["enacted"],
    )  # fmt: skip


def _for_the_planner(view: Json, items: Sequence[Item]) -> list[Item]:
    """The items as the planner takes them: pending includes documents that are included again, and blocked ones,
    since their dependency may have been enacted after all.
    """
    names = {
        one["document_id"]
        for one in view["items"]
        if one["included"] or (one["decided"] == "blocked" and one["run_id"] is None and not one["kept_out"])
    }
    return [replace(one, stage=Stage.PENDING, outcome=None) if one.document_id in names else one for one in items]


def decide(view: Json, *, window: int, rooms: Mapping[str, int] | None = None, reviews: Sequence[Entry] = ()) -> Orders:
    """What to do now. `reviews` are items whose approval should have been there and is not.

    `rooms`: how many items each tenant with a cap may begin now; those over it wait.
    """
    batch, items = view["batch"], items_of(view)
    by_id = {one["document_id"]: one for one in view["items"]}
    again = [one["document_id"] for one in view["items"] if one["included"]]
    unasked = {*again, *(one["document_id"] for one in view["items"] if stopped_by_the_batch(one))}
    halt = _halt(batch, [one for one in items if one.document_id not in unasked], view["age_seconds"])
    kind = halt.kind if halt else batch["halted"]
    reason = (halt.reason if halt else batch["halted_reason"]) or ""
    decided: list[tuple[str, str, str]] = []
    starts: list[str] = []
    if kind in ("failure", "critical", "cancel"):
        decided = [(one.document_id, "voided", reason) for one in items if one.stage is Stage.PENDING]
    elif kind is None:
        anew = _for_the_planner(view, items)
        decided = [
            (name, "blocked", _why(one))
            for name, one in plan.blocked(anew).items()
            if name not in again and by_id[name]["decided"] != "blocked"
        ]
        starts = plan.next_starts(anew, lanes=batch["lanes"], window=window, weights=batch["weights"], rooms=rooms)
    return Orders(
        halt=halt,
        starts=tuple(starts),
        decided=tuple(decided),
        stops=tuple(_stops(items, by_id, kind)),
        enters=(*_failures(batch, items, by_id, kind), *reviews),
        leaves=tuple(_leaves(items, by_id)),
    )


def summarise(view: Json, *, attended: bool) -> Summary:
    """The batch as a whole, after what was decided has been done."""
    batch, items = view["batch"], items_of(view)
    state = batch_state(items, halted=batch["halted"] is not None)
    moving = any(one.stage in IN_MOTION for one in items)
    at_people = [one for one in items if one.stage in SOVEREIGN_STAGES]
    anew = _for_the_planner(view, items)
    # Documents that were included again, and those whose dependency is now enacted, begin as soon as a lane is free.
    signed = {one["document_id"] for one in view["items"] if one["included"]} - set(plan.blocked(anew))
    pending = bool(signed) or any(one.stage is Stage.PENDING for one in (*items, *plan.startable(anew)))
    late = batch["halted"] is not None and view["halted_seconds"] > HEARD_BY_SECONDS
    if batch["halted"] and (late or not moving):
        # What was not started, waits for people or heeds no stop is for another day; the way on is `resume-batch`.
        state = state if state in ENDS else BatchState.FAILED_PARTIAL
        over = late or batch["halted"] == "hard_cap" or not at_people
    else:
        unanswered = [one for one in at_people if attended or not one.in_review]
        over = not (moving or pending or unanswered)
    # What has left a queue is taken out of it by the next look.
    over = over and not _leaves(items, {one["document_id"]: one for one in view["items"]})
    gates = {SOVEREIGN_STAGES[one.stage] for one in at_people}
    awaited = AWAITED.get(state, "")
    return Summary(
        state=state, totals=totals_of(items, view), partial=is_partial(items), over=over,
        gate=awaited if awaited in gates else "",
    )  # fmt: skip


def unheard(view: Json, seconds: float) -> list[Json]:
    """The items whose run was registered longer ago than that and has begun nothing."""
    return [
        one
        for one in view["items"]
        if one["state"] == "pending" and not one["ended"] and longer_ago(view, one["created_at"], seconds)
    ]


def longer_ago(view: Json, at: str, seconds: float) -> bool:
    """True for one of the database's times that was more than so many seconds before the view was taken."""
    now = datetime.fromisoformat(view["batch"]["began_at"]) + timedelta(seconds=view["age_seconds"])
    return datetime.fromisoformat(at) < now - timedelta(seconds=seconds)


def unheeded(one: Json) -> bool:
    """True for an item whose latch is set and whose run has not stopped yet."""
    return bool(one["latched"] and not one["ended"] and not RunState(one["state"]).stopped)


def deliveries(view: Json, orders: Orders, *, again: bool) -> list[BatchStop]:
    """The stops to deliver: those of now, and with `again` those whose document has not come to a stop yet.

    A latch that a gate holds is tried at every look; its document gets another stop with `again` only.
    """
    batch, now = view["batch"], {document_id for document_id, _ in orders.stops}
    kind = stop_word(orders.halt.kind if orders.halt else batch["halted"])
    return [
        BatchStop(document_id=one["document_id"], kind=kind, reason=reason_of(batch, orders))
        for one in view["items"]
        if (one["document_id"] in now and (again or one["latched"])) or (again and unheeded(one))
    ]


def reason_of(batch: Json, orders: Orders) -> str:
    """Why its documents are stopped, in a sentence."""
    return (orders.halt.reason if orders.halt else batch["halted_reason"]) or "the batch was stopped"


def totals_of(items: Sequence[Item], view: Json) -> dict[str, int]:
    """Items by stage, by outcome and by queue; only what there is."""
    counts = Counter(one.stage.value for one in items)
    counts.update(one.outcome.value for one in items if one.outcome is not None)
    gone = {document_id for document_id, _ in _leaves(items, {one["document_id"]: one for one in view["items"]})}
    counts.update(one["queue"] for one in view["items"] if one["queue"] and one["document_id"] not in gone)
    return dict(sorted(counts.items()))


def waiting_at(view: Json, gate: str) -> list[Json]:
    """The items that wait for people at a gate."""
    stage = next(one for one, name in SOVEREIGN_STAGES.items() if name == gate)
    waiting = {one.document_id for one in items_of(view) if one.stage is stage}
    return [one for one in view["items"] if one["document_id"] in waiting]


def _why(one: plan.Blocked) -> str:
    chain = f", since {one.cause} is no law" if one.cause != one.dependency else ""
    return f"it depends on {one.dependency}, which is no law{chain}"


def stopped_by_the_batch(one: Json) -> bool:
    """True for an item that its own batch has stopped: that is a halt's effect, and no reason for another one."""
    return RunState(one["state"]).stopped and one["stopped_by"] == BATCH


def _halt(batch: Json, items: Sequence[Item], age_seconds: float) -> Halt | None:
    """Why to halt now; `items` without the failed ones that a signature includes again, and those it has stopped."""
    if batch["halted"] is not None:
        return None
    critical = stops_the_rest(items, strict=False)
    if critical is not None:
        reason = f"{critical.document_id} is critical and {critical.outcome}"
        return Halt(kind="critical", reason=reason, document_id=critical.document_id)
    failed = stops_the_rest(items, strict=batch["policy"] == "strict")
    if failed is not None:
        reason = f"--stop-on-first-failure: {failed.document_id} {failed.outcome}"
        return Halt(kind="failure", reason=reason, document_id=failed.document_id)
    if age_seconds > batch["hard_cap_seconds"]:
        return Halt(
            kind="hard_cap", reason=f"STOP_OVER_BATCH_HARDCAP: more than {batch['hard_cap_seconds'] / 60:.0f} min"
        )
    return None


def _stops(items: Sequence[Item], by_id: Mapping[str, Json], kind: str | None) -> list[tuple[str, str]]:
    if kind is None:
        return []
    touched = IN_MOTION if kind == "hard_cap" else (*IN_MOTION, *SOVEREIGN_STAGES)
    return [
        (one.document_id, stop_word(kind))
        for one in items
        if (one.stage in touched and not by_id[one.document_id]["latched"])
        or (kind == "cancel" and _may_be_cancelled(by_id[one.document_id]))
    ]


def _may_be_cancelled(one: Json) -> bool:
    """True for an item whose run has stopped and would wait on, were it not told of the cancel too."""
    return RunState(one["state"]).stopped and not one["ended"] and one["latch_kind"] != "cancel"


def stop_word(halted: str | None) -> Literal["stop", "cancel"]:
    """The message to the documents of a halted batch: a cancel as a cancel, every other halt as a stop."""
    return "cancel" if halted == "cancel" else "stop"


def _failures(batch: Json, items: Sequence[Item], by_id: Mapping[str, Json], kind: str | None) -> list[Entry]:
    queue = QUARANTINE if batch["policy"] == "quarantine" else ERROR
    found = []
    for item in items:
        one = by_id[item.document_id]
        ours = kind is not None and one["state"] in ("stopped_stop", "stopped_cancel")
        if item.outcome in FAILURES and not ours and (one["queue"], one["queue_state"]) != (queue, one["state"]):
            found.append(
                Entry(
                    document_id=item.document_id,
                    queue=queue,
                    state=one["state"],
                    code=seed_code(one["state"]),
                    reason=one["reason"] or one["state"],
                )
            )
    return found


def _leaves(items: Sequence[Item], by_id: Mapping[str, Json]) -> list[tuple[str, str]]:
    """Items that have continued since they were queued."""
    gone = []
    for item in items:
        one = by_id[item.document_id]
        if one["queue"] is None:
            continue
        still_waits = one["queue"] == REVIEW and item.stage in SOVEREIGN_STAGES
        still_failed = one["queue"] != REVIEW and item.outcome in FAILURES
        if not still_waits and not still_failed:
            gone.append((item.document_id, one["state"] or "decided"))
    return gone
