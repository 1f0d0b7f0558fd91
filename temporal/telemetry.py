"""IO: the output of a worker for other programs: metrics for Prometheus, and log lines.

By default there are no metrics. If a port is set, they are served on loopback, unless a setting names another address.
Neither metrics nor log lines contain a text of a law or a secret.
"""

from __future__ import annotations

import io
import json
import logging
import sys
from typing import Any, TextIO, cast

import structlog
from structlog.typing import EventDict, Processor
from temporalio.runtime import (
    LogForwardingConfig,
    LoggingConfig,
    PrometheusConfig,
    Runtime,
    TelemetryConfig,
    TelemetryFilter,
)

from cutter.catalogue import WorkerRole
from cutter.errors import Unavailable
from cutter.settings import Settings

PORTS_A_ROLE = 3
"""The ports to try for each role. Workers of this many builds can serve metrics on one host at the same time."""


def runtime(settings: Settings, role: WorkerRole, build_id: str) -> tuple[Runtime, str]:
    """The SDK's runtime, and the address of its metrics. The address is empty if no port is set.

    The log lines of the runtime go to the log of this process. The ports of the three roles count upwards from
    `metrics_port`. The ports of another build follow after these three.
    """
    if settings.metrics_port is None:
        return Runtime(telemetry=TelemetryConfig(logging=_logging())), ""
    roles = tuple(WorkerRole)
    problem = ""
    for turn in range(PORTS_A_ROLE):
        address = f"{settings.probe_host}:{settings.metrics_port + roles.index(role) + turn * len(roles)}"
        try:
            metrics = PrometheusConfig(
                bind_address=address, counters_total_suffix=True, unit_suffix=True, durations_as_seconds=True
            )
            tags = {"worker_role": role.value, "build_id": build_id}
            config = TelemetryConfig(logging=_logging(), metrics=metrics, global_tags=tags, attach_service_name=False)
            return Runtime(telemetry=config), address
        except ValueError as refused:
            problem = str(refused)
    raise Unavailable(f"no metrics at {address}, nor below: {problem}; set CUTTER_METRICS_PORT", what="port")


def _logging() -> LoggingConfig:
    return LoggingConfig(
        filter=TelemetryFilter(core_level="WARN", other_level="ERROR"),
        forwarding=LogForwardingConfig(logger=logging.getLogger("temporalio.core")),
    )


class LogStream(io.TextIOBase):
    """A stream for log lines that never raises. On a full disk, lines are lost, but no work is lost.

    When lines can be written again, the first one gives the number of lost lines.
    """

    def __init__(self, target: TextIO) -> None:
        self._target = target
        self._lost = 0

    def write(self, text: str, /) -> int:
        """Write the text, or count it as lost."""
        try:
            if self._lost:
                self._target.write(json.dumps({"event": "log.lost", "lines": self._lost, "level": "warning"}) + "\n")
            self._target.write(text)
            self._target.flush()
            self._lost = 0
        except (OSError, ValueError):  # ValueError means that the stream is closed.
            self._lost += 1
        return len(text)

    def flush(self) -> None:
        """Do nothing, because each write is flushed."""


def configure_logs(**bound: str) -> None:
    """Write every log line of this process as JSON, including those of the SDK and other libraries.

    Each line has the fields `bound`.
    """

    def bind(_logger: Any, _method: str, event: EventDict) -> EventDict:
        return {**event, **bound}

    shared: list[Processor] = [
        bind, structlog.processors.add_log_level, structlog.processors.TimeStamper(fmt="iso", utc=True)
    ]  # fmt: skip
    last = structlog.processors.JSONRenderer()
    lines = LogStream(sys.stdout)
    structlog.configure(
        processors=[*shared, last], logger_factory=structlog.WriteLoggerFactory(file=cast(TextIO, lines))
    )
    others = structlog.stdlib.ProcessorFormatter(
        foreign_pre_chain=[*shared, structlog.stdlib.add_logger_name, structlog.processors.format_exc_info],
        processors=[structlog.stdlib.ProcessorFormatter.remove_processors_meta, last],
    )
    handler = logging.StreamHandler(lines)
    handler.setFormatter(others)
    logging.basicConfig(handlers=[handler], level=logging.WARNING, force=True)
