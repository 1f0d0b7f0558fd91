"""IO: looking at a batch while it runs: until it ends or waits for people; `--watch`, one line per change on a pipe."""

from __future__ import annotations

from time import sleep
from typing import Any

from cutter.batch import steering
from cutter.settings import Settings
from starter import batches
from starter.terminal import progress

POLL_SECONDS = 0.5

Json = dict[str, Any]


def until_people_or_end(settings: Settings, batch_id: str) -> Json:
    """The batch's view when its workflow has nothing to do, or waits for signatures."""
    shown = ""
    with progress(f"{batch_id}: looking") as say:
        while True:
            seen = batches.view(settings, batch_id)
            summary = steering.summarise(seen, attended=not seen["batch"]["unattended"])
            text = line_of(batch_id, summary)
            if text != shown:
                shown = text
                say(text)
            # What is over is over for people when its report says so, which the recorded state does.
            settled = seen["batch"]["state"] == summary.state.value
            if settled and (summary.over or summary.gate):
                return seen
            sleep(POLL_SECONDS)


def line_of(batch_id: str, summary: steering.Summary) -> str:
    """The batch in one line."""
    counts = " · ".join(f"{name} {count}" for name, count in summary.totals.items())
    return f"{batch_id[:8]} {summary.state.value}: {counts}"
