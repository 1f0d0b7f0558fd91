"""Orchestration: closes a workflow in Temporal. A failed run or batch gets the status Failed there too."""

from __future__ import annotations

from typing import TypeVar

from temporalio import workflow
from temporalio.exceptions import ApplicationError

with workflow.unsafe.imports_passed_through():
    from cutter.domain.run_state import RunState
    from cutter.messages import BatchResult, RunResult

Result = TypeVar("Result", RunResult, BatchResult)

FAILED_BATCH = "batch_failed_"


def closed(result: Result, next_command: str) -> Result:
    """The result of a workflow. For a failed run or batch it raises a failure that carries the result.

    The message of the failure has the reason and the next command.
    """
    if not (RunState(result.state).failed or result.state.startswith(FAILED_BATCH)):
        return result
    reason = result.reason.removeprefix(result.state).removeprefix(": ")
    message = ": ".join(part for part in (result.state, reason) if part) + f"; next: {next_command}"
    raise ApplicationError(message, result, type=result.state, non_retryable=True)


def is_failed(kind: str | None) -> bool:
    """True if `kind` is the type of a failure that `closed` raises."""
    return RunState(kind or "").failed or (kind or "").startswith(FAILED_BATCH)
