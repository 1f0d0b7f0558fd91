"""Orchestration: the SDK's sandbox for workflows, with the modules that pass through it, and without needless calls."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from temporalio.converter import StorageDriverStoreContext
from temporalio.worker import WorkflowInstance, WorkflowInstanceDetails
from temporalio.worker.workflow_sandbox import SandboxedWorkflowRunner, SandboxRestrictions
from temporalio.workflow import Info

PURE_MODULES = ("workflows.batch_display", "workflows.message_queue", "workflows.run_display")


def sandbox() -> SandboxedWorkflowRunner:
    """The sandbox. Pure and foreign modules pass through it. Orchestration modules are loaded again for each run.

    Each module inside the sandbox costs memory and time for every open run. Pure modules were most of this cost.
    """
    return _ContextFreeSandbox(
        restrictions=SandboxRestrictions.default.with_passthrough_modules("cutter", "pydantic", *PURE_MODULES)
    )


@dataclass(frozen=True)
class _ContextFreeSandbox(SandboxedWorkflowRunner):
    """A sandbox without the SDK's questions about the context of payloads.

    For each payload of a task the SDK enters the sandbox several times to ask for the payload's context. Only a codec
    or an external store needs the context, and `temporal.data_converter` has neither. These questions took nearly half
    of the time of the worker's event loop.
    """

    def create_instance(self, det: WorkflowInstanceDetails) -> WorkflowInstance:
        return _ContextFree(super().create_instance(det))


class _ContextFree(WorkflowInstance):
    """The instance of a workflow. It answers for every payload that there is no context."""

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
