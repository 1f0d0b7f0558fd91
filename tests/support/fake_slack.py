"""IO: a server on loopback that speaks Slack's wire format: posts, updates, history, refusals, rate limits, silence.

It keeps messages as Slack does, checks the token and what a message may hold, and can be told how the next calls fail.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlencode

from cutter.notifications.slack import signature
from cutter.types import Json

TOKEN = "xoxb-1234567890-abcdefghijklmnop"
SIGNING_SECRET = "8f742231b10e8888abcd99yyyzzz85a5"
CHANNEL = "C0123456789"
MESSAGE_AT = 1_795_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Failure:
    """How one call fails. `done`: it is carried out all the same, and only its answer is lost."""

    error: str = ""
    status: int = 200
    headers: tuple[tuple[str, str], ...] = ()
    silent: bool = False
    done: bool = False


@dataclass(slots=True, kw_only=True)
class FakeSlack:
    """What was said to it, and what stands in its channel by now."""

    url: str = ""
    messages: dict[str, Json] = field(default_factory=dict)
    calls: list[tuple[str, Json]] = field(default_factory=list)
    answers: list[Json] = field(default_factory=list)
    failures: list[Failure] = field(default_factory=list)
    let_go: threading.Event = field(default_factory=threading.Event)
    lock: threading.Lock = field(default_factory=threading.Lock)
    arrived: Callable[[], None] = lambda: None
    """What happens when a call was carried out and nothing was answered yet."""

    def fail(self, *failures: Failure) -> None:
        """The next calls fail like this, one each."""
        self.failures.extend(failures)

    @property
    def posted(self) -> list[Json]:
        """The channel's messages, oldest first."""
        return [self.messages[ts] for ts in sorted(self.messages)]

    def press(self, message: Json, action: str, *, user: str, **changed: Any) -> bytes:
        """The body of the callback for a button of a message."""
        buttons = [
            element for block in message["blocks"] if block["type"] == "actions" for element in block["elements"]
        ]
        button = next(
            (button for button in buttons if button["action_id"] == action), {"action_id": action, "value": "none"}
        )
        payload = {
            "type": "block_actions",
            "user": {"id": user, "username": "whatever"},
            "container": {"type": "message", "message_ts": message["ts"], "channel_id": CHANNEL},
            "message": message,
            "actions": [{"type": "button", "action_id": action, "value": button["value"]}],
            "response_url": f"{self.url.removesuffix('/api')}/actions/T1/1/x",
            **changed,
        }
        return urlencode({"payload": json.dumps(payload)}).encode()

    def signed(self, body: bytes, *, at: float) -> dict[str, str]:
        """The headers that Slack would send with these bytes at that time."""
        time = str(int(at))
        return {
            "Content-Type": "application/x-www-form-urlencoded",
            "X-Slack-Request-Timestamp": time,
            "X-Slack-Signature": signature(SIGNING_SECRET, time, body),
        }

    # --- its side -------------------------------------------------------------------------------------------------

    def carry_out(self, method: str, given: Json, token: str) -> Json:
        if token != TOKEN:
            return {"ok": False, "error": "invalid_auth"}
        if given.get("channel") != CHANNEL:
            return {"ok": False, "error": "channel_not_found"}
        match method:
            case "chat.postMessage":
                ts = f"{MESSAGE_AT + len(self.messages)}.000100"
                self.messages[ts] = {**_message(given), "ts": ts}
                return {"ok": True, "channel": CHANNEL, "ts": ts, "message": self.messages[ts]}
            case "chat.update":
                if given["ts"] not in self.messages:
                    return {"ok": False, "error": "message_not_found"}
                self.messages[given["ts"]] = {**_message(given), "ts": given["ts"]}
                return {"ok": True, "channel": CHANNEL, "ts": given["ts"]}
            case "conversations.history":
                return {"ok": True, "messages": self.posted[::-1], "has_more": False}
        return {"ok": False, "error": "unknown_method"}


def _message(given: Json) -> Json:
    blocks = json.loads(given["blocks"])
    assert 0 < len(blocks) <= 50
    return {"text": given["text"], "blocks": blocks, "metadata": json.loads(given["metadata"])}


@contextmanager
def fake_slack() -> Iterator[FakeSlack]:
    """A Slack of one's own, stopped at the end."""
    made = FakeSlack()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            if self.path.startswith("/actions/"):
                made.answers.append(json.loads(body))
                return self._send(200, {"ok": True})
            with made.lock:
                return self._call(body)

        def _call(self, body: bytes) -> None:
            method = self.path.rpartition("/")[2]
            given = {name: values[0] for name, values in parse_qs(body.decode(), strict_parsing=True).items()}
            made.calls.append((method, given))
            failure = made.failures.pop(0) if made.failures else None
            answer = None
            if failure is None or failure.done:
                answer = made.carry_out(method, given, self.headers["Authorization"].removeprefix("Bearer "))
                made.arrived()
            if failure is None:
                return self._send(200, answer)
            if failure.silent:
                made.let_go.wait(60)
                self.close_connection = True
                return None
            return self._send(failure.status, {"ok": False, "error": failure.error}, failure.headers)

        def _send(self, status: int, answer: Json | None, headers: tuple[tuple[str, str], ...] = ()) -> None:
            data = json.dumps(answer).encode()
            self.send_response(status)
            for name, value in headers:
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    made.url = f"http://127.0.0.1:{server.server_address[1]}/api"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield made
    finally:
        made.let_go.set()
        server.shutdown()
        thread.join()
        server.server_close()
