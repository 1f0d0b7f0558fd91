"""Pure: sentences for people about the lanes of leg A and of the enactment: who holds them, and who waits for them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime

from cutter.domain.recorded_values import record
from cutter.domain.timestamps import readable
from cutter.types import Json


@dataclass(frozen=True, slots=True, kw_only=True)
class Holder:
    """A session that holds a lane. A session without a run belongs to no worker."""

    pid: int
    role: str
    since: str | None
    run_id: str | None
    document_id: str | None
    worker: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Lane:
    """A lane with its gate, its holder (None if nobody holds it), and the runs that wait for it."""

    lane: str
    gate: str
    held: Holder | None
    waiting: list[str]


def lanes_of(answer: Sequence[Json]) -> list[Lane]:
    """The answer of `fn_lanes`."""
    return [record(Lane, {**lane, "held": record(Holder, lane["held"]) if lane["held"] else None}) for lane in answer]


def sentences(lanes: Sequence[Lane]) -> Iterator[str]:
    """One sentence for each lane that somebody holds or waits for."""
    for lane in lanes:
        if lane.held or lane.waiting:
            waiting = f"; waiting: {', '.join(lane.waiting)}" if lane.waiting else ""
            yield f"the {lane.lane} lane is {_held(lane)}{waiting}"


def of_run(lanes: Sequence[Lane], run_id: str) -> str | None:
    """The relation of one run to a lane: it holds the lane, or waits for it. None if neither is true."""
    for lane in lanes:
        if lane.held and lane.held.run_id == run_id:
            return f"holds the {lane.lane} lane{_process(lane.held)}"
        if run_id in lane.waiting:
            return f"waits for the {lane.lane} lane, which is {_held(lane)}"
    return None


def strangers(lanes: Sequence[Lane]) -> list[Holder]:
    """Holders without a run. No worker of the product holds a lane without a run."""
    return [lane.held for lane in lanes if lane.held and not lane.held.run_id]


def _held(lane: Lane) -> str:
    holder = lane.held
    if holder is None:
        return "free"
    run = f"{holder.document_id} (run {holder.run_id})" if holder.run_id else "a session of no run"
    return f"held by {run}{_process(holder)}"


def _process(holder: Holder) -> str:
    worker = f", worker {holder.worker}" if holder.worker else ""
    since = f", since {readable(datetime.fromisoformat(holder.since))}" if holder.since else ""
    return f"{worker}, process {holder.pid} of {holder.role}{since}"
