"""IO: the next step of one run, from what PostgreSQL knows of it."""

from __future__ import annotations

import time

from cutter.domain.next_step import Needs, Step, next_step
from cutter.settings import Settings
from cutter.storage import runs as run_rows

MOVING_SECONDS = 30.0
"""How long a command waits for a run that moves on by itself. Most runs reach their next request sooner."""

LOOK_SECONDS = 0.3


def step_of(settings: Settings, run_id: str) -> Step:
    """The step that continues the run, or reads or repeats a run that is over. Raises NotFound for an unknown run."""
    return next_step(run_rows.sidecar(settings, run_id).step_facts)


def moves(settings: Settings, run_id: str) -> bool:
    """True if the run is open and waits for no person."""
    sidecar = run_rows.sidecar(settings, run_id)
    return sidecar.run.ended_at is None and next_step(sidecar.step_facts).needs in (Needs.NOTHING, Needs.EXECUTION)


def wait_while_it_moves(settings: Settings, run_id: str) -> None:
    """Until the run waits for a person or ends, or until the time is over."""
    until = time.monotonic() + MOVING_SECONDS
    while moves(settings, run_id) and time.monotonic() < until:
        time.sleep(LOOK_SECONDS)
