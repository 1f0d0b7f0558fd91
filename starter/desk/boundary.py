"""IO: the outermost layer of `cutter desk`: it refuses foreign requests, and puts the security headers on every answer.

A page of a foreign site can point its own name at this machine (DNS rebinding). Then the browser sends that name as
Host, and this module refuses it. It also makes `/laws.json` the JSON form of `/laws`, and HEAD a GET without its body.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from ipaddress import IPv4Network, IPv6Network, ip_address, ip_network

from starlette.datastructures import MutableHeaders
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

LOOPBACK_NAMES = ("127.0.0.1", "localhost", "[::1]")
METHODS = ("GET", "HEAD")
DEFAULT_PORTS = {"http": 80, "https": 443}

Header = tuple[bytes, bytes]


@dataclass(frozen=True, slots=True, kw_only=True)
class Access:
    """The rules of one server. If `user_header` is set, one of `proxies` must have sent the request."""

    hosts: frozenset[str]
    user_header: str | None
    proxies: tuple[IPv4Network | IPv6Network, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Denied:
    """The answer to a request that may not be answered: the HTTP status and one sentence."""

    status: int
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Allowed:
    """A request that may be answered, with the user whom the proxy names."""

    user: str | None


def rules(port: int, *, hosts: Sequence[str], user_header: str | None, proxies: Sequence[str]) -> Access:
    """The rules for a server that listens on that port. The other values are the settings of their names."""
    local = {f"{name}:{port}" for name in LOOPBACK_NAMES}
    local |= set(LOOPBACK_NAMES) if port == DEFAULT_PORTS["http"] else set()
    return Access(
        hosts=frozenset(local | set(hosts)),
        user_header=user_header,
        proxies=tuple(ip_network(proxy) for proxy in proxies),
    )


def judge(access: Access, method: str, peer: str | None, headers: Sequence[Header]) -> Allowed | Denied:
    """Whether a request may be answered. `peer` is the address of the program that connected, None if unknown.

    Without the setting of a user header there is no user, whatever the headers say.
    """
    if method not in METHODS:
        return Denied(status=405, reason="this server only reads: ask with GET")
    if _values(headers, "content-length") and _values(headers, "transfer-encoding"):
        return Denied(status=400, reason="the request gives its length twice: send Content-Length or Transfer-Encoding")
    host = _values(headers, "host")
    if len(host) != 1 or host[0].lower() not in access.hosts:
        return Denied(status=421, reason="this server has another name: set CUTTER_DESK_HOSTS, see docs/guides/desk.md")
    own = {f"{scheme}://{name}" for scheme in DEFAULT_PORTS for name in access.hosts}
    if any(origin not in own for origin in _values(headers, "origin")):
        return Denied(status=403, reason="a page of another site asked for this")
    from_elsewhere = set(_values(headers, "sec-fetch-site")) & {"cross-site", "same-site"}
    if from_elsewhere and _values(headers, "sec-fetch-dest") != ["document"]:
        return Denied(status=403, reason="a page of another site asked for this")
    if access.user_header is None:
        return Allowed(user=None)
    if not _is_trusted(access, peer):
        return Denied(status=403, reason="ask by way of the reverse proxy: this server answers nobody else")
    names = _values(headers, access.user_header)
    # A user's name is an e-mail address at most.
    if len(names) != 1 or not 0 < len(names[0]) <= 254 or not names[0].isprintable() or names[0].isspace():
        return Denied(status=401, reason=f"the reverse proxy names no user in {access.user_header}")
    return Allowed(user=names[0])


def _is_trusted(access: Access, peer: str | None) -> bool:
    try:
        address = ip_address(peer or "")
    except ValueError:
        return False
    plain = getattr(address, "ipv4_mapped", None) or address
    return any(plain in network for network in access.proxies)


def _values(headers: Sequence[Header], name: str) -> list[str]:
    wanted = name.lower().encode()
    return [value.decode("latin-1").strip() for key, value in headers if key.lower() == wanted]


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
        verdict = judge(self.rules, scope["method"], peer, scope["headers"])
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
