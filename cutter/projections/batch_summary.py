"""Pure: a batch at a glance: one line a document, the totals, how far it is; what `cutter status` shows and watches.

Made from `fn_batch_seen` and the number of sealed receipts a run, which one small query answers.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from cutter.batch import batch_step, ways
from cutter.batch.item import Item, Outcome, Stage
from cutter.batch.plan import startable
from cutter.batch.view import BatchView, ItemRecord
from cutter.catalogue import GATES
from cutter.domain import tenants
from cutter.domain.next_step import Needs
from cutter.projections.batch_view import gates_of
from cutter.types import Json


def glance(seen: BatchView, sealed: Mapping[str, int], now_utc: str, *, rooms: Sequence[Json] = ()) -> Json:
    """`sealed` counts receipts by run, `now_utc` is the database's clock.

    `rooms` are what `fn_tenant_room` says of the batch's tenants; those that hold it up are named.
    """
    batch, items = seen.batch, batch_step.items_of(seen)
    summary = batch_step.summarise(seen, attended=seen.attended)
    all_gates = gates_of(batch.mode)
    rows = [
        _row(batch.batch_id, one, item, sealed.get(one.run_id or "", 0))
        for one, item in zip(seen.items, items, strict=True)
    ]
    return {
        "batch_id": batch.batch_id,
        "mode": batch.mode,
        "policy": batch.policy,
        "state": batch.state,
        "state_utc": batch.state_at,
        "partial": summary.partial,
        "halted": batch.halted,
        "halted_reason": batch.halted_reason,
        "totals": summary.totals,
        "held": _held(items, rooms),
        "gates_done": sum(_done(row, all_gates) for row in rows),
        "gates": all_gates * len(rows),
        # What is over is over for people when its recorded state says so: then its report is written.
        "over": summary.over and batch.state == summary.state.value,
        "awaits": summary.gate if batch.state == summary.state.value else "",
        "now_utc": now_utc,
        "ended_utc": batch.ended_at,
        "documents": rows,
        "next": ways.next_command(seen, summary),
    }


def _held(items: Sequence[Item], rooms: Sequence[Json]) -> list[Json]:
    """Tenants at a cap that have something to begin."""
    could = {item.tenant for item in startable(items)}
    return [
        {"tenant": room["tenant"], "code": room["code"], "reason": tenants.held(room)}
        for room in rooms
        if room["code"] and room["tenant"] in could
    ]


def by_need(rows: Sequence[Json]) -> list[Json]:
    """What moves or needs somebody first, what is done last; each kind in the queue's order."""
    return sorted(rows, key=lambda row: (_RANK.get(row["shown"], len(_ORDER)), row["position"]))


_ORDER = (
    Stage.ENACTING, Stage.WRITING, Stage.PLANNING, Outcome.FAILED, Outcome.STOPPED, Stage.AT_SG2, Stage.AT_SG1,
    Stage.PENDING, Outcome.BLOCKED, Outcome.BUSY, Outcome.VOIDED, Outcome.SKIPPED, Outcome.REHEARSED, Outcome.ENACTED,
)  # fmt: skip
_RANK = {word.value: number for number, word in enumerate(_ORDER)}


def _row(batch_id: str, one: ItemRecord, item: Item, sealed: int) -> Json:
    shown = (item.outcome or item.stage).value
    step = ways.item_step(batch_id, one)
    return {
        "position": one.position,
        "document_id": one.document_id,
        "run_id": one.run_id,
        "shown": shown,
        "state": one.state or one.decided or Stage.PENDING.value,
        "gate": _gate(one, item, sealed),
        "gates_passed": sealed,
        "since_utc": one.ended_at or one.state_at,
        "ended_utc": one.ended_at,
        "queue": one.queue,
        "actor": one.actor,
        "code": one.queue_code or _stop_code(one.reason),
        "reason": one.reason if item.outcome is not None and not item.good else None,
        "needs": step.needs.value if step else Needs.NOTHING.value,
        "commands": list(step.commands) if step else [],
    }


def _gate(one: ItemRecord, item: Item, sealed: int) -> str:
    """The gate that a document passes next, waits at, failed at or was stopped before."""
    if item.stage in batch_step.SOVEREIGN_STAGES:
        return batch_step.SOVEREIGN_STAGES[item.stage]
    if one.run_id is None or item.good or item.outcome is Outcome.VOIDED:
        return ""
    return GATES[sealed].phase if sealed < len(GATES) else ""


def _stop_code(reason: str | None) -> str | None:
    """The STOP_ code that a decision about a document begins with, such as STOP_RUN_BUSY."""
    code = (reason or "").partition(":")[0]
    return code if code.startswith("STOP_") else None


def _done(row: Json, all_gates: int) -> int:
    """Gates that a document has passed; a settled one has none before it."""
    settled = row["shown"] in tuple(Outcome) and row["shown"] != Outcome.STOPPED
    return all_gates if settled else min(int(row["gates_passed"]), all_gates)
