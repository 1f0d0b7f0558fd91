"""IO: the next commands of a failed run that belongs to a batch, which are those that the batch shows."""

from __future__ import annotations

from cutter.batch import ways
from cutter.domain.next_step import Step
from cutter.domain.run_state import RunState
from cutter.storage import batch_views
from cutter.storage.pools import Connection


def step_of(connection: Connection, *, run_id: str, document_id: str, state: str, batch_id: str | None) -> Step | None:
    """The step of a failed run as its batch shows it. None if the run has not failed or is not the batch's newest run
    of the document.
    """
    if batch_id is None or not RunState(state).failed:
        return None
    item = batch_views.view(connection, batch_id).by_document.get(document_id)
    return ways.item_step(batch_id, item) if item is not None and item.run_id == run_id else None
