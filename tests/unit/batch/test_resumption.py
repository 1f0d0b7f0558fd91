"""A resume is only worth it when it would set something in motion; what failed goes on by a signature alone."""

from __future__ import annotations

from dataclasses import replace

import pytest

from cutter.batch import batch_step, ways
from cutter.batch.view import BatchView
from tests.unit.batch.views import BATCH_ID, item, view

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
def test_what_is_finished_is_left_alone(finished: BatchView) -> None:
    assert not ways.moves(finished)


@pytest.mark.parametrize(
    "going",
    [
        view(LAW, item("B", "marked"), state="batch_planning"),
        view(item("C", decided="busy")),
        view(LAW, item("C", decided="voided"), halted="stop"),
        view(LAW, item("C", "stopped_stop"), halted="stop"),
        view(replace(FAILED, included=True), item("C", decided="voided"), policy="strict", halted="failure"),
        view(LAW, item("C", "awaiting_cut_authorization"), halted="hard_cap"),
        view(LAW, state="batch_failed_partial"),
    ],
)
def test_what_can_go_on_goes_on(going: BatchView) -> None:
    """Seed 001 §9."""
    assert ways.moves(going)


def test_failed_documents_are_named_with_their_command_until_they_are_signed_in() -> None:
    """Seed 001 §9."""
    batch_view = view(LAW, FAILED, item("C", "failed_rejected", included=True))
    (needed,) = ways.unsigned_failures(batch_view)
    assert needed.sign == f"cutter approve --batch {BATCH_ID} --decision include_failed --only B --reason TEXT"


def test_a_failed_document_that_is_signed_in_halts_nothing() -> None:
    signed = view(replace(FAILED, included=True, critical=True), item("C"), policy="strict", age=1.0)
    assert batch_step.decide(signed, window=100).starts == ("B", "C")
    unsigned = view(replace(FAILED, critical=True), item("C"), age=1.0)
    assert batch_step.decide(unsigned, window=100).starts == ()
