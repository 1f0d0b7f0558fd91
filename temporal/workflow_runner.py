"""Orchestration: where workflows run: the SDK's sandbox, what passes through it, and what it is not asked for."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from temporalio.converter import StorageDriverStoreContext
from temporalio.worker import WorkflowInstance, WorkflowInstanceDetails
from temporalio.worker.workflow_sandbox import SandboxedWorkflowRunner, SandboxRestrictions
from temporalio.workflow import Info

PURE_MODULES = ("workflows.batch_display", "workflows.message_queue", "workflows.run_display")


def sandbox() -> SandboxedWorkflowRunner:
    """Pure and foreign modules pass through; orchestration is loaded again for each run, inside the sandbox.

    Each module that stays inside is memory and time of every open run; the pure ones were the larger part of both.
    """
    return _ContextFreeSandbox(
        restrictions=SandboxRestrictions.default.with_passthrough_modules("cutter", "pydantic", *PURE_MODULES)
    )


@dataclass(frozen=True)
class _ContextFreeSandbox(SandboxedWorkflowRunner):
    """For each payload of a task the SDK enters the sandbox several times, to ask whom the payload is for.

    Only a codec or an external store would want to know, and `temporal.data_converter` has neither; these questions
    were nearly half of the time of the worker's event loop.
    """

    def create_instance(self, det: WorkflowInstanceDetails) -> WorkflowInstance:
        return _ContextFree(super().create_instance(det))


class _ContextFree(WorkflowInstance):
    """A workflow's instance that answers for all payloads: no context."""

    def __init__(self, inside: WorkflowInstance) -> None:
        self._inside = inside

    def activate(self, act: Any) -> Any:
        return self._inside.activate(act)

    def get_serialization_context(self, _command_info: object) -> None:
        return None

    def get_external_store_context(self, _command_info: object) -> StorageDriverStoreContext:
        return StorageDriverStoreContext()

    def get_info(self) -> Info:
        return self._inside.get_info()

    def get_thread_id(self) -> int | None:
        return self._inside.get_thread_id()
