"""IO: asks Temporal about open runs that seem to wait for a worker: somebody may have paused them there.

Only for such a run does a command that shows runs ask Temporal. If Temporal does not answer, the command shows what
PostgreSQL says.
"""

from __future__ import annotations

import asyncio
import importlib
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from typing import TypeVar

from cutter import limits
from cutter.domain.next_step import Needs
from cutter.errors import CutterError
from cutter.projections.run_view import ShownRun
from cutter.settings import Settings
from cutter.storage.records import Connection
from cutter.storage.runs import STILL
from starter.operator.run_status import RunLine

BY_WORKFLOW = (Needs.EXECUTION.value, Needs.WORKER.value, Needs.DELIVERY.value)
"""The needs of a run that no person keeps waiting, and whose workflow does not take the next step."""

Shown = TypeVar("Shown", RunLine, ShownRun)


def with_holds(settings: Settings, connection: Connection, runs: Sequence[Shown]) -> list[Shown]:
    """The runs. A run that somebody paused in Temporal has the reason, and the command that takes this back."""
    asked = {"run_id": None, "seconds": limits.HOLD_LOOK_SECONDS}
    still = {run.run_id for run in STILL.all(connection, asked)}
    suspects = [
        run.document_id for run in runs if not run.ended_utc and (run.needs in BY_WORKFLOW or run.run_id in still)
    ]
    held: dict[str, tuple[str, str]] = {}
    if suspects:
        # Temporal's client is imported only here, because the import is slow and most answers need none.
        holds = importlib.import_module("temporal.executions").holds(settings, suspects)
        with suppress(CutterError, TimeoutError):
            held = asyncio.run(asyncio.wait_for(holds, limits.CONNECT_SECONDS))
    return [
        replace(run, needs=held[run.document_id][0], next=held[run.document_id][1]) if run.document_id in held else run
        for run in runs
    ]
