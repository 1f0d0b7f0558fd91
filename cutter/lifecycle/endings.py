"""Pure: finds entities whose last line is missing: the file shows them as open, but shows the end of their owner.

A run owns its request, its task and its steps. A document run owns its run, and a batch owns its workstream. An entity
ends with its owner. If a run has succeeded at every gate, its document run has ended too.
"""

from __future__ import annotations

from collections.abc import Iterator

from cutter.catalogue import GATES
from cutter.lifecycle.declarations import BATCH, DOCUMENT_RUN, REQUEST, RUN, STEP, TASK, WORKSTREAM
from cutter.lifecycle.invariants import Known
from cutter.lifecycle.machine import Lifecycle

_OWNERS: dict[str, tuple[Lifecycle, ...]] = {
    REQUEST.name: (RUN, DOCUMENT_RUN),
    TASK.name: (RUN, DOCUMENT_RUN),
    STEP.name: (RUN, DOCUMENT_RUN),
    RUN.name: (DOCUMENT_RUN,),
    DOCUMENT_RUN.name: (RUN,),
    WORKSTREAM.name: (BATCH,),
}


def missing_ends(known: Known) -> Iterator[tuple[Lifecycle, str, int, str]]:
    """(Lifecycle, entity, line of its last event, reason) of each entity without an end, in no order."""
    for lifecycle in (DOCUMENT_RUN, RUN, REQUEST, STEP, TASK, WORKSTREAM):
        for entity, record in known.named(lifecycle):
            if "state" in record and not lifecycle.is_terminal(record["state"]):
                why = _ended(known, lifecycle, record.get("belongs_to") or entity)
                if why:
                    yield lifecycle, entity, record["line"], f"still {record['state']}, though {why}"


def _ended(known: Known, lifecycle: Lifecycle, owner: str) -> str:
    """The owner that has ended, in words. Empty if none has ended."""
    for other in _OWNERS[lifecycle.name]:
        record = known.of(other, owner)
        state = record.get("state")
        if state is None or not other.is_terminal(state):
            continue
        # A rehearsal, or a run without work, succeeds in its present state. Only all gates end a document run.
        if lifecycle is DOCUMENT_RUN and state == "succeeded" and record.get("steps") != len(GATES):
            continue
        return f"{other.name} {owner} is {state} since line {record['line']}"
    return ""
