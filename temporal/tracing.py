"""IO: OpenTelemetry traces of a start, its workflow and its activities.

OpenTelemetry's own variables name the target.
"""

from __future__ import annotations

import os
from collections.abc import Sequence

from temporalio.client import Interceptor

from cutter.errors import Unavailable

VARIABLES = ("OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT")

PACKAGES = ("opentelemetry-sdk", "opentelemetry-exporter-otlp-proto-http")


def interceptors(*, at_once: bool) -> Sequence[Interceptor]:
    """The interceptors with which a client and its workers trace. Empty if no variable is set.

    With `at_once`, each span is sent when it ends, because a command ends before a batch of spans would be sent. Raises
    Unavailable if the extra `otel` is missing.
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
            f"{missing.name} is not installed, which {VARIABLES[0]} asks for: `pip install {' '.join(PACKAGES)}`",
            what="otel",
        ) from None
    processor = SimpleSpanProcessor if at_once else BatchSpanProcessor
    provider = TracerProvider()
    provider.add_span_processor(processor(OTLPSpanExporter()))
    return [TracingInterceptor(provider.get_tracer("cutter"))]
