"""IO: collects what the documents about a batch show: its requests, its queues, every item."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from cutter.approvals.request import parse_request
from cutter.batch import documents, steering, ways
from cutter.batch.documents import Waiting
from cutter.batch.steering import Summary
from cutter.storage.pools import Connection
from cutter.storage.queries import query
from cutter.types import Json, Refusal


def overview_of(connection: Connection, view: Json, gate: str) -> str:
    """Write the overview of all requests of a gate; its KB id."""
    batch_id = view["batch"]["batch_id"]
    items = steering.waiting_at(view, gate)
    rows = connection.execute(
        query("request_documents"), {"run_ids": [one["run_id"] for one in items], "gate": gate}
    ).fetchall()
    bodies = {str(run_id): str(body) for run_id, body in rows}
    waiting = [shown for one in items if (shown := _waiting(one, bodies.get(one["run_id"], ""))) is not None]
    others = steering.totals_of(steering.items_of(view), view)
    body = documents.overview(batch_id, gate, waiting, others)
    return _put(connection, batch_id, "batch_overview", gate, body, partial(documents.overview_id, batch_id, gate))


def report_of(connection: Connection, view: Json, summary: Summary) -> str:
    """Write the batch's report, and a summary of each queue that holds something; the report's KB id."""
    batch = view["batch"]
    batch_id = batch["batch_id"]
    shown = {one.document_id: (one.outcome or one.stage).value for one in steering.items_of(view)}
    items = [
        {**one, "shown": shown[one["document_id"]], "command": ways.command_of(batch_id, one)} for one in view["items"]
    ]
    commands = {one["document_id"]: one["command"] for one in items}
    queued = connection.execute(query("open_queue"), {"batch_id": batch_id}).fetchall()
    for queue in steering.QUEUES:
        entries = [
            {"document_id": row[0], "state": row[3], "code": row[4], "kb_id": row[6], "command": commands[str(row[0])]}
            for row in queued
            if row[2] == queue
        ]
        if entries:
            body = documents.queue_summary(batch_id, queue, entries)
            _put(connection, batch_id, "queue_summary", queue, body, partial(documents.summary_id, batch_id, queue))
    body = documents.batch_report(
        batch, items, summary.totals, batch["halted_reason"] or "", ways.next_command(view, summary)
    )
    return _put(connection, batch_id, "batch_report", "report", body, partial(documents.report_id, batch_id))


def _waiting(item: Json, body: str) -> Waiting | None:
    found = parse_request(body.encode())
    if isinstance(found, Refusal):
        return None
    return Waiting(
        document_id=item["document_id"], run_id=item["run_id"], request_kb_id=found.kb_id,
        approval_kb_id=found.approval_kb_id, candidates=found.request.candidate_count,
        writer_digest=found.request.writer_digest, added=found.changes.added_count, changed=found.changes.changed_count,
        removed=found.changes.removed_count, findings=found.findings_count,
        expires_utc=found.expires_utc.strftime("%Y-%m-%d %H:%M:%SZ"), actor=item["actor"],
    )  # fmt: skip


def _put(connection: Connection, batch_id: str, kind: str, subject: str, body: str, named: Callable[[int], str]) -> str:
    """The document's KB id. If the newest of its kind has the same text, its id is returned, so that looking at a
    batch again and again adds nothing."""
    asked = {"batch_id": batch_id, "kind": kind, "subject": subject}
    number, newest, said = connection.execute(query("batch_documents_before"), asked).fetchone() or (0, None, None)
    if said == body:
        return str(newest)
    kb_id = named(int(str(number)) + 1)
    connection.execute(
        "select cutter_governance.fn_batch_document(%s, %s, %s, %s, %s)", (batch_id, kind, subject, kb_id, body)
    )
    return kb_id
