"""What a batch does, told as its workstream: every way that a batch may go, of any two moves."""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import pairwise

from cutter.batch.view import BatchFacts
from cutter.lifecycle.declarations import BATCH, WORKSTREAM
from cutter.lifecycle.events import Event, moment
from cutter.lifecycle.history import batch_events
from tests.unit.evidence.batches import BATCH_ID, Facts

NEVER = {("validating", "failed")}
"""Once all documents of a batch are law, nothing is left that may fail."""


def told(*states: str) -> list[Event]:
    """The events of a batch that has been in these states, a minute apart."""
    moves = [
        json.dumps({
            "timestamp": f"2026-11-21T09:{minute:02d}:00.000000Z", "event_type": BATCH.event_type, "severity": "info",
            "entity_id": BATCH_ID, "from_state": before, "to_state": after, "trigger": "items", "metadata": {},
        })
        for minute, (before, after) in enumerate(pairwise(states), start=1)
    ]  # fmt: skip
    facts = Facts(created_at="2026-11-21T09:00:00.000000Z")
    facts.made["batch_moves"] = moves
    return [
        batch_event
        for batch_event in batch_events(BatchFacts.of(facts.whole()))
        if batch_event.event_type == WORKSTREAM.event_type
    ]


def ways() -> Iterator[tuple[str, ...]]:
    for second in BATCH.allowed[BATCH.initial]:
        yield (BATCH.initial, second)
        for third in BATCH.allowed[second]:
            yield (BATCH.initial, second, third)


def test_every_arrow_of_the_seed_is_taken_by_some_batch_and_no_other() -> None:
    """Seed 004 "Workstream Lifecycle" Transitions."""
    taken = set()
    for way in ways():
        stands: dict[str, str] = {}
        events = told(*way)
        for event in events:
            assert stands.get(event.entity_id, WORKSTREAM.initial) == event.from_state, way
            WORKSTREAM.check(event.from_state, event.to_state)
            stands[event.entity_id] = event.to_state
            taken.add((event.from_state, event.to_state))
        assert [moment(event) for event in events] == sorted(moment(event) for event in events)
    assert taken == set(WORKSTREAM.edges) - NEVER


def test_a_resumed_batch_is_another_workstream() -> None:
    events = told("batch_pending", "batch_failed_partial", "batch_planning", "batch_closeout")
    assert [(event.entity_id.rpartition("#")[2], event.to_state) for event in events] == [
        ("1", "ready"), ("1", "executing"), ("1", "failed"),
        ("2", "ready"), ("2", "executing"), ("2", "validating"), ("2", "completed"),
    ]  # fmt: skip
