"""IO: writes the documents about a batch (its requests, its queues, every item) and its folder, from the database."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import structlog

from activities.worker.dependencies import Deps
from cutter import limits
from cutter.approvals.request import RequestDocument, parse_request
from cutter.batch import batch_step, documents
from cutter.batch.batch_step import Summary
from cutter.batch.documents import PRE_BATCHED, QueueLine, queue_id
from cutter.batch.documents import folder as kb_folder
from cutter.batch.view import BatchView
from cutter.catalogue import Role
from cutter.domain.digests import sha256_hex
from cutter.errors import CutterError
from cutter.kb.ids import signature_of
from cutter.kb.store import set_names
from cutter.projections import batch_folder, run_folder
from cutter.storage.pools import translated
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
    """Record the document and return its KB id, or that of the newest one if it has the same text."""
    asked = {"batch_id": batch_id, "kind": kind, "subject": subject}
    before = BEFORE.one(connection, asked)
    if before.kb_id is not None and before.body == body:
        return before.kb_id
    kb_id = named(before.number + 1)
    connection.execute(
        "select cutter_governance.fn_batch_document(%s, %s, %s, %s, %s)", (batch_id, kind, subject, kb_id, body)
    )
    return kb_id


log = structlog.get_logger()


def project_batch(deps: Deps, batch_id: str, view: BatchView | None = None) -> tuple[Path, bool]:
    """Write the folder. Returns its path, and whether it holds the registered queue.yaml. `view` saves a reading."""
    settings = deps.settings
    with translated(), deps.pool(Role.READ).connection() as connection:
        contents, queue_sha256 = batch_folder.read_contents(connection, batch_id, view)
    queue = None
    if not run_folder.has_queue(run_folder.find_batch(settings.batches, batch_id), queue_sha256):
        with suppress(CutterError):
            queue = deps.kb.get(queue_id(batch_id))
            if sha256_hex(queue) != queue_sha256:
                queue = None
    folder = batch_folder.write(settings.batches, settings.runs, contents, queue=queue)
    _copy_approvals(deps, batch_id, folder)
    return folder, run_folder.has_queue(folder, queue_sha256)


def keep_up(deps: Deps, view: BatchView, *, news: bool) -> None:
    """Write the folder of a running batch if it differs from the view, but not at every change."""
    batch_id = view.batch_id
    folder = run_folder.find_batch(deps.settings.batches, batch_id)
    if batch_folder.is_behind(folder, view, news=news):
        follow_batch(deps, batch_id, view)


def follow_batch(deps: Deps, batch_id: str, view: BatchView | None = None) -> None:
    """Write the folder if that is possible. A failure is only logged."""
    # The folder is only a projection of the database, so a fault in it does not change how the batch ended. `cutter
    # rebuild` writes it again.
    try:
        project_batch(deps, batch_id, view)
    except Exception as problem:
        log.warning("batch_folder.behind", batch_id=batch_id, code=getattr(problem, "code", type(problem).__name__))


def _copy_approvals(deps: Deps, batch_id: str, folder: Path) -> None:
    """Put pre-batched approvals next to the queue file (seed 001 §8); an existing copy is not read again."""
    for name in PRE_BATCHED.values():
        for kb_id in set_names(deps.kb, f"{kb_folder(batch_id)}/{name}"):
            for file_id in (kb_id, signature_of(kb_id)):
                place = f"{name}/{file_id.rpartition('/')[2]}"
                if not (folder / place).exists():
                    batch_folder.keep_beside(folder, place, deps.kb.get(file_id))
