"""IO: the builds of our workers as versions of a Temporal worker deployment (docs/runbooks/upgrade.md).

A run is pinned to the build that it began on. New runs begin on the current one; a build that was current drains, and
is drained when the last run that is pinned to it has ended.
"""

from __future__ import annotations

import asyncio
from dataclasses import replace
from time import monotonic

from temporalio.api.deployment.v1 import WorkerDeploymentVersion
from temporalio.api.enums.v1 import TaskQueueType, WorkerDeploymentVersionStatus
from temporalio.api.workflowservice.v1 import (
    DescribeWorkerDeploymentRequest,
    DescribeWorkerDeploymentVersionRequest,
    SetWorkerDeploymentCurrentVersionRequest,
)
from temporalio.client import Client
from temporalio.service import RPCError, RPCStatusCode

from cutter import limits
from cutter.build import build_id
from cutter.domain.worker_status import WITH_RUNS
from cutter.errors import Unavailable
from cutter.settings import Settings
from cutter.stack import records, workers
from cutter.stack.records import Service
from starter.console.terminal import say
from temporal import names
from temporal.client import connect, unanswered

UNVERSIONED = ""
CURRENT = "current"
QUEUES = {
    (names.WORKFLOW_QUEUE, TaskQueueType.TASK_QUEUE_TYPE_WORKFLOW),
    *((queue, TaskQueueType.TASK_QUEUE_TYPE_ACTIVITY) for queue in (*names.TASK_QUEUES.values(), names.BATCH_QUEUE)),
}
"""The task queues that a build must poll before runs begin on it."""

NOT_YET = (RPCStatusCode.NOT_FOUND, RPCStatusCode.FAILED_PRECONDITION)


def settle(settings: Settings) -> list[Service]:
    """Let new runs begin on this build after its workers have started. Stop the workers that no run needs any more.

    Returns the workers of other builds that stay.
    """
    known = asyncio.run(_settle(settings))
    recorded, left = records.read(settings.state), workers.others(settings)
    done = [name for name, build in left.items() if known.get(build) not in WITH_RUNS]
    for name in workers.retire(settings, done):
        say(f"{name} has no run left: stopped")
    return [replace(recorded[name], note=_note(recorded[name])) for name in left if name not in done]


def _note(service: Service) -> str:
    if service.alive:
        return "drains: the runs that began on it end on it"
    return "has died, and runs wait for it: `cutter up` where that build is installed, then here again"


async def _settle(settings: Settings) -> dict[str, str]:
    client = await connect(settings)
    if settings.versioning == "pinned":
        await make_current(client, build_id(settings))
    else:
        await make_unversioned(client)
    return await statuses(client)


async def make_current(client: Client, build: str) -> None:
    """Let new runs begin on this build, and wait until its workers poll every task queue. Raises Unavailable."""
    end = monotonic() + limits.WORKER_START_SECONDS
    while not await _serves(client, build):
        if monotonic() > end:
            raise Unavailable(
                f"the workers of build {build} do not poll every task queue: see", then="cutter workers", what="worker"
            )
        await asyncio.sleep(limits.POLL_SECONDS)
    # Set again, the current one is called draining by Server 1.29. Server 1.32 does not (both measured).
    if (await statuses(client)).get(build) != CURRENT:
        await _set_current(client, build)


async def make_unversioned(client: Client) -> None:
    """Let new runs begin on workers without a version. Does nothing if no version was ever current."""
    if CURRENT in (await statuses(client)).values():
        await _set_current(client, UNVERSIONED)


async def statuses(client: Client) -> dict[str, str]:
    """Every known build with its status: current, draining, drained or inactive. Empty if builds were never pinned."""
    request = DescribeWorkerDeploymentRequest(namespace=client.namespace, deployment_name=names.DEPLOYMENT)
    try:
        answer = await client.workflow_service.describe_worker_deployment(request)
    except RPCError as problem:
        # A server that knows no deployments has none of ours.
        if problem.status in (RPCStatusCode.NOT_FOUND, RPCStatusCode.UNIMPLEMENTED):
            return {}
        raise unanswered(problem) from None
    builds = {
        version_summary.deployment_version.build_id: WorkerDeploymentVersionStatus.Name(version_summary.status)
        .rpartition("_")[2]
        .lower()
        for version_summary in answer.worker_deployment_info.version_summaries
    }
    current = answer.worker_deployment_info.routing_config.current_deployment_version.build_id
    return builds | ({current: CURRENT} if current else {})


async def _serves(client: Client, build: str) -> bool:
    request = DescribeWorkerDeploymentVersionRequest(
        namespace=client.namespace,
        deployment_version=WorkerDeploymentVersion(deployment_name=names.DEPLOYMENT, build_id=build),
    )
    try:
        answer = await client.workflow_service.describe_worker_deployment_version(request)
    except RPCError as problem:
        if problem.status in NOT_YET:
            return False
        raise unanswered(problem) from None
    polled = {
        (task_queue_info.name, task_queue_info.type)
        for task_queue_info in answer.worker_deployment_version_info.task_queue_infos
    }
    return polled >= QUEUES


async def _set_current(client: Client, build: str) -> None:
    request = SetWorkerDeploymentCurrentVersionRequest(
        namespace=client.namespace,
        deployment_name=names.DEPLOYMENT,
        build_id=build,
        identity=client.identity,
        ignore_missing_task_queues=build == UNVERSIONED,
    )
    try:
        await client.workflow_service.set_worker_deployment_current_version(request)
    except RPCError as problem:
        raise unanswered(problem) from None
