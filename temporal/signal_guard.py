"""Orchestration: the last catch around message handlers: a handler that raises must not wedge a run."""

from __future__ import annotations

from temporalio import workflow
from temporalio.worker import (
    HandleSignalInput,
    Interceptor,
    WorkflowInboundInterceptor,
    WorkflowInterceptorClassInput,
)


class MessageGuard(Interceptor):
    """Gives each workflow the guarded inbound side."""

    def workflow_interceptor_class(self, _input: WorkflowInterceptorClassInput) -> type[WorkflowInboundInterceptor]:
        return GuardedMessages


class GuardedMessages(WorkflowInboundInterceptor):
    """A signal whose handler raises (a wrong arity, our own bug) is logged and left aside; history has it."""

    async def handle_signal(self, input: HandleSignalInput) -> None:
        try:
            await super().handle_signal(input)
        except Exception as problem:
            workflow.logger.error("signal.refused %s %s", str(input.signal)[:100], type(problem).__name__)
