"""Orchestration: the worker, `python worker.py --role cutter|exec|verify`: settings → pools → activities → worker.

Each role is a process of its own with only its own passwords and signing key; live mode has no process with all.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import signal
import socket
import sys
from collections.abc import AsyncIterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from datetime import timedelta
from typing import Any

import structlog
from temporalio.client import Client
from temporalio.worker import Interceptor, Worker
from temporalio.worker.workflow_sandbox import SandboxedWorkflowRunner, SandboxRestrictions

from activities import build_activities, build_batch_activities
from activities.deps import ROLES_OF, Deps, open_pools, signer_of
from cutter import __version__, limits, settings
from cutter.approvals import scratch
from cutter.errors import CutterError, Refused
from cutter.gates.catalogue import GATES, WorkerRole
from cutter.kb.store import Store
from cutter.stack import key_homes
from cutter.storage.pools import check_direct
from starter.client import connect
from workflows import options
from workflows.batch import Batch
from workflows.batch_starter import BatchStarter
from workflows.document_run import DocumentRun
from workflows.guard import MessageGuard
from workflows.void_run import VoidRun

SLOTS = 8
"""Activities at once in one worker."""

log = structlog.get_logger()


def build_deps(config: settings.Settings, role: WorkerRole) -> Deps:
    """The composition root: everything that the activities of this role hold."""
    return Deps(
        settings=config,
        worker_role=role,
        worker=f"{socket.gethostname()}:{os.getpid()}:{role.value}",
        tool_revision=f"cutter/{__version__}+{role.value}",
        pools=open_pools(config, role),
        kb=Store(config.kb),
        signer=signer_of(config, key_homes.HOMES[role]),
    )


def make_worker(
    client: Client,
    deps: Deps,
    executor: ThreadPoolExecutor,
    *,
    cached_workflows: int = 1000,
    interceptors: Sequence[Interceptor] = (),
) -> Worker:
    """The worker of one role on its task queue, with the sandbox on; `cached_workflows` 0 replays at every task."""
    return Worker(
        client,
        task_queue=options.TASK_QUEUES[deps.worker_role],
        workflows=[DocumentRun, VoidRun, Batch, BatchStarter] if deps.worker_role is WorkerRole.CUTTER else [],
        activities=build_activities(deps),
        activity_executor=executor,
        max_concurrent_activities=SLOTS,
        max_cached_workflows=cached_workflows,
        disable_eager_activity_execution=True,
        graceful_shutdown_timeout=timedelta(minutes=max(gate.cap_minutes for gate in GATES)),
        workflow_runner=sandbox(),
        interceptors=[MessageGuard(), *interceptors],
    )


def make_batch_worker(client: Client, deps: Deps, executor: ThreadPoolExecutor) -> Worker:
    """The activities of batches, beside the cutter role's own: what waits there takes no slot from a gate."""
    return Worker(
        client,
        task_queue=options.BATCH_QUEUE,
        activities=build_batch_activities(deps),
        activity_executor=executor,
        max_concurrent_activities=limits.BATCH_SLOTS,
        disable_eager_activity_execution=True,
        graceful_shutdown_timeout=timedelta(seconds=limits.STEER_POLL_SECONDS * 3),
    )


@asynccontextmanager
async def serving(client: Client, deps: Deps, **changed: Any) -> AsyncIterator[None]:
    """Everything that a role serves, until the block ends; then what runs is finished. `changed`: see `make_worker`."""
    name = deps.worker_role.value
    with ThreadPoolExecutor(max_workers=SLOTS, thread_name_prefix=name) as executor:
        async with make_worker(client, deps, executor, **changed):
            if deps.worker_role is not WorkerRole.CUTTER:
                yield
                return
            with ThreadPoolExecutor(max_workers=limits.BATCH_SLOTS, thread_name_prefix="batch") as waiting:
                async with make_batch_worker(client, deps, waiting):
                    yield


def sandbox() -> SandboxedWorkflowRunner:
    """The core passes through, since it is pure or not imported; the workflow modules themselves stay inside."""
    return SandboxedWorkflowRunner(
        restrictions=SandboxRestrictions.default.with_passthrough_modules("cutter", "pydantic")
    )


async def run(config: settings.Settings, role: WorkerRole) -> None:
    """Serve the role's task queue until SIGTERM or SIGINT, then finish what runs."""
    _require_own_key(config, role)
    for database_role in ROLES_OF[role]:
        check_direct(config, database_role.value)
    deps = build_deps(config, role)
    client = await connect(config, identity=deps.worker)
    stopping = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, stopping.set)
    async with serving(client, deps):
        log.info("worker.ready", role=role.value, address=client.service_client.config.target_host)
        _say_ready(config, role)
        await stopping.wait()
        log.info("worker.draining", role=role.value)
    for pool in deps.pools.values():
        pool.close()


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
    folder = config.state / "workers"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{role.value}.ready").write_text(str(os.getpid()), encoding="ascii")


def main() -> int:
    """Parse, run, end; an environment that is not there is one sentence."""
    parser = argparse.ArgumentParser(description="A worker of cutter", epilog="example: python worker.py --role exec")
    parser.add_argument(
        "--role", required=True, type=WorkerRole, choices=list(WorkerRole), help="cutter, exec or verify"
    )
    role = parser.parse_args().role
    structlog.configure(processors=[
        structlog.processors.add_log_level, structlog.processors.TimeStamper(fmt="iso", utc=True),
        structlog.processors.JSONRenderer()])  # fmt: skip
    try:
        asyncio.run(run(settings.load(), role))
    except CutterError as problem:
        print(f"worker {role.value}: {problem}", file=sys.stderr)
        return problem.exit_code
    return 0


if __name__ == "__main__":
    code = main()
    scratch.remove_all()
    sys.stdout.flush()
    sys.stderr.flush()
    # A process that used a Temporal client can abort while the interpreter exits; the code would lie.
    os._exit(code)
