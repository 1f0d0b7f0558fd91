"""The server that Slack calls: only what Slack has signed is looked at, and nobody holds it for long."""

from __future__ import annotations

import http.client
import json
import select
import socket
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime

import pytest

from cutter import limits
from cutter.slack.callback import Click
from starter.slack_server import PATH, Reply, Server
from tests.support.fake_slack import SIGNING_SECRET, FakeSlack

MESSAGE = {"ts": "1795000000.000100", "blocks": []}


@dataclass(slots=True)
class Listening:
    """A server with what it let through."""

    server: Server
    clicks: list[Click] = field(default_factory=list)
    slack: FakeSlack = field(default_factory=lambda: FakeSlack(url="http://127.0.0.1:1/api"))

    def press(self, *, user: str = "U012AB3CD") -> bytes:
        return self.slack.press(MESSAGE, "cutter_approve", user=user)

    def send(self, body: bytes, headers: dict[str, str], *, path: str = PATH, method: str = "POST") -> tuple[int, str]:
        connection = http.client.HTTPConnection(*self.address, timeout=30)
        try:
            connection.request(method, path, body=body, headers=headers)
            answer = connection.getresponse()
            return answer.status, answer.read().decode()
        finally:
            connection.close()

    def signed(self, body: bytes, *, seconds_ago: float = 0) -> dict[str, str]:
        return self.slack.signed(body, at=datetime.now(UTC).timestamp() - seconds_ago)

    @property
    def address(self) -> tuple[str, int]:
        return str(self.server.server_address[0]), int(self.server.server_address[1])

    def raw(self, data: bytes) -> bytes:
        """What comes back for these bytes on the wire, until the server hangs up."""
        with socket.create_connection(self.address, timeout=30) as sent:
            sent.sendall(data)
            answer = b""
            while piece := sent.recv(4096):
                answer += piece
        return answer


@pytest.fixture
def listening(monkeypatch: pytest.MonkeyPatch) -> Iterator[Listening]:
    monkeypatch.setattr(limits, "SLACK_CALLERS_MAX", 2)

    def resolve(click: Click) -> Reply:
        made.clicks.append(click)
        return Reply(text=f"heard {click.user}")

    server = Server("127.0.0.1", 0, SIGNING_SECRET, resolve)
    made = Listening(server)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield made
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def test_a_signed_press_is_answered_to_its_person_alone(listening: Listening) -> None:
    body = listening.press()
    status, text = listening.send(body, listening.signed(body))
    assert status == 200
    assert json.loads(text) == {"response_type": "ephemeral", "replace_original": False, "text": "heard U012AB3CD"}
    assert [click.user for click in listening.clicks] == ["U012AB3CD"]


def test_what_slack_did_not_sign_is_not_looked_at(listening: Listening) -> None:
    body = listening.press()
    good = listening.signed(body)
    refused = [
        listening.send(body, {}),
        listening.send(body + b" ", good),
        listening.send(listening.press(user="U999"), good),
        listening.send(body, listening.signed(body, seconds_ago=limits.SLACK_WINDOW_SECONDS + 5)),
        listening.send(body, {**good, "X-Slack-Request-Timestamp": "1"}),
        listening.send(body, {**good, "X-Slack-Signature": good["X-Slack-Signature"][:-1]}),
    ]
    assert refused == [(401, "")] * len(refused)
    assert listening.clicks == []


def test_a_header_that_comes_twice_does_not_count(listening: Listening) -> None:
    body = listening.press()
    lines = [f"{name}: {value}" for name, value in listening.signed(body).items()]
    head = "\r\n".join([f"POST {PATH} HTTP/1.1", f"Content-Length: {len(body)}", *lines, lines[-1], "", ""])
    assert b" 401 " in listening.raw(head.encode() + body).split(b"\r\n")[0]
    assert listening.clicks == []


def test_a_signed_body_that_is_no_press_is_refused(listening: Listening) -> None:
    body = b"payload=%7B%7D"
    assert listening.send(body, listening.signed(body))[0] == 400
    assert listening.clicks == []


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [("GET", PATH, 501), ("PUT", PATH, 501), ("POST", "/", 404), ("POST", f"{PATH}/../actions", 404)],
)
def test_there_is_one_path_and_one_method(listening: Listening, method: str, path: str, status: int) -> None:
    body = listening.press()
    assert listening.send(body, listening.signed(body), path=path, method=method)[0] == status
    assert listening.clicks == []


@pytest.mark.parametrize(
    ("header", "status"),
    [
        (f"Content-Length: {limits.SLACK_BODY_BYTES_MAX + 1}", b" 413 "),
        ("Content-Length: -1", b" 411 "),
        ("Content-Length: 5\r\nContent-Length: 5", b" 411 "),
        ("Transfer-Encoding: chunked", b" 411 "),
        ("Content-Length: 5\r\nTransfer-Encoding: chunked", b" 411 "),
    ],
)
def test_a_body_is_bounded_and_of_known_length(listening: Listening, header: str, status: bytes) -> None:
    assert status in listening.raw(f"POST {PATH} HTTP/1.1\r\n{header}\r\n\r\n".encode()).split(b"\r\n")[0]


def test_who_sends_slowly_is_hung_up_on_and_makes_room(listening: Listening, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "SLACK_CALLER_SECONDS", 3.0)
    monkeypatch.setattr(limits, "SLACK_PLACE_SECONDS", 0.1)
    slow = [socket.create_connection(listening.address, timeout=30) for _ in range(2)]
    for one in slow:
        one.sendall(f"POST {PATH} HTTP/1.1\r\nContent-Length: 100\r\n".encode())
    # There is no room for a third, who is sent away soon; then the slow ones are hung up on.
    with socket.create_connection(listening.address, timeout=30) as third:
        assert third.recv(100) == b""
    assert select.select(slow, [], [], 0)[0] == [], "they were there before it, and still are"
    for one in slow:
        while one.recv(4096):
            pass
        one.close()
    body = listening.press()
    while True:
        try:
            assert listening.send(body, listening.signed(body))[0] == 200
            return
        except (ConnectionError, http.client.HTTPException):
            # The places are given back a moment after the connections end.
            continue


def test_what_a_caller_sends_or_how_it_ends_is_not_printed(
    listening: Listening, capsys: pytest.CaptureFixture[str]
) -> None:
    body = b"canary=1"
    assert listening.send(body, {**listening.signed(body), "X-Slack-Signature": "canary"})[0] == 401
    assert "canary" not in "".join(capsys.readouterr())
