"""What `cutter desk` refuses before it reads anything, and in which form it answers."""

from __future__ import annotations

from typing import Any

import pytest
from starlette.responses import PlainTextResponse
from starlette.types import Message, Receive, Scope, Send

from cutter.errors import InvalidInput
from cutter.settings import load
from starter.desk import boundary, server
from starter.desk.boundary import HEADERS, Access, Allowed, Boundary, Denied, Header, _prefers_json

HOST: Header = (b"host", b"desk.example.org")
USER: Header = (b"remote-user", b"an")


def ruled(header: str | None = "Remote-User", proxies: tuple[str, ...] = ("10.0.0.5", "fd00::/64")) -> Access:
    return boundary.rules(8585, hosts=("desk.example.org",), user_header=header, proxies=proxies)


@pytest.mark.parametrize(
    ("peer", "headers", "status"),
    [
        ("10.0.0.5", [HOST, USER], None), ("fd00::7", [HOST, USER], None), ("::ffff:10.0.0.5", [HOST, USER], None),
        ("10.0.0.6", [HOST, USER], 403), ("127.0.0.1", [HOST, USER], 403), (None, [HOST, USER], 403),
        ("", [HOST, USER], 403), ("10.0.0.5", [HOST], 401), ("10.0.0.5", [HOST, USER, USER], 401),
        ("10.0.0.5", [HOST, (b"remote-user", b"a\x1bb")], 401), ("10.0.0.5", [HOST, (b"remote_user", b"an")], 401),
        ("10.0.0.5", [USER], 421), ("10.0.0.5", [HOST, HOST, USER], 421),
        ("10.0.0.5", [(b"host", b"desk.example.org.evil"), USER], 421),
        ("10.0.0.5", [HOST, USER, (b"origin", b"https://desk.example.org")], None),
        ("10.0.0.5", [HOST, USER, (b"origin", b"https://desk.example.org.evil")], 403),
        ("10.0.0.5", [HOST, USER, (b"origin", b"null")], 403),
    ],
)  # fmt: skip
def test_only_a_trusted_proxy_with_one_user_is_answered(
    peer: str | None, headers: list[Header], status: int | None
) -> None:
    verdict = boundary.judge(ruled(), "GET", peer, headers)
    assert (verdict.status if isinstance(verdict, Denied) else None) == status
    if status is None:
        assert verdict == Allowed(user="an")


def test_without_a_header_in_the_settings_there_is_no_user() -> None:
    assert boundary.judge(ruled(None, ()), "GET", "127.0.0.1", [HOST, USER]) == Allowed(user=None)


def test_at_the_port_of_http_a_browser_sends_no_port() -> None:
    rules = boundary.rules(80, hosts=(), user_header=None, proxies=())
    assert boundary.judge(rules, "GET", "127.0.0.1", [(b"host", b"localhost")]) == Allowed(user=None)
    assert isinstance(boundary.judge(ruled(None, ()), "GET", "127.0.0.1", [(b"host", b"localhost")]), Denied)


@pytest.mark.parametrize(
    ("accept", "json"),
    [
        ("", False), ("*/*", False), ("text/html,application/xhtml+xml,*/*;q=0.8", False), ("application/json", True),
        ("application/json, text/plain, */*", True), ("text/html, application/json", False),
        ("text/html;q=0.5, application/json", True), ("application/json;q=0", False), ("application/json;q=x", False),
    ],
)  # fmt: skip
def test_a_caller_gets_json_if_it_prefers_it(accept: str, json: bool) -> None:
    assert _prefers_json(accept) is json


@pytest.mark.parametrize(("destination", "answered"), [("document", True), ("iframe", False), ("empty", False)])
def test_a_page_is_not_embedded_by_another_site(destination: str, answered: bool) -> None:
    headers = [HOST, (b"sec-fetch-site", b"cross-site"), (b"sec-fetch-dest", destination.encode())]
    assert isinstance(boundary.judge(ruled(None, ()), "GET", None, headers), Allowed) is answered


@pytest.mark.parametrize("method", ["POST", "PUT", "PATCH", "DELETE", "OPTIONS", "CONNECT", "TRACE", "get"])
def test_only_a_method_that_reads_is_answered(method: str) -> None:
    assert boundary.judge(ruled(None, ()), method, None, [HOST]) == Denied(
        status=405, reason="this server only reads: ask with GET"
    )


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.0.2.1", "example.org", ""])
def test_a_server_without_a_login_listens_on_this_machine_alone(host: str) -> None:
    with pytest.raises(InvalidInput, match="no loopback address"):
        server.require_safe(load(), host)
    for local in ("127.0.0.1", "::1", "localhost"):
        server.require_safe(load(), local)
    server.require_safe(load(desk_user_header="Remote-User", desk_proxies=("10.0.0.5",)), host)


def test_a_header_without_a_proxy_is_refused() -> None:
    with pytest.raises(InvalidInput, match="CUTTER_DESK_PROXIES"):
        server.require_safe(load(desk_user_header="Remote-User"), "127.0.0.1")


@pytest.mark.parametrize("host", [b"desk.example.org", b"evil.example"])
async def test_every_answer_has_the_security_headers(host: bytes) -> None:
    sent: list[Message] = []

    async def application(scope: Scope, receive: Receive, send: Send) -> None:
        await PlainTextResponse("an answer")(scope, receive, send)

    async def send(message: Message) -> None:
        sent.append(message)

    async def receive() -> Message:
        return {"type": "http.request"}

    scope: dict[str, Any] = {
        "type": "http", "method": "GET", "path": "/laws", "query_string": b"", "headers": [(b"host", host)],
        "client": ("127.0.0.1", 1),
    }  # fmt: skip
    await Boundary(application, ruled(None, ()))(scope, receive, send)
    headers = {name.decode(): value.decode() for name, value in sent[0]["headers"]}
    assert {name: headers.get(name) for name in HEADERS} == HEADERS
    assert "frame-ancestors 'none'" in headers["content-security-policy"]
