"""What an outcome of a gate says of itself."""

from __future__ import annotations

import pytest

from cutter.messages import GateOutcome


@pytest.mark.parametrize(
    ("reason", "message"),
    [
        ("text_can_be_marked: observed no_candidates", "text_can_be_marked: observed no_candidates"),
        ("the database refused it", "text_can_be_marked: the database refused it"),
        ("", "text_can_be_marked: "),
    ],
)
def test_the_code_is_said_once(reason: str, message: str) -> None:
    outcome = GateOutcome(gate="IG_mark", status="failed", code="text_can_be_marked", reason=reason)
    assert outcome.said == message
