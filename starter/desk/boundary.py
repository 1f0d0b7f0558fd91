"""IO: the outermost layer of `cutter desk`: it refuses foreign requests, and puts the security headers on every answer.

It also makes `/laws.json` the JSON form of `/laws`, and HEAD a GET without its body.
"""

from __future__ import annotations

from typing import Any

from starlette.datastructures import MutableHeaders
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from starter.desk import access
from starter.desk.access import Access, Denied

JSON_SUFFIX = ".json"

HEADERS = {
    # Nothing comes from another server, a page runs and styles nothing that is written into it, and none frames it.
    "content-security-policy": "default-src 'none'; style-src 'self'; script-src 'self'; form-action 'self'; "
    "base-uri 'none'; frame-ancestors 'none'",
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "cache-control": "no-store",
    "vary": "Accept",
}


class Boundary:
    """An ASGI layer around the application. It leaves the user's name and the wanted form in the scope's state."""

    def __init__(self, app: ASGIApp, rules: Access) -> None:
        self.app = app
        self.rules = rules

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        peer = scope["client"][0] if scope.get("client") else None
        verdict = access.judge(self.rules, scope["method"], peer, scope["headers"])
        if isinstance(verdict, Denied):
            answer = PlainTextResponse(
                f"{verdict.reason}\n", verdict.status, {"allow": "GET, HEAD", "connection": "close"}
            )
            await answer(scope, receive, _with_headers(send))
            return
        await self.app(_asked(scope, verdict.user), receive, _with_headers(send))


def _asked(scope: Scope, user: str | None) -> dict[str, Any]:
    """The request without its suffix, as a GET. The server itself leaves out the body of a HEAD."""
    path: str = scope["path"]
    is_json = path.endswith(JSON_SUFFIX)
    accept = dict(scope["headers"]).get(b"accept", b"").decode("latin-1")
    state: dict[str, Any] = {**(scope.get("state") or {}), "user": user, "json": is_json or _prefers_json(accept)}
    path = path.removesuffix(JSON_SUFFIX) if is_json else path
    return {**scope, "method": "GET", "path": path, "raw_path": path.encode(), "state": state}


def _prefers_json(accept: str) -> bool:
    """Whether a caller prefers JSON to HTML. A caller that takes both equally, or everything, gets HTML."""
    wanted = dict(map(_accepted, accept.split(",")))
    named = wanted.get("application/json", 0.0)
    if "text/html" not in wanted:
        return named > 0
    return named > wanted["text/html"]


def _accepted(item: str) -> tuple[str, float]:
    kind, _, rest = item.partition(";")
    quality = next((part.strip()[2:] for part in rest.split(";") if part.strip().startswith("q=")), "1")
    try:
        return kind.strip().lower(), float(quality)
    except ValueError:
        return kind.strip().lower(), 0.0


def _with_headers(send: Send) -> Send:
    async def sent(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = MutableHeaders(scope=message)
            for name, value in HEADERS.items():
                headers.setdefault(name, value)
        await send(message)

    return sent
