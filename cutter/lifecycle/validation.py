"""Pure: checks a file of transitions event by event: schema, legality, invariants, time. The file may be of any
program.

Every entity must begin in its first state. `finish` finds entities whose last line is missing: the file shows them as
open, but shows the end of their owner.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime

from cutter.catalogue import GATES
from cutter.lifecycle import events
from cutter.lifecycle.declarations import (
    BATCH,
    BY_EVENT_TYPE,
    DOCUMENT_RUN,
    REQUEST,
    RUN,
    STEP,
    TASK,
    WORKSTREAM,
    Lifecycle,
)
from cutter.lifecycle.events import Event, Malformed
from cutter.lifecycle.invariants import Known, Seen, broken
from cutter.types import Json


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One problem of a line. `code` is the name of the invariant. `entity` is empty if the line names none."""

    line: int
    code: str
    entity: str
    text: str


@dataclass(slots=True, kw_only=True)
class Validation:
    """Takes one line after another. `known` holds the facts from earlier lines, by lifecycle and entity."""

    known: Known = field(default_factory=Known)
    number: int = 0
    events: int = 0
    findings: int = 0
    before: datetime | None = None

    def take(self, line: bytes) -> list[Finding]:
        """The problems of the next line, which is given without its end."""
        self.number += 1
        entity, problems = "", []
        try:
            event = events.read(line)
            entity = event.entity_id
            problems = list(self._checked(event, events.moment(event)))
            self.events += 1
        except Malformed as problem:
            problems = [("schema", str(problem))]
        self.findings += len(problems)
        return [Finding(line=self.number, code=code, entity=entity, text=text) for code, text in problems]

    def finish(self) -> Iterator[Finding]:
        """The ended entities whose last event is missing from the file. Call this after the last line."""
        for lifecycle, entity, line, text in missing_ends(self.known):
            self.findings += 1
            yield Finding(line=line, code="last_transition", entity=entity, text=f"{lifecycle.name} {entity}: {text}")

    def _checked(self, event: Event, at: datetime) -> Iterator[tuple[str, str]]:
        if self.before is not None and at < self.before:
            yield "monotonic_timestamps", f"{event.timestamp} is before the line above it"
        self.before = at
        lifecycle = BY_EVENT_TYPE[event.event_type]
        record = dict(self.known.of(lifecycle, event.entity_id))
        yield from _legal(lifecycle, event, record)
        yield from broken(Seen(event=event, at=at, lifecycle=lifecycle, known=self.known, record=record))
        # The next line is checked from this state, so that one wrong line gives one finding and not many.
        owner = event.metadata.get("batch_id" if lifecycle is WORKSTREAM else "run_id")
        if isinstance(owner, str):
            record["belongs_to"] = owner
        if lifecycle is RUN and type(event.metadata.get("steps")) is int:
            record["steps"] = event.metadata["steps"]
        record |= {"state": event.to_state, "line": self.number, "since": event.timestamp}
        self.known.keep(lifecycle, event.entity_id, record)


def _legal(lifecycle: Lifecycle, event: Event, record: Json) -> Iterator[tuple[str, str]]:
    before, after = event.from_state, event.to_state
    stood = record.get("state")
    if stood is None and before != lifecycle.initial:
        yield "first_transition", f"{lifecycle.name} {event.entity_id} begins in {before}, not in {lifecycle.initial}"
    if stood is not None and stood != before:
        code = "monotonic_progress" if lifecycle.is_terminal(stood) else "single_active_state"
        yield code, f"{lifecycle.name} {event.entity_id} is {stood} since line {record['line']}, not {before}"
    rule = lifecycle.rule(before, after)
    if rule is None:
        yield "monotonic_progress" if lifecycle.is_terminal(before) else "transition", lifecycle.why_not(before, after)
        return
    if event.trigger not in {rule.trigger, *rule.words}:
        known = "does not lead" if event.trigger in lifecycle.words else "is not declared to lead"
        yield "trigger", f"{lifecycle.name}: {event.trigger} {known} from {before} to {after}, {rule.trigger} does"
    if rule.demanded and event.severity != rule.severity:
        yield "severity", f"{lifecycle.name}: {before} to {after} is {rule.severity}, not {event.severity}"


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
