"""IO: receivers of messages on loopback: a mail server that speaks SMTP, and an HTTP server that keeps what is posted.

Both are real servers in the test's process. They can be told how to fail, and what to do at the moment when a message
has arrived and nothing was answered yet.
"""

from __future__ import annotations

import asyncio
import ssl
import subprocess
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from email import message_from_bytes
from email.message import EmailMessage
from email.policy import SMTP as SMTP_POLICY
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, cast

from aiosmtpd.smtp import SMTP, AuthResult, Envelope, LoginPassword

USER, PASSWORD = "cutter", "a password with spaces"


def nothing() -> None:
    """What a receiver does when a message has arrived, by default."""


@dataclass(slots=True, kw_only=True)
class MailServer:
    """What it took, and how it answers. `answers` are used up, one for each message that arrives whole."""

    port: int = 0
    mails: list[EmailMessage] = field(default_factory=list)
    encrypted: list[bool] = field(default_factory=list)
    logins: list[str] = field(default_factory=list)
    answers: list[str] = field(default_factory=list)
    refuse: set[str] = field(default_factory=set)
    arrived: Callable[[], None] = nothing

    async def handle_RCPT(self, *given: Any) -> str:
        _, _, envelope, address, _ = given
        if address in self.refuse:
            return "550 no such person as <secret text>"
        envelope.rcpt_tos.append(address)
        return "250 OK"

    async def handle_DATA(self, _server: Any, session: Any, envelope: Envelope) -> str:
        answer = self.answers.pop(0) if self.answers else "250 taken"
        if answer.startswith("250"):
            content = cast("bytes", envelope.content)
            self.mails.append(cast("EmailMessage", message_from_bytes(content, policy=SMTP_POLICY)))
            self.encrypted.append(session.ssl is not None)
            self.arrived()
        return answer

    def authenticate(self, _server: Any, _session: Any, _envelope: Any, mechanism: str, data: Any) -> AuthResult:
        good = isinstance(data, LoginPassword) and (data.login, data.password) == (USER.encode(), PASSWORD.encode())
        self.logins.append(mechanism)
        return AuthResult(success=good, handled=False)


@contextmanager
def mail_server(*, tls: ssl.SSLContext | None = None, starttls: ssl.SSLContext | None = None) -> Iterator[MailServer]:
    """A mail server, encrypted from the first byte (`tls`), after STARTTLS, or not at all."""
    made, loop = MailServer(), asyncio.new_event_loop()

    def protocol() -> SMTP:
        return SMTP(
            made, hostname="localhost", loop=loop, tls_context=starttls, require_starttls=starttls is not None,
            authenticator=made.authenticate, auth_require_tls=False, timeout=60,
        )  # fmt: skip

    server = loop.run_until_complete(loop.create_server(protocol, "127.0.0.1", 0, ssl=tls))
    made.port = server.sockets[0].getsockname()[1]
    thread = threading.Thread(target=loop.run_forever)
    thread.start()
    try:
        yield made
    finally:
        asyncio.run_coroutine_threadsafe(_ended(server), loop).result(30)
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()


async def _ended(server: asyncio.Server) -> None:
    """Stop listening, and end the conversations that are left."""
    server.close()
    others = asyncio.all_tasks() - {asyncio.current_task()}
    for task in others:
        task.cancel()
    await asyncio.gather(*others, return_exceptions=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class Posted:
    """One request as it came."""

    path: str
    headers: dict[str, str]
    body: bytes


@dataclass(slots=True, kw_only=True)
class HttpReceiver:
    """What was posted, and how it answers: (status, headers), used up one a request; `silent` waits for `let_go`."""

    url: str = ""
    posted: list[Posted] = field(default_factory=list)
    answers: list[tuple[int, dict[str, str]]] = field(default_factory=list)
    silent: bool = False
    let_go: threading.Event = field(default_factory=threading.Event)
    heard: threading.Event = field(default_factory=threading.Event)
    arrived: Callable[[], None] = nothing


@contextmanager
def http_receiver() -> Iterator[HttpReceiver]:
    """An HTTP server of the test's own, stopped at the end."""
    made = HttpReceiver()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            made.posted.append(Posted(path=self.path, headers=dict(self.headers.items()), body=body))
            made.heard.set()
            made.arrived()
            if made.silent:
                made.let_go.wait(60)
                self.close_connection = True
                return
            status, headers = made.answers.pop(0) if made.answers else (204, {})
            self.send_response(status)
            for name, value in {"Content-Length": "0", **headers}.items():
                self.send_header(name, value)
            self.end_headers()

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    made.url = f"http://127.0.0.1:{server.server_address[1]}/hooks/cutter"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield made
    finally:
        made.let_go.set()
        server.shutdown()
        thread.join()
        server.server_close()


def certificate(folder: Path, name: str = "localhost") -> Path:
    """A self-signed certificate with its key in one file, for TLS on loopback."""
    file = folder / f"{name}.pem"
    command = ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes",
               "-days", "2", "-subj", f"/CN={name}", "-addext", f"subjectAltName=DNS:{name}",
               "-keyout", str(file), "-out", str(folder / f"{name}.crt")]  # fmt: skip
    subprocess.run(command, check=True, capture_output=True, timeout=60)
    file.write_bytes(file.read_bytes() + (folder / f"{name}.crt").read_bytes())
    return file


def server_side(file: Path) -> ssl.SSLContext:
    """A server's context with that certificate."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(file)
    return context
