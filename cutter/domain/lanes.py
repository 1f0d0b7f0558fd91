"""Pure: who holds the lanes of leg A and of the enactment, and who waits for them, as sentences for people."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime

from cutter.domain.timestamps import readable
from cutter.types import Json

"""One lane as `fn_lanes` answers: its name, its gate, who holds it (None: nobody), the runs that wait for it."""


def sentences(lanes: Sequence[Json]) -> Iterator[str]:
    """One sentence a lane that somebody holds or waits for."""
    for lane in lanes:
        if lane["held"] or lane["waiting"]:
            waiting = f"; waiting: {', '.join(lane['waiting'])}" if lane["waiting"] else ""
            yield f"the {lane['lane']} lane is {_held(lane)}{waiting}"


def of_run(lanes: Sequence[Json], run_id: str) -> str | None:
    """What one run has to do with a lane: it holds it, or waits for it; None when neither."""
    for lane in lanes:
        holder = lane["held"] or {}
        if holder.get("run_id") == run_id:
            return f"holds the {lane['lane']} lane{_process(holder)}"
        if run_id in lane["waiting"]:
            return f"waits for the {lane['lane']} lane, which is {_held(lane)}"
    return None


def strangers(lanes: Sequence[Json]) -> list[Json]:
    """Holders that belong to no run: no worker of the product holds a lane without one."""
    return [lane["held"] for lane in lanes if lane["held"] and not lane["held"]["run_id"]]


def _held(lane: Json) -> str:
    holder = lane["held"]
    if not holder:
        return "free"
    run = f"{holder['document_id']} (run {holder['run_id']})" if holder["run_id"] else "a session of no run"
    return f"held by {run}{_process(holder)}"


def _process(holder: Json) -> str:
    worker = f", worker {holder['worker']}" if holder["worker"] else ""
    since = f", since {readable(datetime.fromisoformat(holder['since']))}" if holder["since"] else ""
    return f"{worker}, process {holder['pid']} of {holder['role']}{since}"
