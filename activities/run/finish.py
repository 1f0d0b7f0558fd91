"""IO: end a run that writes nothing: a rehearsal, or a run of a version that is enacted already."""

from __future__ import annotations

from activities.outbox import publish
from activities.worker.dependencies import Deps
from cutter.catalogue import Role
from cutter.messages import FinishInput, StateView
from cutter.storage.faults import translated
from cutter.storage.gate_transaction import call


def finish_run(deps: Deps, input: FinishInput) -> StateView:
    """Record the outcome that an attempt of a gate has had; any other one is `not_so`."""
    with translated(), deps.pool(Role.READ).connection() as connection:
        sidecar = call(connection, "select cutter_governance.fn_run_sidecar(%s)", (input.run_id,))
        if not any(attempt["outcome"] == input.outcome for attempt in sidecar["attempts"]):
            return StateView(state=sidecar["run"]["state"], code="not_so")
        connection.execute("select cutter_governance.fn_run_outcome(%s, %s)", (input.run_id, input.outcome))
    publish(deps, Role.READ, input.run_id)
    return StateView(state="", code=input.outcome)
