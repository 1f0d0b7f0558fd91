"""Orchestration: puts the parts of `cutter desk` together, and serves them until a person interrupts it."""

from __future__ import annotations

import asyncio
import ipaddress
import socket
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from urllib.parse import unquote

import h11
import uvicorn
from fastapi import Depends, FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from uvicorn.protocols.http.h11_impl import H11Protocol

from cutter import __version__, limits
from cutter.errors import CutterError, InvalidInput, Unavailable
from cutter.projections import desk_pages
from cutter.senders import Senders
from cutter.settings import Settings
from starter.desk import answers, boundary, law_routes, work_routes
from starter.desk.boundary import Boundary

ABOUT = "Reads what waits for people, enacted laws, runs, batches and queues. It can change nothing."


def application(settings: Settings, begun: Callable[[], None] = lambda: None) -> FastAPI:
    """The pages and their errors, without the boundary that a server needs around them. `begun` is called once all is
    ready.
    """
    reader = answers.open_reader(settings)

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        begun()
        yield
        reader.pool.close()

    made = FastAPI(
        title="cutter desk", version=__version__, description=ABOUT, lifespan=lifespan, redirect_slashes=False,
        # Swagger's pages load scripts from elsewhere. The boundary takes `.json` off every address.
        docs_url=None, redoc_url=None, openapi_url="/openapi", dependencies=[Depends(_readable)],
    )  # fmt: skip
    made.state.reader = reader
    made.include_router(work_routes.router)
    made.include_router(law_routes.router)
    made.add_api_route("/assets/{name}", _asset, include_in_schema=False)
    made.add_exception_handler(CutterError, answers.told)
    made.add_exception_handler(HTTPException, answers.unknown)
    made.add_exception_handler(RequestValidationError, answers.malformed)
    return made


def _readable(request: Request) -> None:
    """Refuse an address with a NUL character, which PostgreSQL cannot hold."""
    if "\0" in request.url.path or "\0" in unquote(request.url.query):
        raise InvalidInput("the address has a NUL character (%00): write it without")


def _asset(request: Request, name: str) -> Response:  # noqa: ARG001 - the framework names it
    if name not in desk_pages.ASSETS:
        raise HTTPException(404)
    return Response(desk_pages.asset(name), media_type="text/css" if name.endswith(".css") else "text/javascript")


def require_safe(settings: Settings, host: str) -> None:
    """Refuse settings with which anybody on a network could read the pages."""
    if settings.desk_user_header is not None and not settings.desk_proxies:
        raise InvalidInput("CUTTER_DESK_USER_HEADER: name the proxy that sets it in CUTTER_DESK_PROXIES too")
    if not _is_loopback(host) and settings.desk_user_header is None:
        raise InvalidInput(
            f"--host {host} is no loopback address, and nobody would have to sign in: set CUTTER_DESK_USER_HEADER and "
            "CUTTER_DESK_PROXIES (docs/guides/desk.md)"
        )


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def listening(host: str, port: int) -> socket.socket:
    """A socket that listens. Raises Unavailable if the address is taken or is not one of this machine."""
    try:
        family = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0][0]
        return socket.create_server((host, port), family=family)
    except OSError as problem:
        raise Unavailable(f"{host}:{port} cannot be listened on ({problem.strerror})", what="port") from None


def serve(settings: Settings, listener: socket.socket, *, begun: Callable[[], None] = lambda: None) -> None:
    """Answer requests until a person interrupts it."""
    rules = boundary.rules(
        listener.getsockname()[1], hosts=settings.desk_hosts, user_header=settings.desk_user_header,
        proxies=settings.desk_proxies,
    )  # fmt: skip
    server = uvicorn.Server(
        uvicorn.Config(
            Boundary(application(settings, begun), rules), loop="asyncio", http=_Protocol, ws="none", lifespan="on",
            # The peer's address decides whether a proxy is trusted, so no header may replace it.
            proxy_headers=False, server_header=False, access_log=False, log_config=None,
            # It tells further callers to come later. SENDERS_MAX more can be sending.
            limit_concurrency=64 + limits.SENDERS_MAX,
            # Seconds that open requests get when `cutter desk` ends.
            timeout_graceful_shutdown=3,
        )
    )  # fmt: skip
    try:
        server.run(sockets=[listener])
    except KeyboardInterrupt:
        return


SENDING = (h11.IDLE, h11.SEND_BODY)


class _Protocol(H11Protocol):
    """uvicorn's protocol with a limit for callers that send no whole request, also between two requests."""

    senders = Senders()

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._begin()

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        # A caller that was disconnected can still have bytes here, and never begins again.
        if self.conn.their_state not in SENDING:
            self._end()

    def on_response_complete(self) -> None:
        super().on_response_complete()
        if self.conn.their_state is h11.IDLE and not self.transport.is_closing():
            self._begin()

    def connection_lost(self, exc: Exception | None) -> None:
        self._end()
        super().connection_lost(exc)

    def _begin(self) -> None:
        self.senders.begin(self.transport.get_extra_info("socket"), self.client[0] if self.client else "")

    def _end(self) -> None:
        self.senders.end(self.transport.get_extra_info("socket"))
