"""IO: one `python worker.py` beside a test's own workers, on the same deployment, with its own passwords and key."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from asyncio.subprocess import Process
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import IO, Any

from cutter.catalogue import WorkerRole
from tests.support.stack import Stack

ROOT = Path(__file__).resolve().parents[2]


@asynccontextmanager
async def worker_process(
    stack: Stack, role: WorkerRole, *, stdout: int | IO[Any] = asyncio.subprocess.PIPE, **environment: str
) -> AsyncIterator[Process]:
    """The process, ready; its log is its standard output. It is killed at the end if it is still there."""
    deps = stack.deps(role)
    for pool in deps.pools.values():
        pool.close()
    held = deps.settings
    ours = {
        "CUTTER_STATE_DIR": held.state_dir, "CUTTER_DATABASE_URL": held.database_url, "CUTTER_KEYS_DIR": held.keys,
        "CUTTER_SECRETS_DIR": held.secrets, "CUTTER_TEMPORAL_ADDRESS": held.temporal_address,
        "CUTTER_WORKER_BEAT_SECONDS": 1, **environment,
    }  # fmt: skip
    plain = {name: value for name, value in os.environ.items() if not name.startswith(("CUTTER_", "TEMPORAL_"))}
    process = await asyncio.create_subprocess_exec(
        sys.executable, "worker.py", "--role", role.value, cwd=ROOT, stdout=stdout,
        env={**plain, **{name: str(value) for name, value in ours.items()}},
    )  # fmt: skip
    try:
        yield process
    finally:
        if process.returncode is None:
            process.kill()
        await process.wait()


async def said(process: Process, event: str) -> dict[str, Any]:
    """Wait for a line of its log, which is JSON; its fields."""
    assert process.stdout is not None
    while True:
        line = (await asyncio.wait_for(process.stdout.readline(), 60)).decode()
        assert line, f"ended without {event}"
        fields: dict[str, Any] = json.loads(line)
        if event in fields["event"]:
            return fields


async def probe(port: int, path: str) -> int:
    """The HTTP status of a worker's probe. 0 if nothing listens."""
    try:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
    except OSError:
        return 0
    writer.write(f"GET {path} HTTP/1.1\r\n\r\n".encode())
    answer = await asyncio.wait_for(reader.read(), 10)
    writer.close()
    return int(answer.split()[1])


async def is_ready(port: int) -> bool:
    """Whether the worker serves."""
    return await probe(port, "/readyz") == 200
