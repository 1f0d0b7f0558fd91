"""IO: collects the content of the documents about a batch: its requests, its queues, every item."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from functools import partial

from cutter import limits
from cutter.approvals.request import parse_request
from cutter.batch import batch_step, documents, ways
from cutter.batch.batch_step import Summary
from cutter.batch.documents import QueueLine, ReportLine, Waiting
from cutter.batch.view import BatchView
from cutter.storage.pools import Connection
from cutter.storage.records import records
from cutter.types import Refusal


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestText:
    run_id: str
    body: str


@dataclass(frozen=True, slots=True, kw_only=True)
class QueueEntry:
    document_id: str
    run_id: str | None
    queue: str
    state: str
    code: str
    reason: str
    kb_id: str
    entered_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class DocumentsBefore:
    """The number of documents of one kind and subject in a batch, and the name and text of the newest one."""

    number: int
    kb_id: str | None
    body: str | None


REQUESTS = records("request_documents", RequestText)
OPEN_QUEUE = records("open_queue", QueueEntry)
BEFORE = records("batch_documents_before", DocumentsBefore)


def overview_of(connection: Connection, view: BatchView, gate: str) -> str:
    """Write the overview of all requests of a gate, and return its KB id."""
    batch_id = view.batch_id
    items = batch_step.waiting_at(view, gate)
    waiting: list[Waiting] = []
    for first in range(0, len(items), limits.REQUESTS_AT_ONCE):
        part = items[first : first + limits.REQUESTS_AT_ONCE]
        rows = REQUESTS.all(connection, {"run_ids": [item.run_id for item in part], "gate": gate})
        bodies = {row.run_id: row.body for row in rows}
        for item in part:
            document = parse_request(bodies.get(item.run_id or "", "").encode())
            if isinstance(document, Refusal):
                continue
            shown = Waiting(
                document_id=item.document_id, run_id=item.run_id or "", request_kb_id=document.kb_id,
                approval_kb_id=document.approval_kb_id, candidates=document.request.candidate_count,
                writer_digest=document.request.writer_digest, added=document.changes.added_count,
                changed=document.changes.changed_count, removed=document.changes.removed_count,
                findings=document.findings_count,
                expires_utc=document.expires_utc.strftime("%Y-%m-%d %H:%M:%SZ"), actor=item.actor,
            )  # fmt: skip
            waiting.append(shown)
    others = batch_step.totals_of(batch_step.items_of(view), view)
    body = documents.overview(batch_id, gate, waiting, others)
    return _put(connection, batch_id, "batch_overview", gate, body, partial(documents.overview_id, batch_id, gate))


def report_of(connection: Connection, view: BatchView, summary: Summary) -> str:
    """Write the batch's report, and a summary of each queue that has or had documents. Returns the report's KB id."""
    batch = view.batch
    batch_id = batch.batch_id
    shown = {item.document_id: (item.outcome or item.stage).value for item in batch_step.items_of(view)}
    listed = [
        ReportLine(item=item, shown=shown[item.document_id], command=ways.command_of(batch_id, item))
        for item in view.items
    ]
    commands = {line.item.document_id: line.command for line in listed}
    queued = OPEN_QUEUE.all(connection, {"batch_id": batch_id})
    for queue in batch_step.QUEUES:
        entries = [
            QueueLine(
                document_id=entry.document_id, state=entry.state, code=entry.code, kb_id=entry.kb_id,
                command=commands[entry.document_id],
            )
            for entry in queued
            if entry.queue == queue
        ]  # fmt: skip
        asked = {"batch_id": batch_id, "kind": "queue_summary", "subject": queue}
        if entries or BEFORE.one(connection, asked).number:
            body = documents.queue_summary(batch_id, queue, entries)
            _put(connection, batch_id, "queue_summary", queue, body, partial(documents.summary_id, batch_id, queue))
    body = documents.batch_report(
        batch, listed, summary.totals, batch.halted_reason or "", ways.next_command(view, summary)
    )
    return _put(connection, batch_id, "batch_report", "report", body, partial(documents.report_id, batch_id))


def _put(connection: Connection, batch_id: str, kind: str, subject: str, body: str, named: Callable[[int], str]) -> str:
    """Record the document and return its KB id. If the newest document of its kind has the same text, that document's
    id is returned, so that repeated looks at a batch add nothing.
    """
    asked = {"batch_id": batch_id, "kind": kind, "subject": subject}
    before = BEFORE.one(connection, asked)
    if before.kb_id is not None and before.body == body:
        return before.kb_id
    kb_id = named(before.number + 1)
    connection.execute(
        "select cutter_governance.fn_batch_document(%s, %s, %s, %s, %s)", (batch_id, kind, subject, kb_id, body)
    )
    return kb_id
