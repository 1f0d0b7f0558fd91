"""Orchestration: the worker, `python worker.py --role cutter|exec|verify`: settings → pools → activities → worker.

Each role is a separate process with only its own passwords and signing key. In live mode no process has all of them.
"""

from __future__ import annotations

import argparse
import asyncio
import gc
import os
import signal
import sys
from collections.abc import AsyncIterator, Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AsyncExitStack, asynccontextmanager, closing, suppress
from dataclasses import replace
from datetime import timedelta
from functools import partial
from typing import Any, NoReturn

import structlog
import uuid_utils
from temporalio.client import Client
from temporalio.common import VersioningBehavior, WorkerDeploymentVersion
from temporalio.worker import Interceptor, UnsandboxedWorkflowRunner, Worker, WorkerDeploymentConfig

from activities.outbox import publish_report
from activities.reconciler.runs import reconciler
from activities.registry import build_activities, build_batch_activities
from activities.worker.batch_watch import Watches, waking
from activities.worker.dependencies import ROLES_OF, Deps, open_pools
from activities.worker.history_digest import freezing
from activities.worker.process import give_back, limit_arenas, running, signer_of
from activities.worker.readiness import Readiness
from activities.worker.readiness import serving as serving_probes
from activities.worker.worker_heartbeat import INITIALIZING, SHUTDOWN, Gauges, Presence
from cutter import __version__, gpg, limits, settings
from cutter.catalogue import LONGEST_CAP_SECONDS, WorkerRole
from cutter.domain.visible import visible_line
from cutter.errors import CutterError, Refused
from cutter.kb.store import Store
from cutter.preflight.checks import OF_WORKER
from cutter.stack.workers import HOMES, foreign, ready_file, waiting_file
from cutter.storage.pools import check_direct, open_pool
from cutter.versions import build_id
from temporal import names, telemetry
from temporal.client import connect
from temporal.preflight import preflight
from temporal.signal_guard import MessageGuard
from workflows.batch import Batch
from workflows.document_run import DocumentRun
from workflows.short_workflows import Reconcile, RevokeApproval, VoidRun

WORKFLOWS = (DocumentRun, VoidRun, RevokeApproval, Batch, Reconcile)

SLOTS = 8
"""The number of activities that one worker runs at the same time."""


log = structlog.get_logger()


def new_identity(role: WorkerRole) -> str:
    """A new name of a worker process, for Temporal and for the database."""
    return f"{role.value}-{uuid_utils.uuid7()}"


def build_deps(config: settings.Settings, role: WorkerRole, identity: str | None = None) -> Deps:
    """The composition root: make everything that the activities of this role need."""
    # The revision that signs has the build only if builds are pinned. The verifier must show the revision that leg B
    # recorded, and the worker of the next unpinned build could not.
    build = f"/{build_id(config)}" if config.versioning == "pinned" else ""
    return Deps(
        settings=config,
        worker_role=role,
        worker=identity or new_identity(role),
        tool_revision=f"cutter/{__version__}{build}+{role.value}",
        pools=open_pools(config, role),
        kb=Store(config.kb),
        signer=signer_of(config, HOMES[role]),
        watches=Watches(),
        publish_report=publish_report,
        build_id=build_id(config),
    )


def make_worker(
    client: Client,
    deps: Deps,
    executor: ThreadPoolExecutor,
    *,
    cached_workflows: int = limits.WORKFLOWS_CACHED,
    interceptors: Sequence[Interceptor] = (),
) -> Worker:
    """The worker of one role on its task queue. With 0 `cached_workflows`, each task replays its workflow."""
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
        # Python runs them one after the other. The server would hand out again what waits too long.
        max_concurrent_workflow_tasks=16,
        # This worker starts the activities of its own queue itself, and they are not sent through the queue.
        # Temporal does not offer this for pinned builds.
        disable_eager_activity_execution=deps.settings.versioning == "pinned",
        graceful_shutdown_timeout=timedelta(seconds=LONGEST_CAP_SECONDS),
        # The sandbox would load the modules of workflows again for each run. The tests replay histories in it.
        workflow_runner=UnsandboxedWorkflowRunner(),
        interceptors=[MessageGuard(), *interceptors],
    )


def make_batch_worker(
    client: Client, deps: Deps, executor: ThreadPoolExecutor, *, interceptors: Sequence[Interceptor] = ()
) -> Worker:
    """The worker for activities of batches in the cutter process, so that a waiting batch takes no gate's slot."""
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
    """Serve the task queues of a role during the block, then finish the running work. `changed`: see `make_worker`."""
    loop = asyncio.get_running_loop()
    deps = replace(
        deps, history=freezing(client, loop), reconcile_once=reconciler(client, deps, loop),
        wake_batch=waking(client, loop, deps.worker),
    )  # fmt: skip
    async with AsyncExitStack() as exits:
        # Heartbeats and gauges have a connection of their own, so that they never wait for a gate.
        role = ROLES_OF[deps.worker_role][0]
        pool = exits.enter_context(open_pool(deps.settings, role, size=1, timeout=limits.WORKER_BEAT_WAIT_SECONDS))
        runtime = client.service_client.config.runtime
        metered = deps.settings.metrics_port is not None and deps.worker_role is WorkerRole.CUTTER
        presence = Presence(
            pool, gauges=Gauges(runtime.metric_meter, pool) if runtime and metered else None, identity=deps.worker,
            build_id=deps.build_id, slots=slots_of(deps.worker_role), seconds=deps.settings.worker_beat_seconds,
        )  # fmt: skip
        exits.push_async_callback(presence.say, SHUTDOWN)  # Also for a worker that never begins to serve.
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
        giving_back = asyncio.create_task(_give_memory_back())
        try:
            async with running(workers, presence.busy):
                yield presence
        finally:
            giving_back.cancel()
            presence.end()
            await keeping


def _deployment(deps: Deps) -> WorkerDeploymentConfig | None:
    """The worker's version in the deployment. None if builds are not pinned."""
    if deps.settings.versioning == "off":
        return None
    return WorkerDeploymentConfig(
        version=WorkerDeploymentVersion(deployment_name=names.DEPLOYMENT, build_id=deps.build_id),
        use_worker_versioning=True,
        default_versioning_behavior=VersioningBehavior.PINNED,
    )


def slots_of(role: WorkerRole) -> dict[str, int]:
    """The number of activities at the same time, for each task queue of a role."""
    batches = {names.BATCH_QUEUE: limits.BATCH_SLOTS} if role is WorkerRole.CUTTER else {}
    return {names.TASK_QUEUES[role]: SLOTS, **batches}


async def run(config: settings.Settings, role: WorkerRole) -> None:
    """Serve the role's task queues until SIGTERM or SIGINT, then finish the running work.

    The worker begins to serve only after its preflight has passed. A second signal ends the process at once. So does
    the end of the longest gate's cap.
    """
    # A worker with another worker's key could sign for both, so two signatures would prove nothing more than one.
    if others := foreign(config.keys, role):
        raise Refused(
            f"{config.keys} holds the key of another worker ({', '.join(others)}): let `cutter up` start the workers, "
            f"or set CUTTER_KEYS_DIR to a folder with {HOMES[role]} alone",
            code="foreign_key",
        )
    for database_role in ROLES_OF[role]:
        check_direct(config, database_role)
    identity, stopping = new_identity(role), asyncio.Event()
    telemetry.configure_logs(role=role.value, worker=identity, build_id=build_id(config))
    _on_signals(stopping.set)
    probe = partial(preflight, config, frozenset({OF_WORKER[role]}))
    readiness = Readiness(probe, stopping, partial(_say_waiting, config, role))
    async with serving_probes(config, role, readiness) as probes:
        if not await _passed(config, role, readiness, identity):
            return
        deps = build_deps(config, role, identity)
        runtime, metrics = telemetry.runtime(config, role, deps.build_id)
        client = await connect(config, identity=deps.worker, runtime=runtime)
        async with serving(client, deps) as presence:
            address = client.service_client.config.target_host
            leave_out_of_collections()
            log.info("worker.ready", pid=os.getpid(), address=address, metrics=metrics, probes=probes)
            ready = ready_file(config, role)
            ready.parent.mkdir(parents=True, exist_ok=True)
            ready.write_text(str(os.getpid()), encoding="ascii")
            await readiness.keep(presence)
            _on_signals(partial(_end_at_once, "told twice"))
            asyncio.get_running_loop().call_later(LONGEST_CAP_SECONDS, _end_at_once, "over the longest cap")
            log.info("worker.draining")
        log.info("worker.drained")
        deps.watches.close()
        for pool in deps.pools.values():
            pool.close()


async def _passed(config: settings.Settings, role: WorkerRole, readiness: Readiness, identity: str) -> bool:
    """True after a preflight has passed, False if the worker was stopped before. Heartbeats say why it waits."""
    await readiness.look()
    if not readiness.failed:
        return True
    with closing(open_pool(config, ROLES_OF[role][0], size=1, timeout=limits.WORKER_BEAT_WAIT_SECONDS)) as pool:
        presence = Presence(
            pool, identity=identity, build_id=build_id(config), slots=slots_of(role), seconds=config.worker_beat_seconds
        )
        if await readiness.passed(presence):
            return True
        await presence.say(SHUTDOWN)
    return False


async def _give_memory_back() -> NoReturn:
    while True:
        await asyncio.sleep(limits.GIVE_BACK_SECONDS)
        await asyncio.to_thread(give_back)


def leave_out_of_collections() -> None:
    """Let garbage collections skip the 100,000 objects of the start, which would cost each full one 50 ms of CPU."""
    gc.collect()
    gc.freeze()


def _on_signals(then: Callable[[], None]) -> None:
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, then)


def _end_at_once(why: str) -> None:
    """End the process without finishing its work. Another worker tries this work again, as after a crash."""
    log.warning("worker.ended", why=why)
    _leave(Refused.exit_code)


def _say_waiting(config: settings.Settings, role: WorkerRole, failed: tuple[str, ...]) -> None:
    """Tell `cutter up` why this worker does not serve yet. The state folder itself may be what cannot be written."""
    file = waiting_file(config, role)
    with suppress(OSError):
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("; ".join(failed), encoding="utf-8")


def main() -> int:
    """Read the arguments and run the worker. If a part of the environment is unavailable, print one sentence."""
    parser = argparse.ArgumentParser(description="A worker of cutter", epilog="example: python worker.py --role exec")
    parser.add_argument(
        "--role", required=True, type=WorkerRole, choices=list(WorkerRole), help="cutter, exec or verify"
    )
    role = parser.parse_args().role
    limit_arenas()
    try:
        asyncio.run(run(settings.load(), role))
    except CutterError as problem:
        print(visible_line(f"worker {role.value}: {problem}"), file=sys.stderr)
        return problem.exit_code
    return 0


def _leave(code: int) -> NoReturn:
    """End the process with this code. The interpreter's own exit can abort after the use of a Temporal client."""
    gpg.remove_folders()
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError):  # The disk may be full.
            stream.flush()
    os._exit(code)


if __name__ == "__main__":
    _leave(main())
