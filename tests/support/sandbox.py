"""The SDK's sandbox for workflows. It refuses calls that would break a replay, such as a look at the clock.

Workers run without it, and the tests replay every recorded history in it.
"""

from __future__ import annotations

from temporalio.worker.workflow_sandbox import SandboxedWorkflowRunner, SandboxRestrictions


def sandbox() -> SandboxedWorkflowRunner:
    """The sandbox. The core package and foreign modules pass through it."""
    return SandboxedWorkflowRunner(
        restrictions=SandboxRestrictions.default.with_passthrough_modules("cutter", "pydantic")
    )
