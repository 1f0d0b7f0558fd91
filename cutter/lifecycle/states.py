"""Pure: the words of seeds 002, 003 and 004 for the states of views, verbatim. `lifecycles.toml` has all states."""

from __future__ import annotations

from enum import StrEnum


class RequestStatus(StrEnum):
    """A request (seed 002 "State Contract"): one continuous attempt to move a run."""

    RECEIVED = "received"
    QUEUED = "queued"
    EXECUTING = "executing"
    AWAITING_TOOL = "awaiting_tool"
    AWAITING_USER_CONFIRMATION = "awaiting_user_confirmation"
    COMPLETED = "completed"
    FAILED = "failed"
    CANCELLED = "cancelled"


class RunStatus(StrEnum):
    """A run (seed 003 §2.1)."""

    QUEUED = "queued"
    RUNNING = "running"
    WAITING_APPROVAL = "waiting_approval"
    SUCCEEDED = "succeeded"
    FAILED_RETRYABLE = "failed_retryable"
    FAILED_TERMINAL = "failed_terminal"
    CANCELED = "canceled"


class StepStatus(StrEnum):
    """A step of a run (seed 003 §2.2)."""

    READY = "ready"
    RUNNING = "running"
    SUCCEEDED = "succeeded"
    WAITING_APPROVAL = "waiting_approval"
    FAILED_RETRYABLE = "failed_retryable"
    FAILED_TERMINAL = "failed_terminal"
    CANCELED = "canceled"


class TaskState(StrEnum):
    """A task (seed 004): one document's run."""

    PENDING = "pending"
    QUEUED = "queued"
    RUNNING = "running"
    VALIDATING = "validating"
    COMPLETED = "completed"
    FAILED = "failed"
    RETRYING = "retrying"
    CANCELLED = "cancelled"
