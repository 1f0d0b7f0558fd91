"""IO: ends a run that writes nothing: a rehearsal, or a run of a version that is enacted already."""

from __future__ import annotations

from activities.outbox import publish
from activities.worker.dependencies import Deps
from cutter.catalogue import Role
from cutter.messages import NOT_SO, FinishInput, RunFinished
from cutter.storage.faults import translated
from cutter.storage.run_evidence import sidecar_now


def finish_run(deps: Deps, input: FinishInput) -> RunFinished:
    """Record the outcome if an attempt of a gate had it. Any other outcome gets the answer `not_so`."""
    with translated(), deps.pool(Role.READ).connection() as connection:
        sidecar = sidecar_now(connection, input.run_id)
        if not any(attempt.outcome == input.outcome for attempt in sidecar.attempts):
            return RunFinished(state=sidecar.run.state, code=NOT_SO)
        connection.execute("select cutter_governance.fn_run_outcome(%s, %s)", (input.run_id, input.outcome))
    publish(deps, Role.READ, input.run_id)
    return RunFinished(state="", code=input.outcome)
