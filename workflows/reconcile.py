"""Orchestration: the workflow of the reconciler's schedule: one repair of runs and batches without a workflow."""

from __future__ import annotations

from typing import Any

from temporalio import workflow
from temporalio.exceptions import ApplicationError

with workflow.unsafe.imports_passed_through():
    from cutter import limits
    from cutter.messages import Caps, Reconciled, ReconcileInput
    from temporal import names
    from workflows.activity_calls import ActivityFailed, DependencyUnavailable, call_activity


@workflow.defn(name=names.RECONCILE)
class Reconcile:
    """One look; the next one comes with the schedule, so that a failure here needs nobody."""

    @workflow.run
    async def run(self, *_ignored: Any) -> Reconciled:
        """Start without arguments; answers with what was found."""
        try:
            return await call_activity(
                "reconcile", ReconcileInput(), Reconciled, Caps(), summary="look after what nobody drives",
                queue=names.BATCH_QUEUE, seconds=limits.RECONCILE_SECONDS * 2,
            )  # fmt: skip
        except (DependencyUnavailable, ActivityFailed) as problem:
            raise ApplicationError(f"nothing was looked after: {problem}", non_retryable=True) from None
