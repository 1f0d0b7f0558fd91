"""IO: `cutter desk`: serves the inbox, requests, laws, runs, batches and queues as web pages that only read."""

from __future__ import annotations

import importlib
import importlib.util
import sys

from cutter.errors import InvalidInput
from cutter.settings import load
from cutter.stack.addresses import LOOPBACK
from starter.commands.options import Host, Port
from starter.console.terminal import AsJson, fields, show

EXTRA = ("fastapi", "uvicorn")


def desk(port: Port = 8585, host: Host = LOOPBACK, as_json: AsJson = False) -> None:
    """Serve web pages of what waits, laws, runs, batches and queues until you interrupt it; they change nothing.

    Each address also answers JSON: add .json, or ask with the header Accept: application/json.

    Example: cutter desk --port 8585
    """
    if not all(map(importlib.util.find_spec, EXTRA)):
        raise InvalidInput("`cutter desk` needs FastAPI: install it with `pip install fastapi uvicorn`")
    # A command that another module of this table names must not wait for FastAPI's import.
    server = importlib.import_module("starter.desk.server")
    settings = load()
    server.require_safe(settings, host)
    with server.listening(host, port) as listener:
        base = f"http://{f'[{host}]' if ':' in host else host}:{listener.getsockname()[1]}"
        addresses = {"page": f"{base}/", "openapi": f"{base}/openapi.json", "end": "Ctrl-C"}

        def begun() -> None:
            show(addresses, as_json=as_json, render=lambda out: out.print(fields(addresses), soft_wrap=True))
            sys.stdout.flush()

        server.serve(settings, listener, begun=begun)
