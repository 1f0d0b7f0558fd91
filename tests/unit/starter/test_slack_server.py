"""The server that Slack calls: only what Slack has signed is looked at, and nobody holds it for long."""

from __future__ import annotations

import http.client
import json
import select
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from time import monotonic

import pytest

from cutter import limits
from cutter.notifications.slack import Click
from starter.slack_app import server as slack_server
from starter.slack_app.server import PATH, Reply, Server
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


HALF = f"POST {PATH} HTTP/1.1\r\nContent-Length: 100\r\n".encode()


@contextmanager
def slow_callers(listening: Listening, count: int, data: bytes = HALF) -> Iterator[list[socket.socket]]:
    """Connections that have sent a part of a request; the server has accepted each of them."""
    opened = []
    try:
        for _ in range(count):
            opened.append(socket.create_connection(listening.address, timeout=10))
            opened[-1].sendall(data)
        yield opened
    finally:
        for connection in opened:
            connection.close()


def is_hung_up_on(connection: socket.socket) -> bool:
    """Read until the end, which must come within the socket's own time."""
    try:
        while connection.recv(4096):
            pass
    except ConnectionError:
        return True
    return True


@pytest.mark.parametrize("data", [b"", b"P", HALF, HALF + b"\r\n" + b"x" * 50], ids=["nothing", "byte", "head", "body"])
def test_slow_callers_do_not_keep_a_signed_press_out(listening: Listening, data: bytes) -> None:
    with slow_callers(listening, 16 * limits.SLACK_CALLERS_MAX, data):
        body = listening.press()
        assert listening.send(body, listening.signed(body))[0] == 200


@pytest.fixture
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """No caller is hung up on because it is slow, so only a limit of callers can end its connection."""
    monkeypatch.setattr(limits, "SENDER_SECONDS", 600)
    monkeypatch.setattr(slack_server._Handler, "timeout", 600)


@pytest.mark.usefixtures("patient")
def test_more_slow_callers_than_there_is_room_for_push_out_the_oldest(
    listening: Listening, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limits, "SENDERS_OF_ADDRESS_MAX", 3)
    with slow_callers(listening, 5) as slow:
        assert all(map(is_hung_up_on, slow[:2]))
        body = listening.press()
        assert listening.send(body, listening.signed(body))[0] == 200
        assert is_hung_up_on(slow[2])
        assert select.select(slow[3:], [], [], 0)[0] == []


@pytest.mark.usefixtures("patient")
def test_the_limit_counts_callers_of_all_addresses_too(listening: Listening, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "SENDERS_MAX", 2)
    with slow_callers(listening, 3) as slow:
        assert is_hung_up_on(slow[0])
        assert select.select(slow[1:], [], [], 0)[0] == []


def test_who_sends_a_byte_at_a_time_is_hung_up_on(listening: Listening, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "SENDER_SECONDS", 0.5)
    ends = monotonic() + 10
    with slow_callers(listening, 1) as (slow,):
        # Each byte comes in good time, so that only the limit of the whole request can end this.
        while not select.select([slow], [], [], 0.05)[0]:
            slow.sendall(b"x")
            assert monotonic() < ends, "nobody hung up"
        assert is_hung_up_on(slow)


def test_a_press_that_is_decided_is_never_pushed_out(listening: Listening, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "SENDERS_OF_ADDRESS_MAX", 1)
    decide, deciding, answers = threading.Event(), threading.Event(), []

    def resolve(click: Click) -> Reply:
        deciding.set()
        assert decide.wait(30)
        return Reply(text=f"heard {click.user}")

    listening.server.resolve = resolve
    body = listening.press()
    press = threading.Thread(target=lambda: answers.append(listening.send(body, listening.signed(body))[0]))
    press.start()
    assert deciding.wait(30)
    with slow_callers(listening, 3) as slow:
        assert all(map(is_hung_up_on, slow[:2]))
        decide.set()
        press.join()
    assert answers == [200]


def test_what_a_caller_sends_or_how_it_ends_is_not_printed(
    listening: Listening, capsys: pytest.CaptureFixture[str]
) -> None:
    body = b"canary=1"
    assert listening.send(body, {**listening.signed(body), "X-Slack-Signature": "canary"})[0] == 401
    assert "canary" not in "".join(capsys.readouterr())
