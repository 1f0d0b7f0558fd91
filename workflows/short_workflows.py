"""Orchestration: the three short workflows: they void a run, revoke an approval, and repair what has no workflow.

Void and revocation work outside the run (spec "Resume, void, amend"), because a run reads no messages while one of its
gates waits, and a failed run has no workflow.
"""

from __future__ import annotations

from contextlib import suppress
from typing import Any

from temporalio import workflow
from temporalio.exceptions import ApplicationError

with workflow.unsafe.imports_passed_through():
    from cutter import limits
    from cutter.catalogue import WorkerRole
    from cutter.messages import Caps, JudgeResult, Reconciled, ReconcileInput, RevokeInput, VoidInput, VoidResult
    from temporal import names
    from workflows.activity_calls import ActivityFailed, DependencyUnavailable, call_activity, judge_order


@workflow.defn(name=names.VOID_RUN)
class VoidRun:
    """Judge the statement, then let the exec worker withdraw the drafts and void the run in one transaction."""

    @workflow.run
    async def run(self, order: VoidInput) -> VoidResult:
        """Returns the new state, or the code and reason of the refusal."""
        try:
            verdict = await judge_order(order.run_id, order.kb_id, "judge the void statement")
            if not verdict.accepted:
                return VoidResult(state="", code=verdict.code, reason=verdict.reason)
            done = await call_activity(
                "void_run", order, VoidResult, Caps(), summary="void the run", role=WorkerRole.EXEC
            )
        except (DependencyUnavailable, ActivityFailed) as problem:
            raise ApplicationError(f"the run could not be voided: {problem}", non_retryable=True) from None
        # An earlier try whose answer was lost may have voided the run, and has not told the open workflow.
        if done.voided and order.document_id:
            document = workflow.get_external_workflow_handle(names.document_workflow_id(order.document_id))
            with suppress(ApplicationError):  # A run without an open workflow needs no message.
                await document.signal("void", order.kb_id)
        return done


@workflow.defn(name=names.REVOKE_APPROVAL)
class RevokeApproval:
    """Has the revocation judged and recorded, even while the gate that it concerns is busy. The run needs no message,
    because PostgreSQL opens no gate for a revoked approval.
    """

    @workflow.run
    async def run(self, order: RevokeInput) -> JudgeResult:
        """Returns the verdict. If the verdict is not accepted, nothing was revoked."""
        try:
            return await judge_order(order.run_id, order.kb_id, "judge the revocation")
        except (DependencyUnavailable, ActivityFailed) as problem:
            raise ApplicationError(f"the revocation was not confirmed: {problem}", non_retryable=True) from None


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
