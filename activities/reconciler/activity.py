"""IO: the activity of the reconciler's schedule: repairs runs and batches without a workflow, and verifies backups."""

from __future__ import annotations

import structlog

from activities import backup_effects
from activities.worker.dependencies import Deps
from cutter.errors import CutterError, ProgrammingError
from cutter.messages import Reconciled, ReconcileInput

log = structlog.get_logger()


def reconcile(deps: Deps, input: ReconcileInput) -> Reconciled:
    """Do the same as `cutter reconcile`. The activity is idempotent, decides nothing about a run, and never touches a
    run whose workflow is open.
    """
    del input  # a stranger may schedule this activity with any input
    if deps.reconcile_once is None:
        raise ProgrammingError("this process has no Temporal client to look with")
    report = deps.reconcile_once()
    _verify_segments(deps)
    return report


def _verify_segments(deps: Deps) -> None:
    """Verify some segments. A problem stops new backups by itself; the log tells the operator."""
    try:
        scrubbed = backup_effects.scrub_backups(deps)
    except CutterError as problem:
        log.warning("segments_not_verified", code=problem.code, reason=str(problem))
        return
    if scrubbed is not None and scrubbed.problems:
        log.error("segments_damaged", problems=dict(scrubbed.problems))
