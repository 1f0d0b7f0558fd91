"""IO: the open entries of the batches' three queues (seed 001 §10, §11), from PostgreSQL alone."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from cutter.batch import ways
from cutter.domain.timestamps import utc
from cutter.settings import Settings
from cutter.storage import batch_views
from cutter.storage.records import Connection, Rows, records, values
from starter.operator import rejections
from starter.operator.batch_status import age_text


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenEntry:
    """An entry of a queue on which a person can act, with the present state of its run. `now` is the database's
    clock.
    """

    batch_id: str
    document_id: str
    run_id: str | None
    queue: str
    code: str
    reason: str
    kb_id: str
    entered_at: datetime
    state: str | None
    now: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class QueueEntry:
    """An open entry of a queue, as people and programs see it. `since_utc` is a UTC text, and `age` is for people.

    `kb_id` names the document about the entry. `commands` continue the entry's document, in the order to type them.
    """

    queue: str
    document_id: str
    run_id: str | None
    batch_id: str
    state: str | None
    code: str
    reason: str
    since_utc: str | None
    age: str
    kb_id: str
    commands: list[str]


ENTRIES = records("queues", OpenEntry)
DOCUMENT: Rows[str] = values("queue_document")


def entries(
    settings: Settings, connection: Connection, *, batch_id: str | None = None, run_id: str | None = None
) -> list[QueueEntry]:
    """Open entries, the longest waiting first."""
    rows = ENTRIES.all(connection, {"batch_id": batch_id, "run_id": run_id})
    rejected = rejections.read(settings, connection, (row.run_id for row in rows if row.run_id))
    named: dict[str, list[str]] = {}
    for row in rows:
        named.setdefault(row.batch_id, []).append(row.document_id)
    steps = {
        (name, item.document_id): ways.item_step(name, item)
        for name, documents in named.items()
        for item in batch_views.view(connection, name, documents).items
    }
    listed = []
    for row in rows:
        step, rejection = steps[(row.batch_id, row.document_id)], rejected.get(row.run_id or "")
        listed.append(QueueEntry(
            queue=row.queue, document_id=row.document_id, run_id=row.run_id, batch_id=row.batch_id, state=row.state,
            code=row.code, reason=rejections.sentence(rejection) if rejection else row.reason,
            since_utc=utc(row.entered_at), age=age_text(row.entered_at.isoformat(), row.now.isoformat()),
            kb_id=row.kb_id, commands=list(step.commands) if step else [f"cutter status {row.document_id}"],
        ))  # fmt: skip
    return listed


def document(connection: Connection, kb_id: str) -> str:
    """The text of the document about an entry; empty if there is none."""
    return DOCUMENT.first(connection, {"kb_id": kb_id}) or ""
