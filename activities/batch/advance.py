"""IO: one step of a batch: wait for a change, decide what to do, do it in one transaction, publish documents."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from time import monotonic, sleep

import structlog
from temporalio import activity

from activities import effects, permission
from activities.approval_judge import signed_before
from activities.batch.documents import follow_batch, keep_up, overview_of, report_of
from activities.outbox import done
from activities.run.course import case_of
from activities.worker.batch_watch import Watch
from activities.worker.dependencies import Deps
from cutter import limits
from cutter.batch import batch_step, documents, ways
from cutter.batch.batch_step import BatchActions, Entry, Summary
from cutter.batch.item import BATCH, REVIEW
from cutter.batch.view import BatchRecord, BatchView, ItemRecord
from cutter.catalogue import Role
from cutter.domain import ids
from cutter.domain.digests import sha256_hex
from cutter.domain.run_state import BatchState
from cutter.domain.task_priority import Urgency
from cutter.errors import CutterError
from cutter.messages import BatchHalted, BatchInput, BatchStart, BatchStep, HaltInput, SteerInput
from cutter.storage import batch_views, policies
from cutter.storage.gate_transaction import call
from cutter.storage.pools import single, translated
from cutter.storage.records import Connection, Rows, query, records, values
from cutter.storage.records import answer as value_of
from cutter.storage.run_evidence import sidecar_now
from cutter.storage.runs import Registration, mint_run_id
from cutter.types import Json

log = structlog.get_logger()


@dataclass(frozen=True, slots=True, kw_only=True)
class NewestVerdict:
    """The newest verdict on a document. If it is not `good`, `reason` says why. `needed` people must sign."""

    kb_id: str
    good: bool
    reason: str
    fingerprint: str | None
    needed: int


@dataclass(frozen=True, slots=True, kw_only=True)
class WaitingText:
    """A document about a batch that is still to be put into the knowledge base. `now` is the database's clock."""

    kb_id: str
    body: str
    now: datetime


SILENT: Rows[str] = values("silent_runs")
VERDICTS = records("newest_verdicts_on", NewestVerdict)
ENTRIES_BEFORE: Rows[int] = values("queue_entries_before")
STOP_DOCUMENT: Rows[str] = values("stop_document")
PAYLOAD: Rows[Json] = values("request_payload")
NEWEST: Rows[str] = values("newest_batch_document")
OUTBOX = records("batch_outbox", WaitingText)

_DECIDE = "select cutter_governance.fn_batch_item_decide(%s, %s, %s, %s)"


def begin_batch(deps: Deps, input: BatchInput) -> BatchStep:
    """The state of a registered batch. The batch's workflow begins with this activity."""
    with single(deps.pool(Role.READ)) as connection:
        there = batch_views.state_and_mode(connection, ids.batch_id(input.batch_id))
    return BatchStep(state=there.state, seen="", mode=there.mode)


def steer_batch(deps: Deps, input: SteerInput) -> BatchStep:
    """Say what to do next. Answers when there is something to do or to show, and after a while also without news."""
    began = monotonic()
    with deps.watches.watching(deps.settings, input.batch_id) as watch:
        while True:
            waited = monotonic() - began
            step = _step(deps, input, watch, again=waited > limits.STEER_UNHEARD_SECONDS)
            to_do = bool(step.starts or step.stops or step.over)
            # Changed totals are shown after five seconds, everything that people wait for at once.
            news = step.seen != input.seen and (_big(step, input) or waited > 5)
            if to_do or news or waited > limits.STEER_SECONDS or _leaving():
                return step
            _until_changed(watch)


def halt_batch(deps: Deps, input: HaltInput) -> BatchHalted:
    """Halt the batch, and so wake its workflow: it starts nothing more. Only the operator lifts the halt."""
    with single(deps.pool(Role.READ)) as connection:
        halted = value_of(
            connection,
            "select cutter_governance.fn_batch_halt(%s, %s, %s)",
            (input.batch_id, input.kind, input.reason),
        )
    return BatchHalted(code=str(halted))


def _big(step: BatchStep, input: SteerInput) -> bool:
    """True for a change that people wait for. Progress of one more document is not such a change."""
    return step.seen.partition(":")[0] != input.seen.partition(":")[0]


def _leaving() -> bool:
    return activity.in_activity() and activity.is_worker_shutdown()


def _until_changed(watch: Watch) -> None:
    """Wait until the batch has changed, the next regular look is due, or the worker shuts down."""
    now = monotonic()
    ends = min(now + limits.STEER_POLL_SECONDS, max(now, watch.whole_again))
    while monotonic() < ends and not _leaving():
        if watch.hear(1.0):
            # Changes that come together get one answer.
            # Changes that follow within this time are answered together.
            sleep(0.5)
            break


def _step(deps: Deps, input: SteerInput, watch: Watch, *, again: bool = False) -> BatchStep:
    """Look at the batch once, and act on it. `again` repeats starts and stops that have had no effect yet."""
    with translated(), deps.pool(Role.READ).connection() as connection:
        # Only one attempt looks at a time. An attempt that Temporal has given up, or one that a stranger started, may
        # still be looking at the same items.
        connection.execute("select cutter_governance.fn_batch_lock(%s)", (input.batch_id,))
        # What is heard later than this wakes the next look, even if a later part of this one already sees it.
        watch.hear(0)
        # An empty `seen` means that people have changed something, perhaps without a notification.
        view = watch.seen(connection, whole=not input.seen)
        attended = view.attended
        reviews = _reviews(deps, connection, view)
        tenants = sorted({item.tenant for item in batch_step.items_of(view)})
        rooms = {room.tenant: room.room for room in batch_views.ROOMS.all(connection, {"tenants": list(tenants)})}
        capped = {tenant: room for tenant, room in rooms.items() if room is not None}
        orders = batch_step.decide(view, window=limits.BATCH_WINDOW, rooms=capped, reviews=reviews)
        written = _written(connection, view, orders.enters)
        awaited, orders = len(orders.enters) - len(written), replace(orders, enters=tuple(written))
        started = _carry_out(deps, connection, view, orders)
        if orders.anything:
            watch.touch(orders.documents)
            view = watch.seen(connection)
        summary = batch_step.summarise(view, attended=attended)
        unfinished = awaited > 0
        if summary.over:
            # A batch ends once, so the whole of it is read. What has changed meanwhile is for the next look.
            view = watch.seen(connection, whole=True)
            summary = batch_step.summarise(view, attended=attended)
            left = batch_step.decide(view, window=limits.BATCH_WINDOW)
            unfinished = unfinished or bool(left.halt or left.enters)
        if unfinished:
            # The batch publishes its present state after the reports of its documents exist.
            summary = replace(summary, over=False, state=BatchState(view.batch.state))
        moved = view.batch.state != summary.state.value
        view = replace(view, batch=replace(view.batch, state=summary.state.value))
        overview, report = _documents(connection, view, summary)
        connection.commit()
    publish_batch(deps, input.batch_id)
    if summary.over:
        follow_batch(deps, input.batch_id)
    else:
        keep_up(deps, view, news=moved)
    step = _batch_step(view, summary, overview, report)
    stops = batch_step.deliveries(view, orders, again=again or input.adopt or _big(step, input))
    adopted = 0
    if input.adopt:
        opened, adopted = batch_step.adopted(view, input.adopt_after)
        started += _opened(view, opened, started)
    elif again:
        lost = [*batch_step.unstarted(view, limits.STEER_UNHEARD_SECONDS), *_silent(deps, view)]
        started += _opened(view, lost[: limits.BATCH_ORDERS_AT_ONCE], started)
    return replace(step, starts=tuple(started), stops=tuple(stops[: limits.BATCH_ORDERS_AT_ONCE]), adopted=adopted)


def _silent(deps: Deps, view: BatchView) -> list[ItemRecord]:
    """Items that should move but were silent for a long time. A new workflow continues from the state of the run."""
    moving = {item.document_id for item in batch_step.items_of(view) if item.stage in batch_step.ACTIVE_STAGES}
    candidates = {item.run_id: item for item in view.items if item.document_id in moving}
    asked = {"run_ids": list(candidates), "seconds": limits.STEER_SILENT_SECONDS}
    with translated(), deps.pool(Role.READ).connection() as connection:
        return [candidates[run_id] for run_id in SILENT.all(connection, asked)]


def _carry_out(deps: Deps, connection: Connection, view: BatchView, orders: BatchActions) -> list[BatchStart]:
    batch = view.batch
    batch_id = batch.batch_id
    if orders.halt:
        connection.execute(
            "select cutter_governance.fn_batch_halt(%s, %s, %s)", (batch_id, orders.halt.kind, orders.halt.reason)
        )
    by_id = view.by_document
    with connection.pipeline():
        for document_id, left_as in orders.leaves:
            connection.execute("select cutter_governance.fn_queue_leave(%s, %s, %s)", (batch_id, document_id, left_as))
        for document_id, decided, reason in orders.decided:
            connection.execute(_DECIDE, (batch_id, document_id, decided, reason))
        for document_id, kind in orders.stops:
            # The latch comes first: a running document then stops at its next statement, even if nobody delivers the
            # message. If a gate holds the latch, the next look sets it, because waiting for one latch would delay the
            # halt and all other latches.
            connection.execute(
                "select cutter_governance.fn_stop_set(%s, %s, %s, %s, false)",
                (by_id[document_id].run_id, kind, batch_step.reason_of(batch, orders), BATCH),
            )
            if kind == "cancel" and by_id[document_id].stopped:
                # No step of the item is under way, so there is no boundary to wait for.
                connection.execute(
                    query("cancel_stopped_run"),
                    {"run_id": by_id[document_id].run_id, "reason": batch_step.reason_of(batch, orders)},
                )
    for entry in orders.enters:
        _enter(deps, connection, view, entry)
    return [start for item_id in orders.starts if (start := _register(connection, batch, by_id[item_id])) is not None]


def _register(connection: Connection, batch: BatchRecord, item: ItemRecord) -> BatchStart | None:
    answer = call(
        connection,
        Registration.of,
        "select cutter_governance.fn_batch_item_start(%s, %s, %s, %s)",
        (batch.batch_id, item.document_id, mint_run_id(), batch.starter),
    )
    if answer.status in ("registered", "found"):
        return _start(batch, item, answer.run_id)
    if answer.status == "waits":
        # Another run of the tenant took the last place, so the item stays pending.
        return None
    if answer.status == "busy":
        reason = f"STOP_RUN_BUSY: its run {answer.run_id} is open"
    else:
        reason = f"not started: {answer.code or answer.status}"
    connection.execute(_DECIDE, (batch.batch_id, item.document_id, "busy", reason))
    return None


def _start(batch: BatchRecord, item: ItemRecord, run_id: str) -> BatchStart:
    return BatchStart(
        document_id=item.document_id, run_id=run_id, mode=batch.mode, starter=batch.starter,
        source_uri=item.source_uri, tenant=item.tenant, weight=batch.weights.get(item.tenant, 1),
        urgency=Urgency.OVERNIGHT if batch.unattended else Urgency.BATCH,
    )  # fmt: skip


def _opened(view: BatchView, items: Sequence[ItemRecord], started: Sequence[BatchStart]) -> list[BatchStart]:
    """Starts for the items that have a run. A start opens a lost workflow again, and leaves an open one as it is."""
    new = {start.document_id for start in started}
    return [_start(view.batch, item, item.run_id) for item in items if item.run_id and item.document_id not in new]


# --- queues -----------------------------------------------------------------------------------------------------------


def _reviews(deps: Deps, connection: Connection, view: BatchView) -> list[Entry]:
    """Items of an unattended batch that wait at a gate without an approval that covers them."""
    if not view.batch.unattended or view.batch.mode == "dryrun":
        return []
    entries = []
    for gate in documents.GATE_STEMS:
        for item in batch_step.waiting_at(view, gate):
            if item.request_kb_id is None or (item.queue, item.queue_state) == (REVIEW, item.state):
                continue
            reason = _uncovered(deps, connection, view, gate, item)
            if reason:
                entries.append(
                    Entry(
                        document_id=item.document_id,
                        queue=REVIEW,
                        state=item.state or "",
                        code="STOP_NEEDS_LATE_APPROVAL",
                        reason=reason,
                    )
                )
    return entries


def _uncovered(deps: Deps, connection: Connection, view: BatchView, gate: str, item: ItemRecord) -> str:
    """Why the approvals that were signed in advance do not open the gate. Empty while some of them are not judged yet.

    If an approval still has no verdict after a while, the run does not know it, because it came later or is a copy.
    """
    batch_id = view.batch_id
    names = signed_before(deps, batch_id, item.document_id, gate)
    if not names:
        return f"there is no {documents.pre_batched(batch_id, gate, item.document_id)}"
    asked = {"run_id": item.run_id, "gate": gate, "kb_ids": list(names)}
    verdicts = VERDICTS.all(connection, asked)
    signers = {verdict.fingerprint for verdict in verdicts if verdict.good}
    # Enough approvals came after the last look at the batch, so the run continues without help.
    if verdicts and len(signers) >= verdicts[0].needed:
        return ""
    if len(verdicts) < len(names) and not batch_step.longer_ago(view, item.state_at, limits.STEER_UNHEARD_SECONDS):
        return ""
    if not verdicts:
        return f"the run was not told of {', '.join(names)}"
    refused = [verdict.reason for verdict in verdicts if not verdict.good]
    return "; ".join(refused) or f"{len(signers)} signed it, and the policy asks for {verdicts[0].needed}"


def _enter(deps: Deps, connection: Connection, view: BatchView, entry: Entry) -> None:
    batch_id = view.batch_id
    record = next(item for item in view.items if item.document_id == entry.document_id)
    kb_id = _stop_document(connection, record) if entry.queue == batch_step.QUARANTINE else None
    body: str | None = None
    if kb_id is None:
        before = ENTRIES_BEFORE.one(connection, {"batch_id": batch_id, "document_id": entry.document_id})
        kb_id = documents.entry_id(batch_id, entry.queue, record.run_id or entry.document_id, before + 1)
        if entry.queue == REVIEW and not record.held:
            payload = PAYLOAD.first(connection, {"run_id": record.run_id, "gate": record.gate}) or {}
            request = record.request_kb_id or ""
            body = documents.review_entry(
                batch_id=batch_id, run_id=record.run_id or "", document_id=record.document_id, state=entry.state,
                gate=record.gate or "", reason=entry.reason, payload=payload, request_kb_id=request,
                approval_kb_id=request.replace("-request-", "-approval-"),
            )  # fmt: skip
        else:
            sidecar, allowed = sidecar_now(connection, record.run_id or ""), deps.settings.max_candidates
            body = documents.error_entry(case_of(connection, sidecar, max_candidates=allowed, code=entry.code))
    connection.execute(
        "select cutter_governance.fn_queue_enter(%s, %s, %s, %s, %s, %s, %s, %s)",
        (batch_id, entry.document_id, entry.queue, entry.state, entry.code, entry.reason, kb_id, body),
    )


def _stop_document(connection: Connection, item: ItemRecord) -> str | None:
    """KB id of the document that the run wrote about its own stop, or None if it has written none yet."""
    return STOP_DOCUMENT.first(connection, {"run_id": item.run_id, "state_at": item.state_at})


def _written(connection: Connection, view: BatchView, entries: Sequence[Entry]) -> list[Entry]:
    """The entries, without quarantined documents whose run still writes the document about its stop itself, for a
    while.
    """
    by_id = view.by_document
    return [
        entry
        for entry in entries
        if entry.queue != batch_step.QUARANTINE
        or _stop_document(connection, by_id[entry.document_id]) is not None
        or batch_step.longer_ago(view, by_id[entry.document_id].state_at, limits.STEER_UNHEARD_SECONDS)
    ]


# --- documents --------------------------------------------------------------------------------------------------------


def _documents(connection: Connection, view: BatchView, summary: Summary) -> tuple[str, str]:
    """Move the batch's state, and write the document on which people act. Returns its KB ids (overview, report)."""
    batch = view.batch
    batch_id = batch.batch_id
    moved = value_of(
        connection, "select cutter_governance.fn_batch_move(%s, %s, %s)", (batch_id, summary.state.value, "items")
    )
    overview = report = ""
    if summary.gate and moved and batch.mode == "live":
        overview = overview_of(connection, view, summary.gate)
    if summary.over:
        report = report_of(connection, view, summary)
    newest = NEWEST.first(connection, {"batch_id": batch_id, "kind": "batch_overview"}) if not overview else None
    return overview or newest or "", report


def publish_batch(deps: Deps, batch_id: str) -> None:
    """Put the waiting documents about the batch as a whole. Those that the knowledge base refuses continue to wait."""
    with single(deps.pool(Role.READ)) as connection:
        waiting = OUTBOX.all(connection, {"batch_id": batch_id})
        for document in waiting:
            context, policy = permission.of_batch(document.now, batch_id), policies.in_force(connection)
            try:
                put = effects.put_free(deps, context, document.kb_id, document.body.encode(), policy)
            except CutterError as problem:
                log.warning("batch_outbox.waiting", batch_id=batch_id, kb_id=document.kb_id, code=problem.code)
                return
            done(connection, document.kb_id, put)


def _batch_step(view: BatchView, summary: Summary, overview: str, report: str) -> BatchStep:
    batch = view.batch
    shown = {**summary.totals, "overview": overview, "partial": summary.partial, "halted": batch.halted}
    # People wait for a change of the part before the colon. The rest changes with every document.
    rest = sha256_hex(json.dumps(shown, sort_keys=True).encode())[:16]
    fingerprint = f"{summary.state.value}/{overview}/{batch.halted}:{rest}"
    return BatchStep(
        state=summary.state.value, seen=fingerprint, totals=summary.totals, over=summary.over, partial=summary.partial,
        mode=batch.mode, gate=summary.gate, overview=overview, report=report, note=batch.halted_reason or "",
        next_command=ways.next_command(view, summary),
    )  # fmt: skip
