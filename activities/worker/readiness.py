"""IO: lets a worker serve only after its preflight has passed, repeats the preflight, and answers probes about it.

A failed check is in the log, in the worker's heartbeat (so that `cutter status` and `cutter inbox` show it), and in the
answer of `/readyz`. A worker that waits tries again by itself.

`/healthz` answers a process manager if the process lives, and `/readyz` if the worker serves. The server accepts only
GET and HEAD, reads no body, and answers each connection once. It listens on loopback unless a setting names another
address. Its answers name failed checks, and no secret.
"""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field, replace
from functools import partial
from http import HTTPStatus

import structlog

from activities.worker.worker_heartbeat import INITIALIZING, Presence
from cutter import limits
from cutter.catalogue import WorkerRole
from cutter.errors import Unavailable
from cutter.preflight.checks import Check, Verdict, failures, sentence
from cutter.senders import Senders
from cutter.settings import Settings

log = structlog.get_logger()

Preflight = Callable[[], list[Check]]

HANGS = Check(
    name="preflight", verdict=Verdict.BAD, found=f"no answer within {limits.PREFLIGHT_LIMIT_SECONDS} seconds",
    remedy="look at the stores and servers of this host: `cutter doctor`",
)  # fmt: skip
"""The check that fails if the preflight itself does not end."""

FOUND_MIN = 40
"""Characters of a finding that a heartbeat shows at least."""


@dataclass(slots=True)
class Readiness:
    """Whether a worker polls, and what its last preflight found. `waits` gets each new list of failures."""

    preflight: Preflight
    stopping: asyncio.Event
    waits: Callable[[tuple[str, ...]], None] = lambda _: None
    polls: bool = False
    checked: bool = False
    failed: tuple[Check, ...] = field(default=())

    @property
    def ready(self) -> bool:
        """True if the worker polls and its last preflight passed."""
        return self.polls and self.checked and not self.failed

    async def passed(self, presence: Presence) -> bool:
        """True after a preflight without a failed check, False if the worker must stop. Heartbeats show failures."""
        while self.failed:
            presence.blocked = self.blocked
            await presence.say(INITIALIZING)
            if await self._stops_within(limits.PREFLIGHT_AGAIN_SECONDS):
                return False
            await self._look_unless_stopped()
        return not self.stopping.is_set()

    async def keep(self, presence: Presence) -> None:
        """Repeat the preflight until the worker must stop. A failure does not stop the polling, because each step that
        fails says so itself, and most steps need only a part of the host.
        """
        self.polls = True
        while not await self._stops_within(limits.PREFLIGHT_AGAIN_SECONDS if self.failed else limits.PREFLIGHT_SECONDS):
            await self._look_unless_stopped()
            presence.blocked = self.blocked
        self.polls = False

    async def look(self) -> None:
        """Make the preflight, and show its failures. A preflight that hangs, as on a dead mount, has failed."""
        try:
            failed = failures(await asyncio.wait_for(_in_thread(self.preflight), limits.PREFLIGHT_LIMIT_SECONDS))
        except TimeoutError:
            failed = (HANGS,)
        if failed != self.failed or not self.checked:
            for check in failed:
                log.error("worker.blocked", check=check.name, found=check.found, remedy=check.remedy)
            if not failed and self.failed:
                log.info("worker.unblocked")
            self.waits(tuple(map(sentence, failed)))
        self.checked, self.failed = True, failed

    async def _look_unless_stopped(self) -> None:
        looking, stopped = asyncio.create_task(self.look()), asyncio.create_task(self.stopping.wait())
        await asyncio.wait({looking, stopped}, return_when=asyncio.FIRST_COMPLETED)
        for task in (looking, stopped):
            task.cancel()
        with suppress(asyncio.CancelledError):
            await looking

    @property
    def blocked(self) -> tuple[str, ...]:
        """The failures as a heartbeat has room for them. A long finding is cut, so that the remedy stays whole."""
        shown = []
        for check in self.failed[: limits.BLOCKED_SHOWN_MAX]:
            room = max(FOUND_MIN, limits.BLOCKED_CHARACTERS_MAX - len(sentence(replace(check, found=""))))
            finding = check.found if len(check.found) <= room else f"{check.found[: room - 1]}…"
            shown.append(sentence(replace(check, found=finding))[: limits.BLOCKED_CHARACTERS_MAX])
        return tuple(shown)

    async def _stops_within(self, seconds: float) -> bool:
        with suppress(TimeoutError):
            await asyncio.wait_for(self.stopping.wait(), seconds)
        return self.stopping.is_set()


def _in_thread(function: Preflight) -> asyncio.Future[list[Check]]:
    """The answer of a function that runs in a thread of its own. No end of the process waits for this thread."""
    loop = asyncio.get_running_loop()
    answer: asyncio.Future[list[Check]] = loop.create_future()

    def give(checks: list[Check]) -> None:
        if not answer.done():
            answer.set_result(checks)

    def run() -> None:
        checks = function()
        with suppress(RuntimeError):  # The loop is closed, because the worker has ended.
            loop.call_soon_threadsafe(give, checks)

    threading.Thread(target=run, name="preflight", daemon=True).start()
    return answer


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
