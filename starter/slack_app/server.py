"""IO: the small HTTP server that Slack calls when a person presses a button. It ignores what Slack did not sign.

It limits the bytes, the time and the number of callers, and reads the bytes only after it checked their signature.
"""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Final
from urllib.parse import urlsplit
from urllib.request import Request

import structlog

from cutter import limits
from cutter.notifications import channels
from cutter.notifications import slack as callback
from cutter.notifications.channels import Trouble
from cutter.notifications.slack import SIGNATURE_HEADER, TIME_HEADER, Click
from cutter.senders import Senders
from cutter.types import Json

log = structlog.get_logger()

PATH: Final = "/slack/actions"
SIGNING_SECRET_FILE: Final = "slack.signing-secret"


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """The private answer to the person who pressed. `afterwards` runs after they have it."""

    text: str
    afterwards: Callable[[], None] = lambda: None


def private(text: str) -> Json:
    """A message that only its reader sees. It does not replace the card."""
    return {"response_type": "ephemeral", "replace_original": False, "text": text}


def answer_in_slack(api_url: str, address: str, text: str) -> Trouble | None:
    """Send a text to the person who pressed a button. Return None if Slack accepted it, otherwise the trouble.

    Slack sends the address with the press. Only Slack's own host for such answers is called.
    """
    api = urlsplit(api_url)
    host = api.netloc if api.scheme == "http" else f"hooks.{api.netloc}"
    if not address.startswith(f"{api.scheme}://{host}/"):
        return Trouble(code="foreign_address")
    headers = {"Content-Type": "application/json; charset=utf-8"}
    request = Request(address, data=json.dumps(private(text)).encode(), headers=headers)
    return channels.exchange(request, lambda _: None)


class Server(ThreadingHTTPServer):
    """Listens from the moment it is made; `resolve` gets only what Slack has signed, so many at a time."""

    daemon_threads = True
    allow_reuse_address = True
    request_queue_size = limits.SENDERS_MAX

    def __init__(self, host: str, port: int, secret: str, resolve: Callable[[Click], Reply]) -> None:
        self.secret = secret
        self.resolve = resolve
        self.places = threading.BoundedSemaphore(limits.SLACK_CALLERS_MAX)
        self.senders = Senders()
        super().__init__((host, port), _Handler)

    @property
    def url(self) -> str:
        host, port = self.server_address[:2]
        return f"http://{host!s}:{port}{PATH}"

    def process_request(self, request: Any, client_address: Any) -> None:
        """Make a thread for each caller."""
        self.senders.begin(request, str(client_address[0]))
        super().process_request(request, client_address)

    def process_request_thread(self, request: Any, client_address: Any) -> None:
        """One caller from its first byte to its end."""
        try:
            super().process_request_thread(request, client_address)
        finally:
            self.senders.end(request)

    def handle_error(self, request: Any, client_address: Any) -> None:  # noqa: ARG002 - the signature is the library's
        """A caller that disconnected is no error. The library would print a traceback."""
        log.info("slack.caller_lost")


class _Handler(BaseHTTPRequestHandler):
    server: Server
    timeout = limits.CHANNEL_STEP_SECONDS
    server_version = "cutter"
    sys_version = ""

    def do_POST(self) -> None:
        body = self._body()
        self.server.senders.end(self.request)
        if body is None:
            return
        now = datetime.now(UTC).timestamp()
        time, given = self._only(TIME_HEADER), self._only(SIGNATURE_HEADER)
        flaw = callback.flaw(self.server.secret, body, time=time, given=given, now=now)
        if flaw is not None:
            log.warning("slack.refused", code=flaw)
            self._end(401)
            return
        click = callback.click(body)
        if click is None:
            log.warning("slack.refused", code="no_click")
            self._end(400)
            return
        with self.server.places:
            reply = self.server.resolve(click)
            self._end(200, json.dumps(private(reply.text)).encode())
            reply.afterwards()

    def _body(self) -> bytes | None:
        """All bytes of the request. None if it was answered already."""
        if self.path != PATH:
            self._end(404)
            return None
        length = self._only("Content-Length") or ""
        if not re.fullmatch("[0-9]{1,9}", length) or self.headers.get("Transfer-Encoding"):
            self._end(411)
            return None
        if int(length) > limits.SLACK_BODY_BYTES_MAX:
            self._end(413)
            return None
        body = self.rfile.read(int(length))
        if len(body) < int(length):
            self._end(400)
            return None
        return body

    def _only(self, name: str) -> str | None:
        """A header that came exactly once. A repeated header counts as missing."""
        values = self.headers.get_all(name) or []
        return values[0] if len(values) == 1 else None

    def _end(self, status: int, body: bytes = b"") -> None:
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
        self.wfile.flush()

    def log_message(self, *_: object) -> None:
        """Nothing that callers send is logged."""
