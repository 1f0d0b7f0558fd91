"""Orchestration: the data converter of clients and workers: pydantic's, and what nobody can decode becomes a value.

A payload with an unknown encoding, or bytes that are no JSON, would make the SDK drop a signal while its sender sees
success: a stop would be lost. Where no type is asked for, such a payload arrives as `UNDECODABLE` and is judged like
every other message.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from temporalio.api.common.v1 import Payload
from temporalio.contrib.pydantic import PydanticPayloadConverter, pydantic_data_converter

UNDECODABLE = b"undecodable"
"""Replaces a payload that could not be decoded; no JSON gives bytes, so nobody can send it."""


class TolerantPayloadConverter(PydanticPayloadConverter):
    """Raises only where a type was asked for."""

    def from_payloads(self, payloads: Sequence[Payload], type_hints: list[type] | None = None) -> list[Any]:
        hints: Sequence[type | None] = type_hints or [None] * len(payloads)
        return [self._value(payload, hint) for payload, hint in zip(payloads, hints, strict=True)]

    def _value(self, payload: Payload, hint: Any) -> Any:
        if hint not in (None, Any):
            return super().from_payloads([payload], [hint])[0]
        try:
            return super().from_payloads([payload])[0]
        except Exception:  # whatever a decoder raises over bytes that anyone may have sent
            return UNDECODABLE


DATA_CONVERTER = replace(pydantic_data_converter, payload_converter_class=TolerantPayloadConverter)
