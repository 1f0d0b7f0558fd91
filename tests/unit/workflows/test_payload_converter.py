"""What nobody can decode becomes a value where no type was asked for, and an error where one was."""

from __future__ import annotations

import pytest
from temporalio.api.common.v1 import Payload

from cutter.messages import StopInput
from temporal.client import DATA_CONVERTER, UNDECODABLE

CONVERTER = DATA_CONVERTER.payload_converter

BROKEN = (
    Payload(),
    Payload(data=b"x"),
    Payload(metadata={"encoding": b"binary/whatever"}, data=b"\x00"),
    Payload(metadata={"encoding": b"json/plain"}, data=b"\xff{"),
    Payload(metadata={"encoding": b"json/plain"}, data=b"[" * 200_000),
    Payload(metadata={"encoding": b"json/protobuf", "messageType": b"no.Such"}, data=b"{}"),
    Payload(metadata={"encoding": b"binary/protobuf", "messageType": b"temporal.api.common.v1.Payload"}, data=b"\xff"),
    Payload(metadata={"encoding": b"\xff\xfe"}, data=b""),
)


@pytest.mark.parametrize("payload", BROKEN)
def test_a_broken_payload_is_a_value_without_a_type_and_an_error_with_one(payload: Payload) -> None:
    assert CONVERTER.from_payloads([payload]) == [UNDECODABLE]
    with pytest.raises(Exception, match=r".*"):
        CONVERTER.from_payloads([payload], [StopInput])


def test_messages_go_there_and_back() -> None:
    stop = StopInput(run_id="r", kind="stop", reason="ö", by="me")
    assert CONVERTER.from_payloads(CONVERTER.to_payloads([stop]), [StopInput]) == [stop]
    assert CONVERTER.from_payloads(CONVERTER.to_payloads([{"a": [1, None]}])) == [{"a": [1, None]}]
