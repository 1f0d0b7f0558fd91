"""Orchestration: a short workflow that voids one run, open or failed (spec "Resume, void, amend")."""

from __future__ import annotations

import contextlib

from temporalio import workflow
from temporalio.exceptions import ApplicationError

with workflow.unsafe.imports_passed_through():
    from cutter.catalogue import WorkerRole
    from cutter.messages import Caps, VoidInput, VoidResult
    from temporal import names
    from workflows.activity_calls import ActivityFailed, DependencyUnavailable, call_activity, judge_order


@workflow.defn(name=names.VOID_RUN)
class VoidRun:
    """Judge the statement and record the verdict. Then let the exec worker withdraw the drafts and void the run in one
    transaction.
    """

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
            with contextlib.suppress(ApplicationError):  # A run without an open workflow needs no message.
                await document.signal("void", order.kb_id)
        return done
