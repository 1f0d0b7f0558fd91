"""What an activity of a batch may answer: what makes a command that the server refuses is no answer at all."""

from __future__ import annotations

from typing import Any

import pytest

from cutter import limits
from cutter.messages import BatchStep, SetAnswer
from workflows.activity_calls import decode_result

RUN = "ictr-20261121T090000Z-0199f1de-7c3d-7e4f-8a9b-0c1d2e3f4a5b"
START = {"document_id": "ICX-1", "run_id": RUN}
STOP = {"document_id": "ICX-1", "kind": "stop", "reason": "r"}
ENTRY = {"document_id": "ICX-1", "kb_id": "a.md", "accepted": True, "code": "accepted", "reason": ""}
ORDERS = limits.BATCH_ORDERS_AT_ONCE + limits.BATCH_LANES_MAX
LONG = "x" * (limits.ANSWER_CHARACTERS_MAX + 1)


def step(**more: Any) -> dict[str, Any]:
    return {"state": "batch_planning", "seen": "", **more}


def test_a_batch_s_own_answers_are_understood() -> None:
    full = step(starts=[START] * ORDERS, stops=[STOP], totals={"settled": limits.QUEUE_ITEMS_MAX})
    assert decode_result(full, BatchStep) is not None
    assert decode_result({"status": "read", "entries": [ENTRY], "missing": ["ICX-2"]}, SetAnswer) is not None


@pytest.mark.parametrize(
    "answer",
    [
        step(state="s" * 101), step(mode="m" * 101), step(gate="g" * 101), step(note=LONG), step(report=LONG),
        step(seen=LONG), step(totals={"settled": 10**30}), step(totals={"settled": -1}),
        step(totals={f"n{number}": 1 for number in range(51)}), step(totals={LONG: 1}),
        step(starts=[{**START, "document_id": "X" * 2000}]), step(starts=[{**START, "run_id": "../x"}]),
        step(starts=[{**START, "tenant": "ü" * 64}]), step(starts=[{**START, "tenant": "t" * 65}]),
        step(starts=[{**START, "weight": 0}]), step(starts=[{**START, "weight": 1001}]),
        step(starts=[{**START, "weight": float("nan")}]), step(starts=[{**START, "urgency": 0}]),
        step(starts=[{**START, "urgency": 6}]), step(starts=[{**START, "source_uri": LONG}]),
        step(starts=[START] * (ORDERS + 1)),
        step(stops=[{**STOP, "document_id": "Y" * 2000}]), step(stops=[{**STOP, "reason": LONG}]),
        step(stops=[{**STOP, "kind": "terminate"}]), step(stops=[STOP] * (ORDERS + 1)),
    ],
)  # fmt: skip
def test_a_step_beyond_its_bounds_is_not_understood(answer: dict[str, Any]) -> None:
    assert decode_result(answer, BatchStep) is None


@pytest.mark.parametrize(
    "answer",
    [
        {"status": "read", "entries": [{**ENTRY, "document_id": "X" * 2000}]},
        {"status": "read", "entries": [{**ENTRY, "kb_id": LONG}]},
        {"status": "read", "entries": [ENTRY] * (limits.SET_STATEMENTS_MAX + 1)},
        {"status": "read", "missing": ["ICX-1"] * (limits.QUEUE_ITEMS_MAX + 1)},
        {"status": "refused", "reason": LONG},
    ],
)
def test_a_set_s_verdict_beyond_its_bounds_is_not_understood(answer: dict[str, Any]) -> None:
    assert decode_result(answer, SetAnswer) is None
