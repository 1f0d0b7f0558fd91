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
    """One pass of the reconciler. The schedule starts the next pass, so that nobody must react to a failure."""

    @workflow.run
    async def run(self, *_ignored: Any) -> Reconciled:
        """Start without arguments. Returns the findings."""
        try:
            return await call_activity(
                "reconcile", ReconcileInput(), Reconciled, Caps(), summary="repair runs and batches without a workflow",
                queue=names.BATCH_QUEUE, seconds=limits.RECONCILE_SECONDS * 2,
            )  # fmt: skip
        except (DependencyUnavailable, ActivityFailed) as problem:
            raise ApplicationError(f"nothing was repaired: {problem}", non_retryable=True) from None
