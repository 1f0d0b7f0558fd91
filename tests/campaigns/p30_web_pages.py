"""P30: web pages of strangers against every listening port of the local Temporal server.

    python -m tests.campaigns.p30_web_pages --rounds 3 --seed 1 --out p30.jsonl

A page of a foreign origin runs in a real Chromium. It sends each request to each listening port: a batch that signals,
a batch that terminates, a start, and a read. It sends them once from its own address, as any open page can, and once
from the port's own address under a foreign name, as a page does whose name now leads to 127.0.0.1 (DNS rebinding).
The pages know every port; they only do not know at which loopback address the Web UI listens. Afterwards Temporal's own
records say what took effect. The control arm is the same server without its guards.
"""

from __future__ import annotations

import asyncio
import json
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import psutil
from temporalio.api.enums.v1 import BatchOperationState
from temporalio.api.workflowservice.v1 import ListBatchOperationsRequest
from temporalio.client import Client
from temporalio.common import WorkflowIDConflictPolicy

from cutter.settings import Settings
from cutter.stack import supervisor, temporal
from cutter.stack.addresses import LOOPBACK
from tests.cases.trials import Summary, command_line, write_lines
from tests.support import browser
from tests.support.guarded import without_web_guards
from tests.support.temporal import until

FOREIGN = "page.example"
"""The name of the stranger's page; the browser resolves it to this machine."""

VICTIM = "victim"
READ = "read"
KINDS = (READ, "signal", "terminate", "start")
API = "/api/v1/namespaces/default"

SEND = """
let cookies = '';
try { cookies = document.cookie; } catch { /* the browser's own error page has none */ }
const token = (cookies.match(/_csrf=([^;]*)/) || [])[1];
const headers = {'Content-Type': 'text/plain', ...(token ? {'X-CSRF-TOKEN': token} : {})};
const options = BODY ? {method: METHOD, mode: MODE, headers, body: BODY} : {method: METHOD};
return await fetch(URL, {...options, signal: AbortSignal.timeout(5000)})
    .then(answer => answer.text()).catch(problem => String(problem));
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Attack:
    """One page against one port; `prefix` marks what it leaves behind."""

    origin: str
    rebound: bool
    prefix: str

    def posts(self) -> dict[str, tuple[str, str]]:
        """Kind of the request: path and body, as the HTTP API takes them."""
        batch = f"{API}/batch-operations/{self.prefix}"
        common = {"namespace": "default", "visibilityQuery": f"WorkflowId='{VICTIM}'", "reason": self.prefix}
        start = {"workflowType": {"name": "Foreign"}, "taskQueue": {"name": "nobody"}, "requestId": self.prefix}
        return {
            "signal": (f"{batch}-signal", json.dumps(common | {"signalOperation": {"signal": "stop"}})),
            "terminate": (f"{batch}-terminate", json.dumps(common | {"terminationOperation": {}})),
            "start": (f"{API}/workflows/{self.prefix}-start", json.dumps(start)),
        }

    def script(self, kind: str) -> str:
        """JavaScript that sends one request and returns the answer, as far as the page may read it."""
        path, body = self.posts().get(kind, (f"{API}/workflows", None))
        named = {"URL": self.origin + path, "METHOD": "POST" if body else "GET", "BODY": body}
        mode = "same-origin" if self.rebound else "no-cors"
        return "".join(f"const {name} = {json.dumps(value)};" for name, value in {**named, "MODE": mode}.items()) + SEND


def run(*, rounds: int, seed: int, out: Path | None = None) -> Summary:
    """Both arms; `seed` is unused, because nothing here is chosen at random."""
    del seed
    program = browser.required()
    guarded = [row for number in range(rounds) for row in _arm(program, f"guarded-{number}")]
    with without_web_guards():
        open_ = list(_arm(program, "control"))
    write_lines(out, (*guarded, *open_))
    result = Summary(
        name="P30 web pages",
        n=len(guarded),
        failures=sum(row["effect"] for row in guarded),
        control=sum(row["effect"] for row in open_),
        control_n=len(open_),
    )
    for row in guarded:
        result.counts[f"{row['page']} page, {row['kind']}"] += 1
    for row in guarded + open_:
        if row["effect"]:
            result.counts[f"{row['arm'].split('-')[0]}: {row['page']} page, {row['kind']}: took effect"] += 1
    return result


def _arm(program: str, arm: str) -> Iterator[dict[str, Any]]:
    """Every attack on one server of its own."""
    with tempfile.TemporaryDirectory(prefix="p30-", ignore_cleanup_errors=True) as folder:
        state = Path(folder)
        settings = Settings(state_dir=state / "state")
        try:
            address = temporal.ensure_server(settings, temporal.resolve()).address
            assert address is not None
            with _stranger(state) as home, browser.page(program, state / "browser", *_flags()) as page:
                yield from asyncio.run(_attacks(page, home, settings.state, address, arm))
        finally:
            temporal.stop_server(settings.state)


async def _attacks(page: browser.Page, home: str, state: Path, address: str, arm: str) -> list[dict[str, Any]]:
    client = await Client.connect(address)
    rows = []
    for port in doors(state):
        for rebound in (False, True):
            name = "rebound" if rebound else "foreign"
            attack = Attack(
                origin=f"http://{FOREIGN if rebound else LOOPBACK}:{port}", rebound=rebound, prefix=f"{name}-{port}"
            )
            page.visit(attack.origin if rebound else home)
            for kind in KINDS:
                await _victim(client)
                answer = str(page.run(attack.script(kind)))
                effect = VICTIM in answer if kind == READ else kind in await _effects(client, attack)
                rows.append({"arm": arm, "page": name, "port": port, "kind": kind, "effect": effect})
    return rows


async def _victim(client: Client) -> None:
    """A workflow that an attack can signal, terminate and read; nobody works on it."""
    await client.start_workflow(
        "Waiting", id=VICTIM, task_queue="nobody", id_conflict_policy=WorkflowIDConflictPolicy.USE_EXISTING
    )


async def _effects(client: Client, attack: Attack) -> set[str]:
    """The kinds of requests that Temporal took from this page, once no batch is at work: it takes one at a time."""
    asked = ListBatchOperationsRequest(namespace="default", page_size=100)

    async def batches() -> list[Any]:
        operations = (await client.workflow_service.list_batch_operations(asked)).operation_info
        over = all(operation.state != BatchOperationState.BATCH_OPERATION_STATE_RUNNING for operation in operations)
        return [list(operations)] if over else []

    names = {info.job_id for info in (await until(batches, what="batches are over"))[0]}
    names |= {execution.id async for execution in client.list_workflows(f"WorkflowId='{attack.prefix}-start'")}
    return {name.removeprefix(f"{attack.prefix}-") for name in names if name.startswith(f"{attack.prefix}-")}


def doors(state: Path) -> list[int]:
    """Every port on which the server listens, the Web UI's included."""
    pids = [service.process.pid for service in supervisor.read(state).values()]
    connections = [each for pid in pids for each in psutil.Process(pid).net_connections(kind="tcp")]
    return sorted({each.laddr.port for each in connections if each.status == psutil.CONN_LISTEN})


@contextmanager
def _stranger(folder: Path) -> Iterator[str]:
    """The address of a page that the stranger serves."""
    (folder / "index.html").write_text("<title>stranger</title>")

    class Handler(SimpleHTTPRequestHandler):
        def log_message(self, *_: object) -> None:
            """A campaign prints its summary only."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Handler, directory=str(folder)))
    Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://{FOREIGN}:{server.server_address[1]}/index.html"
    finally:
        server.shutdown()
        server.server_close()


def _flags() -> tuple[str, ...]:
    return (f"--host-resolver-rules=MAP {FOREIGN} 127.0.0.1",)


if __name__ == "__main__":
    raise SystemExit(command_line(run, "P30: web pages", rounds=3))
