"""IO: the next step of one run, from what PostgreSQL knows of it."""

from __future__ import annotations

import time

from cutter.catalogue import Role
from cutter.domain.next_step import Needs, Step, next_step
from cutter.settings import Settings
from cutter.storage import runs as run_rows
from cutter.storage.answered_runs import answered
from cutter.storage.pools import session

MOVING_SECONDS = 30.0
"""How long a command waits for a run that moves on by itself. Most runs reach their next request sooner."""

LOOK_SECONDS = 0.3


def step_of(
    settings: Settings, run_id: str, *, state: str | None = None, outcome: str | None = None, law_by: str | None = None
) -> Step:
    """The step that continues the run, or reads or repeats a run that is over.

    `state` and `outcome` are what its workflow answered. Without them, those of PostgreSQL count. `law_by` is the run
    that enacted the law, for a run that was skipped because of it. Raises NotFound for an unknown run.
    """
    with session(settings, Role.OPERATOR) as connection:
        people = answered(connection)
        corrected = run_rows.CORRECTED.one(connection, {"run_id": run_id})
    # Read after the approvals, because a gate consumes an approval and moves its run at once. A run that is read first
    # could seem to wait for a signature that was given.
    sidecar = run_rows.sidecar(settings, run_id)
    run = sidecar.run
    return next_step(
        run_id=run_id, document_id=run.document_id, state=run.state if state is None else state,
        outcome=run.outcome if outcome is None else outcome, law_by=law_by, corrected=corrected,
        latched=sidecar.latch.stopped, wrote=sidecar.wrote, enacted=sidecar.enacted,
        approved=run_id in people.runs, exec_worker=people.exec_worker,
    )  # fmt: skip


def moves(settings: Settings, run_id: str) -> bool:
    """True if the run is open and waits for no person."""
    ended = run_rows.sidecar(settings, run_id).run.ended_at is not None
    return not ended and step_of(settings, run_id).needs in (Needs.NOTHING, Needs.EXECUTION)


def wait_while_it_moves(settings: Settings, run_id: str) -> None:
    """Until the run waits for a person or ends, or until the time is over."""
    until = time.monotonic() + MOVING_SECONDS
    while moves(settings, run_id) and time.monotonic() < until:
        time.sleep(LOOK_SECONDS)
