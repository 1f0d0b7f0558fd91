"""IO: waits for a started batch until it ends or needs people, and reports it line by line or live."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from cutter.projections.batch_summary import ShownBatch
from cutter.settings import Settings
from starter.console.terminal import progress
from starter.console.watch import following, until
from starter.operator import batch_status


def until_people_or_end(settings: Settings, batch_id: str, *, watch: bool = False) -> ShownBatch:
    """Wait until the batch's workflow has nothing to do or needs signatures. Returns the batch as people see it."""
    with following(batch_status.live, batch_status.lines) if watch else _said(batch_id) as tell:
        return until(lambda: batch_status.look(settings, batch_id), tell, rests)


def rests(view: ShownBatch) -> bool:
    """True if the batch is over, or if only people can continue it. A rehearsal passes SG_1 and waits for nobody."""
    return view.over or (bool(view.awaits) and view.mode == "live")


@contextmanager
def _said(batch_id: str) -> Iterator[Callable[[ShownBatch], None]]:
    shown = ""
    with progress(f"{batch_id}: looking") as say:

        def tell(view: ShownBatch) -> None:
            nonlocal shown
            text = line_of(view)
            if text != shown:
                shown = text
                say(text)

        yield tell


def line_of(view: ShownBatch) -> str:
    """The batch in one line."""
    counts = " · ".join(f"{name} {count}" for name, count in view.totals.items())
    return f"{view.batch_id[:8]} {view.state}: {counts}"
