"""What `cutter desk` refuses before it reads anything, and in which form it answers."""

from __future__ import annotations

import pytest

from starter.desk import access
from starter.desk.access import Access, Allowed, Denied, Header
from starter.desk.boundary import _prefers_json

HOST: Header = (b"host", b"desk.example.org")
USER: Header = (b"remote-user", b"an")


def ruled(header: str | None = "Remote-User", proxies: tuple[str, ...] = ("10.0.0.5", "fd00::/64")) -> Access:
    return access.rules(8585, hosts=("desk.example.org",), user_header=header, proxies=proxies)


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
    verdict = access.judge(ruled(), "GET", peer, headers)
    assert (verdict.status if isinstance(verdict, Denied) else None) == status
    if status is None:
        assert verdict == Allowed(user="an")


def test_without_a_header_in_the_settings_there_is_no_user() -> None:
    assert access.judge(ruled(None, ()), "GET", "127.0.0.1", [HOST, USER]) == Allowed(user=None)


def test_at_the_port_of_http_a_browser_sends_no_port() -> None:
    rules = access.rules(80, hosts=(), user_header=None, proxies=())
    assert access.judge(rules, "GET", "127.0.0.1", [(b"host", b"localhost")]) == Allowed(user=None)
    assert isinstance(access.judge(ruled(None, ()), "GET", "127.0.0.1", [(b"host", b"localhost")]), Denied)


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
