"""IO: the next step of one run, from what PostgreSQL knows of it."""

from __future__ import annotations

import time

from cutter.domain.next_step import Needs, Step, next_step
from cutter.settings import Settings
from cutter.storage import runs as run_rows
from cutter.storage.answered_runs import answered
from cutter.storage.pools import OPERATOR, session
from cutter.types import Json

MOVING_SECONDS = 30.0
"""How long a command waits for a run that moves on by itself. Most runs reach their next request sooner."""

LOOK_SECONDS = 0.3


def step_of(settings: Settings, run_id: str, *, answer: Json | None = None) -> Step:
    """The step that continues the run, or reads or repeats a run that is over.

    `answer` is what its workflow answered: `state`, `outcome` and `law_by` replace what PostgreSQL says, if they are
    there. Raises NotFound for an unknown run.
    """
    with session(settings, OPERATOR) as connection:
        people = answered(connection)
        corrected = run_rows.CORRECTED.one(connection, {"run_id": run_id})
    # Read after the approvals, because a gate consumes an approval and moves its run at once. A run that is read first
    # could seem to wait for a signature that was given.
    sidecar = run_rows.sidecar(settings, run_id)
    answer, run = answer or {}, sidecar.run
    return next_step(
        run_id=run_id, document_id=run.document_id, state=answer.get("state", run.state),
        outcome=answer.get("outcome", run.outcome), law_by=answer.get("law_by"), corrected=corrected,
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
