"""What a worker tells other programs: all metrics of the dashboard and the alerts, logs as JSON, traces where asked."""

from __future__ import annotations

import asyncio
import json
import re
import signal
import threading
import urllib.request
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import pytest
import yaml
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from cutter.catalogue import WorkerRole
from cutter.errors import Unavailable
from cutter.settings import Settings
from cutter.stack import addresses
from temporal import client, names, telemetry
from temporal.client import connect
from tests.support.stack import Stack
from tests.support.temporal import until
from tests.support.worker_process import said, worker_process

OPS = Path(__file__).resolve().parents[2] / "docs" / "ops"
METRIC = re.compile(r"\b(?:cutter|temporal)_[a-z_]+\b")
GATES_UNTIL_SG_1 = 5


def promised() -> set[str]:
    """Every metric that the dashboard and the alerts name."""
    dashboard = json.loads((OPS / "grafana-dashboard.json").read_text(encoding="utf-8"))
    alerts = yaml.safe_load((OPS / "alerts.yml").read_text(encoding="utf-8"))
    asked = [target["expr"] for panel in dashboard["panels"] for target in panel["targets"]]
    asked += [rule["expr"] for group in alerts["groups"] for rule in group["rules"]]
    return {name for expression in asked for name in METRIC.findall(expression)}


def scrape(address: str) -> dict[str, str]:
    """The samples of an endpoint by their names, each with its last line."""
    with urllib.request.urlopen(f"http://{address}/metrics", timeout=10) as answer:
        lines = answer.read().decode().splitlines()
    return {re.split(r"[{ ]", line)[0]: line for line in lines if not line.startswith("#")}


class Collector(HTTPServer):
    """An OpenTelemetry collector that keeps what it is sent."""

    def __init__(self) -> None:
        self.spans: list[Any] = []
        super().__init__((addresses.LOOPBACK, 0), Receiver)


class Receiver(BaseHTTPRequestHandler):
    server: Collector

    def do_POST(self) -> None:
        request = ExportTraceServiceRequest.FromString(self.rfile.read(int(self.headers["Content-Length"])))
        for resource in request.resource_spans:
            self.server.spans += [span for scope in resource.scope_spans for span in scope.spans]
        self.send_response(200)
        self.end_headers()

    def log_message(self, *_words: Any) -> None:
        pass


@pytest.fixture
def collector() -> Iterator[Collector]:
    with Collector() as made:
        thread = threading.Thread(target=made.serve_forever)
        thread.start()
        yield made
        made.shutdown()
        thread.join()


async def test_a_worker_serves_what_the_dashboard_shows_and_a_run_is_one_trace(
    stack: Stack, collector: Collector, monkeypatch: pytest.MonkeyPatch
) -> None:
    where = f"http://{addresses.LOOPBACK}:{collector.server_port}"
    given = {
        "CUTTER_METRICS_PORT": str(addresses.free()),
        client.VARIABLES[0]: where,
        "OTEL_BSP_SCHEDULE_DELAY": "200",
    }
    monkeypatch.setenv(client.VARIABLES[0], where)
    stack.client = await connect(stack.settings)
    async with worker_process(stack, WorkerRole.CUTTER, **given) as worker:
        ready = await said(worker, "worker.ready")
        assert ready["role"] == "cutter"
        assert ready["metrics"] == f"127.0.0.1:{given['CUTTER_METRICS_PORT']}"
        run = await stack.start()
        sealed = await said(worker, "gate.sealed")
        assert (sealed["run_id"], sealed["worker"]) == (run.run_id, ready["worker"])
        await run.until_requested("SG_cut_authz")
        await stack.client.start_workflow("Unheard", id="unheard", task_queue=names.WORKFLOW_QUEUE)

        async def all_there() -> bool:
            metrics = await asyncio.to_thread(scrape, ready["metrics"])
            waits = metrics.get("cutter_requests_open", "")
            return not promised() - set(metrics) and "cutter_runs_open" in metrics and waits != ""

        try:
            await until(all_there, seconds=60)
        except AssertionError:
            missing = promised() - set(scrape(ready["metrics"]))
            raise AssertionError(f"the dashboard names what no worker serves: {missing}") from None
        failed = await said(worker, "Failing workflow task")
        assert failed["logger"].startswith("temporalio.core"), "the engine's own lines are JSON too"
        assert failed["worker"] == ready["worker"]

        async def traced() -> bool:
            return sum(span.name.startswith("RunActivity:IG_") for span in collector.spans) == GATES_UNTIL_SG_1

        await until(traced, seconds=60)
        started = [span.trace_id for span in collector.spans if span.name == "StartWorkflow:DocumentRun"]
        assert {span.trace_id for span in collector.spans if span.name.startswith("RunActivity:IG_")} == set(started)
        assert len(started) == 1
        worker.send_signal(signal.SIGTERM)
        assert await asyncio.wait_for(worker.wait(), 60) == 0


def test_without_a_port_nothing_is_served_and_without_a_collector_nothing_is_traced(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name in client.VARIABLES:
        monkeypatch.delenv(name, raising=False)
    _runtime, address = telemetry.runtime(Settings(), WorkerRole.EXEC, "b1")
    assert address == ""
    assert client.interceptors(at_once=False) == ()


def test_another_build_s_worker_serves_three_ports_above_and_a_full_host_is_told() -> None:
    settings = Settings(metrics_port=addresses.free())
    assert settings.metrics_port is not None
    held = []
    for turn in range(telemetry.PORTS_A_ROLE):
        runtime, address = telemetry.runtime(settings, WorkerRole.EXEC, "b1")
        assert address == f"127.0.0.1:{settings.metrics_port + 1 + 3 * turn}"
        held.append(runtime)
    with pytest.raises(Unavailable, match="CUTTER_METRICS_PORT"):
        telemetry.runtime(settings, WorkerRole.EXEC, "b1")
