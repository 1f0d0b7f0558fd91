"""Pure: entities that a file shows as open though it says elsewhere that they have ended: their last line is missing.

A request, a task and the steps belong to a run, a run to its document run, a workstream to its batch. When the one that
an entity belongs to has ended, so has the entity; a run that has succeeded at every gate ends its document run too.
"""

from __future__ import annotations

from collections.abc import Iterator

from cutter.catalogue import GATES
from cutter.lifecycle.declarations import BATCH, DOCUMENT_RUN, REQUEST, RUN, STEP, TASK, WORKSTREAM
from cutter.lifecycle.invariants import Known, Records
from cutter.lifecycle.machine import Lifecycle

_OWNERS: dict[str, tuple[Lifecycle, ...]] = {
    REQUEST.name: (RUN, DOCUMENT_RUN),
    TASK.name: (RUN, DOCUMENT_RUN),
    STEP.name: (RUN, DOCUMENT_RUN),
    RUN.name: (DOCUMENT_RUN,),
    DOCUMENT_RUN.name: (RUN,),
    WORKSTREAM.name: (BATCH,),
}


def missing_ends(records: Records) -> Iterator[tuple[Lifecycle, str, int, str]]:
    """(Lifecycle, entity, line of its last event, why its end is missing) of each, in no order."""
    known = Known(records)
    for lifecycle in (DOCUMENT_RUN, RUN, REQUEST, STEP, TASK, WORKSTREAM):
        for entity, record in records.named(f"{lifecycle.name}\t"):
            if "state" in record and not lifecycle.is_terminal(record["state"]):
                why = _ended(known, lifecycle, record.get("belongs_to") or entity)
                if why:
                    yield lifecycle, entity, record["line"], f"still {record['state']}, though {why}"


def _ended(known: Known, lifecycle: Lifecycle, owner: str) -> str:
    """Which owner has ended, in words; empty when none has."""
    for other in _OWNERS[lifecycle.name]:
        record = known.of(other, owner)
        state = record.get("state")
        if state is None or not other.is_terminal(state):
            continue
        # A rehearsal, or a run without work, succeeds in its present state: only all gates close a document run.
        if lifecycle is DOCUMENT_RUN and state == "succeeded" and record.get("steps") != len(GATES):
            continue
        return f"{other.name} {owner} is {state} since line {record['line']}"
    return ""
