"""Pure: decides from a request's method, Host, Origin and proxy headers whether `cutter desk` answers it.

A page of a foreign site can point its own name at this machine (DNS rebinding). Then the browser sends that name as
Host, and this module refuses it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from ipaddress import IPv4Network, IPv6Network, ip_address, ip_network

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
    if len(names) != 1 or not _is_name(names[0]):
        return Denied(status=401, reason=f"the reverse proxy names no user in {access.user_header}")
    return Allowed(user=names[0])


def _is_trusted(access: Access, peer: str | None) -> bool:
    try:
        address = ip_address(peer or "")
    except ValueError:
        return False
    plain = getattr(address, "ipv4_mapped", None) or address
    return any(plain in network for network in access.proxies)


def _is_name(name: str) -> bool:
    # A user's name in the header of a proxy: an e-mail address at most.
    return 0 < len(name) <= 254 and name.isprintable() and not name.isspace()


def _values(headers: Sequence[Header], name: str) -> list[str]:
    wanted = name.lower().encode()
    return [value.decode("latin-1").strip() for key, value in headers if key.lower() == wanted]
