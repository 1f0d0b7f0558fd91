"""IO: connects to Temporal: at CUTTER_TEMPORAL_ADDRESS, else at the local stack, else as Temporal's own profile says.

Temporal's profile (`TEMPORAL_*`, temporal.toml) describes the connection to an existing server: TLS, API key and
namespace. The server of the local stack has none of these, so the profile does not apply to it.

Clients and workers share pydantic's data converter, with a value for undecodable payloads. If a payload has an unknown
encoding or is not JSON, the SDK would drop its signal although the sender sees success, so a stop could be lost.
"""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from temporalio.api.common.v1 import Payload
from temporalio.client import Client, Interceptor
from temporalio.contrib.pydantic import PydanticPayloadConverter, pydantic_data_converter
from temporalio.envconfig import ClientConfig
from temporalio.runtime import Runtime
from temporalio.service import RPCError

from cutter.errors import Unavailable
from cutter.settings import Settings
from cutter.stack.addresses import TEMPORAL, temporal_address


async def connect(settings: Settings, *, identity: str | None = None, runtime: Runtime | None = None) -> Client:
    """Connect to Temporal. Raises Unavailable with one sentence if no server answers.

    A worker gives an `identity` and its own `runtime`.
    """
    given = profile(settings)
    if identity is not None:
        given["identity"] = identity
    try:
        return await Client.connect(
            **given,
            data_converter=DATA_CONVERTER,
            runtime=runtime,
            interceptors=interceptors(at_once=identity is None),
        )
    except (RPCError, RuntimeError) as problem:
        # The operating system's words in the transport's nested error, or the beginning of that error.
        words = re.findall(r'message: "([^"]+)"', str(problem))
        cause = words[-1] if words else str(problem).partition("\n")[0][:120]
        raise Unavailable(
            f"Temporal at {given['target_host']} does not answer: type",
            then="cutter up",
            rest=f" or see `cutter doctor` ({cause})",
            what="temporal",
        ) from None


def profile(settings: Settings) -> dict[str, Any]:
    """The arguments of a connection. Raises Unavailable if a file that Temporal's profile names cannot be read."""
    local = settings.temporal_address is None and (settings.state / TEMPORAL).exists()
    try:
        given: dict[str, Any] = {} if local else dict(ClientConfig.load_client_connect_config())
    except (OSError, RuntimeError) as problem:
        raise Unavailable(
            f"Temporal's profile cannot be read ({problem}): correct the variables that begin with TEMPORAL_",
            what="temporal",
        ) from None
    if settings.temporal_address or "target_host" not in given:
        given["target_host"] = temporal_address(settings)
    given.setdefault("namespace", settings.temporal_namespace)
    return given


def unanswered(problem: RPCError) -> Unavailable:
    """The error of cutter for a failure of Temporal."""
    return Unavailable(
        f"Temporal did not answer ({problem.status.name.lower()}): type",
        then="cutter up",
        rest=" or see `cutter doctor`",
        what="temporal",
    )


UNDECODABLE = b"undecodable"
"""Replaces a payload that could not be decoded. Decoded JSON is never bytes, so nobody can send this value."""


class TolerantPayloadConverter(PydanticPayloadConverter):
    """A converter that raises for an undecodable payload only if the handler expects a type. Otherwise it delivers
    `UNDECODABLE`, which the workflow judges like every other message.
    """

    def from_payloads(self, payloads: Sequence[Payload], type_hints: list[type] | None = None) -> list[Any]:
        hints: Sequence[type | None] = type_hints or [None] * len(payloads)
        return [self._value(payload, hint) for payload, hint in zip(payloads, hints, strict=True)]

    def _value(self, payload: Payload, hint: Any) -> Any:
        if hint not in (None, Any):
            return super().from_payloads([payload], [hint])[0]
        try:
            return super().from_payloads([payload])[0]
        except Exception:  # A decoder can raise anything for bytes that anyone may have sent.
            return UNDECODABLE


DATA_CONVERTER = replace(pydantic_data_converter, payload_converter_class=TolerantPayloadConverter)


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
