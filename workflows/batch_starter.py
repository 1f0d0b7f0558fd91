"""Orchestration: the workflow that a schedule starts. It makes the batch of the night, starts its workflow and waits
for its end.

The server adds the time to the id of a workflow that a schedule starts. So this workflow is thin, and the batch's own
workflow has its usual id. While this workflow waits, the schedule leaves out the next night (overlap SKIP). If it
fails, the schedule pauses.
"""

from __future__ import annotations

from typing import Any

from temporalio import workflow
from temporalio.common import SearchAttributeKey, WorkflowIDReusePolicy
from temporalio.exceptions import ApplicationError, ChildWorkflowError, WorkflowAlreadyStartedError

with workflow.unsafe.imports_passed_through():
    from pydantic import ValidationError

    from cutter.domain.task_priority import Urgency
    from cutter.messages import BatchInput, Caps, NightInput, NightStart
    from temporal import names
    from temporal.outcome import is_failed
    from workflows.activity_calls import ActivityFailed, DependencyUnavailable, adapter, call_activity

SCHEDULED = SearchAttributeKey.for_datetime("TemporalScheduledStartTime")
"""The search attribute in which the server puts the scheduled time, even if the action is caught up later."""


@workflow.defn(name=names.BATCH_STARTER)
class BatchStarter:
    """One night of a schedule."""

    @workflow.run
    async def run(self, *inputs: Any) -> str:
        """Start with one NightInput, as JSON: {"queue_sha256": "…"}. Answers with the batch's id."""
        night = _parse(inputs)
        when = workflow.info().typed_search_attributes.get(SCHEDULED) or workflow.info().start_time
        asked = NightStart(night=night, when=when.isoformat())
        try:
            start: BatchInput = await call_activity(
                "begin_night", asked, BatchInput, Caps(), summary="make tonight's batch", queue=names.BATCH_QUEUE
            )
        except (DependencyUnavailable, ActivityFailed) as problem:
            raise ApplicationError(f"the night's batch was not made: {problem}", non_retryable=True) from None
        await self._drive(start)
        return start.batch_id

    async def _drive(self, start: BatchInput) -> None:
        """The batch outlives this workflow. If the batch's workflow is open already, somebody started it by hand."""
        try:
            await workflow.execute_child_workflow(
                names.BATCH,
                start,
                id=names.batch_workflow_id(start.batch_id),
                task_queue=names.WORKFLOW_QUEUE,
                parent_close_policy=workflow.ParentClosePolicy.ABANDON,
                cancellation_type=workflow.ChildWorkflowCancellationType.ABANDON,
                id_reuse_policy=WorkflowIDReusePolicy.ALLOW_DUPLICATE,
                static_summary=f"batch {start.batch_id[:8]}, by its schedule",
                priority=names.priority(Urgency.BATCH),
            )
        except WorkflowAlreadyStartedError:
            return
        except ChildWorkflowError as problem:
            if isinstance(problem.cause, ApplicationError) and is_failed(problem.cause.type):
                return  # the batch itself reports its failed documents, and the schedule continues with the next night
            raise ApplicationError(f"batch {start.batch_id} broke: {problem.cause}", non_retryable=True) from None


def _parse(inputs: tuple[Any, ...]) -> NightInput:
    try:
        night: NightInput = adapter(NightInput).validate_python(inputs[0] if len(inputs) == 1 else None)
    except ValidationError:
        raise ApplicationError('start with one argument such as {"queue_sha256": "…"}', non_retryable=True) from None
    return night
