"""Pure: a batch as people see it: one line for each document, the totals and the progress. `cutter status` shows it.

The values come from `fn_batch_seen`, and from one small query for the number of sealed receipts of each run.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass

from cutter.batch import batch_step, ways
from cutter.batch.item import Item, Outcome, Stage
from cutter.batch.plan import startable
from cutter.batch.view import BatchView, ItemRecord
from cutter.catalogue import GATES
from cutter.domain import tenants
from cutter.domain.next_step import Needs
from cutter.domain.tenants import Room
from cutter.projections.batch_view import gates_of
from cutter.projections.run_view import ShownRejection
from cutter.types import Json


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchLine:
    """A document of a batch in one line. Times are UTC texts. `commands` are what a person types next, in order.

    `shown` is its outcome, or else its stage, and `state` the recorded state of its run. `gate` is empty, or the gate
    that the document passes next, or at which it waits, failed or stopped.
    """

    position: int
    document_id: str
    run_id: str | None
    shown: str
    state: str
    gate: str
    gates_passed: int
    since_utc: str | None
    ended_utc: str | None
    queue: str | None
    actor: str | None
    code: str | None
    reason: str | None
    rejected: ShownRejection | None
    needs: str
    commands: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class CapHold:
    """A tenant whose cap holds the batch up: the code of the cap, and one sentence."""

    tenant: str
    code: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownBatch:
    """A batch as people see it. Times are UTC texts.

    `totals` counts the documents by outcome. `gates_done` of `gates` are done, over all documents. `over` is true after
    the batch has recorded its end. `awaits` is the sovereign gate at which the batch waits for people, or empty. `next`
    is the command that a person types next.
    """

    batch_id: str
    mode: str
    policy: str
    state: str
    state_utc: str
    partial: bool
    halted: str | None
    halted_reason: str | None
    totals: Mapping[str, int]
    held: tuple[CapHold, ...]
    gates_done: int
    gates: int
    over: bool
    awaits: str
    now_utc: str
    ended_utc: str | None
    documents: tuple[BatchLine, ...]
    next: str

    def as_json(self) -> Json:
        return asdict(self)


def shown_batch(
    view: BatchView, sealed: Mapping[str, int], now_utc: str, *, rejections: Mapping[str, ShownRejection],
    rooms: Sequence[Room] = (),
) -> ShownBatch:  # fmt: skip
    """The batch as people see it. `sealed` counts the receipts of each run, and `now_utc` is the database's clock.

    `rejections` has the gate, the approver and the reason of each rejected run.

    `rooms` say how much the batch's tenants may begin now. The result names the tenants whose cap holds
    the batch up.
    """
    batch, items = view.batch, batch_step.items_of(view)
    summary = batch_step.summarise(view, attended=view.attended)
    all_gates = gates_of(batch.mode)
    rows = tuple(
        _line(batch.batch_id, record, item, sealed.get(record.run_id or "", 0), rejections.get(record.run_id or ""))
        for record, item in zip(view.items, items, strict=True)
    )
    could_begin = {item.tenant for item in startable(items)}
    held = tuple(
        CapHold(tenant=room.tenant, code=room.code, reason=tenants.held(room))
        for room in rooms
        if room.code and room.tenant in could_begin
    )
    return ShownBatch(
        batch_id=batch.batch_id,
        mode=batch.mode,
        policy=batch.policy,
        state=batch.state,
        state_utc=batch.state_at,
        partial=summary.partial,
        halted=batch.halted,
        halted_reason=batch.halted_reason,
        totals=summary.totals,
        held=held,
        # A settled document has done all gates, because none is left to do.
        gates_done=sum(all_gates if row.shown in _SETTLED else min(row.gates_passed, all_gates) for row in rows),
        gates=all_gates * len(rows),
        # For people, a batch is over after its state is recorded, because its report exists only then.
        over=summary.over and batch.state == summary.state.value,
        awaits=summary.gate if batch.state == summary.state.value else "",
        now_utc=now_utc,
        ended_utc=batch.ended_at,
        documents=rows,
        next=ways.next_command(view, summary),
    )


def by_need(rows: Sequence[BatchLine]) -> list[BatchLine]:
    """The rows in this order: documents in motion, documents that need a person, then the others. See `_ORDER`.

    Rows of the same kind keep the order of the queue.
    """
    return sorted(rows, key=lambda row: (_RANK.get(row.shown, len(_ORDER)), row.position))


_ORDER = (
    Stage.ENACTING, Stage.WRITING, Stage.PLANNING, Outcome.FAILED, Outcome.STOPPED, Stage.AT_SG2, Stage.AT_SG1,
    Stage.PENDING, Outcome.BLOCKED, Outcome.BUSY, Outcome.VOIDED, Outcome.SKIPPED, Outcome.REHEARSED, Outcome.ENACTED,
)  # fmt: skip
_RANK = {word.value: number for number, word in enumerate(_ORDER)}
_SETTLED = frozenset(Outcome) - {Outcome.STOPPED}


def _line(
    batch_id: str, item_record: ItemRecord, item: Item, sealed: int, rejected: ShownRejection | None
) -> BatchLine:
    shown = item.shown
    step = ways.item_step(batch_id, item_record)
    if rejected:
        gate = rejected.gate
    elif item.stage in batch_step.SOVEREIGN_STAGES:
        gate = batch_step.SOVEREIGN_STAGES[item.stage]
    elif item_record.run_id is None or item.good or item.outcome is Outcome.VOIDED:
        gate = ""
    else:
        gate = GATES[sealed].phase if sealed < len(GATES) else ""
    code = (item_record.reason or "").partition(":")[0]
    return BatchLine(
        position=item_record.position,
        document_id=item_record.document_id,
        run_id=item_record.run_id,
        shown=shown,
        state=item_record.state or item_record.decided or Stage.PENDING.value,
        gate=gate,
        gates_passed=sealed,
        since_utc=item_record.ended_at or item_record.state_at,
        ended_utc=item_record.ended_at,
        queue=item_record.queue,
        actor=item_record.actor,
        code=item_record.queue_code or (code if code.startswith("STOP_") else None),
        reason=item_record.reason if item.outcome is not None and not item.good else None,
        rejected=rejected,
        needs=step.needs.value if step else Needs.NOTHING.value,
        commands=tuple(step.commands) if step else (),
    )
