"""IO: OpenTelemetry's traces, where its own variables say where they go: a start, its workflow, its activities."""

from __future__ import annotations

import os
from collections.abc import Sequence

from temporalio.client import Interceptor

from cutter.errors import Unavailable

VARIABLES = ("OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT")


def interceptors(*, at_once: bool) -> Sequence[Interceptor]:
    """What makes a client, and the workers made of it, trace; nothing where no variable is set.

    `at_once` sends each span when it ends: a command is over before a batch of them would be sent. Needs the extra
    `otel`; Unavailable without it.
    """
    if not any(os.environ.get(name) for name in VARIABLES):
        return ()
    try:
        from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
        from opentelemetry.sdk.trace import TracerProvider
        from opentelemetry.sdk.trace.export import BatchSpanProcessor, SimpleSpanProcessor
        from temporalio.contrib.opentelemetry import TracingInterceptor
    except ImportError as missing:
        raise Unavailable(
            f"{missing.name} is not installed, which {VARIABLES[0]} asks for: `pip install 'cutter[otel]'`", what="otel"
        ) from None
    processor = SimpleSpanProcessor if at_once else BatchSpanProcessor
    provider = TracerProvider()
    provider.add_span_processor(processor(OTLPSpanExporter()))
    return [TracingInterceptor(provider.get_tracer("cutter"))]
