"""Each night's run of a pattern has an id of its own, which only its bytes and the minute make."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta

import pytest

from cutter.batch.queue import is_named_for_the_night, load_queue, queue_of
from cutter.domain import ids
from cutter.errors import InvalidInput
from tests.unit.batch.queues import GOOD

PATTERN = GOOD.encode()
TEN = datetime(2026, 11, 21, 22, 0, tzinfo=UTC)


def id_of(pattern: bytes, when: datetime) -> str:
    return load_queue(queue_of(pattern, when)).batch_id


def test_an_id_is_a_uuid_of_version_7_of_its_minute() -> None:
    made = id_of(PATTERN, TEN + timedelta(seconds=59))
    assert ids.is_batch_id(made)
    assert int(made.replace("-", "")[:12], 16) == int(TEN.timestamp() * 1000)
    assert made == id_of(PATTERN, TEN)


def test_another_night_or_another_pattern_is_another_batch() -> None:
    assert len({id_of(PATTERN, TEN), id_of(PATTERN, TEN + timedelta(days=1)), id_of(PATTERN + b"#", TEN)}) == 3


def test_only_the_batch_id_differs() -> None:
    made = queue_of(PATTERN, TEN)
    assert re.sub(rb"(?m)^batch_id: .*$", b"", made) == re.sub(rb"(?m)^batch_id: .*$", b"", PATTERN)


def test_a_pattern_whose_id_stands_elsewhere_is_refused() -> None:
    flow = b"{schema_version: 1, batch_id: 0199f1de-7c3d-7e4f-8a9b-0c1d2e3f4a5b, created_by: o, " \
           b"created_utc: '2026-11-21T22:00:00Z', items: [{document_id: ICX-1}]}\n"  # fmt: skip
    load_queue(flow)
    with pytest.raises(InvalidInput, match="line of its own"):
        queue_of(flow, TEN)


@pytest.mark.parametrize(
    ("file", "night"),
    [
        ("overnight.yaml", True), ("overnight-2026-11-22.yml", True), ("Overnight_laws.yaml", True),
        ("overnight.laws.yaml", True), ("queue.yaml", False), ("overnighters.yaml", False),
        ("not-overnight.yaml", False), ("overnight", False), ("overnight.txt", False),
    ],
)  # fmt: skip
def test_a_queue_is_a_night_s_by_its_name(file: str, night: bool) -> None:
    assert is_named_for_the_night(file) is night
