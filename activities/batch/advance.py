"""IO: one step of a batch: wait for a change, decide, carry out in one transaction, publish."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from time import monotonic, sleep
from typing import Any

import structlog
from psycopg.rows import dict_row
from temporalio import activity

from activities import effects as commands
from activities.approval_judge import signed_before
from activities.batch.documents import overview_of, report_of
from activities.batch.folder import follow_batch, keep_up
from activities.outbox import done
from activities.run.triage import case_of
from activities.worker.dependencies import Deps
from cutter import limits
from cutter.batch import documents, steering, ways
from cutter.batch.state import BatchState
from cutter.batch.steering import Entry, Orders, Summary
from cutter.catalogue import Role
from cutter.domain.digests import sha256_hex
from cutter.domain.run_state import RunState
from cutter.domain.task_priority import Urgency
from cutter.errors import CutterError
from cutter.messages import BatchStart, HaltInput, StateView, Steering, SteerInput
from cutter.registration import mint_run_id
from cutter.storage import batches as registry
from cutter.storage.faults import translated
from cutter.storage.gate_transaction import call
from cutter.storage.pools import Connection, connect, single
from cutter.storage.queries import query
from cutter.types import Json

log = structlog.get_logger()


_DECIDE = "select cutter_governance.fn_batch_item_decide(%s, %s, %s, %s)"


def steer_batch(deps: Deps, input: SteerInput) -> Steering:
    """What to do next: answers when there is something to do or to show, or after a while with nothing new."""
    began = monotonic()
    with _changes(deps, input.batch_id) as changed:
        while True:
            waited = monotonic() - began
            step = _step(deps, input, again=waited > limits.STEER_UNHEARD_SECONDS)
            to_do = bool(step.starts or step.stops or step.over)
            news = step.seen != input.seen and (_big(step, input) or waited > limits.STEER_SHOW_SECONDS)
            if to_do or news or waited > limits.STEER_SECONDS or _leaving():
                return step
            changed()


def halt_batch(deps: Deps, input: HaltInput) -> StateView:
    """Start nothing more; the database wakes the workflow of the batch. Only the operator lifts the halt."""
    with single(deps.pool(Role.READ)) as connection:
        answer = connection.execute(
            "select cutter_governance.fn_batch_halt(%s, %s, %s)", (input.batch_id, input.kind, input.reason)
        ).fetchone()
    return StateView(state="", code=str((answer or [""])[0]))


def _big(step: Steering, input: SteerInput) -> bool:
    """A change that people wait for, as opposed to one more document that has come further."""
    return step.seen.partition(":")[0] != input.seen.partition(":")[0]


def _leaving() -> bool:
    return activity.in_activity() and activity.is_worker_shutdown()


@contextmanager
def _changes(deps: Deps, batch_id: str) -> Iterator[Any]:
    """A function that waits until the batch has changed, the database is to be asked anyway, or the worker leaves."""
    with connect(deps.settings, Role.READ.value) as connection:
        connection.execute("listen cutter_batch")

        def wait() -> None:
            ends = monotonic() + limits.STEER_POLL_SECONDS
            while monotonic() < ends and not _leaving():
                with translated():
                    heard = [one.payload for one in connection.notifies(timeout=1.0, stop_after=1)]
                if batch_id in heard:
                    # What changes together is answered together.
                    sleep(limits.STEER_PAUSE_SECONDS)
                    break

        yield wait


def _step(deps: Deps, input: SteerInput, *, again: bool = False) -> Steering:
    """One look and what follows from it. `again`: name what was named before and has not come about."""
    with translated(), deps.pool(Role.READ).connection() as connection:
        # One at a time: an attempt whose worker was given up, or a stranger's, may still be looking at the same items.
        connection.execute("select cutter_governance.fn_batch_lock(%s)", (input.batch_id,))
        view = registry.view(connection, input.batch_id)
        attended = not view["batch"]["unattended"]
        reviews = _reviews(deps, connection, view)
        rooms = {
            one["tenant"]: one["room"] for one in registry.rooms(connection, input.batch_id) if one["room"] is not None
        }
        orders = steering.decide(view, window=limits.BATCH_WINDOW, rooms=rooms, reviews=reviews)
        written = _written(connection, view, orders.enters)
        awaited, orders = len(orders.enters) - len(written), replace(orders, enters=tuple(written))
        started = _carry_out(deps, connection, view, orders)
        if orders.anything:
            view = registry.view(connection, input.batch_id)
        summary = steering.summarise(view, attended=attended)
        if awaited:
            # The batch's present state is published after its documents' own reports are there.
            summary = replace(summary, over=False, state=BatchState(view["batch"]["state"]))
        moved = view["batch"]["state"] != summary.state.value
        overview, report = _documents(connection, view, summary)
        connection.commit()
    publish_batch(deps, input.batch_id)
    if summary.over:
        follow_batch(deps, input.batch_id)
    else:
        keep_up(deps, view, news=moved)
    step = _steering(view, summary, overview, report)
    stops = steering.deliveries(view, orders, again=again or input.adopt or _big(step, input))
    if input.adopt:
        started += _opened(view, [one for one in view["items"] if one["run_id"] and not one["ended"]], started)
    elif again:
        started += _opened(view, steering.unheard(view, limits.STEER_UNHEARD_SECONDS), started)
        started += _opened(view, _silent(deps, view), started)
    return replace(step, starts=tuple(started), stops=tuple(stops))


def _silent(deps: Deps, view: Json) -> list[Json]:
    """Items that should move and were silent for long; a new workflow continues from the state of the run."""
    moving = {one.document_id for one in steering.items_of(view) if one.stage in steering.IN_MOTION}
    candidates = {one["run_id"]: one for one in view["items"] if one["document_id"] in moving}
    asked = {"run_ids": list(candidates), "seconds": limits.STEER_SILENT_SECONDS}
    with translated(), deps.pool(Role.READ).connection() as connection:
        rows = connection.execute(query("silent_runs"), asked).fetchall()
    return [candidates[str(run_id)] for (run_id,) in rows]


def _carry_out(deps: Deps, connection: Connection, view: Json, orders: Orders) -> list[BatchStart]:
    batch = view["batch"]
    batch_id = batch["batch_id"]
    if orders.halt:
        connection.execute(
            "select cutter_governance.fn_batch_halt(%s, %s, %s)", (batch_id, orders.halt.kind, orders.halt.reason)
        )
    by_id = {one["document_id"]: one for one in view["items"]}
    with connection.pipeline():
        for document_id, left_as in orders.leaves:
            connection.execute("select cutter_governance.fn_queue_leave(%s, %s, %s)", (batch_id, document_id, left_as))
        for document_id, decided, reason in orders.decided:
            connection.execute(_DECIDE, (batch_id, document_id, decided, reason))
        for document_id, kind in orders.stops:
            # The latch first: what runs stops at its next statement, also when nobody delivers the message. One that a
            # gate holds is left to the next look: to wait for it would keep back the halt and everybody else's.
            connection.execute(
                "select cutter_governance.fn_stop_set(%s, %s, %s, %s, false)",
                (by_id[document_id]["run_id"], kind, steering.reason_of(batch, orders), steering.BATCH),
            )
            if kind == "cancel" and RunState(by_id[document_id]["state"]).stopped:
                # Nothing of it is under way, so there is no boundary to wait for.
                connection.execute(
                    query("cancel_stopped_run"),
                    {"run_id": by_id[document_id]["run_id"], "reason": steering.reason_of(batch, orders)},
                )
    for entry in orders.enters:
        _enter(deps, connection, view, entry)
    return [start for one in orders.starts if (start := _register(connection, batch, by_id[one])) is not None]


def _register(connection: Connection, batch: Json, item: Json) -> BatchStart | None:
    answer = call(
        connection,
        "select cutter_governance.fn_batch_item_start(%s, %s, %s, %s)",
        (batch["batch_id"], item["document_id"], mint_run_id(), batch["starter"]),
    )
    if answer["status"] in ("registered", "found"):
        return _start(batch, item, answer["run_id"])
    if answer["status"] == "waits":
        # Someone else's run has taken the room that there was; the item stays where it is.
        return None
    if answer["status"] == "busy":
        reason = f"STOP_RUN_BUSY: run {answer['run_id']} of it is open"
    else:
        reason = f"not started: {answer.get('code', answer['status'])}"
    connection.execute(_DECIDE, (batch["batch_id"], item["document_id"], "busy", reason))
    return None


def _start(batch: Json, item: Json, run_id: str) -> BatchStart:
    return BatchStart(
        document_id=item["document_id"], run_id=run_id, mode=batch["mode"], starter=batch["starter"],
        source_uri=item["source_uri"], tenant=item["tenant"], weight=batch["weights"].get(item["tenant"], 1),
        urgency=Urgency.OVERNIGHT if batch["unattended"] else Urgency.BATCH,
    )  # fmt: skip


def _opened(view: Json, items: Sequence[Json], started: Sequence[BatchStart]) -> list[BatchStart]:
    """Items that have a run: a lost workflow is started again; the start of an open one changes nothing."""
    new = {one.document_id for one in started}
    return [_start(view["batch"], one, one["run_id"]) for one in items if one["document_id"] not in new]


# --- queues -----------------------------------------------------------------------------------------------------------


def _reviews(deps: Deps, connection: Connection, view: Json) -> list[Entry]:
    """Items of an unattended batch that wait at a gate without an approval that covers them."""
    if not view["batch"]["unattended"] or view["batch"]["mode"] == "dryrun":
        return []
    found = []
    for gate in documents.GATE_STEMS:
        for one in steering.waiting_at(view, gate):
            if one["request_kb_id"] is None or (one["queue"], one["queue_state"]) == (steering.REVIEW, one["state"]):
                continue
            reason = _uncovered(deps, connection, view, gate, one)
            if reason:
                found.append(
                    Entry(
                        document_id=one["document_id"],
                        queue=steering.REVIEW,
                        state=one["state"],
                        code="STOP_NEEDS_LATE_APPROVAL",
                        reason=reason,
                    )
                )
    return found


def _uncovered(deps: Deps, connection: Connection, view: Json, gate: str, one: Json) -> str:
    """Why what was signed before does not open the gate; empty while some of it has not been judged yet.

    An approval without a verdict after a while came later, or is a copy: the run does not know it.
    """
    batch_id = view["batch"]["batch_id"]
    run = {"batch_id": batch_id, "document_id": one["document_id"], "mode": "live"}
    names = signed_before(deps, run, gate)
    if not names:
        return f"there is no {documents.pre_batched(batch_id, gate, one['document_id'])}"
    asked = {"run_id": one["run_id"], "gate": gate, "kb_ids": list(names)}
    verdicts = connection.cursor(row_factory=dict_row).execute(query("newest_verdicts_on"), asked).fetchall()
    signers = {one["fingerprint"] for one in verdicts if one["good"]}
    # Enough approvals came after the last look at the batch: the run continues by itself.
    if verdicts and len(signers) >= verdicts[0]["needed"]:
        return ""
    if len(verdicts) < len(names) and not steering.longer_ago(view, one["state_at"], limits.STEER_UNHEARD_SECONDS):
        return ""
    if not verdicts:
        return f"the run was not told of {', '.join(names)}"
    refused = [str(one["reason"]) for one in verdicts if not one["good"]]
    return "; ".join(refused) or f"{len(signers)} signed it, and the policy asks for {verdicts[0]['needed']}"


def _enter(deps: Deps, connection: Connection, view: Json, entry: Entry) -> None:
    batch_id = view["batch"]["batch_id"]
    one = next(item for item in view["items"] if item["document_id"] == entry.document_id)
    own = _stop_document(connection, one) if entry.queue == steering.QUARANTINE else None
    if own is not None:
        kb_id, body = own, None
    else:
        row = connection.execute(
            query("queue_entries_before"), {"batch_id": batch_id, "document_id": entry.document_id}
        ).fetchone()
        number = int((row or (0,))[0]) + 1  # type: ignore[call-overload]
        kb_id = documents.entry_id(batch_id, entry.queue, one["run_id"] or entry.document_id, number)
        body = (
            _review_body(connection, view, one, entry)
            if entry.queue == steering.REVIEW
            else _error_body(deps, connection, one, entry)
        )
    connection.execute(
        "select cutter_governance.fn_queue_enter(%s, %s, %s, %s, %s, %s, %s, %s)",
        (batch_id, entry.document_id, entry.queue, entry.state, entry.code, entry.reason, kb_id, body),
    )


def _stop_document(connection: Connection, one: Json) -> str | None:
    """KB id of the document that the run itself has written about its stop; None while there is none."""
    row = connection.execute(query("stop_document"), {"run_id": one["run_id"], "state_at": one["state_at"]}).fetchone()
    return str(row[0]) if row else None


def _written(connection: Connection, view: Json, entries: Sequence[Entry]) -> list[Entry]:
    """The entries without the quarantined documents whose run is about to write its own document about it.

    One whose workflow is gone writes none: after a while the batch writes it.
    """
    by_id = {one["document_id"]: one for one in view["items"]}
    return [
        one
        for one in entries
        if one.queue != steering.QUARANTINE
        or _stop_document(connection, by_id[one.document_id]) is not None
        or steering.longer_ago(view, by_id[one.document_id]["state_at"], limits.STEER_UNHEARD_SECONDS)
    ]


def _error_body(deps: Deps, connection: Connection, one: Json, entry: Entry) -> str:
    sidecar = call(connection, "select cutter_governance.fn_run_sidecar(%s)", (one["run_id"],))
    allowed = deps.settings.max_candidates
    return documents.error_entry(case_of(connection, sidecar, max_candidates=allowed, code=entry.code))


def _review_body(connection: Connection, view: Json, one: Json, entry: Entry) -> str:
    row = connection.execute(query("request_payload"), {"run_id": one["run_id"], "gate": one["gate"]}).fetchone()
    payload: Json = row[0] if row else {}  # type: ignore[assignment]
    return documents.review_entry(
        batch_id=view["batch"]["batch_id"], run_id=one["run_id"], document_id=one["document_id"], state=entry.state,
        gate=one["gate"], reason=entry.reason, payload=payload, request_kb_id=one["request_kb_id"],
        approval_kb_id=str(one["request_kb_id"]).replace("-request-", "-approval-"),
    )  # fmt: skip


# --- documents --------------------------------------------------------------------------------------------------------


def _documents(connection: Connection, view: Json, summary: Summary) -> tuple[str, str]:
    """Move the batch's state; a state that people act on brings its document. (Overview, report) as KB ids."""
    batch = view["batch"]
    batch_id = batch["batch_id"]
    moved = connection.execute(
        "select cutter_governance.fn_batch_move(%s, %s, %s)", (batch_id, summary.state.value, "items")
    ).fetchone()
    batch["state"] = summary.state.value
    overview = report = ""
    if summary.gate and moved and moved[0] and batch["mode"] == "live":
        overview = overview_of(connection, view, summary.gate)
    if summary.over:
        report = report_of(connection, view, summary)
    return overview or _newest(connection, batch_id, "batch_overview"), report


def _newest(connection: Connection, batch_id: str, kind: str) -> str:
    row = connection.execute(query("newest_batch_document"), {"batch_id": batch_id, "kind": kind}).fetchone()
    return str(row[0]) if row else ""


def publish_batch(deps: Deps, batch_id: str) -> None:
    """Put what waits about the batch as a whole; what the knowledge base does not take now, it takes later."""
    with single(deps.pool(Role.READ)) as connection:
        rows = connection.cursor(row_factory=dict_row).execute(
            "select *, clock_timestamp() as now from cutter_governance.fn_batch_outbox(%s)", (batch_id,)
        )
        for row in rows.fetchall():
            context = commands.of_batch(row["now"], batch_id)
            try:
                put = commands.put_free(deps, context, row["kb_id"], str(row["body"]).encode())
            except CutterError as problem:
                log.warning("batch_outbox.waiting", batch_id=batch_id, kb_id=row["kb_id"], code=problem.code)
                return
            done(connection, row["kb_id"], put)


def _steering(view: Json, summary: Summary, overview: str, report: str) -> Steering:
    batch = view["batch"]
    shown = {**summary.totals, "overview": overview, "partial": summary.partial, "halted": batch["halted"]}
    # The part before the colon is what people wait for; the rest changes with every document.
    rest = sha256_hex(json.dumps(shown, sort_keys=True).encode())[:16]
    seen = f"{summary.state.value}/{overview}/{batch['halted']}:{rest}"
    return Steering(
        state=summary.state.value, seen=seen, totals=summary.totals, over=summary.over, partial=summary.partial,
        mode=batch["mode"], gate=summary.gate, overview=overview, report=report, note=batch["halted_reason"] or "",
        next_command=ways.next_command(view, summary),
    )  # fmt: skip
