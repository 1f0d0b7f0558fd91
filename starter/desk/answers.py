"""IO: how `cutter desk` reads, with a role that cannot write, and answers: with a page, JSON or an error."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any
from urllib.parse import quote

from fastapi.exceptions import RequestValidationError
from psycopg import IsolationLevel
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from cutter.catalogue import Role
from cutter.domain.visible import json_text
from cutter.errors import CutterError, InvalidInput, NotFound, OverCap, Refused, Unavailable
from cutter.projections import desk_pages
from cutter.projections.desk_pages import Place
from cutter.settings import Settings
from cutter.storage.pools import Pool, open_pool, translated
from cutter.storage.records import Connection
from starter.desk.boundary import JSON_SUFFIX

STATUSES = ((NotFound, 404), (InvalidInput, 400), (Refused, 409), (Unavailable, 503), (OverCap, 503))
"""The HTTP status of each error. Every other error is one of the server."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reader:
    """Opens read-only transactions, each of one moment."""

    settings: Settings
    pool: Pool

    @contextmanager
    def moment(self) -> Iterator[Connection]:
        """A connection on which every statement sees the same moment and none can write."""
        with translated(), self.pool.connection() as connection:
            connection.read_only = True
            connection.isolation_level = IsolationLevel.REPEATABLE_READ
            # A statement of a page; a search over all laws took less than a second.
            connection.execute("set local statement_timeout = '20s'")
            yield connection


def open_reader(settings: Settings) -> Reader:
    # Database connections of one `cutter desk`: its pages are short, and the role has at least five.
    return Reader(settings=settings, pool=open_pool(settings, Role.DESK, size=4))


def reader_of(request: Request) -> Reader:
    reader: Reader = request.app.state.reader
    return reader


def forms(model: Any = dict[str, Any]) -> dict[int | str, dict[str, Any]]:
    """What OpenAPI says about an answer: a page, or JSON of this type."""
    errors: dict[int | str, dict[str, Any]] = {}
    for status in (400, 404, 503):
        errors[status] = {"description": HTTPStatus(status).phrase}
    return {200: {"model": model, "description": "JSON, or a page", "content": {"text/html": {}}}, **errors}


def place_of(request: Request) -> Place:
    """Where the reader of this page is."""
    path = request.url.path
    query = f"?{request.url.query}" if request.url.query else ""
    section = next((prefix for _, prefix in desk_pages.SECTIONS if path == prefix or path.startswith(f"{prefix}/")), "")
    return Place(section=section, as_json=f"{quote(path)}{JSON_SUFFIX}{query}", user=request.state.user)


def answer(request: Request, value: Callable[[], Any], page: Callable[[], bytes]) -> Response:
    """The value as JSON if the caller wants it, else the page. Only the wanted form is made."""
    return as_json(value()) if request.state.json else as_page(page())


def as_json(value: Any, status: int = HTTPStatus.OK) -> Response:
    """A value as JSON in UTF-8. Hidden characters are escaped."""
    return Response(f"{json_text(value)}\n".encode(), status, media_type="application/json")


def as_page(body: bytes, status: int = HTTPStatus.OK) -> Response:
    return Response(body, status, media_type="text/html; charset=utf-8")


def told(request: Request, problem: Exception) -> Response:
    """An error of cutter: what happened, and the next command."""
    if not isinstance(problem, CutterError):
        raise problem
    status = next((number for kind, number in STATUSES if isinstance(problem, kind)), 500)
    return _failure(request, status, problem.code, str(problem), problem.then)


def unknown(request: Request, problem: Exception) -> Response:
    """An error of the framework, such as an unknown address."""
    if not isinstance(problem, HTTPException):
        raise problem
    message = (
        "there is no such page: the bar above shows the sections" if problem.status_code == 404 else problem.detail
    )
    return _failure(request, problem.status_code, HTTPStatus(problem.status_code).name, message)


def malformed(request: Request, problem: Exception) -> Response:
    """A value of the address that cannot be read, such as a day."""
    if not isinstance(problem, RequestValidationError):
        raise problem
    first = problem.errors()[0]
    name = first["loc"][-1] if first["loc"] else "the address"
    wrong = f"{first['input']} is no day; write it as 2026-07-01" if first["type"].startswith("date") else first["msg"]
    return _failure(request, 400, InvalidInput.code, f"{name}: {wrong}")


def _failure(request: Request, status: int, code: str, message: str, then: str | None = None) -> Response:
    if request.state.json:
        return as_json({"code": code, "message": message, "next": then}, status)
    title = HTTPStatus(status).phrase
    return as_page(desk_pages.page("error", place_of(request), title=title, code=code, message=message), status)
