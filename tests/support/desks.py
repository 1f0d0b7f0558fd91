"""IO: `cutter desk` as a process of its own, and requests to it as bytes on a real connection.

`in_process` asks its pages within this process, for campaigns that replace functions of the product.
"""

from __future__ import annotations

import asyncio
import http.client
import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from fastapi import FastAPI
from starlette.types import Message, Scope

from cutter.settings import Settings
from starter.desk.server import application

ROOT = Path(__file__).parents[2]
SECONDS = 60


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """An answer of the server. Names of headers are in lower case."""

    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def text(self) -> str:
        return self.body.decode()

    @property
    def json(self) -> Any:
        assert self.headers["content-type"] == "application/json", (self.status, self.headers)
        return json.loads(self.body)


@dataclass(frozen=True, slots=True, kw_only=True)
class Desk:
    """A running server and its process."""

    port: int
    process: subprocess.Popen[str]

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def ask(self, path: str, *, method: str = "GET", **headers: str) -> Answer:
        """One request; underscores in the names of headers are hyphens."""
        return self.ask_with([(name.replace("_", "-"), value) for name, value in headers.items()], path, method=method)

    def ask_with(self, headers: list[tuple[str, str]], path: str, *, method: str = "GET") -> Answer:
        """The same with a list of headers, which may repeat one."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=SECONDS)
        connection.putrequest(method, path, skip_host=any(name.lower() == "host" for name, _ in headers))
        for name, value in headers:
            connection.putheader(name, value)
        connection.endheaders()
        answer = connection.getresponse()
        fields = {name.lower(): value for name, value in answer.getheaders()}
        made = Answer(status=answer.status, headers=fields, body=answer.read())
        connection.close()
        return made


def environment(settings: Settings, more: Mapping[str, str]) -> dict[str, str]:
    """The environment of a command on that deployment."""
    kept = {key: value for key, value in os.environ.items() if not key.startswith(("CUTTER_", "TEMPORAL_"))}
    return {
        **kept, "CUTTER_STATE_DIR": str(settings.state_dir), "CUTTER_DATABASE_URL": str(settings.database_url),
        "CUTTER_SECRETS_DIR": str(settings.secrets), "CUTTER_KEYS_DIR": str(settings.keys), **more,
    }  # fmt: skip


@contextmanager
def desk(settings: Settings, **more: str) -> Iterator[Desk]:
    """The server on a free port, interrupted at the end. `more` is added to its environment."""
    process = subprocess.Popen(
        [sys.executable, "-m", "starter", "desk", "--port", "0", "--json"],
        env=environment(settings, more), cwd=ROOT, stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    try:
        yield Desk(port=_port(process), process=process)
    finally:
        process.send_signal(signal.SIGINT)
        process.wait(SECONDS)
        assert process.stdout is not None
        process.stdout.close()


def _port(process: subprocess.Popen[str]) -> int:
    """The port that the server tells once it listens."""
    assert process.stdout is not None
    text = ""
    for line in process.stdout:
        text += line
        if line.startswith("}"):
            break
    return int(json.loads(text)["page"].rstrip("/").rpartition(":")[2])


@contextmanager
def pages(settings: Settings) -> Iterator[FastAPI]:
    """The pages without a server, for `in_process`."""
    made = application(settings)
    try:
        yield made
    finally:
        made.state.reader.pool.close()


def in_process(app: FastAPI, path: str, *, as_json: bool = False) -> Answer:
    """The answer to a request for a path with its query. What a page raises, this raises too."""
    plain, _, query = path.partition("?")
    scope: Scope = {
        "type": "http", "method": "GET", "scheme": "http", "http_version": "1.1", "path": unquote(plain),
        "raw_path": plain.encode(), "query_string": query.encode(), "root_path": "", "headers": [], "client": None,
        "server": ("127.0.0.1", 80), "state": {"user": None, "json": as_json},
    }  # fmt: skip
    sent: list[Message] = []

    async def receive() -> Message:
        return {"type": "http.request", "body": b"", "more_body": False}

    async def send(message: Message) -> None:
        sent.append(message)

    asyncio.run(app(scope, receive, send))
    headers = {name.decode(): value.decode() for name, value in sent[0]["headers"]}
    body = b"".join(message.get("body", b"") for message in sent[1:])
    return Answer(status=sent[0]["status"], headers=headers, body=body)
