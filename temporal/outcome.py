"""Orchestration: how a workflow closes in Temporal: a failed run or batch is Failed there too."""

from __future__ import annotations

from typing import TypeVar

from temporalio import workflow
from temporalio.exceptions import ApplicationError

with workflow.unsafe.imports_passed_through():
    from cutter.messages import BatchResult, RunResult

Result = TypeVar("Result", RunResult, BatchResult)

FAILED_RUN = "failed_"
FAILED_BATCH = "batch_failed_"


def closed(result: Result, next_command: str) -> Result:
    """The result; for a failed run or batch a failure whose message says why and what to type, and which carries it."""
    if not result.state.startswith((FAILED_RUN, FAILED_BATCH)):
        return result
    reason = result.reason.removeprefix(result.state).removeprefix(": ")
    message = ": ".join(part for part in (result.state, reason) if part) + f"; next: {next_command}"
    raise ApplicationError(message, result, type=result.state, non_retryable=True)


def is_failed(kind: str | None) -> bool:
    """True for the type of a failure that `closed` raised."""
    return (kind or "").startswith((FAILED_RUN, FAILED_BATCH))
