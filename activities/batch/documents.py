"""IO: collects the content of the documents about a batch: its requests, its queues, every item."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from cutter import limits
from cutter.approvals.request import RequestDocument, parse_request
from cutter.batch import batch_step, documents
from cutter.batch.batch_step import Summary
from cutter.batch.documents import QueueLine
from cutter.batch.view import BatchView
from cutter.storage.records import Connection, records
from cutter.types import Refusal


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestText:
    run_id: str
    body: str


@dataclass(frozen=True, slots=True, kw_only=True)
class DocumentsBefore:
    """The number of documents of one kind and subject in a batch, and the name and text of the newest one."""

    number: int
    kb_id: str | None
    body: str | None


REQUESTS = records("request_documents", RequestText)
OPEN_QUEUE = records("open_queue", QueueLine)
BEFORE = records("batch_documents_before", DocumentsBefore)


def overview_of(connection: Connection, view: BatchView, gate: str) -> str:
    """Write the overview of all requests of a gate, and return its KB id."""
    batch_id = view.batch_id
    items = batch_step.waiting_at(view, gate)
    waiting: list[RequestDocument] = []
    asked: Counter[str] = Counter()
    for first in range(0, len(items), limits.REQUESTS_AT_ONCE):
        part = items[first : first + limits.REQUESTS_AT_ONCE]
        rows = REQUESTS.all(connection, {"run_ids": [item.run_id for item in part], "gate": gate})
        bodies = {row.run_id: row.body for row in rows}
        for item in part:
            document = parse_request(bodies.get(item.run_id or "", "").encode())
            if not isinstance(document, Refusal):
                waiting.append(document)
                asked.update([item.actor] if item.actor is not None else [])
    others = batch_step.totals_of(batch_step.items_of(view), view)
    body = documents.overview(batch_id, gate, waiting, others, asked)
    return _put(connection, batch_id, "batch_overview", gate, body, partial(documents.overview_id, batch_id, gate))


def report_of(connection: Connection, view: BatchView, summary: Summary) -> str:
    """Write the batch's report, and a summary of each queue that has or had documents. Returns the report's KB id."""
    batch_id = view.batch_id
    queued = OPEN_QUEUE.all(connection, {"batch_id": batch_id})
    for queue in batch_step.QUEUES:
        entries = [entry for entry in queued if entry.queue == queue]
        asked = {"batch_id": batch_id, "kind": "queue_summary", "subject": queue}
        if entries or BEFORE.one(connection, asked).number:
            body = documents.queue_summary(view, queue, entries)
            _put(connection, batch_id, "queue_summary", queue, body, partial(documents.summary_id, batch_id, queue))
    body = documents.batch_report(view, summary)
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
