"""A resume is only worth it when it would set something in motion; what failed goes on by a signature alone."""

from __future__ import annotations

from typing import Any

import pytest

from cutter.batch import resumption, steering

Json = dict[str, Any]
BATCH_ID = "0199f1de-7c3d-7e4f-8a9b-0c1d2e3f4a5b"


def item(name: str, state: str | None = None, **more: Any) -> Json:
    ended = state is not None and state.startswith(("failed_", "voided_", "closeout"))
    return {
        "document_id": name, "position": 1, "priority": 5, "depends_on": [], "critical": False, "tenant": "default",
        "source_uri": None, "decided": None, "reason": None, "run_id": state and f"run of {name}", "state": state,
        "outcome": None, "ended": ended, "included": False, "kept_out": False, "latched": False, "gate": None,
        "approved": False, "queue": None, "queue_state": None, **more,
    }  # fmt: skip


def view(*items: Json, state: str = "batch_failed_partial", age: float = 1e9, **batch: Any) -> Json:
    made = {
        "batch_id": BATCH_ID, "mode": "live", "policy": "default", "unattended": False, "lanes": 4,
        "hard_cap_seconds": 3600.0, "state": state, "halted": None, "halted_reason": None, **batch,
    }  # fmt: skip
    return {"batch": made, "age_seconds": age, "items": list(items)}


LAW = item("A", "closeout_reported")
FAILED = item("B", "failed_mark")


@pytest.mark.parametrize(
    "finished",
    [
        view(LAW, state="batch_closeout"),
        view(LAW, FAILED),
        view(FAILED, item("C", decided="blocked", depends_on=["B"])),
        view(FAILED, item("C", decided="voided"), policy="strict", halted="failure"),
        view(LAW, item("C", decided="blocked", kept_out=True)),
        view(LAW, item("C", "stopped_drift_source")),
    ],
)
def test_what_is_finished_is_left_alone(finished: Json) -> None:
    assert not resumption.moves(finished)


@pytest.mark.parametrize(
    "going",
    [
        view(LAW, item("B", "marked"), state="batch_planning"),
        view(item("C", decided="busy")),
        view(LAW, item("C", decided="voided"), halted="stop"),
        view(LAW, item("C", "stopped_stop"), halted="stop"),
        view({**FAILED, "included": True}, item("C", decided="voided"), policy="strict", halted="failure"),
        view(LAW, item("C", "awaiting_cut_authorization"), halted="hard_cap"),
        view(LAW, state="batch_failed_partial"),
    ],
)
def test_what_can_go_on_goes_on(going: Json) -> None:
    assert resumption.moves(going)


def test_failed_documents_are_named_with_their_command_until_they_are_signed_in() -> None:
    seen = view(LAW, FAILED, item("C", "failed_rejected", included=True))
    (needed,) = resumption.unsigned_failures(seen)
    assert needed["sign"] == f"cutter approve --batch {BATCH_ID} --decision include_failed --only B --reason TEXT"


def test_a_failed_document_that_is_signed_in_halts_nothing() -> None:
    signed = view({**FAILED, "included": True, "critical": True}, item("C"), policy="strict", age=1.0)
    assert steering.decide(signed, window=100).starts == ("B", "C")
    unsigned = view({**FAILED, "critical": True}, item("C"), age=1.0)
    assert steering.decide(unsigned, window=100).starts == ()
