"""IO: reads what the database knows of a registered batch."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from cutter import limits
from cutter.batch.view import BatchFacts, BatchView
from cutter.domain.tenants import Room
from cutter.errors import NotFound
from cutter.storage.records import Connection, Rows, parsed, records, values
from cutter.storage.records import answer as value_of
from cutter.types import Json


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchMoment:
    state: str
    mode: str


FACTS: Rows[Json] = values("batch_facts")
SIZE: Rows[int] = values("batch_size")
DOCUMENTS: Rows[str] = values("batch_documents")
ROOMS = parsed("tenant_rooms", Room.of)
"""Takes `tenants`; how much each of them may begin now in batches."""
MOMENT = records("batch_state", BatchMoment)


def facts(connection: Connection, batch_id: str) -> BatchFacts:
    """Every shown fact of a batch, in one answer. Raises STOP_BATCH_NOT_FOUND if the database has no such batch."""
    answer = FACTS.one(connection, {"batch_id": batch_id, "history": True})
    if answer["view"] is None:
        raise unknown(batch_id)
    return BatchFacts.of(answer)


def shown_facts(connection: Connection, batch_id: str, last_view: BatchView | None = None) -> BatchFacts:
    """The facts of a page or a folder about a batch. Raises STOP_BATCH_NOT_FOUND.

    A large batch lacks the history, which would take hundreds of megabytes. Its items are those of `last_view`,
    a view of a moment ago, if it is given, because to read them again takes seconds.
    """
    if SIZE.one(connection, {"batch_id": batch_id}) <= limits.BATCH_HISTORY_DOCUMENTS_MAX:
        return facts(connection, batch_id)
    # The batch's own row is always read: its end may have come or gone since the look.
    last_view = last_view.with_newer(view(connection, batch_id, [])) if last_view else in_parts(connection, batch_id)
    answer = FACTS.one(connection, {"batch_id": batch_id, "history": False})
    return BatchFacts.without_history(last_view, answer)


def view(connection: Connection, batch_id: str, documents: Sequence[str] | None = None) -> BatchView:
    """The batch and its items, or only those of some documents. Raises STOP_BATCH_NOT_FOUND."""
    asked = (batch_id, None if documents is None else list(documents))
    answer: Json | None = value_of(connection, "select cutter_governance.fn_batch_seen(%s, %s)", asked)
    if answer is None:
        raise unknown(batch_id)
    return BatchView.of(answer)


def in_parts(connection: Connection, batch_id: str) -> BatchView:
    """The batch and its items, read in parts, between which an item may change. Raises STOP_BATCH_NOT_FOUND."""
    names = DOCUMENTS.all(connection, {"batch_id": batch_id})
    firsts = range(0, max(len(names), 1), limits.BATCH_PART_ITEMS)
    parts = [view(connection, batch_id, names[first : first + limits.BATCH_PART_ITEMS]) for first in firsts]
    return replace(parts[-1], items=tuple(item for part in parts for item in part.items))


def unknown(batch_id: str) -> NotFound:
    """The error for an unknown batch. It also names the rehearsal, because a rehearsed batch has another id."""
    rehearsal = "" if batch_id.endswith("-dryrun") else f"; its rehearsal would be {batch_id}-dryrun"
    return NotFound(
        f"no batch {batch_id}: see",
        then="cutter status",
        rest=f", or type `cutter orchestrate batch --queue FILE`{rehearsal}",
        code="STOP_BATCH_NOT_FOUND",
    )


def state_and_mode(connection: Connection, batch_id: str) -> BatchMoment:
    """The state and the mode of a batch. Raises STOP_BATCH_NOT_FOUND if the database has no such batch."""
    moment = MOMENT.first(connection, {"batch_id": batch_id})
    if moment is None:
        raise unknown(batch_id)
    return moment
