"""IO: a worker to be stopped and woken (for P4): the activities of all three roles, one at a time of each.

With one slot a stopped worker holds no open poll, so that what it was given is tried again by another one. It is the
worst of its kind: what Temporal says of its attempt, it hears when the attempt is over, as one that reaches PostgreSQL
alone. PostgreSQL ends its idle transactions after IDLE_SECONDS.
"""

from __future__ import annotations

import asyncio
import os
import re
from concurrent.futures import ThreadPoolExecutor
from contextlib import AsyncExitStack
from typing import Any

import structlog
from temporalio import activity
from temporalio.worker import ActivityInboundInterceptor, ExecuteActivityInput, Interceptor, Worker

from activities.registry import build_activities
from cutter.catalogue import WorkerRole
from cutter.settings import Settings, load
from cutter.storage import pools
from temporal import names
from temporal.client import connect
from worker import build_deps

IDLE_SECONDS = 4
"""Longer than Temporal needs to miss a stopped worker, shorter than the product's 10."""


class Deaf(Interceptor, ActivityInboundInterceptor):
    """Keeps an attempt's cancellation from its thread until the attempt is over."""

    def intercept_activity(self, next: ActivityInboundInterceptor) -> ActivityInboundInterceptor:
        return Deaf(next)

    async def execute_activity(self, input: ExecuteActivityInput) -> Any:
        function = input.fn

        def shielded(argument: Any) -> Any:
            with activity.shield_thread_cancel_exception():
                return function(argument)

        input.fn = shielded
        return await super().execute_activity(input)


def of_role(settings: Settings, role: WorkerRole) -> Settings:
    """Its own passwords and key, as `tests.support.stack` laid them out."""
    own = {"secrets_dir": settings.state / f"secrets-{role.value}", "keys_dir": settings.state / f"keys-{role.value}"}
    return settings.model_copy(update=own)


async def serve(settings: Settings) -> None:
    """Serve the three queues until killed."""
    client = await connect(settings)
    async with AsyncExitStack() as exits:
        for role in WorkerRole:
            activities = build_activities(build_deps(of_role(settings, role), role))
            executor = exits.enter_context(ThreadPoolExecutor(1))
            await exits.enter_async_context(
                Worker(
                    client,
                    task_queue=names.TASK_QUEUES[role],
                    activities=activities,
                    activity_executor=executor,
                    max_concurrent_activities=1,
                    disable_eager_activity_execution=True,
                    interceptors=[Deaf(None)],
                )
            )
        print("ready", os.getpid(), flush=True)
        await asyncio.Event().wait()


def main() -> None:
    """Settings come by the environment."""
    structlog.configure(logger_factory=structlog.ReturnLoggerFactory())
    pools.SESSION = re.sub(r"(idle_in_transaction_session_timeout=)\S+", rf"\g<1>{IDLE_SECONDS}s", pools.SESSION)
    asyncio.run(serve(load()))


if __name__ == "__main__":
    main()
