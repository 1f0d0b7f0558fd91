"""IO: answers the probes of a process manager: `/healthz` if the process lives, and `/readyz` if the worker serves.

It accepts only GET and HEAD, reads no body, and answers each connection once. It listens on loopback unless a setting
names another address. Its answers name failed checks, and no secret.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from functools import partial
from http import HTTPStatus

from activities.worker.readiness import Readiness
from cutter.catalogue import WorkerRole
from cutter.errors import Unavailable
from cutter.senders import Senders
from cutter.settings import Settings

HEADERS_MAX = 100
METHODS = ("GET", "HEAD")

BROKEN = (ConnectionError, asyncio.IncompleteReadError, asyncio.LimitOverrunError)
"""The errors of a client that sends no whole request. It gets no answer."""


@asynccontextmanager
async def serving(settings: Settings, role: WorkerRole, readiness: Readiness) -> AsyncIterator[str]:
    """Answer probes until the block ends. Gives host:port, or an empty text if no port is set."""
    if settings.health_port is None:
        yield ""
        return
    host, port = settings.probe_host, settings.health_port + tuple(WorkerRole).index(role)
    try:
        server = await asyncio.start_server(
            # The size of one line of a probe's request. A real one has less than 1 KiB.
            partial(_connection, readiness, Senders()),
            host,
            port,
            limit=4096,
        )
    except OSError as problem:
        raise Unavailable(
            f"no probes at {host}:{port} ({problem.strerror}): set CUTTER_HEALTH_PORT, CUTTER_PROBE_HOST", what="port"
        ) from None
    async with server:
        yield f"{host}:{port}"


async def _connection(
    readiness: Readiness, senders: Senders, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
) -> None:
    caller, peer = writer.get_extra_info("socket"), writer.get_extra_info("peername")
    senders.begin(caller, str(peer[0]) if peer else "")
    try:
        with suppress(*BROKEN):
            method, path = await _request(reader)
            writer.write(_reply(method, path, readiness))
            await writer.drain()
    finally:
        senders.end(caller)
        writer.close()


async def _request(reader: asyncio.StreamReader) -> tuple[str, str]:
    """The method and the path. The headers are read and ignored."""
    first = (await reader.readuntil(b"\n")).decode("latin-1").split()
    for _ in range(HEADERS_MAX):
        if not (await reader.readuntil(b"\n")).strip():
            break
    return (first[0], first[1].partition("?")[0]) if len(first) == 3 else ("", "")


def _reply(method: str, path: str, readiness: Readiness) -> bytes:
    answer: dict[str, object]
    if method not in METHODS:
        status, answer = HTTPStatus.METHOD_NOT_ALLOWED, {"error": "ask with GET"}
    elif path == "/healthz":
        status, answer = HTTPStatus.OK, {"alive": True}
    elif path == "/readyz":
        status = HTTPStatus.OK if readiness.ready else HTTPStatus.SERVICE_UNAVAILABLE
        failed = [check.as_json() for check in readiness.failed]
        answer = {"ready": readiness.ready, "polls": readiness.polls, "failed": failed}
    else:
        status, answer = HTTPStatus.NOT_FOUND, {"error": "ask /healthz or /readyz"}
    body = (json.dumps(answer, ensure_ascii=False) + "\n").encode()
    head = (
        f"HTTP/1.1 {status.value} {status.phrase}\r\nContent-Type: application/json\r\n"
        f"Content-Length: {len(body)}\r\nCache-Control: no-store\r\nConnection: close\r\n\r\n"
    )
    return head.encode("ascii") + (b"" if method == "HEAD" else body)
