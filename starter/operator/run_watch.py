"""IO: waiting for a run that was started: until it ends, stops or needs a person, told state by state."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any

from temporalio.client import WorkflowHandle

from cutter.domain.run_record import RunSidecar
from cutter.domain.run_state import RunState
from cutter.messages import RunResult
from cutter.settings import Settings
from cutter.storage import runs as run_rows
from starter.console.terminal import progress
from temporal import runs

WAITING_STATES = ("awaiting_cut_authorization", "awaiting_lifecycle_authorization")
POLL_SECONDS = 0.3

Tell = Callable[[RunSidecar], None]
"""Told what the database says of a run (its sidecar), at every look."""

Moment = tuple[str, str]
"""A state of a run, and when it came into it."""

Shown = Callable[[], AbstractContextManager[Tell]]
"""How a wait looks to the person who waits."""


@contextmanager
def said() -> Iterator[Tell]:
    """A wait with a progress line that says each new state."""
    with progress("waiting for the run") as say:
        yield by_state(say)


def by_state(say: Callable[[str], None]) -> Tell:
    """Says a run's state whenever it is another one."""
    before = ""

    def tell(sidecar: RunSidecar) -> None:
        nonlocal before
        if sidecar.run.state != before:
            before = sidecar.run.state
            say(f"{sidecar.run.document_id}: {before}")

    return tell


async def wait_for_people(
    settings: Settings, handle: WorkflowHandle[Any, Any], run_id: str, tell: Tell, *, left: Moment | None = None
) -> dict[str, Any]:
    """Until the run ends, stops, or waits for a person; the database says which.

    `left`: a stop that an accepted order lifts, so that it is not the outcome that is waited for.
    """
    result = asyncio.ensure_future(runs.result_of(handle, RunResult))
    try:
        while not result.done():
            sidecar = await asyncio.to_thread(run_rows.sidecar, settings, run_id)
            tell(sidecar)
            if (rest := _rests(sidecar, left=left)) is not None:
                return rest
            await asyncio.wait([result], timeout=POLL_SECONDS)
        ended: RunResult = await result
        tell(await asyncio.to_thread(run_rows.sidecar, settings, run_id))
        return {"state": ended.state, "outcome": ended.outcome, "reason": ended.reason, "kb_doc_id": ended.kb_doc_id}
    finally:
        result.cancel()


def _rests(sidecar: RunSidecar, *, left: Moment | None) -> dict[str, Any] | None:
    """What only a person moves on, with its request; None while the run continues by itself.

    A rehearsal writes its requests and continues. A request that was answered is the exec worker's.
    """
    run = sidecar.run
    if RunState(run.state).stopped:
        return None if left == (run.state, run.state_at) else {"state": run.state, "request": None}
    # The request's row is there a moment before its document: nobody is to be sent to what is not there yet.
    put = {document.kb_id for document in sidecar.documents if document.sha256}
    waiting = [request for request in sidecar.requests if request.status == "requested" and request.kb_id in put]
    if run.state in WAITING_STATES and waiting and run.mode == "live" and not sidecar.step_facts.approved:
        return {"state": run.state, "request": waiting[-1].kb_id}
    return None
