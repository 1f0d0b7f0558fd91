"""IO: names what somebody paused or moved in Temporal, and the command that takes it back.

A paused workflow or activity waits without end, and none of its time limits fires. So does an activity on a task queue
that no worker of cutter serves. cutter never takes such a change back by itself, because a person made it.
"""

from __future__ import annotations

import shlex
from dataclasses import dataclass

from temporalio.api.enums.v1 import WorkflowExecutionStatus
from temporalio.api.workflowservice.v1 import DescribeWorkflowExecutionResponse
from temporalio.client import Client

from cutter.stack import temporal as local_temporal
from temporal import names

PAUSED = WorkflowExecutionStatus.WORKFLOW_EXECUTION_STATUS_PAUSED
_QUEUES = {*names.TASK_QUEUES.values(), names.BATCH_QUEUE}


@dataclass(frozen=True, slots=True, kw_only=True)
class Hold:
    """A change in Temporal that keeps a workflow from its next step. `command` takes it back."""

    reason: str
    command: str

    @property
    def sentence(self) -> str:
        """The reason and the command, for people."""
        return f"{self.reason}: type `{self.command}`"


def of(client: Client, description: DescribeWorkflowExecutionResponse) -> Hold | None:
    """The hold of a workflow, or None."""
    info = description.workflow_execution_info
    workflow_id = info.execution.workflow_id
    if info.status == PAUSED:
        words = ("workflow", "unpause"), "--workflow-id", workflow_id
        return Hold(reason=f"somebody paused {workflow_id} in Temporal", command=command(client, *words))
    for activity in description.pending_activities:
        name, ids = activity.activity_type.name, ("--activity-id", activity.activity_id, "--workflow-id", workflow_id)
        if activity.paused:
            reason = f"somebody paused the activity {name} of {workflow_id} in Temporal"
            return Hold(reason=reason, command=command(client, ("activity", "unpause"), *ids))
        queue = activity.activity_options.task_queue.name
        if queue and queue not in _QUEUES:
            reason = f"somebody moved the activity {name} of {workflow_id} to a task queue that no worker serves"
            restore = command(client, ("activity", "update-options"), *ids, "--restore-original-options")
            return Hold(reason=reason, command=restore)
    return None


def command(client: Client, verb: tuple[str, str], *words: str) -> str:
    """A command of Temporal's own program, for the server and the namespace of this client."""
    server = ("--address", client.service_client.config.target_host, "--namespace", client.namespace)
    return shlex.join([local_temporal.command(), *verb, *server, *words])
