"""IO: the outermost layer of `cutter desk`: it refuses foreign requests, and puts the security headers on every answer.

It also makes `/laws.json` the JSON form of `/laws`, and HEAD a GET without its body.
"""

from __future__ import annotations

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
        # The server itself leaves out the body of a HEAD.
        accept = dict(scope["headers"]).get(b"accept", b"").decode("latin-1")
        is_json = scope["path"].endswith(JSON_SUFFIX) or _prefers_json(accept)
        state = {**(scope.get("state") or {}), "user": verdict.user, "json": is_json}
        path = scope["path"].removesuffix(JSON_SUFFIX)
        asked = {**scope, "method": "GET", "path": path, "raw_path": path.encode(), "state": state}
        await self.app(asked, receive, _with_headers(send))


def _prefers_json(accept: str) -> bool:
    """Whether a caller prefers JSON to HTML. A caller that takes both equally, or everything, gets HTML."""
    wanted: dict[str, float] = {}
    for item in accept.split(","):
        kind, _, rest = item.partition(";")
        quality = next((part.strip()[2:] for part in rest.split(";") if part.strip().startswith("q=")), "1")
        try:
            wanted[kind.strip().lower()] = float(quality)
        except ValueError:
            wanted[kind.strip().lower()] = 0.0
    return wanted.get("application/json", 0.0) > wanted.get("text/html", 0.0)


def _with_headers(send: Send) -> Send:
    async def sent(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = MutableHeaders(scope=message)
            for name, value in HEADERS.items():
                headers.setdefault(name, value)
        await send(message)

    return sent
