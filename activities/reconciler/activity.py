"""IO: the activity of the reconciler's schedule: repairs runs and batches without a workflow."""

from __future__ import annotations

from activities.worker.dependencies import Deps
from cutter.errors import ProgrammingError
from cutter.messages import Reconciled, ReconcileInput


def reconcile(deps: Deps, input: ReconcileInput) -> Reconciled:
    """Do the same as `cutter reconcile`. The activity is idempotent, decides nothing about a run, and never touches a
    run whose workflow is open.
    """
    del input  # a stranger may schedule this activity with any input
    if deps.reconcile_once is None:
        raise ProgrammingError("this process has no Temporal client to look with")
    return deps.reconcile_once()
