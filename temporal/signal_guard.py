"""Orchestration: catches every error of a message handler, because such an error would block the run."""

from __future__ import annotations

from temporalio import workflow
from temporalio.worker import (
    HandleSignalInput,
    Interceptor,
    WorkflowInboundInterceptor,
    WorkflowInterceptorClassInput,
)


class MessageGuard(Interceptor):
    """The interceptor that guards the signals of each workflow."""

    def workflow_interceptor_class(self, _input: WorkflowInterceptorClassInput) -> type[WorkflowInboundInterceptor]:
        return GuardedMessages


class GuardedMessages(WorkflowInboundInterceptor):
    """Logs and ignores a signal whose handler raises, for example for a wrong number of arguments.

    The history keeps the signal.
    """

    async def handle_signal(self, input: HandleSignalInput) -> None:
        try:
            await super().handle_signal(input)
        except Exception as problem:
            workflow.logger.error("signal.refused %s %s", str(input.signal)[:100], type(problem).__name__)
