"""Orchestration: the worker, `python worker.py --role cutter|exec|verify`: settings → pools → activities → worker.

Each role is a process of its own with only its own passwords and signing key; live mode has no process with all.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import signal
import sys
from collections.abc import AsyncIterator, Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import replace
from datetime import timedelta
from functools import partial
from typing import Any, NoReturn

import structlog
import uuid_utils
from temporalio.client import Client
from temporalio.common import VersioningBehavior, WorkerDeploymentVersion
from temporalio.worker import Interceptor, Worker, WorkerDeploymentConfig

from activities.reconciler.runs import looking_after
from activities.registry import build_activities, build_batch_activities
from activities.worker.dependencies import ROLES_OF, Deps, open_pools, signer_of
from activities.worker.history_digest import freezing
from activities.worker.metrics import Gauges
from activities.worker.shutdown import running
from activities.worker.worker_heartbeat import INITIALIZING, SHUTDOWN, Presence
from cutter import __version__, gpg, limits, settings
from cutter.backup.restore import restore_check
from cutter.backup.take import take
from cutter.build import build_id
from cutter.catalogue import LONGEST_CAP_SECONDS, WorkerRole
from cutter.domain.visible import visible_line
from cutter.errors import CutterError, Refused
from cutter.kb.store import Store
from cutter.stack import key_homes
from cutter.stack.workers import ready_file
from cutter.storage.pools import check_direct, open_pool
from temporal import names, telemetry
from temporal.client import connect
from temporal.signal_guard import MessageGuard
from temporal.workflow_runner import sandbox
from workflows.batch import Batch
from workflows.batch_starter import BatchStarter
from workflows.document_run import DocumentRun
from workflows.reconcile import Reconcile
from workflows.revoke_approval import RevokeApproval
from workflows.void_run import VoidRun

WORKFLOWS = (DocumentRun, VoidRun, RevokeApproval, Batch, BatchStarter, Reconcile)

SLOTS = 8
"""Activities at once in one worker."""


log = structlog.get_logger()


def build_deps(config: settings.Settings, role: WorkerRole) -> Deps:
    """The composition root: everything that the activities of this role hold."""
    return Deps(
        settings=config,
        worker_role=role,
        worker=f"{role.value}-{uuid_utils.uuid7()}",
        tool_revision=_revision(config, role),
        pools=open_pools(config, role),
        kb=Store(config.kb),
        signer=signer_of(config, key_homes.HOMES[role]),
        build_id=build_id(config),
        take_backup=take,
        restore_check=restore_check,
    )


def _revision(config: settings.Settings, role: WorkerRole) -> str:
    """What signs: the version, and where builds are pinned the build. Else a run that leg B has recorded could be
    verified by no worker of the build after it, which must show the revision that leg B names.
    """
    build = f"/{build_id(config)}" if config.versioning == "pinned" else ""
    return f"cutter/{__version__}{build}+{role.value}"


def make_worker(
    client: Client,
    deps: Deps,
    executor: ThreadPoolExecutor,
    *,
    cached_workflows: int = limits.WORKFLOWS_CACHED,
    interceptors: Sequence[Interceptor] = (),
) -> Worker:
    """The worker of one role on its task queue, with the sandbox on; `cached_workflows` 0 replays at every task."""
    return Worker(
        client,
        identity=deps.worker,
        deployment_config=_deployment(deps),
        task_queue=names.TASK_QUEUES[deps.worker_role],
        workflows=WORKFLOWS if deps.worker_role is WorkerRole.CUTTER else [],
        activities=build_activities(deps),
        activity_executor=executor,
        max_concurrent_activities=SLOTS,
        max_cached_workflows=cached_workflows,
        max_concurrent_workflow_tasks=limits.WORKFLOW_TASKS,
        disable_eager_activity_execution=True,
        graceful_shutdown_timeout=timedelta(seconds=LONGEST_CAP_SECONDS),
        workflow_runner=sandbox(),
        interceptors=[MessageGuard(), *interceptors],
    )


def make_batch_worker(
    client: Client, deps: Deps, executor: ThreadPoolExecutor, *, interceptors: Sequence[Interceptor] = ()
) -> Worker:
    """The activities of batches, beside the cutter role's own: what waits there takes no slot from a gate."""
    return Worker(
        client,
        identity=deps.worker,
        deployment_config=_deployment(deps),
        task_queue=names.BATCH_QUEUE,
        activities=build_batch_activities(deps),
        activity_executor=executor,
        max_concurrent_activities=limits.BATCH_SLOTS,
        disable_eager_activity_execution=True,
        graceful_shutdown_timeout=timedelta(seconds=limits.STEER_POLL_SECONDS * 3),
        interceptors=interceptors,
    )


@asynccontextmanager
async def serving(
    client: Client, deps: Deps, *, interceptors: Sequence[Interceptor] = (), **changed: Any
) -> AsyncIterator[Presence]:
    """Everything that a role serves, until the block ends; then nothing more is taken, and what runs is finished.

    `changed`: see `make_worker`.
    """
    loop = asyncio.get_running_loop()
    deps = replace(deps, history=freezing(client, loop), look_after=looking_after(client, deps, loop))
    async with AsyncExitStack() as exits:
        presence = _presence(client, deps, exits)
        exits.push_async_callback(presence.say, SHUTDOWN)  # also of one that never comes to serve
        await presence.say(INITIALIZING)
        workers = []
        for queue, slots in slots_of(deps.worker_role).items():
            executor = exits.enter_context(ThreadPoolExecutor(max_workers=slots, thread_name_prefix=queue))
            counting = presence.counting(queue)
            if queue == names.BATCH_QUEUE:
                workers.append(make_batch_worker(client, deps, executor, interceptors=[counting]))
            else:
                workers.append(make_worker(client, deps, executor, interceptors=[counting, *interceptors], **changed))
        keeping = asyncio.create_task(presence.keep())
        try:
            async with running(workers, presence.busy):
                yield presence
        finally:
            presence.end()
            await keeping


def _deployment(deps: Deps) -> WorkerDeploymentConfig | None:
    """The version of our deployment that a worker stands for; None where builds are not pinned."""
    if deps.settings.versioning == "off":
        return None
    return WorkerDeploymentConfig(
        version=WorkerDeploymentVersion(deployment_name=names.DEPLOYMENT, build_id=deps.build_id),
        use_worker_versioning=True,
        default_versioning_behavior=VersioningBehavior.PINNED,
    )


def slots_of(role: WorkerRole) -> dict[str, int]:
    """Activities at once of each task queue that a role serves."""
    batches = {names.BATCH_QUEUE: limits.BATCH_SLOTS} if role is WorkerRole.CUTTER else {}
    return {names.TASK_QUEUES[role]: SLOTS, **batches}


def _presence(client: Client, deps: Deps, exits: AsyncExitStack) -> Presence:
    """Its heartbeats have a connection of their own: none waits behind the gates. With them come the gauges."""
    role = ROLES_OF[deps.worker_role][0].value
    pool = exits.enter_context(open_pool(deps.settings, role, size=1, timeout=limits.WORKER_BEAT_WAIT_SECONDS))
    runtime = client.service_client.config.runtime
    metered = deps.settings.metrics_port is not None and deps.worker_role is WorkerRole.CUTTER
    gauges = Gauges(runtime.metric_meter, pool) if runtime and metered else None
    return Presence(
        pool, gauges=gauges, identity=deps.worker, build_id=deps.build_id, slots=slots_of(deps.worker_role),
        seconds=deps.settings.worker_beat_seconds,
    )  # fmt: skip


async def run(config: settings.Settings, role: WorkerRole) -> None:
    """Serve the role's task queues until SIGTERM or SIGINT, then finish what runs; a second signal, or the longest
    gate's cap, ends the process at once.
    """
    _require_own_key(config, role)
    for database_role in ROLES_OF[role]:
        check_direct(config, database_role.value)
    deps = build_deps(config, role)
    telemetry.configure_logs(config, role=role.value, worker=deps.worker, build_id=deps.build_id)
    runtime, metrics = telemetry.runtime(config, role, deps.build_id)
    client = await connect(config, identity=deps.worker, runtime=runtime)
    stopping = asyncio.Event()
    _on_signals(stopping.set)
    async with serving(client, deps):
        log.info("worker.ready", pid=os.getpid(), address=client.service_client.config.target_host, metrics=metrics)
        _say_ready(config, role)
        await stopping.wait()
        _on_signals(partial(_end_at_once, "told twice"))
        asyncio.get_running_loop().call_later(LONGEST_CAP_SECONDS, _end_at_once, "over the longest cap")
        log.info("worker.draining")
    log.info("worker.drained")
    for pool in deps.pools.values():
        pool.close()


def _on_signals(then: Callable[[], None]) -> None:
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, then)


def _end_at_once(why: str) -> None:
    """What ran is tried again by another worker, as after a crash."""
    log.warning("worker.ended", why=why)
    _leave(Refused.exit_code)


def _require_own_key(config: settings.Settings, role: WorkerRole) -> None:
    """A worker that could sign as another one would make two signatures worth one: it does not start."""
    others = key_homes.foreign(config.keys, role)
    if others:
        raise Refused(
            f"{config.keys} holds the key of another worker ({', '.join(others)}): let `cutter up` start the workers, "
            f"or set CUTTER_KEYS_DIR to a folder with {key_homes.HOMES[role]} alone",
            code="foreign_key",
        )


def _say_ready(config: settings.Settings, role: WorkerRole) -> None:
    file = ready_file(config, role)
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(str(os.getpid()), encoding="ascii")


def main() -> int:
    """Parse, run, end; an environment that is not there is one sentence."""
    parser = argparse.ArgumentParser(description="A worker of cutter", epilog="example: python worker.py --role exec")
    parser.add_argument(
        "--role", required=True, type=WorkerRole, choices=list(WorkerRole), help="cutter, exec or verify"
    )
    role = parser.parse_args().role
    try:
        asyncio.run(run(settings.load(), role))
    except CutterError as problem:
        print(visible_line(f"worker {role.value}: {problem}"), file=sys.stderr)
        return problem.exit_code
    return 0


def _leave(code: int) -> NoReturn:
    """A process that used a Temporal client can abort while the interpreter exits; the code would lie."""
    gpg.remove_folders()
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError):  # a full disk
            stream.flush()
    os._exit(code)


if __name__ == "__main__":
    _leave(main())
