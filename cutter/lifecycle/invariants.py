"""Pure: the invariants of seeds 000, 003 and 004, as far as the metadata of events have the needed facts.

A check ignores missing metadata, so the file of another program only has to agree with itself. Each check has the name
of the seed's invariant. docs/reference/lifecycles.md lists the keys.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime
from itertools import pairwise
from typing import Any, Protocol

from cutter.catalogue import GATES, State
from cutter.lifecycle.events import Event, Malformed, parsed
from cutter.lifecycle.machine import Lifecycle
from cutter.types import Json

Broken = Iterator[tuple[str, str]]
"""(the invariant's name, the problem) of each violated invariant."""


class Records(Protocol):
    """A store of the known records, by kind and name."""

    def get(self, key: str, /) -> Json | None: ...

    def __setitem__(self, key: str, record: Json, /) -> None: ...

    def named(self, head: str, /) -> Iterator[tuple[str, Json]]:
        """(The rest of the key, record) of each key that begins so."""
        ...


class InMemory(dict[str, Json]):
    """Records of a file that fits into memory."""

    def named(self, head: str, /) -> Iterator[tuple[str, Json]]:
        return ((key.removeprefix(head), record) for key, record in list(self.items()) if key.startswith(head))


class Known:
    """The records from earlier events, by kind and name. A missing record is empty."""

    def __init__(self, records: Records) -> None:
        self._records = records

    def of(self, kind: Lifecycle | str, name: str) -> Json:
        return self._records.get(_key(kind, name)) or {}

    def keep(self, kind: Lifecycle | str, name: str, record: Json) -> None:
        self._records[_key(kind, name)] = record

    def count(self, kind: str, name: str, **more: int) -> Json:
        """Add to the numbers of a record. No number becomes less than zero."""
        record = self.of(kind, name)
        record = {**record, **{key: max(0, record.get(key, 0) + number) for key, number in more.items()}}
        self.keep(kind, name, record)
        return record


def _key(kind: Lifecycle | str, name: str) -> str:
    return f"{kind if isinstance(kind, str) else kind.name}\t{name}"


@dataclass(slots=True, kw_only=True)
class Seen:
    """An event with the known facts about its entity. Checks add to `record`, and the caller keeps it."""

    event: Event
    at: datetime
    lifecycle: Lifecycle
    known: Known
    record: Json

    def said(self, *names: str) -> Any:
        """The metadata under the first of these names that is present, or None."""
        metadata = self.event.metadata
        for name in names:
            if metadata.get(name) is not None:
                return metadata[name]
        return None

    def number(self, *names: str) -> int | None:
        value = self.said(*names)
        return value if type(value) is int else None

    def text(self, *names: str) -> str | None:
        value = self.said(*names)
        return value if type(value) is str and value else None

    def remember(self, name: str, value: Any) -> Any:
        """The value in this event, or the value in an earlier event of the entity."""
        if value is not None:
            self.record[name] = value
            return value
        return self.record.get(name)


def broken(seen: Seen) -> Broken:
    """The invariants that an event violates."""
    for check in CHECKS.get(seen.lifecycle.name, ()):
        yield from check(seen)


# --- tasks ------------------------------------------------------------------------------------------------------------


def worker_assignment(seen: Seen) -> Broken:
    """Only running tasks have a worker. This worker must be responsive and have room (Capacity Limit)."""
    worker, before, after = seen.text("worker_id"), seen.event.from_state, seen.event.to_state
    had = seen.record.get("worker")
    if worker is None and had is None:
        return
    if before == "running" and after != "running":
        if worker and had and worker != had:
            yield "worker_assignment", f"it ran on {had}, not on {worker}"
        if had:
            seen.known.count("load", had, tasks=-1)
        seen.record["worker"] = None
    elif after != "running" and worker:
        yield "worker_assignment", f"a {after} task has no worker, but {worker}"
    elif after == "running" and worker:
        seen.record["worker"] = worker
        load = seen.known.count("load", worker, tasks=1)["tasks"]
        known = seen.known.of("worker", worker)
        if known.get("state") not in (None, "idle", "busy"):
            yield "worker_assignment", f"worker {worker} is {known['state']}"
        yield from _over(worker, load, known.get("most"))


def _over(worker: str, load: int | None, most: int | None) -> Broken:
    if load is not None and most is not None and load > most:
        yield "capacity_limit", f"worker {worker} has {load} tasks, at most {most}"


def retry_limit(seen: Seen) -> Broken:
    """retry_count never exceeds max_retries. A retry needs one that is left, and a failure needs none left (guards)."""
    had = seen.record.get("retries")
    count = seen.number("retry_count")
    most = seen.remember("max_retries", seen.number("max_retries"))
    seen.remember("retries", count)
    if count is None or most is None:
        return
    before, after = seen.event.from_state, seen.event.to_state
    if count > most or count < 0:
        yield "retry_limit", f"retry_count is {count} of at most {most}"
    elif (before, after) == ("running", "retrying") and had is not None and count >= had >= most:
        yield "retry_limit", f"all {most} retries were used up"
    elif (before, after) == ("running", "failed") and count < most and seen.said("retryable") is not False:
        yield "retry_limit", f"it failed with {count} of {most} retries used, and does not say that it is not retryable"


TIMES = ("created_at", "started_at", "completed_at")


def timestamp_ordering(seen: Seen) -> Broken:
    """created_at ≤ started_at ≤ completed_at."""
    times: list[tuple[str, datetime]] = []
    if seen.said(*TIMES) is None:
        return
    for name in TIMES:
        value = seen.remember(name, seen.said(name))
        if value is None:
            continue
        try:
            times.append((name, parsed(str(value))))
        except Malformed as problem:
            yield "timestamp_ordering", f"{name}: {problem}"
    for (one, earlier), (other, later) in pairwise(times):
        if earlier > later:
            yield "timestamp_ordering", f"{one} is after {other}"


def dependency_satisfaction(seen: Seen) -> Broken:
    """Queued tasks have all dependencies completed."""
    needs = seen.remember("needs", seen.said("dependencies", "depends_on")) or ()
    if (seen.event.from_state, seen.event.to_state) != ("pending", "queued"):
        return
    for name in needs if isinstance(needs, list) else ():
        state = seen.known.of("task", str(name)).get("state", "unknown")
        if state != "completed":
            yield "dependency_satisfaction", f"its dependency {name} is {state}"


def counted_in_workstream(seen: Seen) -> Broken:
    """Count a workstream's open, completed and uncompleted tasks for the checks below. This checks no invariant."""
    replaced = seen.text("replaces")
    if replaced and not seen.record.get("replaces"):
        seen.remember("replaces", replaced)
        _forget(seen, replaced)
    stream = seen.remember("stream", seen.text("workstream_id"))
    if stream is None or seen.record.get("replaced"):
        return
    place = _place(seen.event.to_state)
    had = seen.record.get("place")
    seen.record["place"] = place
    changes = {place: 1} if had is None else {} if had == place else {had: -1, place: 1}
    seen.known.count("tasks", stream, **changes)
    if seen.event.to_state == "failed" and seen.said("critical") is True:
        seen.known.count("tasks", stream, critical=1)
    yield from ()


def _place(state: str) -> str:
    return {"completed": "completed", "failed": "lost", "cancelled": "lost"}.get(state, "open")


def _forget(seen: Seen, replaced: str) -> None:
    """Stop counting a task that another task replaces."""
    record = seen.known.of("task", replaced)
    if record.get("stream") and record.get("place") and not record.get("replaced"):
        seen.known.count("tasks", record["stream"], **{record["place"]: -1})
    if record:
        seen.known.keep("task", replaced, {**record, "replaced": True})


# --- workstreams ------------------------------------------------------------------------------------------------------


def workstream_is_what_its_tasks_are(seen: Seen) -> Broken:
    """Task State Consistency, Completion Requirement, Failure Propagation, Archive Preservation."""
    after = seen.event.to_state
    tasks = seen.known.of("tasks", seen.event.entity_id)
    still, lost = tasks.get("open", 0), tasks.get("lost", 0)
    if after == "validating" and (still or lost):
        yield "task_state_consistency", f"{still} of its tasks are not completed yet and {lost} never will be"
    if after == "completed" and tasks.get("critical"):
        yield "failure_propagation", "a critical task of it failed"
    elif after == "completed" and (still or lost):
        yield "completion_requirement", f"{still + lost} of its tasks are not completed"
    if after == "failed" and seen.said("archived") is False:
        yield "archive_preservation", "it failed and was not preserved"


# --- workers ----------------------------------------------------------------------------------------------------------


def capacity_limit(seen: Seen) -> Broken:
    """A busy worker has at most max_concurrent_tasks, and an idle worker has no tasks."""
    most = seen.remember("most", seen.number("max_concurrent_tasks"))
    count = seen.number("task_count", "active_tasks")
    if seen.event.to_state == "busy":
        yield from _over(seen.event.entity_id, count, most)
    if seen.event.to_state == "idle" and count:
        yield "capacity_limit", f"an idle worker has no tasks, this one {count}"


def health_monitoring(seen: Seen) -> Broken:
    """Only idle and busy workers send heartbeats."""
    beat, since = seen.said("heartbeat_at", "last_heartbeat_at"), seen.record.get("since")
    if beat is None or since is None or {seen.event.from_state, seen.event.to_state} & {"idle", "busy"}:
        # A worker that comes back sends its heartbeat before the event of its return.
        return
    try:
        if parsed(since) < parsed(str(beat)) < seen.at:
            yield "health_monitoring", f"it was {seen.event.from_state} when it sent a heartbeat at {beat}"
    except Malformed as problem:
        yield "health_monitoring", f"heartbeat_at: {problem}"


def graceful_shutdown(seen: Seen) -> Broken:
    """Workers complete their tasks before they leave, and release their resources (Resource Cleanup)."""
    if seen.event.to_state != "shutdown":
        return
    name = seen.event.entity_id
    running = max(seen.number("task_count", "active_tasks") or 0, seen.known.of("load", name).get("tasks", 0))
    if running and seen.event.from_state != "unresponsive":
        yield "graceful_shutdown", f"it leaves with {running} tasks running"
    if seen.said("held_resources"):
        yield "resource_cleanup", f"it leaves and holds {str(seen.said('held_resources'))[:100]}"


# --- runs and their steps ---------------------------------------------------------------------------------------------


def step_of_run(seen: Seen) -> Broken:
    """Count the known steps and the succeeded steps of a run. This checks no invariant."""
    run = seen.text("run_id")
    if run is not None:
        new, done = not seen.record.get("run"), seen.event.to_state == "succeeded"
        seen.remember("run", run)
        seen.known.count("steps", run, known=int(new), succeeded=int(done))
    yield from ()


def run_has_succeeded_iff_every_step_has(seen: Seen) -> Broken:
    """A run has succeeded if and only if every step of it has succeeded (seed 003 §2.2)."""
    steps = seen.known.of("steps", seen.event.entity_id)
    known, succeeded = steps.get("known", 0), steps.get("succeeded", 0)
    said, done = seen.number("steps"), seen.number("steps_succeeded")
    after = seen.event.to_state
    if after == "succeeded" and (succeeded < known or (said is not None and done is not None and done < said)):
        yield "succeeded_iff_every_step", "the run has succeeded and not every step of it"
    if after in ("failed_terminal", "canceled") and said and said == (succeeded if done is None else done):
        yield "succeeded_iff_every_step", f"every step has succeeded and the run is {after}"


# --- document runs ----------------------------------------------------------------------------------------------------

_IN_ORDER = (State.PENDING.value, *(gate.to_state.value for gate in GATES))
_REACHED = {state: state for state in _IN_ORDER} | {
    gate.from_state.value: _IN_ORDER[gate.number - 1] for gate in GATES if gate.sovereign
}
"""For each state, the state that the last sealed gate reached. Waiting for people seals nothing."""


def goes_on_where_it_stopped(seen: Seen) -> Broken:
    """A stop neither skips a gate nor leads back from the enactment (seed 000 §2, §3).

    A stopped run continues from the state of its last sealed gate. No gate seals during a stop, because each stop waits
    for the open gate.
    """
    before, after = seen.event.from_state, seen.event.to_state
    reached = seen.remember("reached", _REACHED.get(before))
    seen.remember("reached", _REACHED.get(after))
    if reached is None or before in _REACHED or seen.lifecycle.rule(before, after) is None:
        return
    if after in _REACHED and after != reached:
        yield "no_skipped_gate", f"its last sealed gate had reached {reached}: it does not continue from {after}"
    if reached == State.LIFECYCLE_ENACTED and seen.lifecycle.declared(after) == "voided_<reason>":
        yield "enacted_law_is_never_voided", f"it had reached {reached}"


CHECKS: dict[str, tuple[Callable[[Seen], Broken], ...]] = {
    "document_run": (goes_on_where_it_stopped,),
    "task": (worker_assignment, retry_limit, timestamp_ordering, dependency_satisfaction, counted_in_workstream),
    "workstream": (workstream_is_what_its_tasks_are,),
    "worker": (capacity_limit, health_monitoring, graceful_shutdown),
    "step": (step_of_run,),
    "run": (run_has_succeeded_iff_every_step_has,),
}
