"""Orchestration: a short workflow that revokes one approval, even while the run is busy with the gate that the approval
opens.
"""

from __future__ import annotations

from temporalio import workflow
from temporalio.exceptions import ApplicationError

with workflow.unsafe.imports_passed_through():
    from cutter.messages import JudgeResult, RevokeInput
    from temporal import names
    from workflows.activity_calls import ActivityFailed, DependencyUnavailable, judge_order


@workflow.defn(name=names.REVOKE_APPROVAL)
class RevokeApproval:
    """Has the revocation judged and recorded outside the run, because the run reads no messages while one of its gates
    waits.

    The run needs no message: PostgreSQL opens no gate for a revoked approval, and the run then asks again.
    """

    @workflow.run
    async def run(self, order: RevokeInput) -> JudgeResult:
        """Returns the verdict. If the verdict is not accepted, nothing was revoked."""
        try:
            return await judge_order(order.run_id, order.kb_id, "judge the revocation")
        except (DependencyUnavailable, ActivityFailed) as problem:
            raise ApplicationError(f"the revocation was not confirmed: {problem}", non_retryable=True) from None
