"""Orchestration: the data converter of clients and workers: pydantic's, with a value for undecodable payloads.

If a payload has an unknown encoding or is not JSON, the SDK drops its signal although the sender sees success. So a
stop could be lost. If the handler expects no type, this converter delivers such a payload as `UNDECODABLE`. The
workflow judges it like every other message.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from temporalio.api.common.v1 import Payload
from temporalio.contrib.pydantic import PydanticPayloadConverter, pydantic_data_converter

UNDECODABLE = b"undecodable"
"""Replaces a payload that could not be decoded. Decoded JSON is never bytes, so nobody can send this value."""


class TolerantPayloadConverter(PydanticPayloadConverter):
    """A converter that raises for an undecodable payload only if the handler expects a type."""

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
