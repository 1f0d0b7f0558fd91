"""Pure: the invariants of seeds 000, 003 and 004, as far as the metadata of events have the needed facts.

A check ignores missing metadata, so the file of another program only has to agree with itself. Each check has the name
of the seed's invariant. docs/reference/lifecycles.md lists the keys.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime
from itertools import pairwise
from typing import Any

from cutter.catalogue import GATES, State
from cutter.lifecycle.declarations import Lifecycle
from cutter.lifecycle.events import Event, Malformed, parsed
from cutter.types import Json

Broken = Iterator[tuple[str, str]]
"""(the invariant's name, the problem) of each violated invariant."""


class Known:
    """The records from earlier events, by kind and name, in memory. A missing record is empty."""

    def __init__(self) -> None:
        self._near: dict[str, Json] = {}

    def of(self, kind: Lifecycle | str, name: str) -> Json:
        return self._get(_key(kind, name)) or {}

    def keep(self, kind: Lifecycle | str, name: str, record: Json) -> None:
        self._near[_key(kind, name)] = record

    def count(self, kind: str, name: str, **more: int) -> Json:
        """Add to the numbers of a record. No number becomes less than zero."""
        record = self.of(kind, name)
        record = {**record, **{key: max(0, record.get(key, 0) + number) for key, number in more.items()}}
        self.keep(kind, name, record)
        return record

    def named(self, kind: Lifecycle) -> Iterator[tuple[str, Json]]:
        head = _key(kind, "")
        return ((key.removeprefix(head), record) for key, record in list(self._near.items()) if key.startswith(head))

    def _get(self, key: str) -> Json | None:
        return self._near.get(key)


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


def broken(context: Seen) -> Broken:
    for check in CHECKS.get(context.lifecycle.name, ()):
        yield from check(context)


# --- tasks ------------------------------------------------------------------------------------------------------------


def worker_assignment(context: Seen) -> Broken:
    """Only running tasks have a worker. This worker must be responsive and have room (Capacity Limit)."""
    worker, before, after = context.text("worker_id"), context.event.from_state, context.event.to_state
    had = context.record.get("worker")
    if worker is None and had is None:
        return
    if before == "running" and after != "running":
        if worker and had and worker != had:
            yield "worker_assignment", f"it ran on {had}, not on {worker}"
        if had:
            context.known.count("load", had, tasks=-1)
        context.record["worker"] = None
    elif after != "running" and worker:
        yield "worker_assignment", f"a {after} task has no worker, but {worker}"
    elif after == "running" and worker:
        context.record["worker"] = worker
        load = context.known.count("load", worker, tasks=1)["tasks"]
        known = context.known.of("worker", worker)
        if known.get("state") not in (None, "idle", "busy"):
            yield "worker_assignment", f"worker {worker} is {known['state']}"
        yield from _over(worker, load, known.get("most"))


def _over(worker: str, load: int | None, most: int | None) -> Broken:
    if load is not None and most is not None and load > most:
        yield "capacity_limit", f"worker {worker} has {load} tasks, at most {most}"


def retry_limit(context: Seen) -> Broken:
    """retry_count never exceeds max_retries. A retry needs one that is left, and a failure needs none left (guards)."""
    had = context.record.get("retries")
    count = context.number("retry_count")
    most = context.remember("max_retries", context.number("max_retries"))
    context.remember("retries", count)
    if count is None or most is None:
        return
    before, after = context.event.from_state, context.event.to_state
    if count > most or count < 0:
        yield "retry_limit", f"retry_count is {count} of at most {most}"
    elif (before, after) == ("running", "retrying") and had is not None and count >= had >= most:
        yield "retry_limit", f"all {most} retries were used up"
    elif (before, after) == ("running", "failed") and count < most and context.said("retryable") is not False:
        yield "retry_limit", f"it failed with {count} of {most} retries used, and does not say that it is not retryable"


TIMES = ("created_at", "started_at", "completed_at")


def timestamp_ordering(context: Seen) -> Broken:
    """created_at ≤ started_at ≤ completed_at."""
    times: list[tuple[str, datetime]] = []
    if context.said(*TIMES) is None:
        return
    for name in TIMES:
        value = context.remember(name, context.said(name))
        if value is None:
            continue
        try:
            times.append((name, parsed(str(value))))
        except Malformed as problem:
            yield "timestamp_ordering", f"{name}: {problem}"
    for (first, earlier), (second, later) in pairwise(times):
        if earlier > later:
            yield "timestamp_ordering", f"{first} is after {second}"


def dependency_satisfaction(context: Seen) -> Broken:
    """Queued tasks have all dependencies completed."""
    needs = context.remember("needs", context.said("dependencies", "depends_on")) or ()
    if (context.event.from_state, context.event.to_state) != ("pending", "queued"):
        return
    for name in needs if isinstance(needs, list) else ():
        state = context.known.of("task", str(name)).get("state", "unknown")
        if state != "completed":
            yield "dependency_satisfaction", f"its dependency {name} is {state}"


def counted_in_workstream(context: Seen) -> Broken:
    """Count a workstream's open, completed and uncompleted tasks for the checks below. This checks no invariant."""
    replaced = context.text("replaces")
    if replaced and not context.record.get("replaces"):
        context.remember("replaces", replaced)
        # The replaced task no longer counts.
        record = context.known.of("task", replaced)
        if record.get("stream") and record.get("place") and not record.get("replaced"):
            context.known.count("tasks", record["stream"], **{record["place"]: -1})
        if record:
            context.known.keep("task", replaced, {**record, "replaced": True})
    stream = context.remember("stream", context.text("workstream_id"))
    if stream is None or context.record.get("replaced"):
        return
    place = {"completed": "completed", "failed": "lost", "cancelled": "lost"}.get(context.event.to_state, "open")
    had = context.record.get("place")
    context.record["place"] = place
    changes = {place: 1} if had is None else {} if had == place else {had: -1, place: 1}
    context.known.count("tasks", stream, **changes)
    if context.event.to_state == "failed" and context.said("critical") is True:
        context.known.count("tasks", stream, critical=1)
    yield from ()


# --- workstreams ------------------------------------------------------------------------------------------------------


def workstream_is_what_its_tasks_are(context: Seen) -> Broken:
    """Task State Consistency, Completion Requirement, Failure Propagation, Archive Preservation."""
    after = context.event.to_state
    tasks = context.known.of("tasks", context.event.entity_id)
    still, lost = tasks.get("open", 0), tasks.get("lost", 0)
    if after == "validating" and (still or lost):
        yield "task_state_consistency", f"{still} of its tasks are not completed yet and {lost} never will be"
    if after == "completed" and tasks.get("critical"):
        yield "failure_propagation", "a critical task of it failed"
    elif after == "completed" and (still or lost):
        yield "completion_requirement", f"{still + lost} of its tasks are not completed"
    if after == "failed" and context.said("archived") is False:
        yield "archive_preservation", "it failed and was not preserved"


# --- workers ----------------------------------------------------------------------------------------------------------


def capacity_limit(context: Seen) -> Broken:
    """A busy worker has at most max_concurrent_tasks, and an idle worker has no tasks."""
    most = context.remember("most", context.number("max_concurrent_tasks"))
    count = context.number("task_count", "active_tasks")
    if context.event.to_state == "busy":
        yield from _over(context.event.entity_id, count, most)
    if context.event.to_state == "idle" and count:
        yield "capacity_limit", f"an idle worker has no tasks, this one {count}"


def health_monitoring(context: Seen) -> Broken:
    """Only idle and busy workers send heartbeats."""
    beat, since = context.said("heartbeat_at", "last_heartbeat_at"), context.record.get("since")
    if beat is None or since is None or {context.event.from_state, context.event.to_state} & {"idle", "busy"}:
        # A worker that comes back sends its heartbeat before the event of its return.
        return
    try:
        if parsed(since) < parsed(str(beat)) < context.at:
            yield "health_monitoring", f"it was {context.event.from_state} when it sent a heartbeat at {beat}"
    except Malformed as problem:
        yield "health_monitoring", f"heartbeat_at: {problem}"


def graceful_shutdown(context: Seen) -> Broken:
    """Workers complete their tasks before they leave, and release their resources (Resource Cleanup)."""
    if context.event.to_state != "shutdown":
        return
    name = context.event.entity_id
    running = max(context.number("task_count", "active_tasks") or 0, context.known.of("load", name).get("tasks", 0))
    if running and context.event.from_state != "unresponsive":
        yield "graceful_shutdown", f"it leaves with {running} tasks running"
    if context.said("held_resources"):
        yield "resource_cleanup", f"it leaves and holds {str(context.said('held_resources'))[:100]}"


# --- runs and their steps ---------------------------------------------------------------------------------------------


def step_of_run(context: Seen) -> Broken:
    """Count the known steps and the succeeded steps of a run. This checks no invariant."""
    run = context.text("run_id")
    if run is not None:
        new, done = not context.record.get("run"), context.event.to_state == "succeeded"
        context.remember("run", run)
        context.known.count("steps", run, known=int(new), succeeded=int(done))
    yield from ()


def run_has_succeeded_iff_every_step_has(context: Seen) -> Broken:
    """A run has succeeded if and only if every step of it has succeeded (seed 003 §2.2)."""
    steps = context.known.of("steps", context.event.entity_id)
    known, succeeded = steps.get("known", 0), steps.get("succeeded", 0)
    total, done = context.number("steps"), context.number("steps_succeeded")
    after = context.event.to_state
    if after == "succeeded" and (succeeded < known or (total is not None and done is not None and done < total)):
        yield "succeeded_iff_every_step", "the run has succeeded and not every step of it"
    if after in ("failed_terminal", "canceled") and total and total == (succeeded if done is None else done):
        yield "succeeded_iff_every_step", f"every step has succeeded and the run is {after}"


# --- document runs ----------------------------------------------------------------------------------------------------

_IN_ORDER = (State.PENDING.value, *(gate.to_state.value for gate in GATES))
_REACHED = {state: state for state in _IN_ORDER} | {
    gate.from_state.value: _IN_ORDER[gate.number - 1] for gate in GATES if gate.sovereign
}
"""For each state, the state that the last sealed gate reached. Waiting for people seals nothing."""


def goes_on_where_it_stopped(context: Seen) -> Broken:
    """A stop neither skips a gate nor leads back from the enactment (seed 000 §2, §3). A run continues from its last
    sealed gate, because each stop waits for the open gate.
    """
    before, after = context.event.from_state, context.event.to_state
    reached = context.remember("reached", _REACHED.get(before))
    context.remember("reached", _REACHED.get(after))
    if reached is None or before in _REACHED or context.lifecycle.rule(before, after) is None:
        return
    if after in _REACHED and after != reached:
        yield "no_skipped_gate", f"its last sealed gate had reached {reached}: it does not continue from {after}"
    if reached == State.LIFECYCLE_ENACTED and context.lifecycle.declared(after) == "voided_<reason>":
        yield "enacted_law_is_never_voided", f"it had reached {reached}"


CHECKS: dict[str, tuple[Callable[[Seen], Broken], ...]] = {
    "document_run": (goes_on_where_it_stopped,),
    "task": (worker_assignment, retry_limit, timestamp_ordering, dependency_satisfaction, counted_in_workstream),
    "workstream": (workstream_is_what_its_tasks_are,),
    "worker": (capacity_limit, health_monitoring, graceful_shutdown),
    "step": (step_of_run,),
    "run": (run_has_succeeded_iff_every_step_has,),
}
